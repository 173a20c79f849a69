// The JSON of a lesson: every member is looked at, an unknown one is refused with its place.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/foreign_file.h"
#include "kernels/formats/json_reading.h"
#include "viz/learn/lesson/ask_parse.h"
#include "viz/learn/lesson/exercise_parse.h"
#include "viz/learn/lesson/lesson.h"
#include "viz/learn/lesson/lesson_object.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxBeats = 64, kMaxRuns = 32, kMaxWords = 1200;

// Line of a byte, from 1.
std::size_t line_of(std::string_view text, std::size_t byte) {
  return 1 + static_cast<std::size_t>(std::count(
                 text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size())), '\n'));
}

Result<json> parse_text(std::string_view text, const std::string& file) {
  if (const std::string foreign = foreign_file(std::as_bytes(std::span(text)), file); !foreign.empty())
    return bad_input(fmt::format("{}: {}", file, foreign));
  if (text.size() > kMaxLessonBytes) return bad_input(phrase("{}: a lesson must not exceed 1 MiB", file));
  int depth = 0;
  const auto too_deep = [&depth](int, json::parse_event_t event, json&) {
    if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start) ++depth;
    if (event == json::parse_event_t::object_end || event == json::parse_event_t::array_end) --depth;
    return depth < 16;
  };
  try {
    json j = json::parse(text, too_deep, true);
    if (!j.is_object()) return bad_input(phrase("{}: a lesson must be a JSON object", file));
    return j;
  } catch (const json::parse_error& error) {
    return bad_input(phrase("{}, line {}: not valid JSON", file, line_of(text, error.byte)));
  } catch (const json::exception&) {
    return bad_input(phrase("{} contains a number that is out of range", file));
  }
}

Again read_again(const json& j, const std::string& where, LessonObject& parent) {
  LessonObject r(j, where);
  r.only({"if", "fresh_row", "at_once"});
  Again again{r.expression("if", false), r.flag("fresh_row"), r.flag("at_once")};
  parent.follow(r);
  return again;
}

LessonFigure read_figure_of(const json& j, const std::string& where, LessonObject& parent) {
  LessonObject r(j, where);
  r.only({"kind", "L", "D", "kernel", "wall"});
  const auto figure_kind = r.choice<FigureKind>("kind",
                                                {{"roofline", FigureKind::roofline},
                                                 {"occupancy", FigureKind::occupancy},
                                                 {"heartbeat", FigureKind::heartbeat},
                                                 {"levels", FigureKind::levels},
                                                 {"phases", FigureKind::phases},
                                                 {"lines", FigureKind::lines},
                                                 {"wall", FigureKind::wall}},
                                                true);
  constexpr std::int32_t kMost = 1 << 30;
  LessonFigure figure{
      figure_kind, r.whole("L", 1, kMost, true), r.whole("D", 1, kMost, true), r.text("kernel", 64, true),
      r.choice<WallPart>(
          "wall", {{"roads", WallPart::roads}, {"areas", WallPart::areas}, {"unwritten", WallPart::unwritten}}, false)};
  if (r.has("wall") && figure_kind != FigureKind::wall)
    r.refuse("wall", tr("only a figure of kind 'wall' can have this field"));
  parent.follow(r);
  return figure;
}

// Empty where none is named.
std::string session_named(LessonObject& r) {
  std::string name = r.text("session", 64, false);
  if (!name.empty() && !is_plain_name(name))
    r.refuse("session", tr("expected the name of a bundled session, such as h100"));
  return name;
}

StepFocus read_focus(LessonObject& r, const char* key) {
  StepFocus focus;
  for (const std::string& what : r.texts(key)) {
    if (const auto part = step_part_named(what))
      focus.parts.set(static_cast<std::size_t>(*part));
    else
      r.refuse(key, phrase("unknown part '{}'; use {}", what, fmt::join(kStepPartNames, ", ")));
  }
  return focus;
}

Beat read_beat(const json& j, std::size_t index, LessonObject& parent) {
  std::string name = phrase("number {}", index + 1);
  if (j.is_object() && j.contains("id") && j["id"].is_string()) name = "'" + j["id"].get<std::string>() + "'";
  const std::string where = phrase("{}, beat {}", parent.where(), name);
  LessonObject r(j, where);
  r.only({"id", "run", "at", "reveal", "reveal_run", "row", "select", "chart", "look", "reveal_look", "holds", "veil",
          "hide", "session", "figure", "reveal_figure", "ask", "again", "replaces"});
  Beat beat;
  beat.id = r.text("id", 64, true);
  if (!is_plain_name(beat.id)) r.refuse("id", tr("expected a name of lower-case letters, digits, - and _"));
  if (r.has("run")) beat.run = r.text("run", 64, true);
  beat.at = r.text("at", 64, true);
  beat.reveal = r.text("reveal", 64, false);
  beat.reveal_run = r.text("reveal_run", 64, false);
  if (!beat.reveal_run.empty() && (beat.reveal.empty() || beat.reveal == kFirstWrong))
    r.refuse("reveal_run", tr("'reveal' must name a place in this run"));
  beat.row = r.whole("row", 0, 1 << 20, false);
  beat.select = r.text("select", 64, false);
  beat.chart = r.text("chart", 32, false);
  beat.replaces = r.text("replaces", 128, false);
  beat.holds = r.texts("holds");
  beat.look = read_focus(r, "look");
  beat.reveal_look = read_focus(r, "reveal_look");
  for (const std::string& what : r.texts("veil")) {
    if (what == "traffic")
      beat.hide_traffic = true;
    else if (what == "map")
      beat.hide_map = true;
    else if (what == "figure")
      beat.hide_figure = true;
    else
      r.refuse("veil", phrase("unknown view '{}'; use traffic, map or figure", what));
  }
  for (const std::string& what : r.texts("hide")) {
    if (what == "traffic")
      beat.keep_traffic = true;
    else if (what == "map")
      beat.keep_map = true;
    else
      r.refuse("hide", phrase("unknown view '{}'; use traffic or map", what));
  }
  beat.session = session_named(r);
  if (r.has("figure")) beat.figure = read_figure_of(r.object("figure"), where + ", figure", r);
  if (r.has("reveal_figure")) {
    beat.reveal_figure = read_figure_of(r.object("reveal_figure"), where + ", reveal_figure", r);
    if (!beat.figure || !r.has("ask"))
      r.refuse("reveal_figure", tr("only a question with a figure can have this field"));
  }
  if (r.has("ask")) beat.ask = read_ask(r.object("ask"), where + ", ask", r);
  if (r.has("again")) beat.again = read_again(r.object("again"), where + ", again", r);
  const bool among_lines = beat.ask && beat.ask->kind == AskKind::click && beat.ask->among == ClickAmong::lines;
  if (among_lines && (!beat.figure || beat.figure->kind != FigureKind::lines))
    r.refuse("ask", tr("a choice of lines needs a figure of kind 'lines'"));
  parent.follow(r);
  return beat;
}

using Texts = std::map<std::string, std::string, std::less<>>;

Texts read_texts(LessonObject& r, const char* key) {
  Texts texts;
  for (const auto& [name, value] : r.object(key).items()) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty() ||
        value.get_ref<const std::string&>().size() > kMaxWords) {
      r.refuse(fmt::format("{}.{}", key, name), phrase("expected text of at most {} bytes", kMaxWords));
    } else {
      texts.emplace(name, value.get<std::string>());
    }
  }
  return texts;
}

// What expressions name already.
constexpr std::string_view kTaken[] = {"row", "you", "keys", "step", "B", "Hq", "Lq", "Lk", "D", "Dv", "Br", "Bc"};

std::map<std::string, double, std::less<>> read_assumptions(LessonObject& r) {
  std::map<std::string, double, std::less<>> all;
  for (const auto& [name, value] : r.object("assumptions").items()) {
    const std::string field = "assumptions." + name;
    const bool letters = !name.empty() && name.size() <= 32 && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    });
    if (!letters || std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken))
      r.refuse(field, tr("expected an unused name of letters and _"));
    else if (!value.is_number() || !std::isfinite(value.get<double>()))
      r.refuse(field, tr("expected a number"));
    else
      all.emplace(name, value.get<double>());
  }
  return all;
}

void read_version(LessonObject& r, const json& j) {
  const bool whole = j.contains("version") && j["version"].is_number_integer();
  if (!whole) return r.refuse("version", tr("it is missing"));
  if (j["version"].get<double>() != kLessonVersion)
    r.refuse("version", phrase("unsupported lesson version; use {}", kLessonVersion));
}

// What gives way must have been said before: by a beat of this lesson before this one, or by a lesson that it needs.
void check_replaced(LessonObject& r, const Lesson& lesson) {
  std::set<std::string, std::less<>> said;  // beats so far that have taught something
  for (const Beat& beat : lesson.beats) {
    const std::size_t dot = beat.replaces.find('.');
    const std::string of = beat.replaces.substr(0, dot), name = dot == of.npos ? "" : beat.replaces.substr(dot + 1);
    const bool needed = std::find(lesson.needs.begin(), lesson.needs.end(), of) != lesson.needs.end();
    const bool here = of == lesson.id && said.contains(name);
    if (!beat.replaces.empty() && !here && !(needed && is_plain_name(name)))
      return r.refuse("", phrase("beat '{}', field 'replaces': '{}' must be LESSON.BEAT, an earlier teaching beat of "
                                 "this lesson or of a lesson that it needs",
                                 beat.id, beat.replaces));
    if (lesson.has_text(text_key(beat, "learned"))) said.insert(beat.id);
  }
}

// Ids once each, texts for every use, uses for every text.
void check_names(LessonObject& r, const Lesson& lesson) {
  std::set<std::string_view> seen;
  for (const Beat& beat : lesson.beats) {
    if (!seen.insert(beat.id).second) r.refuse("beats", phrase("two beats are named '{}'", beat.id));
    if (!lesson.runs.contains(beat.run))
      return r.refuse("", phrase("beat '{}', field 'run': unknown run '{}'", beat.id, beat.run));
  }
  std::set<std::string, std::less<>> used;
  for (const TextUse& use : text_uses(lesson)) {
    used.insert(use.key);
    if (!use.must || lesson.has_text(use.key)) continue;
    const std::string of = use.beat.empty() ? "" : phrase("beat '{}', ", use.beat);
    return r.refuse("", phrase("{}field '{}': unknown text '{}'", of, use.field, use.key));
  }
  for (const auto& [key, words] : lesson.text) {
    if (!used.contains(key)) return r.refuse("text", phrase("unused text '{}'; remove it", key));
  }
}

// The exercises and the page of a lesson's own file, or of the one beside it.
void read_exercises(LessonObject& r, Lesson& lesson) {
  const json& exercises = r.list("exercises", kMaxExercises);
  for (std::size_t n = 0; n < exercises.size(); ++n)
    lesson.beats.push_back(read_exercise(exercises[n], n, lesson.beats.front(), r));
  if (r.has("page")) lesson.page = read_figure_plan(r.object("page"), r.where() + ", page", r);
}

Result<Lesson> read_whole(std::string_view text, const std::string& file) {
  const auto parsed = parse_text(text, file);
  if (!parsed) return tl::unexpected(parsed.error());
  LessonObject r(*parsed, file);
  read_version(r, *parsed);
  r.only({"version", "id", "number", "part", "map", "minutes", "needs", "unlocks", "door", "runs", "assumptions",
          "session", "beats", "exercises", "page", "text"});
  Lesson lesson;
  lesson.file = file;
  lesson.id = r.text("id", 64, true);
  if (!is_plain_name(lesson.id)) r.refuse("id", tr("expected a name of lower-case letters, digits, - and _"));
  lesson.number = r.text("number", 8, false);
  lesson.part = r.text("part", 64, false);
  lesson.minutes = r.whole("minutes", 1, 240, true);
  if (r.has("map")) {
    LessonObject place(r.object("map"), file + ", map");
    place.only({"x", "y"});
    lesson.map_x = place.whole("x", 1, 99, true);
    lesson.map_y = place.whole("y", 1, 99, true);
    r.follow(place);
  }
  lesson.needs = r.texts("needs");
  lesson.unlocks = r.texts("unlocks");
  lesson.door = r.text("door", 64, false);
  lesson.runs = read_texts(r, "runs");
  if (lesson.runs.empty()) r.refuse("runs", tr("expected at least one run"));
  if (lesson.runs.size() > kMaxRuns) r.refuse("runs", phrase("expected at most {}", kMaxRuns));
  lesson.assumptions = read_assumptions(r);
  lesson.session = session_named(r);
  lesson.text = read_texts(r, "text");
  const json& beats = r.list("beats", kMaxBeats);
  if (beats.empty()) r.refuse("beats", tr("expected at least one beat"));
  for (std::size_t n = 0; n < beats.size(); ++n) lesson.beats.push_back(read_beat(beats[n], n, r));
  if (!beats.empty()) read_exercises(r, lesson);
  if (r.result()) check_names(r, lesson);
  if (r.result()) check_replaced(r, lesson);
  if (auto good = r.result(); !good) return tl::unexpected(good.error());
  return lesson;
}

Result<void> read_beside(std::string_view text, const std::string& file, Lesson& lesson) {
  const auto parsed = parse_text(text, file);
  if (!parsed) return tl::unexpected(parsed.error());
  LessonObject r(*parsed, file);
  read_version(r, *parsed);
  r.only({"version", "id", "exercises", "page", "text"});
  if (const std::string id = r.text("id", 64, true); !id.empty() && id != lesson.id)
    r.refuse("id", phrase("it belongs to the lesson '{}', not '{}'", id, lesson.id));
  if (lesson.told() != lesson.beats.size() || lesson.page)
    r.refuse("exercises", phrase("{} has its own exercises", lesson.file));
  read_exercises(r, lesson);
  for (auto& [key, words] : read_texts(r, "text"))
    if (!lesson.text.emplace(key, words).second) r.refuse("text." + key, tr("the lesson already has this text"));
  if (r.result()) check_names(r, lesson);
  return r.result();
}

Result<void> read_translation(std::string_view text, const std::string& file, Lesson& lesson) {
  const auto parsed = parse_text(text, file);
  if (!parsed) return tl::unexpected(parsed.error());
  LessonObject r(*parsed, file);
  read_version(r, *parsed);
  r.only({"version", "id", "language", "text"});
  const std::string id = r.text("id", 64, true), language = r.text("language", 32, true);
  if (!id.empty() && id != lesson.id) r.refuse("id", phrase("it belongs to the lesson '{}', not '{}'", id, lesson.id));
  Texts texts = read_texts(r, "text");
  for (const auto& [key, words] : texts) {
    if (!lesson.has_text(key)) r.refuse("text." + key, tr("the lesson has no such text"));
  }
  if (auto good = r.result(); !good) return good;
  lesson.translations[language] = std::move(texts);
  return ok();
}

}  // namespace

Result<Lesson> parse_lesson(std::string_view text, const std::string& file) {
  return reading(file, [&] { return read_whole(text, file); });
}

Result<void> add_exercises(std::string_view text, const std::string& file, Lesson& lesson) {
  return reading(file, [&] { return read_beside(text, file, lesson); });
}

Result<void> add_translation(std::string_view text, const std::string& file, Lesson& lesson) {
  return reading(file, [&] { return read_translation(text, file, lesson); });
}

}  // namespace attn
