// The sums of dQ, which all key tiles add to, from their zeros to device memory. begin_sums(): the launch of the rows.
// start_sums(), leave_sums(): the warpgroups that compute. send_sums(): two threads of the one that copies.
//
// In device memory a tile of queries is two halves, one a warpgroup. In a half, eight columns after the other, lie four
// numbers of each thread, as they leave the product; flash_bwd_hopper_dq puts them in their places.
#pragma once

#include "kernels/gpu/backward.cuh"
#include "kernels/gpu/backward_ahead.cuh"
#include "kernels/gpu/backward_turns.cuh"
#include "kernels/gpu/bwd_hopper_block.cuh"
#include "kernels/gpu/bwd_hopper_bulk.cuh"
#include "kernels/gpu/bwd_hopper_work.cuh"
#include "kernels/gpu/hopper_barrier.cuh"
#include "kernels/gpu/hopper_descriptor.cuh"
#include "kernels/gpu/hopper_map.cuh"
#include "kernels/gpu/hopper_wgmma.cuh"

namespace attn::gpu {

// Zeros for a tile of queries: in the first heads (backward_ahead.cuh), or with `deterministic` where no block stores.
// And the numbers by which those that add know when they may.
__device__ __forceinline__ void begin_sums(const Args& a, const BackwardArgs& g, const QueryTile& tile) {
#if ATTN_DETERMINISTIC
  const KeyTile first{static_cast<unsigned>(tile.head / (a.Hq / a.Hkv)),
                      static_cast<unsigned>(first_key(a, tile.r0) / kBwdKeys)};
  const bool zeroes = !Work(a, first).takes(tile.r0);  // nobody adds to them: the first one stores
  if (threadIdx.x == 0) {
    if (tile.n == 0) g.turns[0] = 0;
    g.turns[1 + blockIdx.x] = 0;
  }
#else
  const unsigned tiles = static_cast<unsigned>((a.Lk + kBwdKeys - 1) / kBwdKeys);
  const int64 group = a.Hq / a.Hkv, kv = tile.head / group;
  const bool zeroes = kv < heads_ahead(tiles);
  if (threadIdx.x == 0 && tile.r0 == 0 && tile.head == kv * group) g.turns[1 + kv] = zeroes ? tiles : 0;
#endif
  float4* d_q = reinterpret_cast<float4*>(g.d_q_sum + tile.n * ATTN_D);
#pragma unroll 4
  for (int i = threadIdx.x; zeroes && i < kBwdQueries * ATTN_D / 4; i += 2 * kBwdQueries)
    d_q[i] = make_float4(0, 0, 0, 0);
}

// d = a b + (keep ? d : 0), the sum running down the rows of both: dS and K as they stand.
#define ATTN_MULTIPLY_TURNED(N)                                                                             \
  __device__ __forceinline__ void multiply_turned(float(&d)[N / 2], Descriptor a, Descriptor b, int keep) { \
    int x = 0, y = 0, z = 0;                                                                                \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; wgmma.mma_async.sync.aligned.m64n" #N               \
                 "k16.f32." ATTN_HALF_TYPE "." ATTN_HALF_TYPE " {" ATTN_D_##N "}, %0, %1, p, 1, 1, 1, 1; }" \
                 : "+l"(a), "+l"(b), "+r"(keep), "+r"(x), "+r"(y), "+r"(z), ATTN_O_##N);                    \
  }
ATTN_MULTIPLY_TURNED(64)

// dQ of the n-th tile, this warpgroup's part: once both have left their dS.
__device__ __forceinline__ void start_sums(int n, int mine, float (&d_q)[kOwn / 2]) {
  // @phase dQ
  const int buffer = n % kBwdBuffers;
  const unsigned d_s = kDs + buffer * kDsBytes + (kByRows ? mine * kKeyPanel : 0);
  const unsigned k = kK + (kByRows ? 0 : mine * kKeyPanel);
  barrier_wait(kDsFull + 8 * buffer, n / kBwdBuffers & 1);
  products_begin();
#pragma unroll
  for (int c = 0; c < kKeySteps; ++c)
    multiply_turned(d_q, further(by_columns(d_s, kBwdKeys), c * 2048), further(by_columns(k, kBwdKeys), c * 2048),
                    c != 0);
  products_end();
}
__device__ __forceinline__ void leave_sums(int n, int mine, const float (&d_q)[kOwn / 2]) {
  // @phase dQ
  if (kBwdBuffers < 4) barrier_arrive_if(threadIdx.x % 32 == 0, kDsEmpty + 8 * (n % kBwdBuffers));
  barrier_wait(kSumsEmpty + 8 * mine, (n & 1) ^ 1);  // the rows before have left
  const unsigned to = kDq + mine * kBwd.sums_bytes / 2 + threadIdx.x % 128 * 16;
#pragma unroll
  for (int t = 0; t < kOwn / 8; ++t)
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to + t * 2048), "f"(d_q[4 * t]), "f"(d_q[4 * t + 1]),
                 "f"(d_q[4 * t + 2]), "f"(d_q[4 * t + 3])
                 : "memory");
  publish_stores();
  __syncwarp();
  barrier_arrive_if(threadIdx.x % 32 == 0, kSumsFull + 8 * mine + (kDown ? 16 * (n & 1) : 0));
}

#if ATTN_DETERMINISTIC
// Each sends every second tile: while its sums are still on their way, the other sends.
__device__ __forceinline__ void send_sums(const Args& a, const BackwardArgs& g, const Work& work, unsigned, int of) {
  // @phase dQ
  int64 head = work.head, r0 = work.start_r0;
  int parity = 0;
  if (of == 1 && work.turns > 0) work.next(head, r0);
#pragma unroll 1
  for (int64 turn = of; turn < work.turns; turn += 2) {
    const int64 tile = (head * g.rows + r0) / kBwdQueries;
    const int before = key_tiles_before(a, r0, work.tile, kBwdKeys);
    await_turn(g.turns + 1 + tile, before);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      barrier_wait(kSumsFull + 16 * of + 8 * half, parity);
      float* const to = g.d_q_sum + tile * (kBwdQueries * ATTN_D) + half * (kBwdQueries * ATTN_D / 2);
      const unsigned from = kDq + half * kBwd.sums_bytes / 2;
      if (before == 0)
        store_bytes(to, from, kBwd.sums_bytes / 2);
      else
        add_bytes(to, from, kBwd.sums_bytes / 2);
      commit_stores();
    }
    stores_have_read();
    barrier_arrive(kSumsEmpty);
    barrier_arrive(kSumsEmpty + 8);
    stores_are_done();
    tell_added(g.turns + 1 + tile);
    work.next(head, r0);
    work.next(head, r0);
    parity ^= 1;
  }
}
#else
// Each sends what one warpgroup computed.
__device__ __forceinline__ void send_sums(const Args&, const BackwardArgs& g, const Work& work, unsigned tiles,
                                          int of) {
  // @phase dQ
  wait_for_launch_before();
  int64 head = work.head, r0 = work.start_r0;
  int parity = 0;
  if (work.turns == 0) return;
  await_zeros(g, work.kv, tiles);
#pragma unroll 1
  for (int64 turn = 0; turn < work.turns; ++turn) {
    const int64 tile = (head * g.rows + r0) / kBwdQueries;
    barrier_wait(kSumsFull + 8 * of, parity);
    add_bytes(g.d_q_sum + tile * (kBwdQueries * ATTN_D) + of * (kBwdQueries * ATTN_D / 2),
              kDq + of * kBwd.sums_bytes / 2, kBwd.sums_bytes / 2);
    commit_stores();
    stores_have_read();
    barrier_arrive(kSumsEmpty + 8 * of);
    work.next(head, r0);
    parity ^= 1;
  }
  stores_are_done();
}
#endif

}  // namespace attn::gpu
