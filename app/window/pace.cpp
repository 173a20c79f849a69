#include "app/window/pace.h"

#include <algorithm>

namespace attn {
namespace {

constexpr double kMotionCost = 6;  // so many times its processor time a frame of motion lasts: room for the step itself

}  // namespace

// A display that waits for its own beat holds the frames back itself: ours is a little faster, so that none is missed.
Pace::Pace(double rate) : frame_(0.95 / (rate >= 20 && rate <= 1000 ? rate : 60)) {}

void Pace::input() {
  next_ = std::min(next_, last_ + frame_);
  settling_ = 2;
}

void Pace::news(bool tasks_run) {
  next_ = std::min(next_, last_ + (tasks_run ? kTaskSeconds : frame_));
  if (!tasks_run) settling_ = std::max(settling_, 1);
}

void Pace::at(double when) {
  next_ = std::min(next_, std::max(when, last_ + frame_));
}

void Pace::drawn(double begun, double ended, bool differs) {
  last_ = begun;
  next_ = kNever;
  if (differs) settling_ = std::max(settling_, 1);
  if (settling_ == 0) return;
  --settling_;
  // What goes on by itself takes half of a core at most where drawing is slow.
  next_ = begun + std::max(frame_, 2 * (ended - begun));
}

void Pace::moving(double begun, double cpu) {
  next_ = begun + std::max(frame_, kMotionCost * cpu);
  settling_ = std::max(settling_, 1);
}

}  // namespace attn
