// The time zone of the C library for as long as one test needs another.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include <time.h>

namespace attn {

// TZ is `zone` until it dies, and then what it was before.
class TimeZoneOfTest {
 public:
  explicit TimeZoneOfTest(const char* zone) {
    if (const char* before = std::getenv("TZ")) before_ = before;
    setenv("TZ", zone, 1);
    tzset();
  }
  TimeZoneOfTest(const TimeZoneOfTest&) = delete;
  TimeZoneOfTest& operator=(const TimeZoneOfTest&) = delete;
  ~TimeZoneOfTest() {
    if (before_)
      setenv("TZ", before_->c_str(), 1);
    else
      unsetenv("TZ");
    tzset();
  }

 private:
  std::optional<std::string> before_;
};

}  // namespace attn
