// What the rungs that keep S in fragments share: the key tiles that a query tile sees and how they come, the mask, and
// the online softmax. A warp has M tiles of 16 rows; a lane has rows row + 8 h + 16 i (h = 0, 1; i < M) of the query
// tile and of each 8 columns of a fragment two, column and column + 1 (mma_layout.h).
#pragma once

// One build for every mask and for none: in the loop that costs a few integer additions a tile, which are nearly free.
#undef ATTN_MASKED
#define ATTN_MASKED 1

#include "kernels/gpu/device.cuh"
#include "kernels/gpu/tile_copy.cuh"

namespace attn::gpu {

// ---- registers

// Worked out once and kept: the compiler may not do the sum again for every tile.
__device__ inline unsigned kept(unsigned x) {
  unsigned y;
  asm volatile("mov.b32 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}
// A value that all lanes of the warp have alike, said so: it can then live in a register of the warp.
__device__ inline int uniform(int x) {
  return __shfl_sync(0xffffffffu, x, 0);
}
__device__ inline int64 uniform(int64 x) {
  const unsigned low = __shfl_sync(0xffffffffu, static_cast<unsigned>(x), 0);
  const unsigned high = __shfl_sync(0xffffffffu, static_cast<unsigned>(x >> 32), 0);
  return static_cast<int64>(static_cast<unsigned long long>(high) << 32 | low);
}
template <class T>
__device__ inline T* uniform(T* x) {
  return reinterpret_cast<T*>(uniform(reinterpret_cast<int64>(x)));
}

// ---- which key tiles

// The query tile of a block, and the keys that its rows see.
struct QueryTile {
  int64 head, r0, length;  // of all heads; first row; keys of the batch
  int rows;                // that exist from r0 on
  int j, j_end;            // key tiles [j, j_end) that some row sees

  __device__ inline explicit QueryTile(const Args& a) {
    const unsigned tiles = static_cast<unsigned>((a.Lq + ATTN_BR - 1) / ATTN_BR);
    head = uniform(int64{blockIdx.x / tiles});
    // Under a causal mask later query tiles see more keys: the longest start first.
    r0 = uniform(int64{tiles - 1 - blockIdx.x % tiles} * ATTN_BR);
    const int64 r_last = (r0 + ATTN_BR < a.Lq ? r0 + ATTN_BR : a.Lq) - 1;
    length = uniform(key_length(a, head));
    const int64 last = last_key(a, length, r_last);
    rows = uniform(near(a.Lq - r0));
    j = uniform(static_cast<int>(first_key(a, r0) / ATTN_BC));
    j_end = uniform(last > 0 ? static_cast<int>((last + ATTN_BC - 1) / ATTN_BC) : 0);
  }
};

// What the mask lets through of a key tile: row i of the query tile sees the columns from first + i to the lesser of
// last + i and end.
struct Window {
  int first, last, end;

  __device__ inline Window(const Args& a, const QueryTile& q, int64 c0)
      : first(near(q.r0 - c0 + a.first_shift)), last(near(q.r0 - c0 + a.last_shift)), end(near(q.length - c0)) {}
  // Nothing for the rows [from, to), or everything.
  __device__ inline bool hides(int from, int to) const { return first + from >= ATTN_BC || last + to - 1 <= 0; }
  __device__ inline bool is_whole(int from, int to) const {
    return end >= ATTN_BC && first + to - 1 <= 0 && last + from >= ATTN_BC;
  }
};

// ---- the ring of K and V tiles in shared memory

// The next tile to be fetched, and where this thread's chunks of it come from and go to.
template <class CopyK, class CopyV>
struct Feed {
  const Element *k, *v;
  unsigned k_from, v_from, k_to, v_to;  // in bytes
  int left;                             // rows from that tile on

  // The ring's first K tile lies at `ring`, its V tile `k_bytes` behind.
  __device__ inline Feed(const Args& a, const QueryTile& q, unsigned ring, unsigned k_bytes) {
    const int64 first = int64{q.j} * ATTN_BC, end = int64{q.j_end} * ATTN_BC;
    const int64 row = kv_head(a, q.head) * a.Lk + first;
    k = uniform(static_cast<const Element*>(a.k) + row * ATTN_D);
    v = uniform(static_cast<const Element*>(a.v) + row * ATTN_DV);
    left = uniform(near((end < a.Lk ? end : a.Lk) - first));
    // Threads share K's and V's chunks alike where the rows are as long.
    constexpr bool kAlike = CopyK::kWidth == CopyV::kWidth && ATTN_D == ATTN_DV;
    k_from = kept(CopyK::first_from() * static_cast<unsigned>(sizeof(Element)));
    v_from = kAlike ? k_from : kept(CopyV::first_from() * static_cast<unsigned>(sizeof(Element)));
    k_to = kept(ring + CopyK::first_to());
    v_to = kAlike ? k_to + k_bytes : kept(ring + k_bytes + CopyV::first_to());
  }
  __device__ inline void next() {
    k += ATTN_BC * ATTN_D;
    v += ATTN_BC * ATTN_DV;
    left -= ATTN_BC;
  }
  // To the ring's buffer that begins `stage` bytes behind the first.
  __device__ inline void fetch(unsigned stage) const {
    // @phase K
    CopyK::copy(k_to + stage, past(k, k_from), left);
    // @phase V
    CopyV::copy(v_to + stage, past(v, v_from), left);
  }
  // The n-th of `of` parts of the above.
  __device__ inline void fetch_part(unsigned stage, int n, int of) const {
    constexpr int kK = CopyK::kParts, kAll = kK + CopyV::kParts;
#pragma unroll
    for (int i = n * kAll / of; i < (n + 1) * kAll / of; ++i) {
      if (i < kK) {
        // @phase K
        CopyK::copy_part(k_to + stage, past(k, k_from), left, i);
      } else {
        // @phase V
        CopyV::copy_part(v_to + stage, past(v, v_from), left, i - kK);
      }
    }
  }

 private:
  static __device__ inline const Element* past(const Element* from, unsigned bytes) {
    return reinterpret_cast<const Element*>(reinterpret_cast<const char*>(from) + bytes);
  }
};

// ---- mask and bias

// The bias at this lane's first row and column of the key tile.
struct Bias {
  const float* at = nullptr;
  int64 row = 0, column = 0;  // from one to the next
  int rows = 0;               // of the query tile that exist from this lane's first on
  float slope = 0;            // @score of ALiBi, in base 2
  int64 own = 0;              // @score keys from this lane's first column to the own key of its first row

  __device__ inline Bias(const Args& a, const QueryTile& q, int lane_row, int lane_column) {
#if ATTN_BIAS
    const int64 b = q.head / a.Hq;
    at = a.bias + b * a.bias_b + (q.head - b * a.Hq) * a.bias_h + (q.r0 + lane_row) * a.bias_r +
         (int64{q.j} * ATTN_BC + lane_column) * a.bias_c;
    row = a.bias_r;
    column = a.bias_c;
    rows = q.rows - lane_row;
    slope = slope_of(a, q.head, kLog2E);                                       // @score
    own = q.r0 + lane_row + a.Lk - a.Lq - int64{q.j} * ATTN_BC - lane_column;  // @score
#endif
  }
  __device__ inline void next() {
    if (ATTN_BIAS) at += ATTN_BC * column;
    own -= ATTN_BC;  // @score
  }
};

// -inf where a key is hidden or beyond the end; with a bias the scores become scale S + bias, in base 2.
template <int M, int N>
__device__ inline void mask_scores(const Args& a, const Window& window, const Bias& bias, int lane_row, int lane_column,
                                   float (&s)[M][N][4]) {
  shape_scores(a, window, bias, lane_row, lane_column, s);  // @score
#if 0                                                       // @score
  // @phase mask
#pragma unroll
  for (int i = 0; i < M; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = lane_row + 16 * i + 8 * h;
      const int first = window.first + row - lane_column;
      int last = min(window.end, window.last + row) - lane_column;
      if (ATTN_BIAS && 16 * i + 8 * h >= bias.rows) last = 0;
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int c = 8 * n + e;
          float& x = s[i][n][2 * h + e];
          const bool seen = c >= first && c < last;
          if (!ATTN_BIAS) {
            x = seen ? x : minus_infinity();
          } else {
            // A bias of -inf hides the key, whatever its score is.
            const float more = seen ? bias.at[(16 * i + 8 * h) * bias.row + c * bias.column] : minus_infinity();
            x = more == minus_infinity() ? more : fmaf(x, a.scale_log2, more * kLog2E);
          }
        }
      }
    }
  }
#endif  // @score
}

// The factor that scores still lack when the softmax takes them, in base 2. A bias is added to scale S, so there none.
__device__ inline float scale_of_scores(const Args& a) {
  return ATTN_BIAS ? 1.0f : a.scale_log2;
}

// The maximum of S is that of scale S only where the scale is positive: what it lacks to that goes to Q, `count`
// elements of shared memory, and a positive scale comes back. For all threads; the block waits for them.
__device__ inline float with_positive_scale(float scale, Element* q, int count) {
  if (scale > 0) return scale;
  for (int n = threadIdx.x; n < count; n += ATTN_THREADS) q[n] = narrow(widen(q[n]) * (scale < 0 ? -1.0f : 0.0f));
  __syncthreads();
  return scale < 0 ? -scale : 1.0f;
}

// ---- the online softmax

constexpr float kSlack = 8;  // in base 2: how far above m a score may be

// What a lane has of its warp's rows; O is N tiles of 8 columns.
template <int M, int N>
struct Rows {
  float o[M][N][4];
  float m[M][2];  // of scale S, in base 2; near the maximum, never more than kSlack below it
  float l[M][2];  // this lane's share of the row's sum until the end

  __device__ inline Rows() {
#pragma unroll
    for (int i = 0; i < M; ++i) {
      // Finite, so that no difference of two of them is NaN; any score is above it.
      m[i][0] = m[i][1] = -3.0e38f;
      l[i][0] = l[i][1] = 0;
#pragma unroll
      for (int n = 0; n < N; ++n) o[i][n][0] = o[i][n][1] = o[i][n][2] = o[i][n][3] = 0;
    }
  }
};

// Four lanes share a row.
__device__ inline float max_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ inline float sum_of_row(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// Moves m up where a score of the tile is too far above it; l and O follow.
template <int M, int N, int ON>
__device__ inline void raise_max(const float (&s)[M][N][4], float scale, Rows<M, ON>& rows) {
  // @phase m
  float highest[M][2];
  bool rises = false;
#pragma unroll
  for (int i = 0; i < M; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float x = fmaxf(s[i][0][2 * h], s[i][0][2 * h + 1]);
#pragma unroll
      for (int n = 1; n < N; ++n) x = fmaxf(x, fmaxf(s[i][n][2 * h], s[i][n][2 * h + 1]));
      highest[i][h] = x;
      rises = rises || fmaf(x, scale, -kSlack) > rows.m[i][h];
    }
  }
  if (!__any_sync(0xffffffffu, rises)) return;
#pragma unroll
  for (int i = 0; i < M; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float larger = fmaxf(rows.m[i][h], max_of_row(highest[i][h]) * scale);
      // @phase alpha
      const float alpha = rows.m[i][h] == larger ? 1.0f : exp2_fast(rows.m[i][h] - larger);
      // @phase m
      rows.m[i][h] = larger;
      // @phase l
      rows.l[i][h] *= alpha;
      // @phase O
#pragma unroll
      for (int n = 0; n < ON; ++n) {
        rows.o[i][n][2 * h] *= alpha;
        rows.o[i][n][2 * h + 1] *= alpha;
      }
    }
  }
}

// 2^x as exp2_fast, but where it stands: between two products it costs them least, and there the compiler shall leave
// it.
__device__ inline float exp2_here(float x) {
  float y;
  asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace attn::gpu
#include "kernels/gpu/score_tile.cuh"  // @score
