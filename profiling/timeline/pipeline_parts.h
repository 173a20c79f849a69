// One recorded block as a pipeline: what each slot of its ring held when, when each product was in flight, who was
// waited for, and the block's critical path.
//
// What cannot be observed is never told as busy: a copy is in flight from the moment it is asked for until the first
// reader finds it there, a product from the first instruction that issues it, which may run before all are committed,
// until its wait returns. Both are "at most".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiling/timeline/lane_states.h"

namespace attn {

// A consumer's reading of a slot: from when it found it landed until it let it go. That it let it go is no event: it
// lies between `earliest` and `to`, two stamps around it, and before the slot was asked for again.
struct SlotReader {
  std::size_t lane = 0;  // of the timeline
  std::int64_t from = 0, to = 0, earliest = 0;
};

// A slot of the ring with one tile: asked -> landed (at the latest) -> read -> free.
struct SlotUse {
  std::int32_t slot = 0, tile = 0;
  bool of_v = false;
  std::int64_t asked = 0, landed = 0, freed = 0;
  std::vector<SlotReader> readers;
};

// A product of a consumer, in flight at most from issue to return.
struct Product {
  std::size_t lane = 0;
  bool of_o = false;  // P V, else Q K^T
  std::int32_t tile = 0;
  std::int64_t issued = 0, committed = 0, returned = 0;
};

// A stretch of the critical path. Stretches follow each other without gap from the block's start to its end.
// `work` is a consumer's own instructions.
enum class PathOf : std::uint8_t { work, tensor_cores, copy_k, copy_v, copy_q, hand_over, producer_work };
// In the order in which they are told.
inline constexpr std::array kPathKinds{PathOf::tensor_cores, PathOf::work,          PathOf::copy_k,   PathOf::copy_v,
                                       PathOf::copy_q,       PathOf::producer_work, PathOf::hand_over};
struct PathStretch {
  std::int64_t from = 0, to = 0;
  PathOf of = PathOf::work;
  std::size_t lane = 0;  // that works, issued, or asked
  std::int32_t tag = 0, tile = -1;
};

struct Pipeline {
  std::int32_t block = 0;  // row of the timeline's blocks
  std::int64_t start = 0, end = 0;
  std::vector<std::size_t> lanes;                    // producers, then consumers
  std::vector<std::vector<LaneInterval>> intervals;  // parallel to `lanes`
  std::vector<SlotUse> slots;                        // in the order in which they were asked for
  std::vector<Product> products;                     // by lane, in order
  bool k_until_p = false;                            // K is let go behind P: S may have to be multiplied once more
  std::vector<PathStretch> path;  // from start to end; empty: its lanes do not say who waits for whom
  std::int64_t length() const { return end - start; }
  // Stretches of one kind, summed.
  std::int64_t on_path(PathOf of) const;
};

}  // namespace attn
