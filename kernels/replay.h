// Recomputes a recording's phases from the operands it holds: the proof that the pictures are the kernel's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/recording.h"

namespace attn {

// First difference between a recorded version and its recomputation, or nothing.
struct ReplayDifference {
  EventIndex event = 0;
  Slot slot = Slot::s;
  std::int32_t row = 0, col = 0;  // in the tile
  float recorded = 0, replayed = 0;
  std::string words;
};

// Recomputes every phase of every event from its recorded operands with the kernel's own arithmetic, and the
// output and LSE from the recorded O, m, l. Equal bit for bit (NaN to NaN) on the machine that recorded it.
std::optional<ReplayDifference> replay(const Recording& rec);

// The same numbers in fp64 with a running error bound, for one query tile of one head (all its key tiles).
// |recorded - exact| <= bound for every finite element; how the bound is made stands in exact.cpp.
// `exact` and `bound` are laid out as the version they belong to.
struct ExactVersion {
  std::vector<double> exact;
  std::vector<double> bound;
};
class ExactTile {
 public:
  // Cost: that of the query tile's own computation. Kept by the caller, who asks again when (b,h,i) changes.
  // `accumulate`: the type whose rounding the bounds allow l and O; none = the one that the run accumulated in.
  // f32 asks what a run would have had to reach without the what-if of a narrower type.
  ExactTile(const Recording& rec, std::int32_t b, std::int32_t h, std::int32_t i,
            std::optional<DType> accumulate = std::nullopt);
  bool covers(std::int32_t b, std::int32_t h, std::int32_t i) const;
  // Null for a version of another query tile.
  const ExactVersion* find(VersionId v) const;

 private:
  std::int32_t b_, h_, i_;
  std::vector<std::pair<VersionId, ExactVersion>> versions_;  // sorted by id
};

}  // namespace attn
