#include "viz/learn/lesson/lesson.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn {

std::string_view name_of(AskKind kind) {
  switch (kind) {
    case AskKind::num:
      return "num";
    case AskKind::pick:
      return "pick";
    case AskKind::click:
      return "click";
    case AskKind::tiles:
      return "tiles";
  }
  return "?";
}

bool Tolerance::holds(double truth, double answer) const {
  if (std::isnan(truth) || std::isnan(answer)) return false;
  if (!std::isfinite(truth)) return truth == answer;
  // Rounding of what the formula itself computes is no error of the learner's.
  const double room = std::max(absolute, relative * std::abs(truth)) + 1e-12 * std::abs(truth);
  if (decades > 0 && truth > 0) return answer > 0 && std::abs(std::log10(answer / truth)) <= decades;
  return std::abs(answer - truth) <= room;
}

std::string Tolerance::words() const {
  if (decades > 0) return tr("to a power of ten");
  if (relative > 0) return phrase("{:g} % off is close enough", std::round(relative * 1e6) / 1e4);
  if (absolute <= 0) return "exactly";
  // 0.00006, not 6e-05.
  constexpr int kDecimals = 9;
  std::string plain = fmt::format("{:.{}f}", absolute, kDecimals);
  plain.erase(plain.find_last_not_of('0') + 1);
  if (plain.ends_with('.')) plain.pop_back();
  return phrase("{} off is close enough", plain);
}

const Beat* Lesson::find(std::string_view beat_id) const {
  for (const Beat& beat : beats)
    if (beat.id == beat_id) return &beat;
  return nullptr;
}

std::size_t Lesson::told() const {
  return static_cast<std::size_t>(
      std::count_if(beats.begin(), beats.end(), [](const Beat& b) { return !b.exercise.has_value(); }));
}

const std::string& Lesson::words(const std::string& key, std::string_view language) const {
  static const std::string kNone;
  if (const auto other = translations.find(language); other != translations.end()) {
    if (const auto it = other->second.find(key); it != other->second.end()) return it->second;
  }
  const auto it = text.find(key);
  return it == text.end() ? kNone : it->second;
}

const std::string& run_of_answer(const Beat& beat) {
  return beat.reveal_run.empty() ? beat.run : beat.reveal_run;
}

std::string assumption_key(std::string_view name) {
  return fmt::format("assumed.{}", name);
}

std::string text_key(const Beat& beat, std::string_view part) {
  return fmt::format("{}.{}", beat.id, part);
}

std::string page_key(std::string_view part) {
  return fmt::format("page.{}", part);
}

namespace {

void add_figure_uses(const FigurePlan& plan, const std::string& prefix, const std::string& beat,
                     std::vector<TextUse>& uses) {
  const auto add = [&](const std::string& part, const char* field) {
    if (!part.empty()) uses.push_back({prefix + "." + part, beat, field, true, true});
  };
  add(plan.heads, "figure.heads");
  add(plan.caption, "figure.caption");
  for (const FigureRow& row : plan.rows) add(row.label, "figure.rows");
  for (const FigureRow& bar : plan.bars) add(bar.label, "figure.bars");
}

void add_ask_uses(const Beat& beat, std::vector<TextUse>& uses) {
  const auto add = [&](const std::string& part, const std::string& field, bool must, bool open) {
    uses.push_back({text_key(beat, part), beat.id, field, must, open});
  };
  const LessonAsk& ask = *beat.ask;
  add("hint", "ask.hint", false, true);
  add("right", "ask.right", beat.exercise.has_value(), false);  // the way
  add("wrong", "ask.wrong", false, true);
  if (ask.bar && !ask.bar->beside.empty()) add("beside", "ask.beside", true, true);
  for (std::size_t n = 0; n < ask.options.size(); ++n) {
    add(ask.options[n].text, fmt::format("ask.options[{}].text", n), true, true);
    if (!ask.options[n].wrong.empty()) add(ask.options[n].wrong, fmt::format("ask.options[{}].wrong", n), true, true);
  }
  for (std::size_t n = 0; n < ask.wrong.size(); ++n)
    add(ask.wrong[n].text, fmt::format("ask.wrong[{}].text", n), true, true);
}

}  // namespace

std::vector<TextUse> text_uses(const Lesson& lesson) {
  std::vector<TextUse> uses;
  uses.push_back({"title", "", "text", true, false});
  uses.push_back({"goal", "", "text", true, false});
  if (!lesson.door.empty()) uses.push_back({"door", "", "door", true, false});
  if (!lesson.part.empty()) uses.push_back({lesson.part, "", "part", true, false});
  for (const auto& [name, value] : lesson.assumptions)
    uses.push_back({assumption_key(name), "", "assumptions." + name, true, true});
  if (lesson.page) add_figure_uses(*lesson.page, "page", "", uses);
  for (const Beat& beat : lesson.beats) {
    uses.push_back({text_key(beat, "title"), beat.id, "title", true, true});
    uses.push_back({text_key(beat, "say"), beat.id, "say", true, true});
    uses.push_back({text_key(beat, "learned"), beat.id, "learned", false, false});
    uses.push_back({text_key(beat, "proof"), beat.id, "proof", false, false});
    if (beat.ask) add_ask_uses(beat, uses);
    if (beat.exercise) add_figure_uses(beat.exercise->figure, beat.id, beat.id, uses);
  }
  return uses;
}

}  // namespace attn
