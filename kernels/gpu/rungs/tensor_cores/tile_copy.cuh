// Tiles of a row-major matrix on their way to shared memory, in chunks of 16 bytes: without waiting from sm_80 on
// (cp.async), through registers before. Shared by the tensor-core rungs.
//
// A chunk comes in one copy where rows are whole multiples of 16 bytes, in two of 8 bytes where they are multiples of 8
// (D = 36 in f16), else element by element through registers: cp.async takes 4 bytes at least, aligned, and a row of
// 59 halves begins at any even address. What lies beyond a row's or the matrix's end arrives as zero and is not read.
#pragma once

#include "kernels/gpu/device.cuh"
#include "kernels/gpu/mma_layout.h"

// 1: only what sm_75 has. Defined by hand it lets a newer GPU run that path.
#ifndef ATTN_SM75
#if __CUDA_ARCH__ < 800
#define ATTN_SM75 1
#else
#define ATTN_SM75 0
#endif
#endif

namespace attn::gpu {

constexpr int kChunk = 16;  // bytes
constexpr int kPerChunk = kChunk / static_cast<int>(sizeof(Element));

// A distance in rows or keys, cut to what 32 bits hold with room: beyond a tile it no longer matters how far.
__device__ inline int near(int64 distance) {
  constexpr int64 kFar = 1 << 20;
  return static_cast<int>(distance > kFar ? kFar : distance < -kFar ? -kFar : distance);
}

// An address as the instructions below take it: 32 bits, within the block's shared memory.
__device__ inline unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

__device__ inline void store_shared(unsigned to, uint4 x) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w) : "memory");
}

// BYTES (8 or 16) on their way; zeros where `valid` is false, and then `from` is not read.
template <int BYTES>
__device__ inline void copy_async(unsigned to, const void* from, bool valid) {
#if ATTN_SM75
  if constexpr (BYTES == 16) {
    store_shared(to, valid ? *static_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0));
  } else {
    const uint2 x = valid ? *static_cast<const uint2*>(from) : make_uint2(0, 0);
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(x.x), "r"(x.y) : "memory");
  }
#else
  const int size = valid ? BYTES : 0;
  if constexpr (BYTES == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(size) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(size) : "memory");
  }
#endif
}

// What was copied since the last commit becomes one group; wait until no more than PENDING groups are on their way.
__device__ inline void commit_copies() {
#if !ATTN_SM75
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int PENDING>
__device__ inline void wait_for_copies() {
#if !ATTN_SM75
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

// Where chunk `chunk` of row `row` of a tile lies, in bytes: swizzled, or in rows that are STRIDE chunks apart.
template <int WIDTH>
struct Swizzled {
  static constexpr int kPeriod = 8;  // rows this far apart are swizzled alike
  static __device__ inline int at(int row, int chunk) { return kChunk * swizzled(row, chunk, WIDTH); }
};
template <int STRIDE>
struct Padded {
  static constexpr int kPeriod = 1;
  static __device__ inline int at(int row, int chunk) { return kChunk * (row * STRIDE + chunk); }
};

// Copies tiles of ROWS x COLUMNS, padded to WIDTH chunks a row; the block's threads share the work.
template <int ROWS, int COLUMNS, int WIDTH, class Place>
class TileCopy {
  // Even: each thread has the same chunk of every kStep-th row, and one address serves all its copies.
  static constexpr int kStep = ATTN_THREADS / WIDTH;
  static constexpr bool kEven =
      ATTN_THREADS % WIDTH == 0 && kStep % Place::kPeriod == 0 && ROWS % (kStep > 0 ? kStep : 1) == 0;

 public:
  static constexpr int kWidth = WIDTH;
  // This thread's first chunk; kept over the loop where addresses would be worked out anew for each tile.
  static __device__ inline int first_from() { return kEven ? row() * COLUMNS + kPerChunk * chunk() : 0; }  // elements
  static __device__ inline int first_to() { return kEven ? Place::at(row(), chunk()) : 0; }                // bytes

  // `from` and `to`: the tile's beginning plus the above. `rows` of it exist.
  static __device__ inline void copy(unsigned to, const Element* from, int rows) {
    if (rows >= ROWS) {
      copy_rows<true>(to, from, rows);
    } else {
      copy_rows<false>(to, from, rows);
    }
  }
  // The same in kParts parts, the n-th of them now.
  static constexpr int kParts = kEven ? ROWS / kStep : 1;
  static __device__ inline void copy_part(unsigned to, const Element* from, int rows, int n) {
    if constexpr (kEven) {
      copy_chunk(to + Place::at(n * kStep, 0), from + n * kStep * COLUMNS, chunk(), row() + n * kStep < rows);
    } else {
      copy_rows<false>(to, from, rows);
    }
  }

 private:
  static __device__ inline int row() { return static_cast<int>(threadIdx.x) / WIDTH; }
  static __device__ inline int chunk() { return static_cast<int>(threadIdx.x) % WIDTH; }

  template <bool WHOLE>
  static __device__ inline void copy_rows(unsigned to, const Element* from, int rows) {
    if constexpr (kEven) {
#pragma unroll
      for (int i = 0; i < ROWS; i += kStep) {
        copy_chunk(to + Place::at(i, 0), from + i * COLUMNS, chunk(), WHOLE || row() + i < rows);
      }
    } else {
#pragma unroll 2
      for (int n = threadIdx.x; n < ROWS * WIDTH; n += ATTN_THREADS) {
        const int row = n / WIDTH, chunk = n % WIDTH;
        copy_chunk(to + Place::at(row, chunk), from + row * COLUMNS + kPerChunk * chunk, chunk, WHOLE || row < rows);
      }
    }
  }

  static __device__ inline void copy_chunk(unsigned to, const Element* from, int chunk, bool valid) {
    // Elements of the chunk that exist.
    const int some = !valid ? 0 : COLUMNS % (WIDTH * kPerChunk) == 0 ? kPerChunk : COLUMNS - kPerChunk * chunk;
    if constexpr (ATTN_ALIGNED && COLUMNS % kPerChunk == 0) {
      copy_async<16>(to, from, some > 0);
    } else if constexpr (ATTN_ALIGNED) {
      copy_async<8>(to, from, some > 0);
      copy_async<8>(to + 8, from + kPerChunk / 2, some > kPerChunk / 2);
    } else {
      store_shared(to, elements(from, some));
    }
  }

  // The first `some` elements from `from` on, then zeros.
  static __device__ inline uint4 elements(const Element* from, int some) {
    unsigned x[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#if ATTN_DTYPE == 0
      x[i] = i < some ? __float_as_uint(from[i]) : 0;
#else
      const unsigned low = 2 * i < some ? from[2 * i].bits : 0, high = 2 * i + 1 < some ? from[2 * i + 1].bits : 0;
      x[i] = low | high << 16;
#endif
    }
    return make_uint4(x[0], x[1], x[2], x[3]);
  }
};

}  // namespace attn::gpu
