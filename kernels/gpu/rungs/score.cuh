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

// c tanh(S / c), both in base `unit`. +inf becomes c, NaN stays.
__device__ inline float capped_score(const Args& a, float score, float unit) {
#if ATTN_SOFTCAP
  return a.softcap * unit * tanhf(score * (a.softcap_inverse / unit));
#else
  return score;
#endif
}

// ALiBi's slope of a head (b * Hq + h), in base 2; 0 without.
__device__ inline float slope_log2(const Args& a, int64 head) {
#if ATTN_ALIBI
  const int64 b = head / a.Hq;
  return a.slopes[b * a.slopes_b + (head - b * a.Hq)] * kLog2E;
#else
  return 0;
#endif
}

// The scaled score of row r and key c with softcap, bias and ALiBi, all in base `unit` (1 or log2 e). A bias of -inf hides
// the key, whatever its score is.
__device__ inline float shaped_score(const Args& a, int64 head, int64 r, int64 c, float score, float unit) {
  float shaped = capped_score(a, score, unit);
  const int64 b = head / a.Hq, h = head - b * a.Hq;
#if ATTN_ADDED
  const float bias = a.bias[b * a.bias_b + h * a.bias_h + r * a.bias_r + c * a.bias_c];
  if (bias == minus_infinity()) return bias;
  shaped += bias * unit;
#endif
#if ATTN_ALIBI
  // In 32 bits, which registers are short of: supports() refuses longer problems.
  const int distance = static_cast<int>(r + a.Lk - a.Lq - c);
  shaped -= a.slopes[b * a.slopes_b + h] * unit * fabsf(static_cast<float>(distance));
#endif
  return shaped;
}

}  // namespace attn::gpu
