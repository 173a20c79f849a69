// What time it is: the clock that everything measures with, and the time of day in words.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace attn {

// Seconds from some fixed moment; tests put their own in its place.
using Clock = std::function<double()>;
// Of this machine: never set back, unlike the time of day.
double steady_seconds();

// The time of day in words, by a format of strftime: "%Y-%m-%dT%H:%M:%SZ". At most 63 bytes; longer is empty.
enum class TimeZone { utc, local };
std::string time_text(std::chrono::system_clock::time_point when, TimeZone zone, const char* format);

}  // namespace attn
