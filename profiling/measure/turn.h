// One side's turn where ours and a peer's are timed in turns: both run as many repeats, after the same warm-up, with
// the same pause before each.
#pragma once

#include <cstdint>

namespace attn {

struct Turn {
  std::int32_t warm_up = 3;  // runs whose times are not kept
  std::int32_t repeats = 10;
  std::int32_t pause_us = 500;  // the device rests before each repeat: no side finds it hotter than the other
  // GPU, cold L2: how often other data are read before a repeat. Once would empty the cache; while it is read again the
  // host launches the call, so that no repeat waits for the host (torch takes up to 0.3 ms after a rest).
  std::int32_t flushes = 8;
};

// One of a side's two turns, where a run takes `us` microseconds: both together keep within `seconds` and have about
// `min_repeats`.
Turn turn_for(double us, double seconds, std::int32_t min_repeats);

}  // namespace attn
