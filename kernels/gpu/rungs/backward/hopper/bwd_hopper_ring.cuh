// What is multiplied, on its way to shared memory: K and V once; then Q_i and dO_i of one query tile after the other,
// each with its rows' LSE and delta, into the next stage of a ring.
#pragma once

#include "kernels/gpu/bwd_hopper_block.cuh"
#include "kernels/gpu/bwd_hopper_bulk.cuh"
#include "kernels/gpu/bwd_hopper_work.cuh"
#include "kernels/gpu/hopper_barrier.cuh"
#include "kernels/gpu/hopper_map.cuh"

namespace attn::gpu {

// By one thread of the warpgroup that copies. What is needed first is asked for first.
__device__ __forceinline__ void feed(const Args& a, const BackwardArgs& g, const Work& work, const HopperMap& q,
                                     const HopperMap& k, const HopperMap& v, const HopperMap& d_o) {
  // @phase K
  if (work.turns == 0) return;
  const int key = static_cast<int>(work.c0), of_keys = work.kv - work.batch * static_cast<int>(a.Hkv);
  barrier_expect(kKFull, kBwd.key_bytes);
#pragma unroll
  for (int i = 0; i < kBwd.panels; ++i) load_keys(kK + i * kKeyPanel, k, kKFull, 64 * i, key, of_keys, work.batch);
  int64 head = work.head, r0 = work.start_r0;
  int parity = 1;
  unsigned stage = 0;
#pragma unroll 1
  for (int64 turn = 0; turn < work.turns; ++turn) {
    const unsigned to = kRing + stage * kStage, rows = kRows + stage * kRowsStage;
    const unsigned q_full = kQFull + 8 * stage, o_full = kOFull + 8 * stage;
    const int row = static_cast<int>(r0), of_batch = static_cast<int>(head - work.batch * a.Hq);
    barrier_wait(kEmpty + 8 * stage, parity);
    // @phase Q
    if (turn == 0) wait_for_launch_before();  // LSE and delta
    barrier_expect(q_full, kBwd.query_bytes + kBwdQueries * 4);
#pragma unroll
    for (int i = 0; i < kBwd.panels; ++i) load_keys(to + i * kQueryPanel, q, q_full, 64 * i, row, of_batch, work.batch);
    copy_bytes(rows, g.shift + head * g.rows + r0, kBwdQueries * 4, q_full);
    // @phase V
    if (turn == 0) {
      barrier_expect(kVFull, kBwd.key_bytes);
#pragma unroll
      for (int i = 0; i < kBwd.panels; ++i) load_keys(kV + i * kKeyPanel, v, kVFull, 64 * i, key, of_keys, work.batch);
    }
    // @phase dO
    barrier_expect(o_full, kBwd.query_bytes + kBwdQueries * 4);
#pragma unroll
    for (int i = 0; i < kBwd.panels; ++i)
      load_keys(to + kBwd.query_bytes + i * kQueryPanel, d_o, o_full, 64 * i, row, of_batch, work.batch);
    copy_bytes(rows + kBwdQueries * 4, g.delta + head * g.rows + r0, kBwdQueries * 4, o_full);
    work.next(head, r0);
    stage ^= 1;
    if (stage == 0) parity ^= 1;
  }
}

// Rows of K and V beyond the batch's length may hold anything, and 0 times NaN is NaN: zero this warpgroup's.
__device__ __forceinline__ void zero_beyond(const Work& work, int mine) {
  // @phase K
  const int from = near(work.length - work.c0) - 64 * mine;  // the first of the 64 rows that is beyond
  if (from >= 64) return;
  barrier_wait(kVFull, 0);
#pragma unroll 1
  for (int i = threadIdx.x % 128; i < 64 * 8 * kBwd.panels; i += 128) {
    const int row = i / 8 % 64;
    const unsigned to = kK + i / 512 * kKeyPanel + (64 * mine + row) * 128 + i % 8 * 16;
    if (row < from) continue;
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(0) : "memory");
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(to + kBwd.key_bytes), "r"(0) : "memory");
  }
  publish_stores();
  warpgroup_sync(mine);
}

}  // namespace attn::gpu
