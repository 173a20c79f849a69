// Q, K and V on their way to shared memory: rows of packed heads, and key tiles that each warp fetches for itself, dense
// or out of pages.
#pragma once

#include "kernels/gpu/splitkv_layout.h"
#include "kernels/gpu/splitkv_line.cuh"
#include "kernels/gpu/tile_copy.cuh"

namespace attn::gpu {

constexpr int kElement = static_cast<int>(sizeof(Element));
constexpr SplitkvLayout kAt = splitkv_layout(ATTN_D, ATTN_DV, kElement, ATTN_BR, ATTN_BC, ATTN_THREADS, ATTN_STAGES);
constexpr int kQWidth = kAt.d / kPerChunk, kVWidth = kAt.dv / kPerChunk;  // chunks of a row

// The first `some` elements from `from` on, then zeros.
__device__ inline uint4 some_elements(const Element* from, int some) {
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

// Rows of COLUMNS are whole chunks: they come by cp.async. Others pass through registers, one after the other.
template <int COLUMNS>
constexpr bool kInChunks = ATTN_ALIGNED == 1 && COLUMNS % kPerChunk == 0;

// How long the L2 keeps what copies bring: keys that one block alone reads need not stay there.
using Keep = unsigned long long;
__device__ inline Keep keep_in_l2(bool read_again) {
  Keep keep;
  if (read_again) {
    asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(keep));
  } else {
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(keep));
  }
  return keep;
}

// Chunk `chunk` of a row of COLUMNS that begins at `row`; zeros beyond its end, and where `valid` is false: then nothing
// is read.
template <int COLUMNS>
__device__ inline void copy_chunk(unsigned to, const Element* row, int chunk, bool valid, Keep keep) {
  const int some = valid ? COLUMNS - kPerChunk * chunk : 0;
  if constexpr (kInChunks<COLUMNS>) {
    const int bytes = some > 0 ? kChunk : 0;
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(to),
                 "l"(row + kPerChunk * chunk), "r"(bytes), "l"(keep)
                 : "memory");
  } else {
    store_shared(to, some_elements(row + kPerChunk * chunk, some));
  }
}

// Copies of a tile that are written out. What the compiler then finds once, before the loop, are addresses that it keeps
// in registers: beside a wide O, or scores that a bias changes, more of them than four would spill.
template <int COLUMNS>
constexpr int together(int copies) {
  if (!kInChunks<COLUMNS>) return 1;
  return copies > 8 || (ATTN_BIAS && ATTN_PAGE) ? 4 : copies;
}

// Q of a warp: the row tile's rows of one batch and head of keys.
struct QueryRows {
  unsigned to;
  int row0, rows;  // of the packed rows; rows that exist

  __device__ inline void fetch(const SplitArgs& a, int batch, int kv, Keep keep) const {
    // @phase Q
    const Element* q = static_cast<const Element*>(a.problem.q) + batch * a.q_b + int64{kv} * a.group * a.q_h;
#pragma unroll 1
    for (int n = threadIdx.x % 32; n < rows * kQWidth; n += 32) {
      const int row = n / kQWidth, chunk = n % kQWidth, r = row0 + row;
      const Element* from = q + (r % a.group) * a.q_h + (r / a.group) * a.q_r;
      copy_chunk<ATTN_D>(to + Swizzled<kQWidth>::at(row, chunk), from, chunk, true, keep);
    }
  }
  // Rows that no copy ever brings.
  __device__ inline void clear_the_rest() const {
    for (int n = rows * kQWidth + threadIdx.x % 32; n < ATTN_BR * kQWidth; n += 32)
      store_shared(to + Swizzled<kQWidth>::at(n / kQWidth, n % kQWidth), make_uint4(0, 0, 0, 0));
  }
};

// K and V of one batch and head, as one warp reads them.
struct Source {
  const Element *k, *v;  // the head's, in the batch or in page 0 of the pool
  const int* pages;      // the batch's
  int first, last;       // keys that may be read: others count as zero, whatever memory holds (0 times NaN is NaN)

  __device__ inline Source(const SplitArgs& a, const Batch& seen, int batch, int kv)
      : k(static_cast<const Element*>(a.problem.k) + (ATTN_PAGE ? 0 : batch * a.k_b) + kv * a.k_h),
        v(static_cast<const Element*>(a.problem.v) + (ATTN_PAGE ? 0 : batch * a.v_b) + kv * a.v_h),
        pages(a.pages + batch * a.table_b),
        first(seen.first),
        last(seen.last) {}

  // Pages of the keys of a block: of key `lane`, or, where a page holds whole blocks, of all. Kept for its fetch, which
  // comes a turn later: a page's number is on its way meanwhile.
  __device__ inline int page_of(int block) const {
#if ATTN_PAGE
    // @phase K
    constexpr bool kOne = ATTN_PAGE % ATTN_BC == 0;
    const int lane = threadIdx.x % 32, key = block * ATTN_BC + (kOne ? 0 : lane);
    const bool read = kOne ? block * ATTN_BC < last : lane < ATTN_BC && key >= first && key < last;
    return read ? pages[key / ATTN_PAGE] : 0;
#else
    return 0;
#endif
  }

  __device__ inline void fetch(const SplitArgs& a, int block, int page, unsigned to, Keep keep) const {
    // @phase K
    fetch_rows<ATTN_D, kQWidth>(k, a.k_b, a.k_r, block, page, to, keep);
    // @phase V
    fetch_rows<ATTN_DV, kVWidth>(v, a.v_b, a.v_r, block, page, to + kAt.k_bytes, keep);
  }

 private:
  template <int COLUMNS, int WIDTH>
  __device__ inline void fetch_rows(const Element* from, int64 page_stride, int64 row_stride, int block, int page,
                                    unsigned to, Keep keep) const {
    // @phase caller
    const int lane = threadIdx.x % 32, key0 = block * ATTN_BC;
#if ATTN_PAGE
    constexpr bool kOnePage = ATTN_PAGE % ATTN_BC == 0;
    if constexpr (kOnePage) from += page * page_stride + key0 % ATTN_PAGE * row_stride;
#else
    from += key0 * row_stride;
#endif
    constexpr int kSteps = ATTN_BC * WIDTH / 32, kTogether = together<COLUMNS>(kSteps);
#pragma unroll kTogether
    for (int t = 0; t < kSteps; ++t) {
      const int n = lane + 32 * t, row = n / WIDTH, chunk = n % WIDTH;
      const bool valid = key0 + row >= first && key0 + row < last;
      const Element* at = from;
#if ATTN_PAGE
      if constexpr (kOnePage) {
        at += row * row_stride;
      } else {
        at += __shfl_sync(0xffffffffu, page, row) * page_stride + (key0 + row) % ATTN_PAGE * row_stride;
      }
#else
      at += row * row_stride;
#endif
      copy_chunk<COLUMNS>(to + Swizzled<WIDTH>::at(row, chunk), at, chunk, valid, keep);
    }
  }
};

}  // namespace attn::gpu
