// One figure of two measurements: how it changed, and whether that is more than the noise of the two. Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "profiling/figures/measurement.h"
#include "profiling/figures/metrics.h"

namespace attn {

// exact: compiled, planned or counted from shapes, so that every difference is one. beyond, within: of what hangs on
// the time, by the 95 % intervals of the two medians. unknown: counted or read once, or too few repeats for an
// interval.
enum class Noise : std::uint8_t { exact, beyond, within, unknown };

struct FigureChange {
  std::string text;                                // "0.023×", "same"; empty where one of them is missing
  bool up = false, better = false, worse = false;  // both false where it is neither, the same or within the noise
  Noise noise = Noise::unknown;
  std::string noise_words;  // "the intervals of the two medians overlap: no difference is shown"
};

FigureChange change_of(const MetricRow& metric, const Measurement& mine, const Measurement& other);

}  // namespace attn
