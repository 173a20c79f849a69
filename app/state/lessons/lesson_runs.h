// The runs of a lesson: its state strings as documents and their recordings, with the lesson's own numbers or with
// those of another seed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/judge/found.h"
#include "kernels/recording/recording.h"
#include "profiling/session/session.h"
#include "viz/learn/beat.h"
#include "viz/learn/lesson/lesson.h"
#include "viz/state/state.h"

namespace attn {

// The state that a run of a lesson stands for. A lesson brings no files of its own.
Result<State> lesson_state(const Lesson& lesson, const std::string& run, std::optional<std::uint64_t> seed);

// The same with what the beat pins and charts.
Result<State> beat_view(const Lesson& lesson, const Beat& beat);

// The runs of a lesson together have no more than the last of them brings beyond this: a short file may ask for many.
constexpr std::uint64_t kMaxLessonRecordings = 64ULL << 20;

// Bundled sessions by their names, each read when it is first asked for, or why it cannot be. Beats share them.
using LessonSessions = std::map<std::string, Result<Session>, std::less<>>;
// Those that a lesson speaks of and `known` lacks.
std::vector<std::string> sessions_missing(const Lesson& lesson, const LessonSessions& known);

// The recordings of one lesson and seed, each made when it is first asked for.
class LessonRuns {
 public:
  LessonRuns(const Lesson& lesson, std::optional<std::uint64_t> seed,
             std::shared_ptr<LessonSessions> sessions = std::make_shared<LessonSessions>())
      : lesson_(lesson), seed_(seed), sessions_(std::move(sessions)) {}
  // The error names the run and why there is none.
  Result<std::shared_ptr<const Recording>> recording(std::string_view name);
  // From then on at most one run more is made, or a search through one: an error stands for all else that is new. To
  // get them all in pieces, allow one and ask for all until none was held back.
  void allow_one();
  void allow_all() { left_.reset(); }
  bool held_back() const { return held_back_; }
  // Where the run first goes wrong; none where it does not.
  Result<std::optional<FirstWrong>> first_wrong(std::string_view name);
  // The bundled session of that name; of none the one that the lesson names.
  Result<const Session*> session(std::string_view name);
  LessonFacts as_function();

 private:
  const Lesson& lesson_;
  std::optional<std::uint64_t> seed_;
  // Whether something new may be made.
  bool may_make();

  std::optional<int> left_;  // that may be made; none: all
  bool held_back_ = false;
  std::uint64_t recorded_ = 0;  // bytes
  std::map<std::string, Result<std::shared_ptr<const Recording>>, std::less<>> made_;
  std::map<std::string, Result<Recording>, std::less<>> right_;  // of those that are searched for a wrong step
  std::map<std::string, Result<std::optional<FirstWrong>>, std::less<>> examined_;
  std::shared_ptr<LessonSessions> sessions_;
};

// The row that a beat follows on the numbers of a seed.
Result<std::int32_t> row_of_beat(const Lesson& lesson, const Beat& beat, std::optional<std::uint64_t> seed);

// Seeds above this one are tried, so many of them.
constexpr std::uint64_t kSeedsTried = 200;
// Whether a beat may ask on the numbers of this seed: its condition holds, its question has one answer and no usual
// mistake comes to the same. The error says what does not.
Result<bool> seed_passes(const Lesson& lesson, const Beat& beat, std::uint64_t seed,
                         const std::shared_ptr<LessonSessions>& sessions = std::make_shared<LessonSessions>());
// The first seed that passes after those of the presets, of other lessons' first questions and `after` more: sought in
// pieces, or at once by fresh_seed().
class FreshSeed {
 public:
  FreshSeed(const Lesson& lesson, const Beat& beat, std::uint64_t after, std::shared_ptr<LessonSessions> sessions);
  // Tries the next seed, or that seed on the next of the beats that share it. Whether seed() passes.
  Result<bool> step();
  std::uint64_t seed() const { return seed_; }

 private:
  const Lesson& lesson_;
  std::vector<const Beat*> beats_;  // the one that asks first
  std::shared_ptr<LessonSessions> sessions_;
  std::uint64_t seed_, last_;
  std::size_t next_ = 0;  // of beats_
};
Result<std::uint64_t> fresh_seed(const Lesson& lesson, const Beat& beat, std::uint64_t after,
                                 const std::shared_ptr<LessonSessions>& sessions = std::make_shared<LessonSessions>());

// No usual mistake is taken for the truth, none for another, and of a choice exactly one is right.
Result<void> check_distinct_answers(const LessonAsk& ask, const Question& question);

}  // namespace attn
