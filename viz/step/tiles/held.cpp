#include "viz/step/tiles/held.h"

namespace attn {

void TilesHeld::follow(const std::shared_ptr<const Recording>& rec) {
  if (recording_ == rec) return;
  recording_ = rec;
  seen_.reset();
  hovered.reset();
  keyboard.reset();
  editing.reset();
}

float TilesHeld::arrival(EventIndex e, bool allowed, double now) {
  constexpr double kSeconds = 0.15;
  if (seen_ != e) {
    moves_ = allowed && seen_ && e == *seen_ + 1;
    moves_since_ = now;
    seen_ = e;
  }
  if (!moves_ || !allowed || now - moves_since_ >= kSeconds) {
    moves_ = false;
    return 1;
  }
  // Fast at first, then settling.
  const auto rest = static_cast<float>(1 - (now - moves_since_) / kSeconds);
  return 1 - rest * rest * rest;
}

}  // namespace attn
