#include "profiling/measure/turn.h"

#include <algorithm>

namespace attn {

Turn turn_for(double us, double seconds, std::int32_t min_repeats) {
  constexpr std::int32_t kWarmUp = 3, kMaxRepeats = 100;
  Turn turn;
  turn.warm_up = kWarmUp;
  const double each = std::max(us, 1.0) + 2 * turn.pause_us;  // the rest, and about as long for the flush
  const double wanted = seconds * 1e6 / 2 / each;
  constexpr double kSlowUs = 1e5;  // naive takes seconds: warm after one run, and far from any peer whatever its n
  const std::int32_t least = us > kSlowUs ? 1 : (min_repeats + 1) / 2;
  turn.repeats =
      std::clamp(static_cast<std::int32_t>(std::min(wanted, 1e6)), std::min(least, kMaxRepeats), kMaxRepeats);
  if (us > kSlowUs) turn.warm_up = 1;
  return turn;
}

}  // namespace attn
