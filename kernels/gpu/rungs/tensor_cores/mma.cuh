// The tensor cores' own instructions under names: ldmatrix, mma.sync, and what their operands need. Sums are fp32;
// mma_layout.h says which lane holds what.
#pragma once

#include "kernels/gpu/device.cuh"
#include "kernels/gpu/mma_layout.h"
#include "kernels/gpu/tile_copy.cuh"

namespace attn::gpu {

// Four matrices of shared memory, each 8 rows of 16 bytes; lane l names row l % 8 of matrix l / 8.
__device__ inline void ldmatrix(unsigned (&x)[4], unsigned at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(at)
               : "memory");
}
// The same, each matrix, of 8 x 8 elements of 16 bits, transposed on its way.
__device__ inline void ldmatrix_transposed(unsigned (&x)[4], unsigned at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(at)
               : "memory");
}

#if ATTN_DTYPE != 0
#if ATTN_DTYPE == 1
#define ATTN_MMA_TYPES "f32.f16.f16.f32"
#else
#define ATTN_MMA_TYPES "f32.bf16.bf16.f32"
#endif

// C += A B, 16 x 8 += 16 x 16 times 16 x 8. sm_75 does half of it at once, and that in f16 alone.
__device__ inline void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if ATTN_SM75
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[2]), "r"(a[3]), "r"(b1));
#else
  asm volatile("mma.sync.aligned.m16n8k16.row.col." ATTN_MMA_TYPES
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// Two numbers rounded to the input's type, the first in the low half.
__device__ inline unsigned pack(float low, float high) {
#if ATTN_SM75
  return narrow(low).bits | static_cast<unsigned>(narrow(high).bits) << 16;
#else
  unsigned x;
#if ATTN_DTYPE == 1
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(high), "f"(low));
#else
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(high), "f"(low));
#endif
  return x;
#endif
}
#endif

// ---- where a lane reads

// A row-major tile of shared memory, `WIDTH` chunks a row, seen as pieces of 16 rows x two chunks, which one ldmatrix
// reads. The swizzle gives a lane up to four different places along a row, which repeat: the rest of an address is a
// number in the instruction.
template <int WIDTH>
class Pieces {
 public:
  // `lane`: what lane() said, plus where the tile begins.
  __device__ inline explicit Pieces(unsigned lane) {
#pragma unroll
    for (int p = 0; p < kPlaces; ++p) at_[p] = lane ^ static_cast<unsigned>(2 * kChunk * p);
  }
  // The lane's row and chunk of the first piece.
  static __device__ inline unsigned lane(int row, int chunk) {
    return kChunk * swizzled(row, chunk, WIDTH);
  }
  // The piece at `row` (a multiple of 16) and the `step`-th along it.
  __device__ inline unsigned at(int row, int step) const {
    return at_[step % kPlaces] + kChunk * (row * WIDTH + (2 * step & ~kMask));
  }

 private:
  static constexpr int kMask = swizzle_mask(WIDTH), kPlaces = (kMask + 1) / 2;
  unsigned at_[kPlaces];
};

}  // namespace attn::gpu
