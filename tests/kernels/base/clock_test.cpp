#include "kernels/base/clock.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/kernels/time_zone_of_test.h"

namespace attn {
namespace {

constexpr std::chrono::system_clock::time_point kMoment{
    std::chrono::seconds{1'700'000'000}};  // 2023-11-14 22:13:20 UTC

TEST(TimeText, OfUtcIsTheSameEverywhere) {
  EXPECT_EQ(time_text(kMoment, TimeZone::utc, "%Y-%m-%dT%H:%M:%SZ"), "2023-11-14T22:13:20Z");
}

TEST(TimeText, ThePartOfASecondIsDropped) {
  EXPECT_EQ(time_text(kMoment + std::chrono::milliseconds(999), TimeZone::utc, "%H:%M:%S"), "22:13:20");
}

TEST(TimeText, OfHereFollowsTheZone) {
  const TimeZoneOfTest zone("XXX-2:30");  // two and a half hours east of UTC
  EXPECT_EQ(time_text(kMoment, TimeZone::local, "%Y%m%d-%H%M%S"), "20231115-004320");
}

}  // namespace
}  // namespace attn
