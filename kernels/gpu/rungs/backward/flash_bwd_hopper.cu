// flash_bwd_hopper: the backward on Hopper's own hardware. f16 or bf16 in, sums in fp32, D = Dv = 64 or 128.
//
//   flash_bwd_hopper_rows   delta = rowsum(dO * O), LSE in base 2      a warpgroup 64 rows
//     the first heads' dQ = 0; those of the others are zeroed about a wave before their blocks begin (with
//     `deterministic`, the first block to come stores its sums in place of adding them)
//   flash_bwd_hopper_keys   for each tile of 128 keys (one block): one warpgroup copies, by TMA: K, V; then Q_i, dO_i
//     and sends dQ away; the two others compute, 64 keys each; for each query tile i that sees them:
//       S^T = K Q_i^T;  dP^T = V dO_i^T                                started together
//       P^T = exp(scale S^T - LSE)                                     in registers, under dP^T
//       dS^T = P^T (dP^T - delta)                                      in registers; and to shared memory
//       dV += P^T dO_i;  dK += dS^T Q_i                                P^T and dS^T from registers
//       dQ_i-1 = dS K, half of it each                                 dS of both from shared memory
//       dQ_i-1 is added up in device memory, by the copy engine        under the next tile
//     dK = scale dK
//   flash_bwd_hopper_dq     dQ = scale dQ, rounded
//
// The idea. S and dP are computed transposed, keys as rows: then P^T and dS^T leave the tensor cores as the left
// factors of dV and dK are wanted, in registers. Of what one warpgroup computes the other needs dS alone, for dQ sums
// over all 128 keys; wgmma reads it turned, as it stands. A warpgroup that starts a product waits until the tensor
// cores take it, so only the other one fills its gaps. Hence dQ is computed a tile late: nobody waits for the other's
// dS, and the exponentials of one run under the products of the other.
//
// New against the rung before (flash_bwd). Whole tiles by TMA, products that read shared memory themselves, and one
// bulk reduction of a tile of dQ in place of a thousand small ones. Sums of dQ that are zeroed while others compute
// (backward_ahead.cuh). Each launch starts while the one before ends.
//
// What limits it now. The registers: dK, dV, S, dP and dQ of a warpgroup take 224 of 240 a thread at D = 128, so a tile
// has 64 queries, and each product reads more shared memory than one of 128 would. At D = 64 it has 128.
//
// Where it stands. bwd_hopper_block.cuh: shared memory and barriers; _work: which keys and queries; _ring: what is
// copied, and when; _tile: the step of a query tile; _scores: from S to P, from dP to dS; _sums: dQ from its zeros to
// device memory; _epilogue: the way out of dK and dV. Here: the three launches, and the loop over query tiles.
#undef ATTN_MASKED
#define ATTN_MASKED 1  // one build for every mask and for none: before device.cuh
// hopper_block.cuh asks for these; they are flash_hopper's.
#define ATTN_QUERIES 1
#define ATTN_FORM 5
#define ATTN_LATE 0
#define ATTN_HALF 0
#define ATTN_PACK 1
#define ATTN_SPLIT 0
#include "kernels/gpu/backward.cuh"
#include "kernels/gpu/backward_ahead.cuh"
#include "kernels/gpu/bwd_hopper_block.cuh"
#include "kernels/gpu/bwd_hopper_epilogue.cuh"
#include "kernels/gpu/bwd_hopper_ring.cuh"
#include "kernels/gpu/bwd_hopper_sums.cuh"
#include "kernels/gpu/bwd_hopper_tile.cuh"
#include "kernels/gpu/bwd_hopper_work.cuh"
#include "kernels/gpu/hopper_barrier.cuh"
#include "kernels/gpu/hopper_map.cuh"
#include "kernels/gpu/hopper_wgmma.cuh"

namespace attn::gpu {

// delta is the diagonal of O dO^T, by the very products that make dP of V and dO.
extern "C" __global__ void __launch_bounds__(2 * kBwdQueries)
    flash_bwd_hopper_rows(const __grid_constant__ HopperMap q, const __grid_constant__ HopperMap k,
                          const __grid_constant__ HopperMap v, const __grid_constant__ HopperMap d_o,
                          const __grid_constant__ HopperMap o, const Args a, const BackwardArgs g) {
  // @phase delta
  extern __shared__ __align__(1024) unsigned char bytes[];
  if (shared_address(bytes) != kBase) return;
  constexpr unsigned kO = kBase + 1024, kDo = kO + kBwd.query_bytes;
  const QueryTile tile(g);
  const int batch = static_cast<int>(tile.head / a.Hq), of_batch = static_cast<int>(tile.head - batch * a.Hq);
  if (threadIdx.x == 0) {
    barrier_init(kBase, 1);
    barriers_are_made();
    barrier_expect(kBase, 2 * kBwd.query_bytes);
    for (int i = 0; i < kBwd.panels; ++i) {
      load_keys(kO + i * kQueryPanel, o, kBase, 64 * i, static_cast<int>(tile.r0), of_batch, batch);
      load_keys(kDo + i * kQueryPanel, d_o, kBase, 64 * i, static_cast<int>(tile.r0), of_batch, batch);
    }
  }
  // @phase dQ
  begin_sums(a, g, tile);
  let_next_launch_start();
  // @phase delta
  __syncthreads();
  barrier_wait(kBase, 0);
  const int own = __shfl_sync(~0u, threadIdx.x / 128, 0) * 64;  // the warpgroup's rows
  float s[32];
  products_begin();
#pragma unroll
  for (int i = 0; i < kSteps; ++i)
    multiply(s, further(by_rows(kO + own * 128), i / 4 * kQueryPanel + i % 4 * 32),
             further(by_rows(kDo + own * 128), i / 4 * kQueryPanel + i % 4 * 32), i != 0);
  products_end();
  wait_for_products<0>(s);
  // Row and column are the same in one lane of each four.
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int t = 0; t < 8; ++t) {
    const int h = t % 2;
    if (t / 2 != warp || lane % 4 != lane / 8) continue;
    keep_row(a, g, tile.n + own + 8 * t + lane / 4, lane / 4 % 2 == 0 ? s[4 * t + 2 * h] : s[4 * t + 2 * h + 1],
             kLog2E);
  }
}

// A warpgroup that computes: dK and dV of its 64 keys, and its part of dQ of each query tile.
__device__ __forceinline__ void compute(const Args& a, const BackwardArgs& g, const Work& work, int mine) {
  float d_k[ATTN_D / 2], d_v[ATTN_D / 2];
#pragma unroll
  for (int i = 0; i < ATTN_D / 2; ++i) d_k[i] = d_v[i] = 0;
  const Descriptor k = by_rows(kK + mine * 64 * 128), v = by_rows(kV + mine * 64 * 128);
  if (work.turns > 0) {
    // Rows from here on are counted from the tile's first key.
    const int start = near(work.start_r0 - work.c0), stop = near(work.end_r0 - work.c0);
    const int first = near(a.first_shift), last = near(a.last_shift), end = near(work.length - work.c0);
    const int turns = static_cast<int>(work.turns);
    barrier_wait(kKFull, 0);
    zero_beyond(work, mine);
    take_tile<true>(a.scale_log2, 0, start + first, start + last, end, mine, k, v, d_k, d_v);
    int r0 = start;
    // @phase loop
#pragma unroll 1
    for (int n = 1; n < turns; ++n) {
      r0 += static_cast<int>(kStride);
      if (r0 == stop) r0 = start;
      take_tile<false>(a.scale_log2, n, r0 + first, r0 + last, end, mine, k, v, d_k, d_v);
    }
    float d_q[kOwn / 2];
    start_sums(turns - 1, mine, d_q);
    wait_for_products<0>(d_q);
    leave_sums(turns - 1, mine, d_q);
  }
  computers_sync();  // nobody reads K any more
  store(static_cast<Element*>(g.d_k), kK, a, work, mine, a.scale, d_k);
  store(static_cast<Element*>(g.d_v), kV, a, work, mine, 1.0f, d_v);
}

extern "C" __global__ void __launch_bounds__(kBwdThreads, 1)
    flash_bwd_hopper_keys(const __grid_constant__ HopperMap q, const __grid_constant__ HopperMap k,
                          const __grid_constant__ HopperMap v, const __grid_constant__ HopperMap d_o,
                          const __grid_constant__ HopperMap o, const Args a, const BackwardArgs g) {
  // @phase setup
  extern __shared__ __align__(1024) unsigned char bytes[];
  if (shared_address(bytes) != kBase) return;
  const unsigned tiles = static_cast<unsigned>((a.Lk + kBwdKeys - 1) / kBwdKeys);
  let_next_launch_start();
  const KeyTile mine = own_keys(a, g, tiles, bytes);
  if (threadIdx.x == 0) make_barriers();
  __syncthreads();
  const Work work(a, mine);
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);  // a number of the warp, said so
  if (warpgroup == 2) {
    give_registers<kBwdProducerRegisters>();
    if (threadIdx.x == 256) feed(a, g, work, q, k, v, d_o);
    if (threadIdx.x == 288) send_sums(a, g, work, tiles, 0);
    if (threadIdx.x == 320) send_sums(a, g, work, tiles, 1);
#if !ATTN_DETERMINISTIC
    if (threadIdx.x >= 352) {
      // @phase dQ
      wait_for_launch_before();
      zero_ahead(a, g, mine.kv, mine.tile, tiles);
    }
#endif
  } else {
    take_registers<kBwdRegisters>();
    compute(a, g, work, warpgroup);
  }
}

__device__ __forceinline__ unsigned one_of(const unsigned (&x)[4], int n) {
  const unsigned low = n & 1 ? x[1] : x[0], high = n & 1 ? x[3] : x[2];
  return n & 2 ? high : low;
}

// Four times eight columns, of which each lane of four has two neighbours, of two rows. They exchange: each stores all
// eight of one.
extern "C" __global__ void __launch_bounds__(128)
    flash_bwd_hopper_dq(const __grid_constant__ HopperMap q, const __grid_constant__ HopperMap k,
                        const __grid_constant__ HopperMap v, const __grid_constant__ HopperMap d_o,
                        const __grid_constant__ HopperMap o, const Args a, const BackwardArgs g) {
  // @phase store
  wait_for_launch_before();
  constexpr int kParts = kOwn / 32;  // of half a tile, 32 columns each
  const int64 n = int64{blockIdx.x} / kParts;
  const int64 half = n % 2, row = n / 2 * kBwdQueries, head = row / g.rows;
  const int t = static_cast<int>(int64{blockIdx.x} % kParts) * 4, lane = threadIdx.x, own = lane % 4;
  const float4* from = reinterpret_cast<const float4*>(g.d_q_sum) + n * (kBwdQueries * ATTN_D / 8) + t * 128 + lane;
  unsigned x[2][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float4 sum = from[i * 128];
    x[0][i] = packed(sum.x * a.scale, sum.y * a.scale);
    x[1][i] = packed(sum.z * a.scale, sum.w * a.scale);
  }
  const int64 r = row - head * g.rows + (kByRows ? 64 * half : 0) + lane / 32 * 16 + lane % 32 / 4;
  const int64 d = (kByRows ? 0 : half * kOwn) + 8 * (t + own);
  Element* to = static_cast<Element*>(g.d_q) + (head * a.Lq + r) * ATTN_D + d;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    // From lane own ^ i comes what it has of these eight columns.
    unsigned y[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) y[i] = __shfl_xor_sync(~0u, one_of(x[h], own ^ i), i);
    const uint4 all{one_of(y, own), one_of(y, own ^ 1), one_of(y, own ^ 2), one_of(y, own ^ 3)};
    if (r + 8 * h < a.Lq) *reinterpret_cast<uint4*>(to + 8 * h * ATTN_D) = all;
  }
}

}  // namespace attn::gpu
