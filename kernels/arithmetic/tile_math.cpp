#include "kernels/arithmetic/tile_math.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/arithmetic/merge.h"

namespace attn::cpu {

void pad_scores(MutTile s, std::int64_t rows, std::int64_t cols) {
  if (cols == padded(cols)) return;
  for (std::int64_t r = 0; r < rows; ++r)
    std::fill(s.data + r * s.ld + cols, s.data + r * s.ld + padded(cols), kMinusInfinity);
}

namespace {

// c tanh(s / c), as s times 1 / c. A score that is +inf becomes c.
void cap_scores(float c, float* row, std::int64_t cols) {
  const float inverse = 1.0F / c;
  for (std::int64_t n = 0; n < cols; ++n) row[n] = c * tanh_f32(row[n] * inverse);
}

}  // namespace

void apply_mask(const Problem& p, const float* bias, const Place2d& at, MutTile s) {
  const float cap = p.softcap ? static_cast<float>(*p.softcap) : 0.0F;
  const float slope = p.alibi ? p.slope(at.b, at.h) : 0.0F;
  for (std::int64_t r = 0; r < at.rows; ++r) {
    float* row = s.data + r * s.ld;
    if (p.softcap) cap_scores(cap, row, at.cols);
    if (bias != nullptr) {
      for (std::int64_t c = 0; c < at.cols; ++c) {
        // -inf hides the key whatever its score is: NaN - inf would not.
        const float b = bias[p.bias_index(at.b, at.h, at.r0 + r, at.c0 + c)];
        row[c] = b == kMinusInfinity ? kMinusInfinity : row[c] + b;
      }
    }
    if (p.alibi) {
      const std::int64_t own = at.r0 + r + p.Lk - p.Lq;
      for (std::int64_t c = 0; c < at.cols; ++c) {
        row[c] -= slope * static_cast<float>(std::abs(own - at.c0 - c));
      }
    }
    const KeyRange seen = p.visible_keys(at.b, at.r0 + r);
    const std::int64_t first = std::clamp<std::int64_t>(seen.first - at.c0, 0, at.cols);
    const std::int64_t last = std::clamp<std::int64_t>(seen.last - at.c0, first, at.cols);
    std::fill(row, row + first, kMinusInfinity);
    std::fill(row + last, row + at.cols, kMinusInfinity);
  }
}

void cap_gradients(const Problem& p, ConstTile s, std::int64_t rows, std::int64_t cols, MutTile to) {
  const float inverse = 1.0F / static_cast<float>(*p.softcap);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      const float t = tanh_f32(s.data[r * s.ld + c] * inverse);
      to.data[r * to.ld + c] = 1.0F - t * t;
    }
  }
}

void multiply_tile(MutTile x, ConstTile by, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) x.data[r * x.ld + c] *= by.data[r * by.ld + c];
}

void shifts(const float* m, std::int64_t rows, float* out) {
  for (std::int64_t r = 0; r < rows; ++r) out[r] = shift_of(m[r]);
}

void rescale_factors(const float* m_old, const float* m_new, std::int64_t rows, float* alpha) {
  for (std::int64_t r = 0; r < rows; ++r) alpha[r] = m_old[r] == m_new[r] ? 1.0F : exp_f32(m_old[r] - m_new[r]);
}

void running_sums(const float* alpha, const float* l_old, const float* sums, std::int64_t rows, float* l_new) {
  for (std::int64_t r = 0; r < rows; ++r) l_new[r] = alpha[r] * l_old[r] + sums[r];
}

void log_sum_exp(const float* m, const float* l, std::int64_t rows, float* lse) {
  for (std::int64_t r = 0; r < rows; ++r) lse[r] = l[r] == 0.0F ? kMinusInfinity : m[r] + log_f32(l[r]);
}

void merge_rows(DType t, ConstTile o_part, const float* m_part, const float* l_part, std::int64_t rows, std::int64_t dv,
                MutTile o, float* m, float* l) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const Merged both = merge({m[r], l[r]}, {m_part[r], l_part[r]}, exp_f32);
    m[r] = both.of_both.m;
    l[r] = round_to(t, both.of_both.l);
    float* to = o.data + r * o.ld;
    const float* part = o_part.data + r * o_part.ld;
    for (std::int64_t d = 0; d < dv; ++d) to[d] = round_to(t, both.first * to[d] + both.second * part[d]);
  }
}

void running_sums_rounded(DType t, const float* alpha, const float* l_old, ConstTile p, std::int64_t rows,
                          std::int64_t cols, float* l_new) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float sum = round_to(t, alpha[r] * l_old[r]);
    for (std::int64_t c = 0; c < cols; ++c) sum = round_to(t, sum + p.data[r * p.ld + c]);
    l_new[r] = sum;
  }
}

void rescaled_product_rounded(DType t, ConstTile p, ConstTile v, MutTile o, std::int64_t rows, std::int64_t dv,
                              std::int64_t cols, const float* factor) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float* row = o.data + r * o.ld;
    for (std::int64_t d = 0; d < dv; ++d) row[d] = round_to(t, factor[r] * row[d]);
    for (std::int64_t c = 0; c < cols; ++c) {
      const float weight = p.data[r * p.ld + c];
      for (std::int64_t d = 0; d < dv; ++d) row[d] = round_to(t, row[d] + weight * v.data[c * v.ld + d]);
    }
  }
}

void flash1_output(ConstTile p, ConstTile v, MutTile o, std::int64_t rows, std::int64_t dv, std::int64_t cols,
                   const float* alpha, const float* l_old, const float* l_new, float* factor) {
  for (std::int64_t r = 0; r < rows; ++r) factor[r] = alpha[r] * l_old[r];
  rescaled_product(p, v, o, rows, dv, cols, factor);
  divide_rows(o, rows, dv, l_new);
}

void scalar_scores(ConstTile q, ConstTile k, MutTile s, std::int64_t rows, std::int64_t cols, std::int64_t d,
                   float scale) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      float sum = 0;
      for (std::int64_t x = 0; x < d; ++x) sum += q.data[r * q.ld + x] * k.data[c * k.ld + x];
      s.data[r * s.ld + c] = scale * sum;
    }
  }
}

void scalar_max(ConstTile s, std::int64_t rows, std::int64_t cols, const float* in, float* out) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float best = in[r];
    for (std::int64_t c = 0; c < cols; ++c) best = s.data[r * s.ld + c] > best ? s.data[r * s.ld + c] : best;
    out[r] = best;
  }
}

void scalar_exp_sums(ConstTile s, std::int64_t rows, std::int64_t cols, const float* m, const float* in, float* out) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float shift = shift_of(m[r]);
    float sum = in[r];
    for (std::int64_t c = 0; c < cols; ++c) sum += exp_f32(s.data[r * s.ld + c] - shift);
    out[r] = sum;
  }
}

void scalar_output(ConstTile p, ConstTile v, MutTile o, std::int64_t rows, std::int64_t dv, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float* row = o.data + r * o.ld;
    for (std::int64_t c = 0; c < cols; ++c) {
      const float weight = p.data[r * p.ld + c];
      for (std::int64_t d = 0; d < dv; ++d) row[d] += weight * v.data[c * v.ld + d];
    }
  }
}

float scalar_dot(const float* a, const float* b, std::int64_t n) {
  float sum = 0;
  for (std::int64_t x = 0; x < n; ++x) sum += a[x] * b[x];
  return sum;
}

void stored_weights(DType t, ConstTile s, std::int64_t rows, std::int64_t cols, const float* m, const float* l,
                    MutTile p) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float shift = shift_of(m[r]);
    exp_rows({s.data + r * s.ld, s.ld}, 1, cols, &shift, {p.data + r * p.ld, p.ld}, nullptr);
  }
  divide_rows(p, rows, cols, l);
  if (t != DType::f32) round_tile(t, p, rows, cols);
}

void vector_exp_sums(ConstTile s, std::int64_t rows, std::int64_t cols, const float* m, const float* in, float* out,
                     MutTile work) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float shift = shift_of(m[r]);
    float sum = 0;
    exp_rows({s.data + r * s.ld, s.ld}, 1, cols, &shift, {work.data + r * work.ld, work.ld}, &sum);
    out[r] = in[r] + sum;
  }
}

void round_tile(DType t, MutTile x, std::int64_t rows, std::int64_t cols) {
  if (t == DType::f32) return;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) x.data[r * x.ld + c] = round_to(t, x.data[r * x.ld + c]);
  }
}

void narrow(DType t, ConstTile from, std::int64_t rows, std::int64_t cols, void* to, std::int64_t first,
            std::int64_t ld) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = from.data + r * from.ld;
    if (t == DType::f32) {
      std::memcpy(static_cast<float*>(to) + first + r * ld, row, static_cast<std::size_t>(cols) * sizeof(float));
      continue;
    }
    auto* bits = static_cast<std::uint16_t*>(to) + first + r * ld;
    for (std::int64_t c = 0; c < cols; ++c) bits[c] = t == DType::f16 ? f16_from_f32(row[c]) : bf16_from_f32(row[c]);
  }
}

}  // namespace attn::cpu
