// The vector arithmetic of the CPU kernels and of their replay, compiled once for each vector target (Highway) and
// dispatched at run time. Every function gives the same bits whatever the vector width:
//   products    each element is one chain of fused multiply-adds, the inner index ascending (targets without FMA:
//               multiply, then add; the same on the machine that replays)
//   row sums    16 partial sums, column c in partial c mod 16, then a fixed tree: k with k+8, +4, +2, +1
//   row maxima  16 partial maxima and the same tree; NaN never wins
//   exp         no FMA at all: the bits of exp_f32 (kernels/arithmetic/math.h) on every machine
//
// Rows are `ld` floats apart. Column counts are rounded up to kLanes: padding columns are read and written, so `ld`
// is a multiple of kLanes and buffers are as long. Score padding must hold -inf, V and K padding 0.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/base/dtype.h"

namespace attn::cpu {

constexpr std::int64_t kLanes = 16;
constexpr std::int64_t padded(std::int64_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

// A tile of fp32 in memory.
struct ConstTile {
  const float* data = nullptr;
  std::int64_t ld = 0;
};
struct MutTile {
  float* data = nullptr;
  std::int64_t ld = 0;
};

// c[m x n] = scale * (a[m x k] b[k x n])
void scaled_product(ConstTile a, ConstTile b, MutTile c, std::int64_t m, std::int64_t n, std::int64_t k, float scale);
// c[m x n] = factor[m] * c + a[m x k] b[k x n]; factor null = 1 (no multiplication)
void rescaled_product(ConstTile a, ConstTile b, MutTile c, std::int64_t m, std::int64_t n, std::int64_t k,
                      const float* factor);
// c[m x n] = c + transpose of a[k x m], times b[k x n]
void transposed_product(ConstTile a, ConstTile b, MutTile c, std::int64_t m, std::int64_t n, std::int64_t k);
// out[r] = sum of a[r] * b[r] over n columns: the chain of a product's element, without padding
void row_dots(ConstTile a, ConstTile b, std::int64_t m, std::int64_t n, float* out);
// ds = p * (dp - delta[r]); ds may be dp
void softmax_gradient(ConstTile p, ConstTile dp, std::int64_t m, std::int64_t n, const float* delta, MutTile ds);
// out[r] = max(in[r], max over the first n columns of s)
void row_max(ConstTile s, std::int64_t m, std::int64_t n, const float* in, float* out);
// p = exp(s - shift[r]); p may be s. sums[r] (when not null) = row sum of p.
void exp_rows(ConstTile s, std::int64_t m, std::int64_t n, const float* shift, MutTile p, float* sums);
void row_sums(ConstTile p, std::int64_t m, std::int64_t n, float* sums);
// p = p / divisor[r]; 0 where the divisor is 0
void divide_rows(MutTile p, std::int64_t m, std::int64_t n, const float* divisor);
// c[n x m] = transpose of a[m x n], c's padding columns set to 0
void transpose(ConstTile a, MutTile c, std::int64_t m, std::int64_t n);
// Widens n elements.
void widen(DType t, const void* from, std::int64_t first, std::int64_t n, float* to);

// "AVX3_DL", "AVX2", ...: the target that dispatch chose on this machine.
std::string target_name();

}  // namespace attn::cpu
