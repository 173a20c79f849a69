#include "viz/step/tiles/tiles_ui_state.h"

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
}

float TilesUiState::arrival(EventIndex e, bool allowed, double now) {
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
