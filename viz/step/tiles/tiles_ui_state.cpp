#include "viz/step/tiles/tiles_ui_state.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "viz/draw/number_text.h"

namespace attn {

std::string at_rest(const std::string& typed, int room) {
  if (text_length(typed) <= room) return typed;
  char* end = nullptr;
  const double value = std::strtod(typed.c_str(), &end);
  const bool number = end == typed.c_str() + typed.size() && std::isfinite(value);
  for (int digits = kFullDigits; number && digits > 0; --digits) {
    std::string text = significant_text(value, digits);
    if (text_length(text) <= room) return text;
  }
  return typed;
}

void TilesUiState::follow(const std::shared_ptr<const Recording>& rec) {
  if (recording_ == rec) return;
  recording_ = rec;
  seen_.reset();
  hovered.reset();
  keyboard.reset();
  editing.reset();
  rest();
}

double motion_seconds(bool playing, double steps_per_second) {
  constexpr double kSeconds = 0.36, kShortest = 0.15, kShare = 0.8;  // of the time that play shows a step
  if (!playing) return kSeconds;
  const double room = kShare / steps_per_second;
  return room < kShortest ? 0 : std::min(kSeconds, room);  // faster, and play would never come to rest
}

void TilesUiState::rest() {
  moves_ = false;
  before.reset();
  flying.clear();
}

float TilesUiState::motion(EventIndex e, double takes, double now) {
  shown_ = true;
  if (seen_ != e) {
    moves_ = takes > 0 && seen_ && e == *seen_ + 1;
    moves_since_ = now;
    takes_ = takes;
    seen_ = e;
    before.reset();
  }
  if (!moves_ || takes <= 0 || now - moves_since_ >= takes_) {
    moves_ = false;
    before.reset();
    return 1;
  }
  return static_cast<float>(std::max(now - moves_since_, 0.0) / takes_);
}

}  // namespace attn
