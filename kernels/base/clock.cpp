#include "kernels/base/clock.h"

#include <array>
#include <ctime>

#include <time.h>

namespace attn {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// localtime_r and strftime rather than fmt's chrono formatting: what that takes differs between its versions.
std::string time_text(std::chrono::system_clock::time_point when, TimeZone zone, const char* format) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(when));
  std::tm parts{};
  if ((zone == TimeZone::utc ? gmtime_r(&seconds, &parts) : localtime_r(&seconds, &parts)) == nullptr) return {};
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

}  // namespace attn
