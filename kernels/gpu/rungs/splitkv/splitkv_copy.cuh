// Q, K and V on their way to shared memory: rows of packed heads, and key tiles that each warp fetches for itself, dense
// or out of pages.
#pragma once

#include "kernels/gpu/splitkv_layout.h"
#include "kernels/gpu/splitkv_line.cuh"
#include "kernels/gpu/tile_copy.cuh"

namespace attn::gpu {

constexpr SplitkvLayout kAt = splitkv_layout(ATTN_D, ATTN_DV, ATTN_BR, ATTN_BC, ATTN_THREADS, ATTN_STAGES);
constexpr int kQWidth = kAt.d / 8, kVWidth = kAt.dv / 8;  // chunks of a row

// The first `some` elements from `from` on, then zeros.
__device__ inline uint4 some_elements(const Element* from, int some) {
  unsigned x[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned low = 2 * i < some ? from[2 * i].bits : 0, high = 2 * i + 1 < some ? from[2 * i + 1].bits : 0;
    x[i] = low | high << 16;
  }
  return make_uint4(x[0], x[1], x[2], x[3]);
}

// Rows of COLUMNS are whole chunks: they come by cp.async. Others pass through registers, one after the other.
template <int COLUMNS>
constexpr bool kInChunks = ATTN_ALIGNED == 1 && COLUMNS % kPerChunk == 0;

// Chunk `chunk` of a row of COLUMNS that begins at `row`; zeros beyond its end, and where `valid` is false: then nothing
// is read.
template <int COLUMNS>
__device__ inline void copy_chunk(unsigned to, const Element* row, int chunk, bool valid) {
  const int some = valid ? COLUMNS - kPerChunk * chunk : 0;
  if constexpr (kInChunks<COLUMNS>) {
    copy_async<16>(to, row + kPerChunk * chunk, some > 0);
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

// Q of the row tile; for all threads of the block.
__device__ inline void copy_queries(const SplitArgs& a, unsigned to, int batch, int kv, int row0) {
  // @phase Q
  const Element* q = static_cast<const Element*>(a.problem.q) + batch * a.q_b + int64{kv} * a.group * a.q_h;
  for (int n = threadIdx.x; n < ATTN_BR * kQWidth; n += ATTN_THREADS) {
    const int row = n / kQWidth, chunk = n % kQWidth, r = row0 + row;
    const bool exists = r < a.rows;
    const Element* from = exists ? q + (r % a.group) * a.q_h + (r / a.group) * a.q_r : q;
    copy_chunk<ATTN_D>(to + Swizzled<kQWidth>::at(row, chunk), from, chunk, exists);
  }
}

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

  __device__ inline void fetch(const SplitArgs& a, int block, int page, unsigned to) const {
    // @phase K
    fetch_rows<ATTN_D, kQWidth>(k, a.k_b, a.k_r, block, page, to);
    // @phase V
    fetch_rows<ATTN_DV, kVWidth>(v, a.v_b, a.v_r, block, page, to + kAt.k_bytes);
  }

 private:
  template <int COLUMNS, int WIDTH>
  __device__ inline void fetch_rows(const Element* from, int64 page_stride, int64 row_stride, int block, int page,
                                    unsigned to) const {
    // @phase caller
    const int lane = threadIdx.x % 32, key0 = block * ATTN_BC;
#if ATTN_PAGE
    constexpr bool kOne = ATTN_PAGE % ATTN_BC == 0;
    if constexpr (kOne) from += page * page_stride + key0 % ATTN_PAGE * row_stride;
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
      if constexpr (kOne) {
        at += row * row_stride;
      } else {
        at += __shfl_sync(0xffffffffu, page, row) * page_stride + (key0 + row) % ATTN_PAGE * row_stride;
      }
#else
      at += row * row_stride;
#endif
      copy_chunk<COLUMNS>(to + Swizzled<WIDTH>::at(row, chunk), at, chunk, valid);
    }
  }
};

}  // namespace attn::gpu
