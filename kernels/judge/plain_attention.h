// The definition of attention, written plainly over a few rows at a time, in fp64 (reference.cpp) or fp32
// (baseline.cpp). The judge's own arithmetic: it shares nothing with the kernels but the layout of the inputs.
// Every sum runs in index order; the loops go over many keys or columns at once only to be quick.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "kernels/judge/verdict.h"
#include "kernels/model/problem/problem.h"

namespace attn::plain {

// Rows that read the same key/value head, and the keys that any of them sees.
struct Group {
  std::int64_t b = 0, kv = 0;
  std::size_t first = 0, count = 0;  // rows of ReferenceRows
  KeyRange keys;
};

// The mask from its definition (the command line's contract), not through Problem::visible_keys, which the kernels
// use: row r sees keys from r + Lk - Lq - left to r + Lk - Lq + right, cut to the batch's key length.
inline KeyRange seen_keys(const Problem& p, std::int64_t b, std::int64_t r) {
  const std::int64_t own = r + p.Lk - p.Lq;
  KeyRange keys{0, p.Lk};
  if (p.mask.window_left >= 0 && own > p.mask.window_left) keys.first = own - p.mask.window_left;
  if (p.mask.window_right >= 0 && p.mask.window_right < p.Lk - own) keys.last = own + p.mask.window_right + 1;
  if (p.mask.causal) keys.last = std::min(keys.last, own + 1);
  if (!p.mask.key_lengths.empty()) {
    keys.last = std::min(keys.last, p.mask.key_lengths[static_cast<std::size_t>(b)]);
  }
  return keys;
}

constexpr std::int64_t kKeysAtOnce = 128;

// sums[c] += sum over d of a[d] * b[d * width + c], d ascending. Four d at a time keep a sum in its register.
template <class T>
void add_products(const T* __restrict a, std::int64_t depth, const T* __restrict b, std::int64_t width,
                  T* __restrict sums) {
  std::int64_t d = 0;
  for (; d + 4 <= depth; d += 4) {
    const T a0 = a[d], a1 = a[d + 1], a2 = a[d + 2], a3 = a[d + 3];
    const T* b0 = b + d * width;
    const T* b1 = b0 + width;
    const T* b2 = b1 + width;
    const T* b3 = b2 + width;
    for (std::int64_t c = 0; c < width; ++c) sums[c] = sums[c] + a0 * b0[c] + a1 * b1[c] + a2 * b2[c] + a3 * b3[c];
  }
  for (; d < depth; ++d) {
    for (std::int64_t c = 0; c < width; ++c) sums[c] += a[d] * b[d * width + c];
  }
}

// S of one group, row-major, over the group's keys; keys without weight hold -inf.
template <class T>
struct Scores {
  std::int64_t keys = 0;
  std::vector<T> values;
  T* row(std::size_t i) { return values.data() + static_cast<std::int64_t>(i) * keys; }
};

// `slopes`, of the same size: how a capped score answers a change of the scaled one, 1 - tanh^2; null: not asked.
template <class T>
Scores<T> scores_of(const Problem& p, const Inputs& in, const ReferenceRows& ref, const Group& g,
                    std::vector<T>* slopes = nullptr) {
  constexpr T kMinusInf = -std::numeric_limits<T>::infinity();
  Scores<T> s;
  s.keys = std::max<std::int64_t>(0, g.keys.last - g.keys.first);
  s.values.assign(g.count * static_cast<std::size_t>(s.keys), kMinusInf);
  if (slopes != nullptr) slopes->assign(s.values.size(), T{1});

  std::vector<float> stored(static_cast<std::size_t>(std::max(p.D, kKeysAtOnce * p.D)));
  std::vector<T> q(g.count * static_cast<std::size_t>(p.D));
  for (std::size_t i = 0; i < g.count; ++i) {
    const RowId& id = ref.rows[g.first + i];
    in.q.read(((id.b * p.Hq + id.h) * p.Lq + id.r) * p.D, p.D, stored.data());
    std::copy_n(stored.data(), p.D, q.data() + static_cast<std::int64_t>(i) * p.D);
  }

  const T scale = static_cast<T>(p.effective_scale());
  const T cap = static_cast<T>(p.softcap.value_or(0));
  std::vector<T> k(static_cast<std::size_t>(kKeysAtOnce * p.D));  // transposed: [D][width]
  std::vector<T> sums(kKeysAtOnce);
  for (std::int64_t c0 = g.keys.first; c0 < g.keys.last; c0 += kKeysAtOnce) {
    const std::int64_t width = std::min(kKeysAtOnce, g.keys.last - c0);
    in.k.read(((g.b * p.Hkv + g.kv) * p.Lk + c0) * p.D, width * p.D, stored.data());
    for (std::int64_t c = 0; c < width; ++c) {
      for (std::int64_t d = 0; d < p.D; ++d) {
        k[static_cast<std::size_t>(d * width + c)] = static_cast<T>(stored[static_cast<std::size_t>(c * p.D + d)]);
      }
    }
    for (std::size_t i = 0; i < g.count; ++i) {
      const RowId& id = ref.rows[g.first + i];
      const KeyRange seen = seen_keys(p, id.b, id.r);
      const T slope = p.alibi ? static_cast<T>(p.slope(id.b, id.h)) : T{0};
      const std::int64_t from = std::max(seen.first, c0), to = std::min(seen.last, c0 + width);
      if (from >= to) continue;
      std::fill(sums.begin(), sums.end(), T{0});
      add_products(q.data() + static_cast<std::int64_t>(i) * p.D, p.D, k.data(), width, sums.data());
      T* row = s.row(i) - g.keys.first;
      for (std::int64_t c = from; c < to; ++c) {
        T product = scale * sums[static_cast<std::size_t>(c - c0)];
        if (p.softcap) {
          const T t = std::tanh(product / cap);
          product = cap * t;
          if (slopes != nullptr)
            (*slopes)[i * static_cast<std::size_t>(s.keys) + static_cast<std::size_t>(c - g.keys.first)] = 1 - t * t;
        }
        if (p.alibi && (!p.has_bias() || !in.bias)) {
          row[c] = product - slope * static_cast<T>(std::abs(id.r + p.Lk - p.Lq - c));
        } else if (!p.has_bias() || !in.bias) {
          row[c] = product;
        } else if (const float bias = in.bias->get(p.bias_index(id.b, id.h, id.r, c)); bias > kMinusInf) {
          row[c] = product + static_cast<T>(bias);
          if (p.alibi) row[c] -= slope * static_cast<T>(std::abs(id.r + p.Lk - p.Lq - c));
        } else if (std::isnan(bias)) {
          row[c] = std::numeric_limits<T>::quiet_NaN();
        }
      }
    }
  }
  return s;
}

// The greatest score of a row; NaN if one is NaN, -inf if none has weight.
template <class T>
T row_maximum(const T* s, std::int64_t keys) {
  T m = -std::numeric_limits<T>::infinity();
  for (std::int64_t c = 0; c < keys; ++c) {
    if (std::isnan(s[c])) return s[c];
    m = std::max(m, s[c]);
  }
  return m;
}

// sum over keys of P V, [rows][Dv]; values of V that are not finite count as 0 here.
template <class T>
std::vector<T> weighted_values(const Problem& p, const Inputs& in, const Group& g, Scores<T>& weights) {
  std::vector<T> out(g.count * static_cast<std::size_t>(p.Dv));
  std::vector<float> stored(static_cast<std::size_t>(kKeysAtOnce * p.Dv));
  std::vector<T> v(stored.size());
  for (std::int64_t c0 = g.keys.first; c0 < g.keys.last; c0 += kKeysAtOnce) {
    const std::int64_t width = std::min(kKeysAtOnce, g.keys.last - c0);
    in.v.read(((g.b * p.Hkv + g.kv) * p.Lk + c0) * p.Dv, width * p.Dv, stored.data());
    std::transform(stored.begin(), stored.begin() + width * p.Dv, v.begin(),
                   [](float x) { return std::isfinite(x) ? static_cast<T>(x) : T{0}; });
    for (std::size_t i = 0; i < g.count; ++i) {
      add_products(weights.row(i) + (c0 - g.keys.first), width, v.data(), p.Dv,
                   out.data() + static_cast<std::int64_t>(i) * p.Dv);
    }
  }
  return out;
}

// What reference.cpp and baseline.cpp write of a group; each group writes its own rows alone.
void baseline_group(const Problem& p, const Inputs& in, const Group& g, ReferenceRows& ref);

}  // namespace attn::plain
