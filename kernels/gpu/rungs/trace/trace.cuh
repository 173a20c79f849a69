// The flight recorder of the rungs. A line
//
//   ATTN_TRACE(...);
//
// alone on its line is a hook: nothing in the code that is shipped and timed, a store of what the kernel holds where the
// program compiles with ATTN_TRACED=1. A kernel's hash is made without its hooks (kernels/gpu/compile/hooks.h), and a
// test holds the machine code of both texts against each other. Every thread writes what it has itself, at places that
// follow from tile and lane (trace_layout.h): no atomics, no order between threads, the same bytes each time.
#pragma once

#if !ATTN_TRACED
#define ATTN_TRACE(...)
#else
#define ATTN_TRACE(...) __VA_ARGS__

#include "kernels/gpu/device.cuh"
#include "kernels/gpu/mma_layout.h"
#include "kernels/gpu/trace_layout.h"

extern "C" {
__constant__ float* attn_trace;  // the buffer; set by the program before the launch
}

namespace attn::gpu {

__device__ inline void trace_who(float* to) {
  const unsigned thread = threadIdx.x + threadIdx.y * blockDim.x;
  *reinterpret_cast<unsigned*>(to) = 1 + kTraceWarps * blockIdx.x + thread / 32;
}

// ---- flash orders. ATTN_TRACE_LANES: how many lanes share a row, each with its own part of l.
#ifdef ATTN_TRACE_LANES
constexpr FlashTrace kTrace = flash_trace(ATTN_DV, ATTN_BR, ATTN_BC, ATTN_TRACE_LANES);

__device__ inline int64 trace_query_tile(const Args& a, int64 head, int64 r0) {
  return head * ((a.Lq + ATTN_BR - 1) / ATTN_BR) + r0 / ATTN_BR;
}
// This thread is in tile (head, r0, j) from now on. Functions that do not know their tile find it here.
__device__ inline unsigned* trace_cursor() {
  return reinterpret_cast<unsigned*>(attn_trace) + int64{blockIdx.x} * ATTN_THREADS + threadIdx.x;
}
__device__ inline void trace_begin(const Args& a, int64 head, int64 r0, int64 j) {
  const int64 key_tiles = (a.Lk + ATTN_BC - 1) / ATTN_BC;
  const int64 query_tiles = a.B * a.Hq * ((a.Lq + ATTN_BR - 1) / ATTN_BR);
  const FlashTracePlaces at = flash_trace_places(kTrace, query_tiles, key_tiles, ATTN_THREADS);
  *trace_cursor() = static_cast<unsigned>(at.tiles + (trace_query_tile(a, head, r0) * key_tiles + j) * kTrace.tile);
}
// Of the tile that this thread is in.
__device__ inline float* trace_tile(int part) {
  return attn_trace + *trace_cursor() + part;
}
// Of the query tile.
__device__ inline float* trace_row(const Args& a, int64 head, int64 r0, int part) {
  const int64 key_tiles = (a.Lk + ATTN_BC - 1) / ATTN_BC;
  const int64 query_tiles = a.B * a.Hq * ((a.Lq + ATTN_BR - 1) / ATTN_BR);
  const FlashTracePlaces at = flash_trace_places(kTrace, query_tiles, key_tiles, ATTN_THREADS);
  return attn_trace + at.rows + trace_query_tile(a, head, r0) * kTrace.row + part;
}

// 16 lanes a row: thread (row, tx) has rows row + 2 i.

// S or P: columns tx + 16 j.
template <int R, int C>
__device__ inline void trace_scores(int part, int row, int tx, const float (&x)[R][C]) {
  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < C; ++j) trace_tile(part)[(row + 2 * i) * ATTN_BC + tx + 16 * j] = x[i][j];
  }
}
// O: columns 4 tx + 64 n + e.
template <int R, int N>
__device__ inline void trace_output(int part, int row, int tx, const float (&x)[R][N][4]) {
  for (int i = 0; i < R; ++i) {
    for (int n = 0; n < N; ++n) {
      for (int e = 0; e < 4; ++e) {
        const int d = 4 * tx + 64 * n + e;
        if (d < ATTN_DV) trace_tile(part)[(row + 2 * i) * kTrace.o_stride + d] = x[i][n][e];
      }
    }
  }
}
// A number that the lanes of a row have alike; the first of them writes it, and who it is.
template <int R>
__device__ inline void trace_column(int part, int row, int tx, const float (&x)[R]) {
  for (int i = 0; i < R && tx == 0; ++i) trace_tile(part)[row + 2 * i] = x[i];
}
template <int R>
__device__ inline void trace_lanes(int row, int tx, const float (&l)[R]) {
  for (int i = 0; i < R; ++i) {
    trace_tile(kTrace.l)[(row + 2 * i) * kTrace.lanes + tx] = l[i];
    if (tx == 0) trace_who(trace_tile(kTrace.who) + row + 2 * i);
  }
}
// The factor of this thread's i-th row; for a function that does not know where the thread is.
__device__ inline void trace_alpha(int i, float alpha) {
  constexpr int kRows = 16 * ATTN_BR / ATTN_THREADS;
  const int lane = threadIdx.x % 32;
  if (lane % 16 == 0) trace_tile(kTrace.alpha)[threadIdx.x / 32 * 2 * kRows + lane / 16 + 2 * i] = alpha;
}
// Four columns of O / l, from d on.
__device__ inline void trace_normalised(const Args& a, int64 head, int64 r0, int row, int d, const float (&x)[4]) {
  for (int e = 0; e < 4; ++e) {
    if (d + e < ATTN_DV) trace_row(a, head, r0, kTrace.row_o)[row * kTrace.o_stride + d + e] = x[e];
  }
}

// One or two lanes a row: a lane has N columns of row r of the problem, from `column` on.
template <int N>
__device__ inline void trace_row_scores(int part, int64 r, int column, const float (&x)[N]) {
  for (int c = 0; c < N; ++c) trace_tile(part)[r % ATTN_BR * ATTN_BC + column + c] = x[c];
}
// The same of what lies in memory. Scores times the scale are nobody's where a bias is added to them: the compiler makes
// one fma of both.
template <int N>
__device__ inline void trace_row_products(int part, int64 r, int column, const float* s) {
  for (int c = 0; c < N; ++c) trace_tile(part)[r % ATTN_BR * ATTN_BC + column + c] = s[c];
}
__device__ inline void trace_row_numbers(int64 r, int lane, float m, float alpha, float l) {
  const int64 row = r % ATTN_BR;
  trace_tile(kTrace.l)[row * kTrace.lanes + lane] = l;
  if (lane != 0) return;
  trace_tile(kTrace.m)[row] = m;
  trace_tile(kTrace.alpha)[row] = alpha;
  trace_who(trace_tile(kTrace.who) + row);
}
// O in the fragments of a warp, from `row` of the query tile on: stored by the warp together.
template <class F, int M, int N, class Order>
__device__ inline void trace_fragments(float* to, int row, const F (&o)[M][N], Order order) {
  for (int i = 0; i < M; ++i) {
    for (int n = 0; n < N; ++n) {
      store_matrix_sync(to + (row + 16 * i) * kTrace.o_stride + 16 * n, o[i][n], kTrace.o_stride, order);
    }
  }
}

#if ATTN_TRACE_LANES == 4 || ATTN_TRACE_LANES == 8
// Four lanes a row: fragments of 16 x 8, M of them below each other in a warp. A lane has rows row + 8 h + 16 i and of
// each fragment columns column + e, in register 2 h + e. Eight: two warps share their rows, each has half of a tile's
// keys and of O's columns.
constexpr int kTraceSharers = ATTN_TRACE_LANES / 4;
constexpr bool trace_knows_fragments() {
  for (int lane = 0; lane < 32; ++lane) {
    for (int reg = 0; reg < 4; ++reg) {
      const FragmentPlace at = fragment_c(lane / 4 + reg / 2 * 8, lane % 4 * 2 + reg % 2);
      if (at.lane != lane || at.reg != reg) return false;
    }
  }
  return true;
}
static_assert(trace_knows_fragments(), "mma_layout.h has another order");
constexpr int kTraceRowTiles = ATTN_BR / (ATTN_THREADS / 32) * kTraceSharers / 16;

__device__ inline int trace_fragment_row(int i, int h) {
  return (static_cast<int>(threadIdx.x) / 32 / kTraceSharers * kTraceRowTiles + i) * 16 + h * 8 +
         static_cast<int>(threadIdx.x) % 32 / 4;
}
__device__ inline int trace_fragment_column() {
  return static_cast<int>(threadIdx.x) % 4 * 2;
}
// Of those that share rows, which this warp is.
__device__ inline int trace_sharer() {
  return static_cast<int>(threadIdx.x) / 32 % kTraceSharers;
}
// The lane's first key of a tile.
__device__ inline int trace_fragment_key() {
  return trace_sharer() * (ATTN_BC / kTraceSharers) + trace_fragment_column();
}

// S, or S with its mask.
template <int M, int N>
__device__ inline void trace_fragment_scores(int part, const float (&x)[M][N][4]) {
  for (int i = 0; i < M; ++i) {
    for (int n = 0; n < N; ++n) {
      for (int e = 0; e < 4; ++e) {
        const int at = trace_fragment_row(i, e / 2) * ATTN_BC + 8 * n + trace_fragment_key() + e % 2;
        trace_tile(part)[at] = x[i][n][e];
      }
    }
  }
}
// A pair of neighbours of P, of fragment (i, n).
__device__ inline void trace_fragment_weights(int i, int n, int h, float x, float y) {
  float* to = trace_tile(kTrace.p) + trace_fragment_row(i, h) * ATTN_BC + 8 * n + trace_fragment_key();
  to[0] = x;
  to[1] = y;
}
// A warp whose rows see no key of the tile leaves the tile out: no score, no weight, and m stays.
__device__ inline void trace_fragments_unseen() {
  for (int i = 0; i < kTraceRowTiles; ++i) {
    for (int h = 0; h < 2; ++h) {
      for (int n = 0; n < ATTN_BC / kTraceSharers / 8; ++n) {
        for (int e = 0; e < 2; ++e) {
          const int at = trace_fragment_row(i, h) * ATTN_BC + 8 * n + trace_fragment_key() + e;
          trace_tile(kTrace.s)[at] = minus_infinity();
          trace_tile(kTrace.masked)[at] = minus_infinity();
          trace_tile(kTrace.p)[at] = 0;
        }
      }
      if (trace_fragment_column() == 0) trace_tile(kTrace.alpha)[trace_fragment_row(i, h)] = 1;
    }
  }
}
// The factors by which m went from `before` to `after`: the kernel drops them where it used them, so they are made once
// more, of the same registers by the same instructions.
template <int M>
struct TraceMaximum {
  float m[M][2];
};
template <class WarpRows>
__device__ inline TraceMaximum<kTraceRowTiles> trace_maximum(const WarpRows& rows) {
  TraceMaximum<kTraceRowTiles> x;
  for (int i = 0; i < kTraceRowTiles; ++i) {
    for (int h = 0; h < 2; ++h) x.m[i][h] = rows.m[i][h];
  }
  return x;
}
template <int M, class WarpRows>
__device__ inline void trace_fragment_factors(const TraceMaximum<M>& before, const WarpRows& rows) {
  for (int i = 0; i < M; ++i) {
    for (int h = 0; h < 2; ++h) {
      const float old = before.m[i][h], alpha = old == rows.m[i][h] ? 1.0f : exp2_fast(old - rows.m[i][h]);
      if (trace_fragment_column() == 0) trace_tile(kTrace.alpha)[trace_fragment_row(i, h)] = alpha;
    }
  }
}
// m and this lane's part of l, and who has them. O: two fragments of 8 columns stand beside each other (STEP 1), or are
// the even and the odd columns of 16 (STEP 2).
template <int STEP, class WarpRows>
__device__ inline void trace_fragment_rows(const WarpRows& rows) {
  for (int i = 0; i < kTraceRowTiles; ++i) {
    for (int h = 0; h < 2; ++h) {
      const int row = trace_fragment_row(i, h), column = trace_fragment_column();
      trace_tile(kTrace.l)[row * kTrace.lanes + trace_sharer() * 4 + column / 2] = rows.l[i][h];
      constexpr int kFragments = sizeof rows.o[0] / sizeof rows.o[0][0];
      for (int n = 0; n < kFragments; ++n) {
        for (int e = 0; e < 2; ++e) {
          const int d = trace_sharer() * 8 * kFragments + n / 2 * 16 +
                        (STEP == 1 ? n % 2 * 8 + column + e : n % 2 + 2 * (column + e));
          if (d < kTrace.o_stride) trace_tile(kTrace.o)[row * kTrace.o_stride + d] = rows.o[i][n][2 * h + e];
        }
      }
      if (trace_fragment_key() != 0) continue;
      trace_tile(kTrace.m)[row] = rows.m[i][h];
      trace_who(trace_tile(kTrace.who) + row);
    }
  }
}
// Two columns of O / l, from d on.
__device__ inline void trace_normalised_pair(const Args& a, int64 head, int64 r0, int row, int d, float x, float y) {
  float* to = trace_row(a, head, r0, kTrace.row_o) + row * kTrace.o_stride + d;
  to[0] = x;
  to[1] = y;
}
#endif
#endif

// ---- orders that store S. `row` counts over all heads.

__device__ inline StoredTrace stored_trace_of(const Args& a) {
  return stored_trace(a.B * a.Hq * a.Lq, a.Lk, ATTN_DV);
}
__device__ inline void trace_score(const Args& a, int64 row, int64 c, float s) {
  const StoredTrace at = stored_trace_of(a);
  attn_trace[at.s + row * a.Lk + c] = s;
  if (c % kTraceCut == 0) trace_who(attn_trace + at.who_s + row * at.cuts_s + c / kTraceCut);
}
// A row's P as it was stored: this thread's columns, from `first` on in steps of `step`.
__device__ inline void trace_weights(const Args& a, int64 row, int64 first, int step, const Element* p) {
  const StoredTrace at = stored_trace_of(a);
  for (int64 c = first; c < a.Lk; c += step) attn_trace[at.p + row * a.Lk + c] = widen(p[c]);
}
__device__ inline void trace_softmax(const Args& a, int64 row, float m, float l) {
  if (threadIdx.x != 0) return;
  const StoredTrace at = stored_trace_of(a);
  attn_trace[at.m + row] = m;
  attn_trace[at.l + row] = l;
  trace_who(attn_trace + at.who_p + row);
}
__device__ inline void trace_result(const Args& a, int64 row, int64 d, float o) {
  if (d >= ATTN_DV) return;
  const StoredTrace at = stored_trace_of(a);
  attn_trace[at.o + row * ATTN_DV + d] = o;
  if (d % kTraceCut == 0) trace_who(attn_trace + at.who_o + row * at.cuts_o + d / kTraceCut);
}

}  // namespace attn::gpu
#endif
