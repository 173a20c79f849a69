// What the two that hold a recording against fp64 (exact.cpp, replay_gpu.cpp) take for granted of fp32, and how they
// and the bitwise replay find what is loaded and name a place.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/recording/recording.h"

namespace attn {

inline constexpr double kUnitRoundoff = 0x1p-24;  // of fp32
inline constexpr double kTanhfError = 0x1p-21;    // relative, of CUDA's tanhf; tanh_f32 is closer (math.h)

// Relative bound of n roundings one after the other, (1 + unit)^n - 1 at most (Higham, Accuracy and Stability of
// Numerical Algorithms, section 3.1); +inf where it says nothing.
inline double gamma_of(double n, double unit = kUnitRoundoff) {
  return n * unit < 0.5 ? n * unit / (1 - n * unit) : std::numeric_limits<double>::infinity();
}

// The tensor of the inputs that a slot's tiles are cut from, and the first row of an event's head in it (with pages 0).
// None for a slot that is not cut from Q, K or V: what an order brings besides.
struct RowsOfInput {
  const Array* tensor;
  std::int64_t first;
};
std::optional<RowsOfInput> rows_of_input(const Recording& rec, const EventId& id, Slot slot);
// The rows that a version of that slot is cut from, widened; through the page table where there is one.
std::optional<std::vector<float>> tile_of_input(const Recording& rec, const EventId& id, Slot slot, VersionId tile);

// "step 7 (b 0, h 0, i 0, j 1, max): m_new [2, 0] was recorded as 1.5, replay gives 1.25": steps count from 1.
std::string difference_words(EventIndex event, const EventId& id, Slot slot, std::int32_t row, std::int32_t col,
                             float recorded, double replayed);

}  // namespace attn
