// The flight recorder of flash_hopper: what its hooks write, at the places of trace_layout.h. Hooks are lines of
// ATTN_TRACE(...) alone (kernels/gpu/compile/hooks.h): nothing in the code that is shipped and timed.
//
// A consumer's rows are no fixed tile: rows are shared out evenly, and heads may be packed. So each lane works out where
// each of its two rows belongs. Key tiles that a consumer never comes to are written too, as tiles of which its rows see
// nothing, where some row of the recording's query tile sees one of their keys. Keys are walked from the last to the
// first.
#pragma once

#if !ATTN_TRACED
#define ATTN_TRACE(...)
#else
#define ATTN_TRACE(...) __VA_ARGS__

#include "kernels/gpu/hopper_mask.cuh"
#include "kernels/gpu/hopper_softmax.cuh"
#include "kernels/gpu/trace_layout.h"

extern "C" {
__constant__ float* attn_trace;  // the buffer; set by the program before the launch
}

namespace attn::gpu {

constexpr FlashTrace kTrace = flash_trace(ATTN_DV, ATTN_BR, ATTN_BC, ATTN_TRACE_LANES);
static_assert(ATTN_TRACE_LANES == 4, "four lanes share a row");

// Where a row of this lane is recorded.
struct TraceRow {
  bool exists;
  int row;                    // of its query tile
  long long tile;             // query tile, counted over heads and batches
  int key_tiles, begin, end;  // keys that some row of the query tile sees
  long long tiles_at, rows_at;

  __device__ TraceRow(const HopperArgs& a, const Work& work, const Rows& rows, int h) {
    const int own = rows.own + 8 * h, query = query_of(own), first = query / ATTN_BR * ATTN_BR;
    const int query_tiles = (a.Lq + ATTN_BR - 1) / ATTN_BR, last = min(first + ATTN_BR, a.Lq) - 1;
    exists = own < a.rows && rows.low < work.row + 64 * work.pieces;
    row = query - first;
    const long long head = static_cast<long long>(work.of_all) * ATTN_PACK + own % ATTN_PACK;
    tile = head * query_tiles + query / ATTN_BR;
    key_tiles = (a.Lk + ATTN_BC - 1) / ATTN_BC;
    begin = max(0, first + a.first_shift);
    end = a.first_shift < a.last_shift ? min(work.length, last + a.last_shift) : 0;
    const long long all = static_cast<long long>(a.batches) * a.heads * ATTN_PACK * query_tiles;
    const FlashTracePlaces at = flash_trace_places(kTrace, all, key_tiles, ATTN_THREADS);
    tiles_at = at.tiles;
    rows_at = at.rows;
  }
  // The recording has key tile j of it.
  __device__ bool has(int j) const {
    return exists && j < key_tiles && max(begin, j * ATTN_BC) < min(end, (j + 1) * ATTN_BC);
  }
  __device__ float* at(int j, int part) const {
    return attn_trace + tiles_at + (tile * key_tiles + j) * kTrace.tile + part;
  }
  __device__ float* result() const { return attn_trace + rows_at + tile * kTrace.row + row * kTrace.o_stride; }
};

__device__ __forceinline__ int trace_column(int t) {
  return 8 * t + 2 * (static_cast<int>(threadIdx.x) % 4);
}

// S, or S with its mask; of a half step the keys that it leaves out, too: no row of the consumer sees them.
template <int N>
__device__ __forceinline__ void trace_scores(int part, const HopperArgs& a, const Work& work, const Rows& rows, int j,
                                             const float (&s)[N / 2]) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const TraceRow to(a, work, rows, h);
    if (!to.has(j)) continue;
    float* const line = to.at(j, part) + to.row * ATTN_BC;
#pragma unroll
    for (int t = 0; t < ATTN_BC / 8; ++t) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        line[trace_column(t) + e] = t < N / 8 ? s[(4 * t + 2 * h + e) % (N / 2)] : minus_infinity();
      }
    }
  }
}

// P as the softmax makes it of these scores: the same instructions on the same registers.
template <int N>
__device__ __forceinline__ void trace_weights(const HopperArgs& a, const Work& work, const Rows& rows, int j,
                                              const float (&s)[N / 2], const Softmax& x, float scale) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const TraceRow to(a, work, rows, h);
    if (!to.has(j)) continue;
    float* const line = to.at(j, kTrace.p) + to.row * ATTN_BC;
#pragma unroll
    for (int t = 0; t < ATTN_BC / 8; ++t) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        line[trace_column(t) + e] = t < N / 8 ? exp2_of(fmaf(s[(4 * t + 2 * h + e) % (N / 2)], scale, -x.m[h])) : 0.0f;
      }
    }
  }
}

// m, the factor that it brought, this lane's part of l, and who has them.
__device__ __forceinline__ void trace_softmax(const HopperArgs& a, const Work& work, const Rows& rows, int j,
                                              const Softmax& x, bool seen) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const TraceRow to(a, work, rows, h);
    if (!to.has(j)) continue;
    to.at(j, kTrace.l)[to.row * kTrace.lanes + threadIdx.x % 4] = x.l[h];
    if (threadIdx.x % 4 != 0) continue;
    to.at(j, kTrace.m)[to.row] = x.m[h];
    to.at(j, kTrace.alpha)[to.row] = seen ? x.alpha[h] : 1.0f;
    *reinterpret_cast<unsigned*>(to.at(j, kTrace.who) + to.row) = 1 + kTraceWarps * blockIdx.x + threadIdx.x / 32;
  }
}

// O after key tile j; before the first product there is none.
__device__ __forceinline__ void trace_output(const HopperArgs& a, const Work& work, const Rows& rows, int j,
                                             const float (&o)[kDv / 2], bool begun) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const TraceRow to(a, work, rows, h);
    if (!to.has(j)) continue;
    float* const line = to.at(j, kTrace.o) + to.row * kTrace.o_stride;
#pragma unroll
    for (int t = 0; t < kDv / 8; ++t) {
#pragma unroll
      for (int e = 0; e < 2; ++e) line[trace_column(t) + e] = begun ? o[4 * t + 2 * h + e] : 0.0f;
    }
  }
}

// Key tiles [from, to) of which the consumer's rows see nothing: no score, no weight, and all else stays.
__device__ __forceinline__ void trace_unseen(const HopperArgs& a, const Work& work, const Rows& rows, int from, int to,
                                             const Softmax& x, const float (&o)[kDv / 2], bool begun) {
#pragma unroll 1
  for (int j = from; j < to; ++j) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const TraceRow place(a, work, rows, h);
      if (!place.has(j)) continue;
#pragma unroll 1
      for (int t = 0; t < ATTN_BC / 8; ++t) {
#pragma unroll 1
        for (int e = 0; e < 2; ++e) {
          const int at = place.row * ATTN_BC + trace_column(t) + e;
          place.at(j, kTrace.s)[at] = place.at(j, kTrace.masked)[at] = minus_infinity();
          place.at(j, kTrace.p)[at] = 0.0f;
        }
      }
    }
    trace_softmax(a, work, rows, j, x, false);
    trace_output(a, work, rows, j, o, begun);
  }
}
// Those that the query tile does not come to, on either side.
__device__ __forceinline__ void trace_unseen_after(const HopperArgs& a, const Work& work, const Rows& rows,
                                                   const Softmax& x, const float (&o)[kDv / 2]) {
  trace_unseen(a, work, rows, max(work.first, work.last), (a.Lk + ATTN_BC - 1) / ATTN_BC, x, o, false);
}
__device__ __forceinline__ void trace_unseen_before(const HopperArgs& a, const Work& work, const Rows& rows,
                                                    const Softmax& x, const float (&o)[kDv / 2], bool begun) {
  trace_unseen(a, work, rows, 0, min(work.first, (a.Lk + ATTN_BC - 1) / ATTN_BC), x, o, begun);
}

// O / l.
template <class Out>
__device__ __forceinline__ void trace_result(const HopperArgs& a, const Work& work, const Rows& rows, const Out& out,
                                             const float (&o)[kDv / 2]) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const TraceRow to(a, work, rows, h);
    if (!to.exists) continue;
#pragma unroll
    for (int t = 0; t < kDv / 8; ++t) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        to.result()[trace_column(t) + e] = out.none[h] ? 0.0f : o[4 * t + 2 * h + e] * out.inverse[h];
      }
    }
  }
}

}  // namespace attn::gpu
#endif
