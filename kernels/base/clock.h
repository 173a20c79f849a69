// What time it is.
#pragma once

#include <chrono>
#include <string>

namespace attn {

// The time of day in words, by a format of strftime: "%Y-%m-%dT%H:%M:%SZ". At most 63 bytes; longer is empty.
enum class TimeZone { utc, local };
std::string time_text(std::chrono::system_clock::time_point when, TimeZone zone, const char* format);

}  // namespace attn
