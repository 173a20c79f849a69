// The parts of one batch merged by the blocks that have them, with no second launch: a cluster has all parts of its
// rows, and its blocks read one another's shared memory.
//
// All are merged in the parts' order, so every run gives the same bits. A thread has four columns, and the threads of a
// warp columns that follow one another: a read of another block's memory is then one of many bytes.
#pragma once

#include "kernels/gpu/splitkv_sums.cuh"

namespace attn::gpu {

#if __CUDA_ARCH__ >= 900

constexpr int kQuads = kAt.dv / 4;  // of a row: four columns each
constexpr int kMostBlocks = 8;      // of a cluster

// (m, l) of a row in base 2, and four columns of O.
struct Quad {
  float m = minus_infinity(), l = 0;
  float4 o = {0, 0, 0, 0};
};

// N parts that come together, in their order.
template <int N>
__device__ inline Quad merged(const Quad (&parts)[N]) {
  // @phase m
  Quad all;
#pragma unroll
  for (const Quad& x : parts) all.m = fmaxf(all.m, x.m);
    // @phase O
#pragma unroll
  for (const Quad& x : parts) {
    const float by = weight(x.m, all.m, Exp2());
    all.l = fmaf(by, x.l, all.l);
    all.o.x = fmaf(by, x.o.x, all.o.x);
    all.o.y = fmaf(by, x.o.y, all.o.y);
    all.o.z = fmaf(by, x.o.z, all.o.z);
    all.o.w = fmaf(by, x.o.w, all.o.w);
  }
  return all;
}

// Where (m, l) and O of a block's warps lie merged: nothing else is read or written there any more.
constexpr int kMergedAt = kAt.o_in_ring ? kAt.rings_at : kAt.o_at;
__device__ inline float2* merged_sums(unsigned char* shared) {
  return reinterpret_cast<float2*>(shared + kAt.q_at);
}

// The warps' of this block.
__device__ inline void merge_warps(unsigned char* shared, int rows) {
  // @phase barrier
  __syncthreads();
  const float2* const sums = sums_of(shared, 0);
  auto* const o = reinterpret_cast<float*>(shared + kMergedAt);
  constexpr int kStep = (kAt.o_in_ring ? kAt.ring_bytes : ATTN_BR * kAt.o_row * 4) / 4;  // from warp to warp
#pragma unroll 1
  for (int n = threadIdx.x; n < rows * kQuads; n += ATTN_THREADS) {
    // @phase O
    const int row = n / kQuads, at = o_at(row, n % kQuads * 4);
    Quad parts[kAt.warps];
#pragma unroll
    for (int w = 0; w < kAt.warps; ++w) {
      const float2 sum = sums[w * ATTN_BR + row];
      parts[w] = {sum.x, sum.y, *reinterpret_cast<const float4*>(o + w * kStep + at)};
    }
    const Quad all = merged(parts);
    // @phase store
    *reinterpret_cast<float4*>(o + at) = all.o;
    if (n % kQuads == 0) merged_sums(shared)[row] = make_float2(all.m, all.l);
  }
}

// What the blocks of the cluster have.
__device__ inline Quad of_blocks(unsigned base, int blocks, int row, int quad) {
  // @phase O
  Quad parts[kMostBlocks];
#pragma unroll
  for (int b = 0; b < kMostBlocks; ++b) {
    parts[b] = Quad();
    if (b >= blocks) continue;
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(base), "r"(b));
    asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
                 : "=f"(parts[b].m), "=f"(parts[b].l)
                 : "r"(there + kAt.q_at + row * 8)
                 : "memory");
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(parts[b].o.x), "=f"(parts[b].o.y), "=f"(parts[b].o.z), "=f"(parts[b].o.w)
                 : "r"(there + kMergedAt + o_at(row, 4 * quad) * 4)
                 : "memory");
  }
  return merged(parts);
}

__device__ inline void store_quad(const OutRow& to, int quad, const Quad& q) {
  // @phase normalise
  const bool none = q.l == 0.0f;
  const float o[4] = {q.o.x, q.o.y, q.o.z, q.o.w};
  // @phase store
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (4 * quad + i < ATTN_DV) to.out[4 * quad + i] = narrow(none ? 0.0f : o[i] / q.l);
  if (quad == 0) *to.lse = none ? minus_infinity() : (q.m + log2f(q.l)) * kLn2;
}

// For all threads of all blocks, once they have handed over. Each block merges some of the rows' columns.
__device__ inline void merge_in_cluster(const SplitArgs& a, int tile, int kv, unsigned char* shared) {
  const int row0 = tile * ATTN_BR, rows = min(ATTN_BR, a.rows - row0), all = rows * kQuads;
  merge_warps(shared, rows);
  // @phase barrier
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  // @phase loop
  const int blocks = static_cast<int>(gridDim.x), share = (all + blocks - 1) / blocks;
  const int begin = static_cast<int>(blockIdx.x) * share, end = min(all, begin + share);
  const unsigned base = shared_address(shared);
#pragma unroll 1
  for (int n = begin + static_cast<int>(threadIdx.x); n < end; n += ATTN_THREADS) {
    const int row = n / kQuads, quad = n % kQuads;
    store_quad(OutRow(a, 0, kv, row0 + row), quad, of_blocks(base, blocks, row, quad));
  }
  // @phase barrier
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#endif

}  // namespace attn::gpu
