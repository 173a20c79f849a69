// The way out of dK and dV.
#pragma once

#include "kernels/gpu/backward.cuh"
#include "kernels/gpu/bwd_hopper_block.cuh"
#include "kernels/gpu/bwd_hopper_work.cuh"
#include "kernels/gpu/hopper_descriptor.cuh"
#include "kernels/gpu/hopper_wgmma.cuh"

namespace attn::gpu {

// This warpgroup's 64 keys of dK or dV, through the rows where K or V stood: whole rows leave at once.
__device__ __forceinline__ void store(Element* to, unsigned at, const Args& a, const Work& work, int mine, float factor,
                                      const float (&sum)[ATTN_D / 2]) {
  // @phase store
  const int lane = threadIdx.x % 32, part = lane / 8, own = 64 * mine + static_cast<int>(threadIdx.x % 128 / 32) * 16;
  const int row = own + part % 2 * 8 + lane % 8;
#pragma unroll
  for (int c = 0; c < kSteps; ++c)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     at + c / 4 * kKeyPanel + swizzled_chunk(row, 2 * c % 8 + part / 2)),
                 "r"(packed(sum[8 * c] * factor, sum[8 * c + 1] * factor)),
                 "r"(packed(sum[8 * c + 2] * factor, sum[8 * c + 3] * factor)),
                 "r"(packed(sum[8 * c + 4] * factor, sum[8 * c + 5] * factor)),
                 "r"(packed(sum[8 * c + 6] * factor, sum[8 * c + 7] * factor))
                 : "memory");
  __syncwarp();
  constexpr int kChunks = ATTN_D / 8;  // of a row, 16 bytes each
#pragma unroll
  for (int i = 0; i < kChunks / 2; ++i) {
    const int n = 32 * i + lane, r = own + n / kChunks, chunk = n % kChunks;
    if (work.c0 + r >= a.Lk) continue;
    uint4 x;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "r"(at + chunk / 8 * kKeyPanel + swizzled_chunk(r, chunk % 8)));
    *reinterpret_cast<uint4*>(to + (work.kv * a.Lk + work.c0 + r) * ATTN_D + 8 * chunk) = x;
  }
}

}  // namespace attn::gpu
