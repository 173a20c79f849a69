// What a block is made of: its warpgroups, and where things lie in its shared memory.
#pragma once

#include "kernels/gpu/hopper_args.h"
#include "kernels/gpu/hopper_barrier.cuh"
#include "kernels/gpu/hopper_layout.h"

namespace attn::gpu {

constexpr int kConsumers = ATTN_THREADS / 128 - 1;
// Columns of V and O that are multiplied: products come in eights, and what lies beyond Dv comes as zeros.
constexpr int kDv = (ATTN_DV + 7) / 8 * 8;
constexpr HopperLayout kAt = hopper_layout(ATTN_D, ATTN_DV, ATTN_BC, kConsumers, ATTN_STAGES, ATTN_QUERIES);
// Which ideas are in: each step has those before it, but for 3 and 4, which 5 takes the place of.
//   1 one consumer, two slots   2 two consumers, a ring   3 their turns   4 overlap within (form 4)
//   5 three consumers that cover each other   6 P V of the first keys early (ATTN_SPLIT)   7 blocks that stay
//   8 last rows first, waves evened (the host)   9 half steps, tiles skipped by warpgroup   10 m moves past 2^8 only
//   11 exponentials before the maximum, and S in turns, in form 5 where P V is not divided
#ifndef ATTN_STEP
#define ATTN_STEP 11
#endif
constexpr bool kStays = ATTN_STEP >= 7, kLastFirst = ATTN_STEP >= 8, kSkips = ATTN_STEP >= 9, kLazy = ATTN_STEP >= 10;
constexpr bool kGuesses = ATTN_STEP >= 11 && ATTN_FORM != 4 && ATTN_SPLIT == 0;
constexpr bool kTurns = ATTN_STEP == 3 || (kGuesses && kConsumers > 1);
// A window: rows do not see the first keys. Without one that is no code: what a loop jumps over costs it all the same.
#ifndef ATTN_CUT_BEFORE
#define ATTN_CUT_BEFORE 1
#endif
constexpr bool kCutBefore = ATTN_CUT_BEFORE != 0;
// The rows that O leaves through are handed back while the next tile is at work, not before: there are others meanwhile.
constexpr bool kHandsBackLate = ATTN_LATE != 0 && ATTN_QUERIES == 2;
// O leaves in fp32, not in the type of Q, K and V.
#ifndef ATTN_SUMS_LEAVE
#define ATTN_SUMS_LEAVE 0
#endif
constexpr bool kSumsLeave = ATTN_SUMS_LEAVE != 0;
constexpr bool kOverlapped = ATTN_FORM == 4;  // else 5
constexpr int kPanel = ATTN_BC * 128;         // bytes of a K or V panel

constexpr int kHalf = ATTN_HALF > 0 ? ATTN_HALF : ATTN_BC;  // keys of the shorter step

// Where dynamic shared memory begins: a constant, or every loop would ask for it anew.
constexpr unsigned kBase = 1024;

// Where things lie there.
struct Shared {
  static constexpr unsigned query_full = kBase, query_empty = query_full + 8 * kConsumers * ATTN_QUERIES;
  static constexpr unsigned full = query_empty + 8 * kConsumers * ATTN_QUERIES, empty = full + 8 * ATTN_STAGES;
  static constexpr unsigned board_full = empty + 8 * ATTN_STAGES, board_empty = board_full + 16;
  static constexpr unsigned board = board_empty + 16;
  static constexpr unsigned queries = kBase + kAt.queries_at, ring = kBase + kAt.ring_at;
  static_assert(board + 8 <= queries, "barriers and board take 1 KiB");

  __device__ __forceinline__ static void make_barriers() {
    for (int i = 0; i < kConsumers * ATTN_QUERIES; ++i) {
      barrier_init(query_full + 8 * i, 1);
      barrier_init(query_empty + 8 * i, 4);  // the warps of its consumer
    }
    for (int i = 0; i < ATTN_STAGES; ++i) {
      barrier_init(full + 8 * i, 1);
      barrier_init(empty + 8 * i, kConsumers);
    }
    for (int i = 0; i < 2; ++i) {
      barrier_init(board_full + 8 * i, 1);
      barrier_init(board_empty + 8 * i, 4 * kConsumers + 1);  // all their warps, and who fetches Q
    }
    barriers_are_made();
  }
};

}  // namespace attn::gpu
