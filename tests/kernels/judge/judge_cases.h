// Problems with their reference, for the tests of the judge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/judge/verdict.h"

namespace attn::judge_test {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The same line as in verdict_literals.py.
inline Array sequence(DType t, std::vector<std::int64_t> shape, std::int64_t factor, std::int64_t modulus) {
  Array a(t, std::move(shape));
  for (std::int64_t i = 0; i < a.size(); ++i) {
    a.set(i, static_cast<float>((i * factor) % modulus - modulus / 2) / 4.0F);
  }
  return a;
}

struct Case {
  Problem p;
  Inputs in;
  RowSample sample;
  ReferenceRows ref;

  void compute(std::int32_t threads = 1) {
    sample = choose_rows(p, true);
    ref = *reference_rows(p, in, sample.rows, threads, {});
  }
  // What a perfect kernel writes: the reference rounded to the dtype.
  Outputs perfect() const {
    Outputs o{Array(p.dtype, {p.B, p.Hq, p.Lq, p.Dv}), Array(DType::f32, {p.B, p.Hq, p.Lq})};
    for (std::size_t n = 0; n < ref.rows.size(); ++n) {
      const RowId& id = ref.rows[n];
      const std::int64_t row = (id.b * p.Hq + id.h) * p.Lq + id.r;
      o.lse.set(row, static_cast<float>(ref.lse[n]));
      for (std::int64_t d = 0; d < p.Dv; ++d) {
        o.out.set(row * p.Dv + d,
                  static_cast<float>(ref.out[n * static_cast<std::size_t>(p.Dv) + static_cast<std::size_t>(d)]));
      }
    }
    return o;
  }
  Verdict judged(const Outputs& o) const { return judge(p, in, ref, o, sample); }
};

// The problem of verdict_literals.py.
inline Case numpy_case(DType t) {
  Case c;
  c.p.B = 2;
  c.p.Hq = 4;
  c.p.Hkv = 2;
  c.p.Lq = 3;
  c.p.Lk = 5;
  c.p.D = 3;
  c.p.Dv = 2;
  c.p.dtype = t;
  c.in.q = sequence(t, {2, 4, 3, 3}, 7, 11);
  c.in.k = sequence(t, {2, 2, 5, 3}, 5, 9);
  c.in.v = sequence(t, {2, 2, 5, 2}, 3, 13);
  return c;
}

inline Case random_case(std::int64_t Lq, std::int64_t Lk, std::int64_t D, std::int64_t Dv) {
  Case c;
  c.p.Lq = Lq;
  c.p.Lk = Lk;
  c.p.D = D;
  c.p.Dv = Dv;
  c.in.q = sequence(DType::f32, {1, 1, Lq, D}, 1237, 31);
  c.in.k = sequence(DType::f32, {1, 1, Lk, D}, 2741, 29);
  c.in.v = sequence(DType::f32, {1, 1, Lk, Dv}, 977, 37);
  return c;
}

}  // namespace attn::judge_test
