#include "viz/learn/lesson/exercise_parse.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "viz/learn/lesson/ask_parse.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::int32_t kMaxDrawn = 16;  // numbers of a list
constexpr double kMostSteps = 1e6;

// A name of an expression: letters and _, with digits behind them.
bool is_number_name(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto goes_on = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 32 && letter(name.front()) && std::ranges::all_of(name, goes_on) &&
         name != "row" && name != "you" && name != "keys" && name != "step";
}

DrawnName read_drawn(const std::string& name, const json& j, const std::string& where, LessonObject& parent) {
  LessonObject r(j, where);
  r.only({"list", "from", "to", "step", "of"});
  DrawnName drawn;
  drawn.name = name;
  if (!is_number_name(name)) r.refuse(name, tr("expected an unused name of letters, digits and _"));
  if (r.has("list")) drawn.count = r.whole("list", 2, kMaxDrawn, true);
  if (r.has("of")) {
    for (const json& item : r.list("of", LessonObject::kMaxList)) {
      if (!item.is_number() || !std::isfinite(item.get<double>()))
        r.refuse("of", tr("expected a list of numbers"));
      else
        drawn.of.push_back(item.get<double>());
    }
    if (drawn.of.size() < 2) r.refuse("of", tr("expected two or more"));
    if (r.has("from") || r.has("to") || r.has("step"))
      r.refuse("of", tr("'from', 'to' and 'step' cannot be combined with a list; omit them"));
  } else {
    drawn.from = r.number("from");
    drawn.to = r.number("to");
    if (r.has("step")) drawn.step = r.number("step");
    if (!(drawn.step > 0) || !(drawn.to > drawn.from) || (drawn.to - drawn.from) / drawn.step > kMostSteps)
      r.refuse("to", tr("expected a number above 'from', and a 'step' above 0"));
  }
  parent.follow(r);
  return drawn;
}

// "m = max(s)"
std::vector<LetName> read_lets(LessonObject& r, std::set<std::string>& names) {
  std::vector<LetName> lets;
  for (const std::string& line : r.texts("let")) {
    const std::size_t sign = line.find(" = ");
    LetName let{line.substr(0, sign), sign == line.npos ? "" : line.substr(sign + 3)};
    if (!is_number_name(let.name) || let.value.empty())
      r.refuse("let", phrase("expected NAME = EXPRESSION, not '{}'", line));
    else if (!names.insert(let.name).second)
      r.refuse("let", phrase("the name '{}' is already in use", let.name));
    lets.push_back(std::move(let));
  }
  return lets;
}

std::vector<FigureRow> read_rows(const char* key, const std::string& where, LessonObject& parent) {
  std::vector<FigureRow> rows;
  constexpr std::size_t kMostRows = 12;
  for (const json& item : parent.list(key, kMostRows)) {
    LessonObject r(item, fmt::format("{}.{}[{}]", where, key, rows.size()));
    r.only({"label", "values", "as", "later"});
    rows.push_back({r.text("label", 64, true), r.expression("values", true), r.text("as", 8, false), r.flag("later")});
    parent.follow(r);
  }
  return rows;
}

}  // namespace

FigurePlan read_figure_plan(const json& j, const std::string& where, LessonObject& parent) {
  LessonObject r(j, where);
  r.only({"heads", "caption", "rows", "bars", "tiles"});
  FigurePlan plan;
  plan.heads = r.text("heads", 64, false);
  plan.caption = r.text("caption", 64, false);
  plan.rows = read_rows("rows", where, r);
  plan.bars = read_rows("bars", where, r);
  if (r.has("tiles")) {
    LessonObject tiles(r.object("tiles"), where + ".tiles");
    tiles.only({"L", "Br", "Bc"});
    plan.tiles = TilesPlan{tiles.expression("L", true), tiles.expression("Br", true), tiles.expression("Bc", true)};
    r.follow(tiles);
  }
  if (plan.rows.empty() && plan.bars.empty() && !plan.tiles) r.refuse("", tr("expected rows, bars or tiles"));
  parent.follow(r);
  return plan;
}

Beat read_exercise(const json& j, std::size_t index, const Beat& first, LessonObject& parent) {
  std::string name = phrase("number {}", index + 1);
  if (j.is_object() && j.contains("id") && j["id"].is_string()) name = "'" + j["id"].get<std::string>() + "'";
  const std::string where = phrase("{}, exercise {}", parent.where(), name);
  LessonObject r(j, where);
  r.only({"id", "draw", "let", "if", "figure", "ask"});
  Beat beat;
  beat.id = r.text("id", 64, true);
  if (!is_plain_name(beat.id)) r.refuse("id", tr("expected a name of lower-case letters, digits, - and _"));
  beat.run = first.run;
  beat.at = first.at;
  ExercisePlan plan;
  std::set<std::string> names;
  for (const auto& [drawn, value] : r.object("draw").items()) {
    names.insert(drawn);
    plan.draw.push_back(read_drawn(drawn, value, fmt::format("{}, draw.{}", where, drawn), r));
  }
  if (plan.draw.empty()) r.refuse("draw", tr("expected numbers to draw"));
  plan.let = read_lets(r, names);
  plan.condition = r.expression("if", false);
  if (r.has("figure"))
    plan.figure = read_figure_plan(r.object("figure"), where + ", figure", r);
  else
    r.refuse("figure", tr("it is missing"));
  if (r.has("ask"))
    beat.ask = read_ask(r.object("ask"), where + ", ask", r);
  else
    r.refuse("ask", tr("it is missing"));
  if (beat.ask && (beat.ask->kind != AskKind::num || beat.ask->bar || beat.ask->wrong.empty()))
    r.refuse("ask", tr("an exercise must ask for a number and list common mistakes"));
  beat.exercise = std::move(plan);
  parent.follow(r);
  return beat;
}

}  // namespace attn
