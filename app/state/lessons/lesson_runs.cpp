#include "app/state/lessons/lesson_runs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/state/inputs/document_inputs.h"
#include "app/state/string/state_string.h"
#include "app/system/assets.h"
#include "kernels/base/bytes.h"
#include "kernels/base/hash.h"
#include "kernels/base/text.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/museum/right_run.h"

namespace attn {

namespace {

Result<State> state_of(const std::string& text, const std::string& run, std::optional<std::uint64_t> seed) {
  auto parsed = parse_state_string(text);
  if (!parsed) return bad_input(phrase("run '{}': {}", run, parsed.error().message));
  if (!parsed->files.empty()) return bad_input(phrase("run '{}': a lesson cannot read files", run));
  if (seed) {
    parsed->state.document.preset.clear();
    parsed->state.document.inputs.seed = *seed;
  }
  return std::move(parsed->state);
}

// Nobody reads it: LessonRuns::held_back() says so.
tl::unexpected<Error> not_yet() {
  return fail(ErrorKind::cannot_run, "not yet");
}

}  // namespace

Result<State> lesson_state(const Lesson& lesson, const std::string& run, std::optional<std::uint64_t> seed) {
  const auto it = lesson.runs.find(run);
  if (it == lesson.runs.end()) return bad_input(phrase("unknown run '{}'", run));
  return state_of(it->second, run, seed);
}

Result<State> beat_view(const Lesson& lesson, const Beat& beat) {
  std::string text = lesson.runs.at(beat.run);
  if (!beat.select.empty()) text += ",select=" + beat.select;
  if (!beat.chart.empty()) text += ",chart=" + beat.chart;
  return state_of(text, beat.run, std::nullopt);
}

void LessonRuns::allow_one() {
  left_ = 1;
  held_back_ = false;
}

bool LessonRuns::may_make() {
  if (!left_) return true;
  if (*left_ > 0) {
    --*left_;
    return true;
  }
  held_back_ = true;
  return false;
}

Result<std::shared_ptr<const Recording>> LessonRuns::recording(std::string_view name) {
  if (const auto it = made_.find(name); it != made_.end()) return it->second;
  if (!may_make()) return not_yet();
  const std::string run(name);
  const auto make = [&]() -> Result<std::shared_ptr<const Recording>> {
    const auto state = lesson_state(lesson_, run, seed_);
    if (!state) return tl::unexpected(state.error());
    if (recorded_ >= kMaxLessonRecordings)
      return bad_input(
          phrase("run '{}': the runs before it already take {}; use smaller runs", run, format_bytes(recorded_)));
    auto made = record_document(state->document, {});
    if (!made) return bad_input(phrase("run '{}': {}", run, made.error().message));
    recorded_ += made->bytes();
    return std::make_shared<const Recording>(*std::move(made));
  };
  return made_.emplace(run, make()).first->second;
}

Result<std::optional<FirstWrong>> LessonRuns::first_wrong(std::string_view name) {
  if (const auto it = examined_.find(name); it != examined_.end()) return it->second;
  const auto made = recording(name);
  if (!made) return tl::unexpected(made.error());
  const Recording& rec = **made;
  auto right = right_.find(name);
  if (!rec.gpu && right == right_.end()) {
    if (!may_make()) return not_yet();
    right = right_.emplace(std::string(name), right_run(rec, {})).first;
  }
  if (!may_make()) return not_yet();
  const auto find = [&]() -> Result<std::optional<FirstWrong>> {
    if (rec.gpu) return find_first_wrong_of_gpu(rec, {});
    if (!right->second) return tl::unexpected(right->second.error());
    return find_first_wrong(rec, *right->second, {});
  };
  return examined_.emplace(std::string(name), find()).first->second;
}

Result<const Session*> LessonRuns::session(std::string_view name) {
  if (name.empty()) name = lesson_.session;
  if (name.empty()) return bad_input(tr("the lesson does not name a session"));
  auto it = sessions_->find(name);
  if (it == sessions_->end()) {
    const auto file = find_asset(fmt::format("sessions/{}.attn", name));
    auto session = file ? read_session(*file) : Result<Session>(tl::unexpected(file.error()));
    it = sessions_->emplace(std::string(name), std::move(session)).first;
  }
  if (!it->second) return tl::unexpected(it->second.error());
  return &*it->second;
}

std::vector<std::string> sessions_missing(const Lesson& lesson, const LessonSessions& known) {
  std::vector<std::string> names;
  const auto look = [&](const std::string& name) {
    const bool there = known.contains(name) || std::ranges::find(names, name) != names.end();
    if (!name.empty() && !there) names.push_back(name);
  };
  look(lesson.session);
  for (const Beat& beat : lesson.beats) look(beat.session);
  return names;
}

LessonFacts LessonRuns::as_function() {
  LessonFacts facts;
  facts.assumptions = &lesson_.assumptions;
  facts.session = [this](std::string_view name) { return session(name); };
  facts.recording_of = [this](std::string_view name) -> Result<const Recording*> {
    const auto made = recording(name);
    if (!made) return tl::unexpected(made.error());
    return made->get();
  };
  facts.first_wrong_of = [this](std::string_view name) -> Result<double> {
    const auto found = first_wrong(name);
    if (!found) return tl::unexpected(found.error());
    return *found ? static_cast<double>((*found)->event + 1) : 0.0;
  };
  return facts;
}

Result<std::int32_t> row_of_beat(const Lesson& lesson, const Beat& beat, std::optional<std::uint64_t> seed) {
  if (!seed || !beat.again || !beat.again->fresh_row) return beat.row;
  const auto state = lesson_state(lesson, beat.run, seed);
  if (!state) return tl::unexpected(state.error());
  return static_cast<std::int32_t>(*seed % static_cast<std::uint64_t>(state->document.problem.Lq));
}

namespace {

bool is_near(const LessonAsk& ask, double a, double b) {
  return ask.kind == AskKind::num ? ask.within.holds(a, b) || ask.within.holds(b, a) : a == b;
}

}  // namespace

Result<void> check_distinct_answers(const LessonAsk& ask, const Question& q) {
  if (ask.kind == AskKind::pick) {
    const auto right = std::count(q.right.begin(), q.right.end(), true);
    if (right != 1) return bad_input(phrase("field 'options': {} options are true instead of one", right));
    return ok();
  }
  if (ask.kind == AskKind::tiles) return ok();
  if (std::isnan(q.truth)) return bad_input(tr("field 'value': the value is not a number"));
  for (std::size_t n = 0; n < q.wrong.size(); ++n) {
    if (is_near(ask, q.truth, q.wrong[n]))
      return bad_input(phrase("field 'wrong': '{}' gives {}, which counts as right", ask.wrong[n].value, q.wrong[n]));
    for (std::size_t other = 0; other < n; ++other) {
      if (is_near(ask, q.wrong[n], q.wrong[other]) && ask.wrong[n].text != ask.wrong[other].text)
        return bad_input(phrase("field 'wrong': '{}' and '{}' both give {}", ask.wrong[other].value, ask.wrong[n].value,
                                q.wrong[n]));
    }
  }
  return ok();
}

Result<bool> seed_passes(const Lesson& lesson, const Beat& beat, std::uint64_t seed,
                         const std::shared_ptr<LessonSessions>& sessions) {
  LessonRuns runs(lesson, seed, sessions);
  const auto row = row_of_beat(lesson, beat, seed);
  if (!row) return tl::unexpected(row.error());
  auto scope = scope_of(beat, *row, runs.as_function());
  if (!scope) return tl::unexpected(scope.error());
  if (!beat.again->condition.empty()) {
    const auto holds = evaluate_number(beat.again->condition, *scope);
    if (!holds) return bad_input(phrase("field 'again.if': {}", holds.error().message));
    if (*holds == 0) return false;
  }
  if (!beat.ask) return true;
  const auto question = question_of(beat, *scope);
  if (!question) return tl::unexpected(question.error());
  return check_distinct_answers(*beat.ask, *question).has_value();
}

FreshSeed::FreshSeed(const Lesson& lesson, const Beat& beat, std::uint64_t after,
                     std::shared_ptr<LessonSessions> sessions)
    : lesson_(lesson), beats_{&beat}, sessions_(std::move(sessions)) {
  // Apart from the presets' own seeds, and from those that another lesson begins with: their numbers were shown.
  constexpr std::uint64_t kOfPresets = 100;
  after += kOfPresets + std::stoul(short_hash_of(lesson.id).substr(0, 3), nullptr, 16);
  seed_ = after + 1;
  last_ = after + kSeedsTried;
  // Beats that begin with fresh numbers on one condition follow one row: what passes for one must pass for all.
  if (!beat.again->at_once) return;
  for (const Beat& other : lesson.beats) {
    const bool shares = &other != &beat && other.again && other.again->at_once && other.run == beat.run &&
                        other.again->condition == beat.again->condition;
    if (shares) beats_.push_back(&other);
  }
}

Result<bool> FreshSeed::step() {
  const auto passes = seed_passes(lesson_, *beats_[next_], seed_, sessions_);
  if (!passes) return tl::unexpected(passes.error());
  if (*passes) return ++next_ == beats_.size();
  next_ = 0;
  if (seed_ == last_) return bad_input(phrase("field 'again.if': none of the {} seeds passes", kSeedsTried));
  ++seed_;
  return false;
}

Result<std::uint64_t> fresh_seed(const Lesson& lesson, const Beat& beat, std::uint64_t after,
                                 const std::shared_ptr<LessonSessions>& sessions) {
  FreshSeed fresh(lesson, beat, after, sessions);
  while (true) {
    const auto found = fresh.step();
    if (!found) return tl::unexpected(found.error());
    if (*found) return fresh.seed();
  }
}

}  // namespace attn
