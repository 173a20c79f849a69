// What a beat needs before it is shown: made at once, or where there are no threads by a task in pieces, while what was
// shown stays.
#include <chrono>
#include <memory>
#include <utility>

#include "app/control/learn/lessons.h"
#include "kernels/base/text.h"

namespace attn {

BeatNumbers Lessons::numbers_of(const Beat& beat, std::optional<std::uint64_t> seed) const {
  BeatNumbers numbers;
  numbers.seed = seed;
  if (!seed && beat.again && beat.again->at_once) numbers.fresh_after = progress_.repeats;
  numbers.exercise_seed = state().view.learn.exercise_seed;
  numbers.language = state().preferences.language;
  return numbers;
}

Result<void> Lessons::show_now(std::optional<std::uint64_t> seed) {
  BeatRuns runs(*lesson(), beat(), numbers_of(beat(), seed), sessions_);
  while (!runs.step()) {
  }
  return show(runs);
}

void Lessons::show_soon(std::size_t beat) {
  prepare(*open_, beat, numbers_of(lesson()->beats[beat], std::nullopt), [this, beat](BeatRuns& runs) {
    beat_ = beat;
    if (auto shown = show(runs); !shown)
      context_.log.error(phrase("{}, beat '{}', {}", lesson()->file, lesson()->beats[beat].id, shown.error().message));
  });
}

void Lessons::prepare(std::size_t lesson, std::size_t beat, BeatNumbers numbers, Prepared then) {
  no_longer_prepare();
  const Lesson& of = lessons_[lesson];
  const auto runs = std::make_shared<BeatRuns>(of, of.beats[beat], std::move(numbers), sessions_);
  // What takes less than a slice is shown in this very frame.
  const auto until = std::chrono::steady_clock::now() + Tasks::kSlicesTogether;
  bool all = false;
  do {
    all = runs->step();
  } while (!all && (!context_.tasks.between_frames() || std::chrono::steady_clock::now() < until));
  if (!context_.tasks.between_frames() || (all && std::chrono::steady_clock::now() < until)) return then(*runs);
  preparing_ = {++preparings_, std::nullopt, 0};
  if (open_ == lesson && !asked_) preparing_->beat = beat;
  const auto work = [runs, all](TaskHandle& task) -> Result<bool> {
    return all || task.stop().stop_requested() || runs->step();
  };
  const auto made = [this, runs, then = std::move(then), number = preparings_](const Result<void>& done) {
    if (!preparing_ || preparing_->number != number) return;  // something else was asked for meanwhile
    const Preparing was = *std::exchange(preparing_, std::nullopt);
    if (!done) return context_.log.error(done.error().message);
    // Whoever went elsewhere meanwhile stays there.
    if (!was.beat || state().view.workspace == Workspace::learn) then(*runs);
    follow();
    if (context_.model.learn == nullptr && !asked_) refresh();
  };
  preparing_->task = context_.tasks.start_sliced(tr("Opening the chapter"), work, made);
}

void Lessons::no_longer_prepare() {
  if (!preparing_) return;
  context_.tasks.cancel(preparing_->task);
  if (!preparing_->beat) asked_.reset();
  preparing_.reset();
}

}  // namespace attn
