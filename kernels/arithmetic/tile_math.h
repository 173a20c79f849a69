// The phases that are not products: mask, m, alpha, l, rounding. Kernels and replay call the same functions.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/arithmetic/math.h"
#include "kernels/arithmetic/vector_ops.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"

namespace attn::cpu {

constexpr float kMinusInfinity = -HUGE_VALF;

// Where a tile lies: query rows [r0, r0 + rows) of head h against keys [c0, c0 + cols).
struct Place2d {
  std::int64_t b = 0, h = 0, r0 = 0, rows = 0, c0 = 0, cols = 0;
};

// Score columns from `cols` to the padded width become -inf: weight 0, and no part in the maximum.
void pad_scores(MutTile s, std::int64_t rows, std::int64_t cols);
// Softcap, then the bias (null = none) is added, ALiBi taken away, masked scores set to -inf.
void apply_mask(const Problem& p, const float* bias, const Place2d& at, MutTile s);

// How a capped score answers a change of the scaled one, 1 - tanh^2(s / c): of scores before apply_mask(), and what
// multiplies their gradient after it.
void cap_gradients(const Problem& p, ConstTile s, std::int64_t rows, std::int64_t cols, MutTile to);
void multiply_tile(MutTile x, ConstTile by, std::int64_t rows, std::int64_t cols);

// What is subtracted before exp: m, or 0 where no key was visible yet, since -inf - -inf is NaN.
inline float shift_of(float m) {
  return m == kMinusInfinity ? 0.0F : m;
}
void shifts(const float* m, std::int64_t rows, float* out);
// alpha = exp(m_old - m_new); 1 where they are equal, both -inf included.
void rescale_factors(const float* m_old, const float* m_new, std::int64_t rows, float* alpha);
// l_new = alpha l_old + sum
void running_sums(const float* alpha, const float* l_old, const float* sums, std::int64_t rows, float* l_new);
// LSE = m + ln l; -inf where l is 0.
void log_sum_exp(const float* m, const float* l, std::int64_t rows, float* lse);

// (m, l, O) of rows take in another part of their keys, which comes after theirs (merge.h). Each addition is rounded to
// `t`.
void merge_rows(DType t, ConstTile o_part, const float* m_part, const float* l_part, std::int64_t rows, std::int64_t dv,
                MutTile o, float* m, float* l);

// What-if: every addition to l and O rounded to `t`. Columns in index order, multiply then add.
void running_sums_rounded(DType t, const float* alpha, const float* l_old, ConstTile p, std::int64_t rows,
                          std::int64_t cols, float* l_new);
void rescaled_product_rounded(DType t, ConstTile p, ConstTile v, MutTile o, std::int64_t rows, std::int64_t dv,
                              std::int64_t cols, const float* factor);

// flash-1: O = (alpha l_old O + P V) / l_new; 0 where l_new is 0. `factor` is a column to work in.
void flash1_output(ConstTile p, ConstTile v, MutTile o, std::int64_t rows, std::int64_t dv, std::int64_t cols,
                   const float* alpha, const float* l_old, const float* l_new, float* factor);

// Scalar rules, in index order (KERNELS: the definition): multiply, then add.
void scalar_scores(ConstTile q, ConstTile k, MutTile s, std::int64_t rows, std::int64_t cols, std::int64_t d,
                   float scale);
void scalar_max(ConstTile s, std::int64_t rows, std::int64_t cols, const float* in, float* out);
void scalar_exp_sums(ConstTile s, std::int64_t rows, std::int64_t cols, const float* m, const float* in, float* out);
void scalar_output(ConstTile p, ConstTile v, MutTile o, std::int64_t rows, std::int64_t dv, std::int64_t cols);
float scalar_dot(const float* a, const float* b, std::int64_t n);

// P = exp(S - m) / l in orders that store S, by either rule (the same bits), rounded to t; 0 where l is 0.
void stored_weights(DType t, ConstTile s, std::int64_t rows, std::int64_t cols, const float* m, const float* l,
                    MutTile p);
// l_out = l_in + rowsum exp(S - m), vector rules; `work` is a tile of the same size.
void vector_exp_sums(ConstTile s, std::int64_t rows, std::int64_t cols, const float* m, const float* in, float* out,
                     MutTile work);

// Rounds a tile to what `t` holds.
void round_tile(DType t, MutTile x, std::int64_t rows, std::int64_t cols);
// Stores rows of fp32 as `t`, contiguous from element `first` of `to`.
void narrow(DType t, ConstTile from, std::int64_t rows, std::int64_t cols, void* to, std::int64_t first,
            std::int64_t ld);

}  // namespace attn::cpu
