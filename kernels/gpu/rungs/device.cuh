// The few words that every kernel of this folder uses. The compile service defines
//   ATTN_D, ATTN_DV     head dimensions         ATTN_DTYPE   0 f32, 1 f16, 2 bf16
//   ATTN_MASKED         1: causal, window or key lengths       ATTN_BIAS  1: there is a bias
//   ATTN_ALIGNED        1: D and Dv are multiples of 4 and the pointers of 16 bytes
//   ATTN_BR, ATTN_BC, ATTN_THREADS   the tile and the block
#pragma once

#include "kernels/gpu/args.h"

namespace attn::gpu {

using int64 = long long;

constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;

__device__ inline float minus_infinity() {
  return __int_as_float(static_cast<int>(0xff800000u));
}

// ---- storage types: arithmetic is fp32 everywhere, memory holds Element
#if ATTN_DTYPE == 0
using Element = float;
__device__ inline float widen(float x) {
  return x;
}
__device__ inline float narrow(float x) {
  return x;
}
#else
struct Element {
  unsigned short bits;
};
struct alignas(8) FourElements {
  Element x, y, z, w;
};
#if ATTN_DTYPE == 1
__device__ inline float widen(Element e) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(e.bits));
  return x;
}
__device__ inline Element narrow(float x) {
  Element e;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(e.bits) : "f"(x));
  return e;
}
#else
__device__ inline float widen(Element e) {
  return __int_as_float(static_cast<int>(e.bits) << 16);
}
// To nearest, ties to even; NaN stays NaN. In integers, since sm_75 has no such conversion.
__device__ inline Element narrow(float x) {
  const unsigned bits = static_cast<unsigned>(__float_as_int(x));
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<unsigned short>(bits >> 16 | 0x40u)};
  return {static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}
#endif
#endif

// Elements from[0..3], those from `valid` on zero. `aligned`: all four or none are valid, and 16-bit types lie on
// 8 bytes, fp32 on 16.
__device__ inline float4 load4(const Element* from, int64 valid, bool aligned) {
  if (valid <= 0) return make_float4(0, 0, 0, 0);
  if (aligned) {
#if ATTN_DTYPE == 0
    return *reinterpret_cast<const float4*>(from);
#else
    const FourElements e = *reinterpret_cast<const FourElements*>(from);
    return make_float4(widen(e.x), widen(e.y), widen(e.z), widen(e.w));
#endif
  }
  return make_float4(widen(from[0]), valid > 1 ? widen(from[1]) : 0.0f, valid > 2 ? widen(from[2]) : 0.0f,
                     valid > 3 ? widen(from[3]) : 0.0f);
}

__device__ inline float4 shared4(const float* at) {
  return *reinterpret_cast<const float4*>(at);
}

// 2^x by the special function unit: two units in the last place, 2^-inf = 0.
__device__ inline float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// ---- heads and masks. `head` is b * Hq + h.
__device__ inline int64 kv_head(const Args& a, int64 head) {
  const int64 b = head / a.Hq;
  return b * a.Hkv + (head - b * a.Hq) / (a.Hq / a.Hkv);
}

__device__ inline int64 key_length(const Args& a, int64 head) {
#if ATTN_MASKED
  return a.key_lengths == nullptr ? a.Lk : a.key_lengths[head / a.Hq];
#else
  return a.Lk;
#endif
}

// Keys [first, last) that row r sees.
__device__ inline int64 first_key(const Args& a, int64 r) {
#if ATTN_MASKED
  return r + a.first_shift > 0 ? r + a.first_shift : 0;
#else
  return 0;
#endif
}
__device__ inline int64 last_key(const Args& a, int64 length, int64 r) {
#if ATTN_MASKED
  return r + a.last_shift < length ? r + a.last_shift : length;
#else
  return length;
#endif
}

__device__ inline float shaped_score(const Args& a, int64 head, int64 r, int64 c, float score, float unit);  // @score
// The score with its bias, both in base `unit` (1 or log2 e). A bias of -inf hides the key, whatever its score is.
__device__ inline float with_bias(const Args& a, int64 head, int64 r, int64 c, float score, float unit) {
  return shaped_score(a, head, r, c, score, unit);  // @score
#if ATTN_BIAS
  const int64 b = head / a.Hq;
  const float bias = a.bias[b * a.bias_b + (head - b * a.Hq) * a.bias_h + r * a.bias_r + c * a.bias_c];
  return bias == minus_infinity() ? bias : score + bias * unit;
#else
  return score;
#endif
}

}  // namespace attn::gpu
#include "kernels/gpu/score.cuh"  // @score
