// A heartbeat made up: `launches` launches of 100 us with 10 us between them, a sample every 2 us.
#pragma once

#include <cmath>
#include <string>

#include "profiling/figures/heartbeat.h"

namespace attn::profile_test {

// Issue beats every 20 us round 50, fma reads 40, xu has no room in the pass, sms falls to 50 in the last 10 us of each
// launch, the clock runs at 1700 MHz; the others read 5.
inline Heartbeat made_beats(int launches = 1, const std::string& kernel = "flash_simt") {
  constexpr double kLength = 100, kBetween = 10, kPi = 3.14159265358979;
  Heartbeat h;
  h.method = "CUPTI 13.0, PM sampling";
  h.chip = "GH100";
  h.interval = 2000;
  h.kernel_us = 100;
  h.seconds = 0.5;
  for (int n = 0; n < launches; ++n) {
    const double start = n * (kLength + kBetween);
    h.launches.push_back({launches == 1 ? kernel : kernel + "_" + std::to_string(n), start, start + kLength});
  }
  for (const BeatRow& row : beat_table()) {
    BeatCounter c{std::string(row.id), std::string(row.names.front()), "", {}};
    if (row.id == "xu") c = {"xu", "", "GH100 does not read it in the same pass as the others", {}};
    h.counters.push_back(std::move(c));
  }
  for (double us = -2; us < h.length_us() + 2; us += 2) {
    h.samples.push_back({static_cast<std::int64_t>(us * 1000), static_cast<std::int64_t>(us * 1000 + 2000)});
    const double in = std::fmod(us, kLength + kBetween);
    const bool busy = us >= 0 && in < kLength;
    for (BeatCounter& c : h.counters) {
      if (!c.why_not.empty()) continue;
      double value = busy ? 5 : 0;
      if (c.id == "issue" && busy) value = 50 + 30 * std::sin(2 * kPi * us / 20);
      if (c.id == "fma" && busy) value = 40;
      if (c.id == "sms" && busy) value = in < kLength - 10 ? 100 : 50;
      if (c.id == "clock") value = 1700;
      c.values.push_back(three_digits(value));
    }
  }
  return h;
}

}  // namespace attn::profile_test
