// What a block is made of: its tile, where things lie in its shared memory, and its barriers. Two warpgroups compute, a
// third copies.
#pragma once

#include "kernels/gpu/device.cuh"
#include "kernels/gpu/flash_bwd_hopper_layout.h"
#include "kernels/gpu/hopper_barrier.cuh"
#include "kernels/gpu/hopper_block.cuh"

namespace attn::gpu {

constexpr FlashBwdHopperLayout kBwd = flash_bwd_hopper_layout(ATTN_D);
constexpr int kBwdQueries = kBwd.queries, kBwdBuffers = kBwd.buffers;
constexpr int kKeyPanel = kBwdKeys * 128, kQueryPanel = kBwdQueries * 128;  // bytes
// Products take 16 numbers of their sum at a time: of a row, of a tile's queries, of its keys.
constexpr int kSteps = ATTN_D / 16, kQuerySteps = kBwdQueries / 16, kKeySteps = kBwdKeys / 16;
constexpr bool kByRows = kBwdQueries == 128;      // each warpgroup computes 64 rows of dQ, else half its columns
constexpr int kOwn = 64;                          // columns of dQ of a warpgroup
constexpr int kScores = kBwdQueries / 2;          // of a tile in a thread
constexpr bool kValuesFirst = kBwdQueries == 64;  // dV starts before dS is computed: registers allow it

// Barriers, 8 bytes each. Full: what is waited for has come; empty: all have read it, and the next may come.
constexpr unsigned kKFull = kBase, kVFull = kBase + 8;
constexpr unsigned kQFull = kBase + 16, kOFull = kQFull + 8 * kBwdStages, kEmpty = kOFull + 8 * kBwdStages;
constexpr unsigned kDsFull = kEmpty + 8 * kBwdStages, kDsEmpty = kDsFull + 8 * kBwdBuffers;
constexpr unsigned kSumsFull = kDsEmpty + 8 * kBwdBuffers, kSumsEmpty = kSumsFull + 32;
// Where things lie, and how far the next one is of those of which there are several.
constexpr unsigned kK = kBase + kBwd.k_at, kV = kBase + kBwd.v_at, kRing = kBase + kBwd.ring_at;
constexpr unsigned kRows = kBase + kBwd.rows_at, kDs = kBase + kBwd.d_s_at, kDq = kBase + kBwd.d_q_at;
constexpr unsigned kStage = 2 * kBwd.query_bytes, kRowsStage = 2 * kBwdQueries * 4;
constexpr unsigned kDsBytes = kBwdKeys * kBwdQueries * 2;

__device__ __forceinline__ void make_barriers() {
  barrier_init(kKFull, 1);
  barrier_init(kVFull, 1);
  for (int i = 0; i < kBwdStages; ++i) {
    barrier_init(kQFull + 8 * i, 1);
    barrier_init(kOFull + 8 * i, 1);
    barrier_init(kEmpty + 8 * i, 8);  // all warps that compute
  }
  for (int i = 0; i < kBwdBuffers; ++i) {
    barrier_init(kDsFull + 8 * i, 8);
    barrier_init(kDsEmpty + 8 * i, 8);
  }
  for (int i = 0; i < 4; ++i) barrier_init(kSumsFull + 8 * i, 4);  // the warps of its warpgroup
  for (int i = 0; i < 2; ++i) barrier_init(kSumsEmpty + 8 * i, 1);
  barriers_are_made();
}

// Both warpgroups that compute.
__device__ __forceinline__ void computers_sync() {
  // @phase barrier
  asm volatile("bar.sync 5, 256;" ::: "memory");
}

}  // namespace attn::gpu
