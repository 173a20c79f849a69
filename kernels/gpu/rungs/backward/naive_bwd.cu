// naive_bwd: the backward as the textbook writes it, six kernels one after the other.
//
//   naive_bwd_rows      delta = rowsum(dO * O)                one warp a row
//   naive_bwd_weights   P = exp(S - LSE), S = scale Q K^T     one thread an element of P
//   naive_bwd_scores    dS = P (dO V^T - delta)               one thread an element of dS
//   naive_bwd_dq        dQ = scale dS K                       one thread an element of dQ
//   naive_bwd_dk        dK = scale dS^T Q                     one thread an element of dK
//   naive_bwd_dv        dV = P^T dO                           one thread an element of dV
//
// The idea. Each formula becomes a kernel, each element a thread. P and dS (the input dtype) are whole matrices of
// Lq x Lk in device memory: written by one kernel, read by the next. An element is one sum in index order, so the bits
// repeat.
//
// New against the rung before (cpu_naive_bwd): thousands of rows at once.
//
// What limits it. Memory, as with naive: 2 Lq Lk e bytes of space, each of the two read twice or more, and two loads
// for each multiply-add.
#include "kernels/gpu/backward.cuh"

namespace attn::gpu {

constexpr int kRows = ATTN_THREADS / 32;  // a block is 32 columns x kRows rows

// Which element of a [heads, rows, columns] matrix this thread has; blocks are numbered along the columns first.
struct Place {
  int64 head, r, c;
};
__device__ inline Place place_of(int64 rows, int64 columns) {
  const unsigned across = static_cast<unsigned>((columns + 31) / 32);
  const unsigned down = static_cast<unsigned>((rows + kRows - 1) / kRows);
  const unsigned row_of_blocks = blockIdx.x / across;
  return {row_of_blocks / down, int64{row_of_blocks % down} * kRows + threadIdx.y,
          int64{blockIdx.x % across} * 32 + threadIdx.x};
}

// The first of the query heads that share a head of keys, b * Hkv + h.
__device__ inline int64 first_query_head(const Args& a, int64 kv) {
  const int64 b = kv / a.Hkv;
  return b * a.Hq + (kv - b * a.Hkv) * (a.Hq / a.Hkv);
}

__device__ inline float scaled_score(const Args& a, int64 head, int64 r, int64 c) {
  const Element* q = static_cast<const Element*>(a.q) + (head * a.Lq + r) * ATTN_D;
  const Element* k = static_cast<const Element*>(a.k) + (kv_head(a, head) * a.Lk + c) * ATTN_D;
  float sum = 0;
  for (int d = 0; d < ATTN_D; ++d) sum = fmaf(widen(q[d]), widen(k[d]), sum);
  return sum * a.scale;
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) naive_bwd_rows(const Args a, const BackwardArgs g) {
  // @phase delta
  const int64 n = int64{blockIdx.x} * kRows + threadIdx.y;
  if (n < a.B * a.Hq * g.rows) prepare_row(a, g, n, threadIdx.x, 1.0f);
}

// P[r][c] = exp(S[r][c] - LSE[r]); 0 where the mask hides the key.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) naive_bwd_weights(const Args a, const BackwardArgs g) {
  // @phase setup
  const Place at = place_of(a.Lq, a.Lk);
  if (at.r >= a.Lq || at.c >= a.Lk) return;
  const int64 row = at.head * a.Lq + at.r;
  // @phase mask
  float p = 0;
  if (is_seen(a, key_length(a, at.head), at.r, at.c)) {
    // @phase S
    const float score = with_bias(a, at.head, at.r, at.c, scaled_score(a, at.head, at.r, at.c), 1.0f);
    // @phase P
    p = expf(score - g.shift[row]);
  }
  // @phase store
  static_cast<Element*>(g.p)[row * a.Lk + at.c] = narrow(p);
}

// dS[r][c] = P[r][c] (sum_d dO[r][d] V[c][d] - delta[r])
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) naive_bwd_scores(const Args a, const BackwardArgs g) {
  // @phase setup
  const Place at = place_of(a.Lq, a.Lk);
  if (at.r >= a.Lq || at.c >= a.Lk) return;
  const int64 row = at.head * a.Lq + at.r;
  // @phase mask
  float d_s = 0;
  if (is_seen(a, key_length(a, at.head), at.r, at.c)) {
    // @phase dP
    const Element* d_o = static_cast<const Element*>(g.d_o) + row * ATTN_DV;
    const Element* v = static_cast<const Element*>(a.v) + (kv_head(a, at.head) * a.Lk + at.c) * ATTN_DV;
    float sum = 0;
    for (int d = 0; d < ATTN_DV; ++d) sum = fmaf(widen(d_o[d]), widen(v[d]), sum);
    // @phase dS
    d_s = widen(static_cast<const Element*>(g.p)[row * a.Lk + at.c]) * (sum - g.delta[row]);
#if ATTN_SOFTCAP                                                           // @score
    d_s *= slope_of_score(a, scaled_score(a, at.head, at.r, at.c), 1.0f);  // @score
#endif                                                                     // @score
  }
  // @phase store
  static_cast<Element*>(g.d_s)[row * a.Lk + at.c] = narrow(d_s);
}

// dQ[r][d] = scale sum_c dS[r][c] K[c][d]
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) naive_bwd_dq(const Args a, const BackwardArgs g) {
  // @phase setup
  const Place at = place_of(a.Lq, ATTN_D);
  if (at.r >= a.Lq || at.c >= ATTN_D) return;
  const int64 row = at.head * a.Lq + at.r;
  const Element* d_s = static_cast<const Element*>(g.d_s) + row * a.Lk;
  const Element* k = static_cast<const Element*>(a.k) + kv_head(a, at.head) * a.Lk * ATTN_D + at.c;
  // @phase dQ
  const int64 last = last_key(a, key_length(a, at.head), at.r);
  float sum = 0;
  for (int64 c = first_key(a, at.r); c < last; ++c) sum = fmaf(widen(d_s[c]), widen(k[c * ATTN_D]), sum);
  // @phase store
  static_cast<Element*>(g.d_q)[row * ATTN_D + at.c] = narrow(sum * a.scale);
}

// sum_r X[r][c] Y[r][d] over all query heads that share the keys: X is P or dS, Y is dO or Q.
__device__ inline float sum_over_rows(const Args& a, const Place& at, const Element* x, const Element* y, int width) {
  const int64 first_head = first_query_head(a, at.head);
  const int64 length = key_length(a, first_head), first = first_row(a, at.r), last = last_row(a, length, at.r);
  float sum = 0;
  for (int64 head = first_head; head < first_head + a.Hq / a.Hkv; ++head) {
    const Element* column = x + head * a.Lq * a.Lk + at.r;
    const Element* rows = y + head * a.Lq * width + at.c;
    for (int64 r = first; r < last; ++r) sum = fmaf(widen(column[r * a.Lk]), widen(rows[r * width]), sum);
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) naive_bwd_dk(const Args a, const BackwardArgs g) {
  // @phase setup
  const Place at = place_of(a.Lk, ATTN_D);
  if (at.r >= a.Lk || at.c >= ATTN_D) return;
  // @phase dK
  const float sum = sum_over_rows(a, at, static_cast<const Element*>(g.d_s), static_cast<const Element*>(a.q), ATTN_D);
  // @phase store
  static_cast<Element*>(g.d_k)[(at.head * a.Lk + at.r) * ATTN_D + at.c] = narrow(sum * a.scale);
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) naive_bwd_dv(const Args a, const BackwardArgs g) {
  // @phase setup
  const Place at = place_of(a.Lk, ATTN_DV);
  if (at.r >= a.Lk || at.c >= ATTN_DV) return;
  // @phase dV
  const float sum = sum_over_rows(a, at, static_cast<const Element*>(g.p), static_cast<const Element*>(g.d_o), ATTN_DV);
  // @phase store
  static_cast<Element*>(g.d_v)[(at.head * a.Lk + at.r) * ATTN_DV + at.c] = narrow(sum);
}

}  // namespace attn::gpu
