// How fast the run plays.
#pragma once

#include <string>

namespace attn {

// Faster and slower go through these, in steps a second.
constexpr float kSpeeds[] = {0.5F, 1, 2, 4, 8, 16, 32};
float next_speed(float now, int direction);
std::string speed_text(float steps_per_second);  // "2/s"

}  // namespace attn
