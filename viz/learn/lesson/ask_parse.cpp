#include "viz/learn/lesson/ask_parse.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

using nlohmann::json;

// "10%", "0.5", "half a decade"
Tolerance read_tolerance(LessonObject& r) {
  Tolerance t;
  std::string words = r.text("within", 32, true);
  if (words == "half a decade") {
    t.decades = 0.5;
    return t;
  }
  const bool percent = words.ends_with("%");
  if (percent) words.pop_back();
  double value = 0;
  const auto [end, code] = std::from_chars(words.data(), words.data() + words.size(), value);
  if (words.empty() || code != std::errc() || end != words.data() + words.size() || !(value >= 0) || value > 1e6) {
    r.refuse("within", tr("use a tolerance such as 2%, 0.5 or half a decade"));
  }
  (percent ? t.relative : t.absolute) = percent ? value / 100 : value;
  return t;
}

WrongAnswer read_wrong(const json& j, const std::string& where, LessonObject& parent) {
  LessonObject r(j, where);
  r.only({"value", "text", "about"});
  WrongAnswer wrong{r.expression("value", true), r.text("text", 64, true), r.text("about", 64, false)};
  parent.follow(r);
  return wrong;
}

PickOption read_option(const json& j, const std::string& where, LessonObject& parent) {
  LessonObject r(j, where);
  r.only({"text", "true", "wrong", "about"});
  PickOption option{r.text("text", 64, true), r.expression("true", true), r.text("wrong", 64, false),
                    r.text("about", 64, false)};
  parent.follow(r);
  return option;
}

void read_click(LessonObject& r, LessonAsk& ask) {
  ask.among = r.choice<ClickAmong>("among",
                                   {{"cells", ClickAmong::cells},
                                    {"keys", ClickAmong::keys},
                                    {"rows", ClickAmong::rows},
                                    {"lines", ClickAmong::lines}},
                                   true);
  if (ask.among == ClickAmong::lines) {
    ask.cells = r.texts("lines");
    if (ask.cells.size() < 2 || ask.cells.size() > 9) r.refuse("lines", tr("expected two to nine lines"));
    if (r.has("value")) r.refuse("value", tr("for lines, omit the answer: it is the line with the most samples"));
    return;
  }
  ask.value = r.expression("value", true);
  if (ask.among == ClickAmong::cells) {
    ask.cells = r.texts("cells");
    if (ask.cells.size() < 2) r.refuse("cells", tr("expected at least two cells"));
    return;
  }
  ask.first = r.whole("first", 0, 4096, false);
  ask.last = r.whole("last", 1, 4096, true);
  if (ask.last <= ask.first || ask.last - ask.first > 31) r.refuse("last", tr("expected 2 to 32 things to click"));
}

// The line of a drag. That its ends leave a wrong place beside the right one is the lesson check's matter.
AskBar read_bar(LessonObject& r) {
  AskBar bar;
  bar.from = r.number("from");
  bar.to = r.number("to");
  bar.decades = r.flag("decades");
  if (bar.from >= bar.to) r.refuse("to", tr("expected a number above 'from'"));
  if (bar.decades && bar.from <= 0) r.refuse("from", tr("powers of ten must start above 0"));
  bar.start = r.expression("start", false);
  bar.beside = r.expression("beside", false);
  if (r.has("key")) bar.key = r.whole("key", 0, 4096, true);
  return bar;
}

}  // namespace

LessonAsk read_ask(const json& j, const std::string& where, LessonObject& parent) {
  LessonObject r(j, where);
  LessonAsk ask;
  ask.kind = r.choice<AskKind>("kind",
                               {{"num", AskKind::num},
                                {"drag", AskKind::num},
                                {"pick", AskKind::pick},
                                {"click", AskKind::click},
                                {"tiles", AskKind::tiles}},
                               true);
  const bool drag = r.text("kind", 64, true) == "drag";
  switch (ask.kind) {
    case AskKind::num:
      if (drag) {
        r.only(
            {"kind", "value", "within", "unit", "letter", "wrong", "from", "to", "decades", "start", "beside", "key"});
        ask.bar = read_bar(r);
      } else {
        r.only({"kind", "value", "within", "unit", "letter", "wrong"});
      }
      ask.value = r.expression("value", true);
      ask.within = read_tolerance(r);
      ask.unit = r.text("unit", 32, false);
      ask.letter = r.text("letter", 64, false);
      break;
    case AskKind::pick: {
      r.only({"kind", "options"});
      const json& options = r.list("options", 6);
      if (options.size() < 2) r.refuse("options", tr("expected two or more"));
      for (std::size_t n = 0; n < options.size(); ++n)
        ask.options.push_back(read_option(options[n], fmt::format("{}.options[{}]", where, n), r));
      break;
    }
    case AskKind::click:
      r.only({"kind", "among", "cells", "lines", "first", "last", "value", "wrong"});
      read_click(r, ask);
      break;
    case AskKind::tiles:
      r.only({"kind", "tiles", "wrong"});
      ask.tiles = r.choice<TileKind>(
          "tiles", {{"skipped", TileKind::skipped}, {"partial", TileKind::partial}, {"full", TileKind::full}}, true);
      break;
  }
  const json& wrong = r.list("wrong", 12);
  for (std::size_t n = 0; n < wrong.size(); ++n)
    ask.wrong.push_back(read_wrong(wrong[n], fmt::format("{}.wrong[{}]", where, n), r));
  parent.follow(r);
  return ask;
}

}  // namespace attn
