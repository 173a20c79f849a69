// What softcap and ALiBi make of a score. Compiled for a problem that has one of them, and only then; the lines of other
// texts that end in "// @score" are there for it, and gone from every other build (kernels/gpu/compile/score_lines.h).
// Such a build has ATTN_BIAS = 1, since scores change whatever the mask says, and
//   ATTN_SOFTCAP   1: c tanh(S / c)     ATTN_ALIBI   1: - slope distance     ATTN_ADDED   1: there is a bias as well
//
// tanh. tanh.approx.f32 errs by 2^-11 of its result, hundreds of times what fp32 scores may (c = 50: 0.02 of a score of
// 50, 2 % of its weight). CUDA's tanhf errs by two units in the last place.
#pragma once

#include "kernels/gpu/args.h"

namespace attn::gpu {

// Each rounding below is written out: left to itself the compiler makes one fma or another of the same sum, and the run
// that records itself would give other bits than the plain one.

// c tanh(S / c), both in base `unit`. +inf becomes c, NaN stays.
__device__ inline float capped_score(const Args& a, float score, float unit) {
#if ATTN_SOFTCAP
  return __fmul_rn(a.softcap * unit, tanhf(__fmul_rn(score, a.softcap_inverse / unit)));
#else
  return score;
#endif
}

// ALiBi's slope of a head (b * Hq + h), in base `unit`; 0 without.
__device__ inline float slope_of(const Args& a, int64 head, float unit) {
#if ATTN_ALIBI
  const int64 b = head / a.Hq;
  return __fmul_rn(a.slopes[b * a.slopes_b + (head - b * a.Hq)], unit);
#else
  return 0;
#endif
}

// The scaled score of row r and key c with softcap, bias and ALiBi, all in base `unit` (1 or log2 e), where the head's
// slope is known. A bias of -inf hides the key, whatever its score is.
__device__ inline float shaped_score(const Args& a, int64 head, float slope, int64 r, int64 c, float score,
                                     float unit) {
  float shaped = capped_score(a, score, unit);
#if ATTN_ADDED
  const int64 b = head / a.Hq, h = head - b * a.Hq;
  const float bias = a.bias[b * a.bias_b + h * a.bias_h + r * a.bias_r + c * a.bias_c];
  if (bias == minus_infinity()) return bias;
  shaped = fmaf(bias, unit, shaped);
#endif
#if ATTN_ALIBI
  // In 32 bits, which registers are short of: supports() refuses longer problems.
  const int distance = static_cast<int>(r + a.Lk - a.Lq - c);
  shaped = fmaf(-slope, fabsf(static_cast<float>(distance)), shaped);
#endif
  return shaped;
}
__device__ inline float shaped_score(const Args& a, int64 head, int64 r, int64 c, float score, float unit) {
  return shaped_score(a, head, slope_of(a, head, unit), r, c, score, unit);
}

}  // namespace attn::gpu
