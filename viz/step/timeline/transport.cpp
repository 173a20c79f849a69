#include "viz/step/timeline/transport.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace attn {

float next_speed(float now, int direction) {
  if (direction > 0) {
    const float* faster = std::upper_bound(std::begin(kSpeeds), std::end(kSpeeds), now);
    return faster == std::end(kSpeeds) ? now : *faster;
  }
  const float* slower = std::lower_bound(std::begin(kSpeeds), std::end(kSpeeds), now);
  return slower == std::begin(kSpeeds) ? now : *(slower - 1);
}

std::string speed_text(float steps_per_second) {
  return fmt::format("{:.3g}/s", steps_per_second);
}

}  // namespace attn
