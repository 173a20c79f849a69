// wgmma: the product of 64 rows by N columns that four warps start together and wait for later. PTX ISA,
// wgmma.mma_async.m64nNk16.
//
// d[4 t + 2 h + e] of a lane is row 16 warp + lane / 4 + 8 h, column 8 t + 2 (lane % 4) + e. Two neighbouring t, packed
// in pairs in their order, are what the lane must hold of a left factor 64 x 16: so S becomes P where it is.
//   multiply(d, a, b, keep)  d = a b + (keep ? d : 0)    a: four registers, or a descriptor, by rows
//                                                        b: a descriptor; by rows with a of shared memory (K), by
//                                                           columns with a of registers (V)
// N is the length of d, doubled: a multiple of 8 up to 256. The lists below write out registers %6 ... and operands.
#pragma once

#include "kernels/gpu/hopper_block.cuh"
#include "kernels/gpu/hopper_descriptor.cuh"

namespace attn::gpu {

#define ATTN_FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define ATTN_D_8 "%6, %7, %8, %9"
#define ATTN_O_8 ATTN_FOUR(0)
#define ATTN_D_16 ATTN_D_8 ", %10, %11, %12, %13"
#define ATTN_O_16 ATTN_O_8, ATTN_FOUR(4)
#define ATTN_D_24 ATTN_D_16 ", %14, %15, %16, %17"
#define ATTN_O_24 ATTN_O_16, ATTN_FOUR(8)
#define ATTN_D_32 ATTN_D_24 ", %18, %19, %20, %21"
#define ATTN_O_32 ATTN_O_24, ATTN_FOUR(12)
#define ATTN_D_40 ATTN_D_32 ", %22, %23, %24, %25"
#define ATTN_O_40 ATTN_O_32, ATTN_FOUR(16)
#define ATTN_D_48 ATTN_D_40 ", %26, %27, %28, %29"
#define ATTN_O_48 ATTN_O_40, ATTN_FOUR(20)
#define ATTN_D_56 ATTN_D_48 ", %30, %31, %32, %33"
#define ATTN_O_56 ATTN_O_48, ATTN_FOUR(24)
#define ATTN_D_64 ATTN_D_56 ", %34, %35, %36, %37"
#define ATTN_O_64 ATTN_O_56, ATTN_FOUR(28)
#define ATTN_D_72 ATTN_D_64 ", %38, %39, %40, %41"
#define ATTN_O_72 ATTN_O_64, ATTN_FOUR(32)
#define ATTN_D_80 ATTN_D_72 ", %42, %43, %44, %45"
#define ATTN_O_80 ATTN_O_72, ATTN_FOUR(36)
#define ATTN_D_88 ATTN_D_80 ", %46, %47, %48, %49"
#define ATTN_O_88 ATTN_O_80, ATTN_FOUR(40)
#define ATTN_D_96 ATTN_D_88 ", %50, %51, %52, %53"
#define ATTN_O_96 ATTN_O_88, ATTN_FOUR(44)
#define ATTN_D_104 ATTN_D_96 ", %54, %55, %56, %57"
#define ATTN_O_104 ATTN_O_96, ATTN_FOUR(48)
#define ATTN_D_112 ATTN_D_104 ", %58, %59, %60, %61"
#define ATTN_O_112 ATTN_O_104, ATTN_FOUR(52)
#define ATTN_D_120 ATTN_D_112 ", %62, %63, %64, %65"
#define ATTN_O_120 ATTN_O_112, ATTN_FOUR(56)
#define ATTN_D_128 ATTN_D_120 ", %66, %67, %68, %69"
#define ATTN_O_128 ATTN_O_120, ATTN_FOUR(60)
#define ATTN_D_136 ATTN_D_128 ", %70, %71, %72, %73"
#define ATTN_O_136 ATTN_O_128, ATTN_FOUR(64)
#define ATTN_D_144 ATTN_D_136 ", %74, %75, %76, %77"
#define ATTN_O_144 ATTN_O_136, ATTN_FOUR(68)
#define ATTN_D_152 ATTN_D_144 ", %78, %79, %80, %81"
#define ATTN_O_152 ATTN_O_144, ATTN_FOUR(72)
#define ATTN_D_160 ATTN_D_152 ", %82, %83, %84, %85"
#define ATTN_O_160 ATTN_O_152, ATTN_FOUR(76)
#define ATTN_D_168 ATTN_D_160 ", %86, %87, %88, %89"
#define ATTN_O_168 ATTN_O_160, ATTN_FOUR(80)
#define ATTN_D_176 ATTN_D_168 ", %90, %91, %92, %93"
#define ATTN_O_176 ATTN_O_168, ATTN_FOUR(84)
#define ATTN_D_184 ATTN_D_176 ", %94, %95, %96, %97"
#define ATTN_O_184 ATTN_O_176, ATTN_FOUR(88)
#define ATTN_D_192 ATTN_D_184 ", %98, %99, %100, %101"
#define ATTN_O_192 ATTN_O_184, ATTN_FOUR(92)
#define ATTN_D_200 ATTN_D_192 ", %102, %103, %104, %105"
#define ATTN_O_200 ATTN_O_192, ATTN_FOUR(96)
#define ATTN_D_208 ATTN_D_200 ", %106, %107, %108, %109"
#define ATTN_O_208 ATTN_O_200, ATTN_FOUR(100)
#define ATTN_D_216 ATTN_D_208 ", %110, %111, %112, %113"
#define ATTN_O_216 ATTN_O_208, ATTN_FOUR(104)
#define ATTN_D_224 ATTN_D_216 ", %114, %115, %116, %117"
#define ATTN_O_224 ATTN_O_216, ATTN_FOUR(108)
#define ATTN_D_232 ATTN_D_224 ", %118, %119, %120, %121"
#define ATTN_O_232 ATTN_O_224, ATTN_FOUR(112)
#define ATTN_D_240 ATTN_D_232 ", %122, %123, %124, %125"
#define ATTN_O_240 ATTN_O_232, ATTN_FOUR(116)
#define ATTN_D_248 ATTN_D_240 ", %126, %127, %128, %129"
#define ATTN_O_248 ATTN_O_240, ATTN_FOUR(120)
#define ATTN_D_256 ATTN_D_248 ", %130, %131, %132, %133"
#define ATTN_O_256 ATTN_O_248, ATTN_FOUR(124)

#if ATTN_DTYPE == 1
#define ATTN_HALF_TYPE "f16"
#else
#define ATTN_HALF_TYPE "bf16"
#endif

// Registers come last in the lists, so that one list serves both; what stands before them is named as read and written,
// since outputs must stand first. Nothing is written there. Three places of the first stay empty.
#define ATTN_MULTIPLY(N)                                                                                               \
  __device__ __forceinline__ void multiply(float(&d)[N / 2], Descriptor a, Descriptor b, int keep) {                   \
    int x = 0, y = 0, z = 0;                                                                                           \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; wgmma.mma_async.sync.aligned.m64n" #N                          \
                 "k16.f32." ATTN_HALF_TYPE "." ATTN_HALF_TYPE " {" ATTN_D_##N "}, %0, %1, p, 1, 1, 0, 0; }"            \
                 : "+l"(a), "+l"(b), "+r"(keep), "+r"(x), "+r"(y), "+r"(z), ATTN_O_##N);                               \
  }                                                                                                                    \
  __device__ __forceinline__ void multiply(float(&d)[N / 2], const unsigned(&from)[4], Descriptor b, int keep) {       \
    unsigned a0 = from[0], a1 = from[1], a2 = from[2], a3 = from[3];                                                   \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; wgmma.mma_async.sync.aligned.m64n" #N                          \
                 "k16.f32." ATTN_HALF_TYPE "." ATTN_HALF_TYPE " {" ATTN_D_##N "}, {%0, %1, %2, %3}, %4, p, 1, 1, 1; }" \
                 : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+l"(b), "+r"(keep), ATTN_O_##N);                           \
  }

// clang-format off
ATTN_MULTIPLY(8) ATTN_MULTIPLY(16) ATTN_MULTIPLY(24) ATTN_MULTIPLY(32) ATTN_MULTIPLY(40) ATTN_MULTIPLY(48)
ATTN_MULTIPLY(56) ATTN_MULTIPLY(64) ATTN_MULTIPLY(72) ATTN_MULTIPLY(80) ATTN_MULTIPLY(88) ATTN_MULTIPLY(96)
ATTN_MULTIPLY(104) ATTN_MULTIPLY(112) ATTN_MULTIPLY(120) ATTN_MULTIPLY(128) ATTN_MULTIPLY(136) ATTN_MULTIPLY(144)
ATTN_MULTIPLY(152) ATTN_MULTIPLY(160) ATTN_MULTIPLY(168) ATTN_MULTIPLY(176) ATTN_MULTIPLY(184) ATTN_MULTIPLY(192)
ATTN_MULTIPLY(200) ATTN_MULTIPLY(208) ATTN_MULTIPLY(216) ATTN_MULTIPLY(224) ATTN_MULTIPLY(232) ATTN_MULTIPLY(240)
ATTN_MULTIPLY(248) ATTN_MULTIPLY(256)
    // clang-format on

    // Registers and shared memory are as products read them.
    __device__ __forceinline__ void products_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void products_end() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// All that were started, but the last LEFT groups, have ended: d may be read, what they read be overwritten.
template <int LEFT = 0, int N>
__device__ __forceinline__ void wait_for_products(float (&d)[N]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i])::"memory");  // the compiler reads d no earlier
}

// What x, never below 0, is the sum of is computed by here. A wait for products needs no number, so ptxas puts it as
// early as it can, before all that was to run under the products; a store, if only one that never happens, stays before
// the wait, and needs its number.
__device__ __forceinline__ void computed_by_here(float x, unsigned anywhere) {
  asm volatile("{ .reg .pred p; setp.lt.f32 p, %0, 0f00000000; @p st.shared.f32 [%1], %0; }" ::"f"(x), "r"(anywhere)
               : "memory");
}

// Two numbers in the storage type, the first below.
__device__ __forceinline__ unsigned packed(float low, float high) {
  unsigned y;
  asm("cvt.rn." ATTN_HALF_TYPE "x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}

// ---- the two products of a key tile, started and not waited for.

// S = Q K^T, of N keys. Both from shared memory, by rows; the first step overwrites S.
template <int N>
__device__ __forceinline__ void start_scores(float (&s)[N / 2], Descriptor q, Descriptor k) {
  // @phase S
#pragma unroll
  for (int i = 0; i < (ATTN_D + 15) / 16; ++i) {
    multiply(s, further(q, i / 4 * 8192 + i % 4 * 32), further(k, i / 4 * kPanel + i % 4 * 32), i != 0);
  }
}

// O = P V + (keep ? O : 0), of the steps [FROM, TO) of 16 keys. P from registers, V by columns.
template <int FROM, int TO, int STEPS>
__device__ __forceinline__ void start_output(float (&o)[kDv / 2], const unsigned (&p)[STEPS][4], Descriptor v,
                                             bool keep) {
  // @phase O
#pragma unroll
  for (int i = FROM; i < TO; ++i) multiply(o, p[i], further(v, i * 2048), i > 0 ? 1 : static_cast<int>(keep));
}

}  // namespace attn::gpu
