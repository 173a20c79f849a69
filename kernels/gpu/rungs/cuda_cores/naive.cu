// naive: attention as the textbook writes it, three kernels one after the other.
//
//   naive_scores    S = scale Q K^T, masked       one thread an element of S
//   naive_softmax   P = softmax(S), row by row    one warp a row
//   naive_output    O = P V                       one thread an element of O
//
// The idea. Each formula becomes a kernel, each element a thread. S (fp32) and P (the input dtype) are whole matrices
// of Lq x Lk in device memory: written by one kernel, read by the next.
//
// New against the rung before (the CPU): thousands of rows at once.
//
// What limits it. Memory, twice over. S and P cost 2 Lq Lk (4 + e) bytes of traffic and Lq Lk (4 + e) of space, where
// the inputs have (Lq + Lk) D e. And every product reads its two factors from the caches for one multiply-add:
// neighbouring threads of naive_scores read neighbouring rows of K, D elements apart.
#include "kernels/gpu/device.cuh"
#include "kernels/gpu/trace.cuh"

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

// S[r][c] = scale * sum_d Q[r][d] K[c][d] + bias; -inf where the mask hides the key.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) naive_scores(const Args a) {
  // @phase setup
  const Place at = place_of(a.Lq, a.Lk);
  if (at.r >= a.Lq || at.c >= a.Lk) return;
  const Element* q = static_cast<const Element*>(a.q) + (at.head * a.Lq + at.r) * ATTN_D;
  const Element* k = static_cast<const Element*>(a.k) + (kv_head(a, at.head) * a.Lk + at.c) * ATTN_D;
  // @phase mask
  float score = minus_infinity();
  if (at.c >= first_key(a, at.r) && at.c < last_key(a, key_length(a, at.head), at.r)) {
    // @phase S
    float sum = 0;
    for (int d = 0; d < ATTN_D; ++d) sum = fmaf(widen(q[d]), widen(k[d]), sum);
    score = with_bias(a, at.head, at.r, at.c, sum * a.scale, 1.0f);
  }
  // @phase store
  a.s[(at.head * a.Lq + at.r) * a.Lk + at.c] = score;
  ATTN_TRACE(trace_score(a, at.head * a.Lq + at.r, at.c, score));
}

__device__ inline float warp_max(float x) {
  for (int lane = 16; lane > 0; lane /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, lane));
  return x;
}
__device__ inline float warp_sum(float x) {
  for (int lane = 16; lane > 0; lane /= 2) x += __shfl_xor_sync(0xffffffffu, x, lane);
  return x;
}

// P[r][c] = exp(S[r][c] - m) / l with m = max_c S, l = sum_c exp(S - m). S is read three times.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) naive_softmax(const Args a) {
  // @phase setup
  const int64 row = int64{blockIdx.x} * kRows + threadIdx.y;  // of all heads' rows
  if (row >= a.B * a.Hq * a.Lq) return;
  const float* s = a.s + row * a.Lk;
  Element* p = static_cast<Element*>(a.p) + row * a.Lk;

  // @phase m
  float m = minus_infinity();
  for (int64 c = threadIdx.x; c < a.Lk; c += 32) m = fmaxf(m, s[c]);
  m = warp_max(m);
  // A row without any key: every weight is exp(-inf - 0) = 0.
  const float shift = m == minus_infinity() ? 0.0f : m;

  // @phase l
  float l = 0;
  for (int64 c = threadIdx.x; c < a.Lk; c += 32) l += expf(s[c] - shift);
  l = warp_sum(l);

  // @phase P
  for (int64 c = threadIdx.x; c < a.Lk; c += 32) p[c] = narrow(l == 0.0f ? 0.0f : expf(s[c] - shift) / l);
  // @phase store
  if (threadIdx.x == 0) a.lse[row] = l == 0.0f ? minus_infinity() : m + logf(l);
  ATTN_TRACE(trace_weights(a, row, threadIdx.x, 32, p));
  ATTN_TRACE(trace_softmax(a, row, m, l));
}

// O[r][d] = sum_c P[r][c] V[c][d]
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) naive_output(const Args a) {
  // @phase setup
  const Place at = place_of(a.Lq, ATTN_DV);
  if (at.r >= a.Lq || at.c >= ATTN_DV) return;
  const Element* p = static_cast<const Element*>(a.p) + (at.head * a.Lq + at.r) * a.Lk;
  const Element* v = static_cast<const Element*>(a.v) + kv_head(a, at.head) * a.Lk * ATTN_DV + at.c;
  // @phase O
  float sum = 0;
  for (int64 c = 0; c < a.Lk; ++c) sum = fmaf(widen(p[c]), widen(v[c * ATTN_DV]), sum);
  // @phase store
  static_cast<Element*>(a.out)[(at.head * a.Lq + at.r) * ATTN_DV + at.c] = narrow(sum);
  ATTN_TRACE(trace_result(a, at.head * a.Lq + at.r, at.c, sum));
}

}  // namespace attn::gpu
