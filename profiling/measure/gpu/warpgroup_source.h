// The measuring kernels of Hopper's products by warpgroups, in f16 and bf16: text that NVRTC compiles with the others
// of gpu_peaks.cpp.
#pragma once

namespace attn {

inline constexpr const char* kWarpgroupSource = R"(
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// A warpgroup multiplies 64 x 16 by 16 x 128 eight times a turn: four left factors from shared memory, as Q K^T has
// them, four from registers, as P V has them. Two warpgroups a block, so that one starts products while another waits.
// The sums are read at the end: products that nobody reads are left out.
#define ATTN_SUMS \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ATTN_EIGHT(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
  "+f"(d[i + 7])
#define ATTN_ALL ATTN_EIGHT(0), ATTN_EIGHT(8), ATTN_EIGHT(16), ATTN_EIGHT(24), ATTN_EIGHT(32), ATTN_EIGHT(40), \
  ATTN_EIGHT(48), ATTN_EIGHT(56)
__device__ __forceinline__ unsigned long long attn_descriptor(const void* at) {
  const unsigned address = (unsigned)__cvta_generic_to_shared(at);
  return (address & 0x3ffff) >> 4 | 1ull << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}
#define ATTN_WARPGROUP_LOOP(TYPE, ONE, LESS)                                                                          \
  __shared__ __align__(1024) unsigned tile[(64 + 128) * 32];                                                          \
  for (int i = threadIdx.x; i < (64 + 128) * 32; i += blockDim.x) tile[i] = ONE ^ ((i * 2654435761u) & LESS);         \
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                                        \
  __syncthreads();                                                                                                    \
  unsigned a[4];                                                                                                      \
  for (int n = 0; n < 4; ++n) a[n] = ONE ^ ((threadIdx.x * 2246822519u + n * 40503u) & LESS);                         \
  const unsigned long long left = attn_descriptor(tile), right = attn_descriptor(tile + 64 * 32);                     \
  float d[64];                                                                                                        \
  _Pragma("unroll") for (int n = 0; n < 64; ++n) d[n] = w.y * n;                                                      \
  _Pragma("unroll 1") for (unsigned long long turn = 0; turn < w.count; ++turn) {                                     \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                                           \
    _Pragma("unroll") for (int k = 0; k < 4; ++k)                                                                     \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPE "." TYPE  \
                   " {" ATTN_SUMS "}, %64, %65, p, 1, 1, 0, 0; }"                                                     \
                   : ATTN_ALL : "l"(left + 2 * k), "l"(right + 2 * k));                                               \
    _Pragma("unroll") for (int k = 0; k < 4; ++k)                                                                     \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPE "." TYPE  \
                   " {" ATTN_SUMS "}, {%64, %65, %66, %67}, %68, p, 1, 1, 0; }"                                       \
                   : ATTN_ALL : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(right + 2 * k));                      \
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                                                    \
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");                                                    \
    _Pragma("unroll") for (int n = 0; n < 64; ++n) asm volatile("" : "+f"(d[n])::"memory");                           \
  }                                                                                                                   \
  float sum = 0;                                                                                                      \
  _Pragma("unroll") for (int n = 0; n < 64; ++n) sum += d[n];                                                         \
  if (sum == 12345.678f) ((float*)w.to)[0] = sum;

// Pairs between 0.5 and 2 in size, of either sign, as the others have them.
extern "C" __global__ void __launch_bounds__(256) attnscope_warpgroup_half(Work w) {
  ATTN_WARPGROUP_LOOP("f16", 0x3800bc00u, 0x07ff03ffu)
}
extern "C" __global__ void __launch_bounds__(256) attnscope_warpgroup_bf16(Work w) {
  ATTN_WARPGROUP_LOOP("bf16", 0x3f00bf80u, 0x00ff007fu)
}
#endif
)";

}  // namespace attn
