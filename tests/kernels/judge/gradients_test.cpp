// The gradients of the reference against finite differences of a forward in fp64 that shares nothing with it, and the
// rule that judges a backward by them.
#include "kernels/judge/gradients.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/backward/forward.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "tests/environment/asked.h"

namespace attn {
namespace {

using Numbers = std::vector<double>;

Numbers numbers_of(const Array& a) {
  Numbers x;
  for (std::int64_t i = 0; i < a.size(); ++i) x.push_back(static_cast<double>(a.get(i)));
  return x;
}

struct Operands {
  Numbers q, k, v, d_o;
};

bool sees(const Problem& p, std::int64_t b, std::int64_t r, std::int64_t c) {
  const std::int64_t own = r + p.Lk - p.Lq;
  if (!p.mask.key_lengths.empty() && c >= p.mask.key_lengths[static_cast<std::size_t>(b)]) return false;
  if (p.mask.causal && c > own) return false;
  if (p.mask.window_left >= 0 && c < own - p.mask.window_left) return false;
  return p.mask.window_right < 0 || c <= own + p.mask.window_right;
}

// sum dO * O: its derivatives are the gradients.
double loss(const Problem& p, const Operands& x, const std::optional<Array>& bias) {
  double sum = 0;
  const auto at = [](const Numbers& a, std::int64_t n) { return a[static_cast<std::size_t>(n)]; };
  for (std::int64_t b = 0; b < p.B; ++b) {
    for (std::int64_t h = 0; h < p.Hq; ++h) {
      const std::int64_t kv = b * p.Hkv + h / (p.Hq / p.Hkv);
      for (std::int64_t r = 0; r < p.Lq; ++r) {
        const std::int64_t row = (b * p.Hq + h) * p.Lq + r;
        double l = 0, value = 0;
        for (std::int64_t c = 0; c < p.Lk; ++c) {
          if (!sees(p, b, r, c)) continue;
          double s = 0, dp = 0;
          for (std::int64_t d = 0; d < p.D; ++d) s += at(x.q, row * p.D + d) * at(x.k, (kv * p.Lk + c) * p.D + d);
          for (std::int64_t d = 0; d < p.Dv; ++d) dp += at(x.d_o, row * p.Dv + d) * at(x.v, (kv * p.Lk + c) * p.Dv + d);
          s *= p.effective_scale();
          if (p.softcap) s = *p.softcap * std::tanh(s / *p.softcap);
          if (bias) s += static_cast<double>(bias->get(p.bias_index(b, h, r, c)));
          s -= p.alibi_at(b, h, r, c);
          if (s == -std::numeric_limits<double>::infinity()) continue;
          l += std::exp(s);
          value += std::exp(s) * dp;
        }
        if (l > 0) sum += value / l;
      }
    }
  }
  return sum;
}

// Central differences of fourth order.
Numbers differences(const Problem& p, Operands x, Numbers Operands::*of, const std::optional<Array>& bias) {
  constexpr double kStep = 1e-3;
  Numbers slopes;
  for (std::size_t n = 0; n < (x.*of).size(); ++n) {
    const double before = (x.*of)[n];
    const auto with = [&](double step) {
      (x.*of)[n] = before + step;
      return loss(p, x, bias);
    };
    slopes.push_back((8 * (with(kStep) - with(-kStep)) - (with(2 * kStep) - with(-2 * kStep))) / (12 * kStep));
    (x.*of)[n] = before;
  }
  return slopes;
}

Problem shape(std::int64_t Lq, std::int64_t Lk, std::int64_t D, std::int64_t Dv) {
  Problem p;
  p.Lq = Lq;
  p.Lk = Lk;
  p.D = D;
  p.Dv = Dv;
  p.pass = Pass::backward;
  return p;
}

Inputs inputs_of(const Problem& p, std::uint64_t seed = 3) {
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = seed;
  return *make_all_inputs(p, spec, in_turn, 0, Stream{});
}

ReferenceRows reference_of(const Problem& p, const Inputs& in, bool full = true) {
  return *reference_rows(p, in, choose_rows(p, full).rows, 2, {});
}

// Every mask, grouped heads, softcap, ALiBi, bias, and all of them at once.
std::vector<Problem> every_kind() {
  std::vector<Problem> all;
  const Problem plain = shape(5, 7, 4, 3);
  const auto add = [&](auto change) {
    Problem p = plain;
    change(p);
    all.push_back(p);
  };
  add([](Problem&) {});
  add([](Problem& p) { p.mask.causal = true; });
  add([](Problem& p) { p.mask.window_left = 2, p.mask.window_right = 1; });
  add([](Problem& p) { p.mask.causal = true, p.mask.window_left = 3; });
  add([](Problem& p) { p.B = 2, p.mask.key_lengths = {4, 0}; });
  add([](Problem& p) { p.Hq = 4, p.Hkv = 2; });
  add([](Problem& p) { p.Hq = 3, p.Hkv = 1, p.scale = -0.7; });
  add([](Problem& p) { p.softcap = 0.8; });
  add([](Problem& p) { p.alibi.emplace(), p.Hq = p.Hkv = 2; });
  add([](Problem& p) { p.bias_shape = {1, 1, 5, 7}; });
  add([](Problem& p) {
    p.B = 2, p.Hq = 4, p.Hkv = 2, p.mask.causal = true, p.mask.key_lengths = {7, 5}, p.softcap = 1.25;
    p.alibi.emplace(), p.bias_shape = {1, 4, 1, 7};
  });
  add([](Problem& p) { p.Lq = 9, p.mask.causal = true; });  // the first rows see no key
  return all;
}

TEST(Gradients, ReferenceIsWhatFiniteDifferencesOfTheForwardSay) {
  for (const Problem& p : every_kind()) {
    const Inputs in = inputs_of(p);
    const ReferenceRows ref = reference_of(p, in);
    const Operands x{numbers_of(in.q), numbers_of(in.k), numbers_of(in.v), numbers_of(*in.d_o)};
    const auto compare = [&](std::string_view name, const GradientPart& part, Numbers Operands::*of) {
      const Numbers slopes = differences(p, x, of, in.bias);
      ASSERT_EQ(part.exact.size(), slopes.size()) << name << " of " << describe(p);
      for (std::size_t n = 0; n < slopes.size(); ++n)
        EXPECT_NEAR(part.exact[n], slopes[n], 1e-8) << name << " " << n << " of " << describe(p);
    };
    compare("dQ", ref.gradients->d_q, &Operands::q);
    compare("dK", ref.gradients->d_k, &Operands::k);
    compare("dV", ref.gradients->d_v, &Operands::v);
  }
}

// dO * O of each row, which sums to the loss.
TEST(Gradients, DeltaIsTheRowsShareOfTheLoss) {
  for (const Problem& p : every_kind()) {
    const Inputs in = inputs_of(p);
    const ReferenceRows ref = reference_of(p, in);
    double sum = 0;
    for (const double delta : ref.gradients->delta.exact) sum += delta;
    EXPECT_NEAR(sum, loss(p, {numbers_of(in.q), numbers_of(in.k), numbers_of(in.v), numbers_of(*in.d_o)}, in.bias),
                1e-11)
        << describe(p);
  }
}

// An answer that is the reference, rounded.
Outputs perfect(const Problem& p, const ReferenceRows& ref) {
  Outputs out = empty_outputs(p);
  const auto fill = [](Array& a, const Numbers& x) {
    for (std::size_t n = 0; n < x.size(); ++n) a.set(static_cast<std::int64_t>(n), static_cast<float>(x[n]));
  };
  fill(out.d_q, ref.gradients->d_q.exact);
  fill(out.d_k, ref.gradients->d_k.exact);
  fill(out.d_v, ref.gradients->d_v.exact);
  fill(out.delta, ref.gradients->delta.exact);
  return out;
}

TEST(Gradients, EachIsJudgedApartAndNamedWhereItIsWrong) {
  for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
    Problem p = shape(6, 9, 8, 5);
    p.Hq = 4;
    p.Hkv = 2;
    p.dtype = t;
    const Inputs in = inputs_of(p);
    const RowSample sample = choose_rows(p, false);
    const ReferenceRows ref = reference_of(p, in);
    const Outputs right = perfect(p, ref);
    const Verdict v = judge(p, in, ref, right, sample);
    EXPECT_TRUE(v.pass) << v.reason;
    ASSERT_EQ(v.outputs.size(), 5U);
    for (const Tensor tensor : {Tensor::lse, Tensor::delta, Tensor::d_q, Tensor::d_k, Tensor::d_v}) {
      ASSERT_NE(v.of(tensor), nullptr);
      EXPECT_GT(v.of(tensor)->judged, 0);
    }
    EXPECT_EQ(v.of(Tensor::d_k)->judged, 2 * 9 * 8);
    for (const auto& [tensor, member, where] : {std::tuple{Tensor::d_q, &Outputs::d_q, "dQ (b 0, h 3, row 5) column 7"},
                                                {Tensor::d_k, &Outputs::d_k, "dK (b 0, h 1, key 8) column 7"},
                                                {Tensor::d_v, &Outputs::d_v, "dV (b 0, h 1, key 8) column 4"},
                                                {Tensor::delta, &Outputs::delta, "δ (b 0, h 3, row 5)"}}) {
      Outputs wrong = right;
      Array& a = wrong.*member;
      const auto allowed = static_cast<float>(v.of(tensor)->allowed);
      a.set(a.size() - 1, a.get(a.size() - 1) + 2 * allowed);
      const Verdict w = judge(p, in, ref, wrong, sample);
      EXPECT_FALSE(w.pass) << name_of(t);
      EXPECT_EQ(w.reason.find(where), 0U) << w.reason;
      for (const OutputVerdict& other : w.outputs) EXPECT_EQ(other.within(), other.tensor != tensor) << w.reason;
      a.set(a.size() - 1, std::numeric_limits<float>::quiet_NaN());
      const Verdict beyond = judge(p, in, ref, wrong, sample);
      EXPECT_NE(beyond.reason.find("is nan, reference "), std::string::npos) << beyond.reason;
      EXPECT_TRUE(std::isnan(beyond.of(tensor)->error)) << "as of a forward's O";
    }
    Inputs shifted = in;
    shifted.lse->set(0, in.lse->get(0) + 1);
    EXPECT_EQ(judge(p, shifted, ref, right, sample).reason.find("LSE (b 0, h 0, row 0)"), 0U);
  }
}

TEST(Gradients, AForwardsFactorsAreTripledAndTheAbsoluteTermsAreNot) {
  Problem p = shape(1, 1, 1, 1);
  Inputs in = inputs_of(p);
  for (Array* a : {&in.q, &in.k, &in.v, &*in.d_o}) a->set(0, 2);
  in.o->set(0, 2);
  in.lse->set(0, 4);
  const ReferenceRows ref = reference_of(p, in);
  // P = 1, so dV = dO = 2 exactly, S = 4, and dS = 0.
  const Verdict v = judge(p, in, ref, perfect(p, ref), choose_rows(p, true));
  EXPECT_TRUE(v.pass) << v.reason;
  const double rounding = std::fabs((2.0F + 0.3F) - 0.3F - 2.0F);
  EXPECT_DOUBLE_EQ(v.of(Tensor::d_v)->allowed, 6 * rounding + 4 * 0x1p-23 * 2 + 2 * 0x1p-24 * 4 * 2);
  // dO O = 4, and rounding O moves it by a share of 2^-24 at most.
  EXPECT_DOUBLE_EQ(v.of(Tensor::delta)->allowed, 6 * 0x1p-24 * 4 + 4 * 0x1p-23 * 4 + 2 * 0x1p-24 * 4 * 4);
  EXPECT_EQ(v.of(Tensor::d_q)->allowed, 0);
  // Where dO = 1 the rounding of dV is not 0.
  in.d_o->set(0, 1);
  const ReferenceRows of_one = reference_of(p, in);
  const Verdict w = judge(p, in, of_one, perfect(p, of_one), choose_rows(p, true));
  EXPECT_TRUE(w.pass) << w.reason;
  EXPECT_DOUBLE_EQ(w.of(Tensor::d_v)->allowed, 6 * 0x1p-24 + 4 * 0x1p-23 * 1 + 2 * 0x1p-24 * 4 * 1);
}

// Of one row, from the O that the inputs have: the exact one, rounded to the dtype.
double delta_of_given_o(const Problem& p, const Inputs& in) {
  double delta = 0;
  for (std::int64_t d = 0; d < p.Dv; ++d)
    delta += static_cast<double>(in.d_o->get(d)) * static_cast<double>(in.o->get(d));
  return delta;
}

// Of a tensor with few rows the baseline's roundings may cancel: what is left of its error is no measure.
TEST(Gradients, DeltaMayHaveTheErrorThatRoundingOAloneMakes) {
  Problem p = shape(1, 2, 64, 160);
  p.dtype = DType::bf16;
  int beyond_baseline = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Inputs in = inputs_of(p, seed);
    const ReferenceRows ref = reference_of(p, in);
    Outputs out = perfect(p, ref);
    const double delta = delta_of_given_o(p, in);
    out.delta.set(0, static_cast<float>(delta));
    const Verdict v = judge(p, in, ref, out, choose_rows(p, true));
    EXPECT_TRUE(v.pass) << seed << ": " << v.reason;
    const GradientPart& by = ref.gradients->delta;
    if (std::fabs(delta - by.exact[0]) > 6 * std::fabs(by.baseline[0] - by.exact[0])) ++beyond_baseline;
    out.delta.set(0, static_cast<float>(by.exact[0] + 0.02 * by.size));
    EXPECT_FALSE(judge(p, in, ref, out, choose_rows(p, true)).pass) << seed;
  }
  EXPECT_GT(beyond_baseline, 0) << "no seed shows why the term is there";
}

// O of a flash kernel, its weights rounded to bf16 before they are used, for one row.
double delta_of_own_o(const Problem& p, const Inputs& in) {
  const auto narrow = [](double x) { return static_cast<double>(round_to(DType::bf16, static_cast<float>(x))); };
  std::vector<double> s(static_cast<std::size_t>(p.Lk));
  for (std::int64_t c = 0; c < p.Lk; ++c)
    for (std::int64_t d = 0; d < p.D; ++d)
      s[static_cast<std::size_t>(c)] += static_cast<double>(in.q.get(d)) * static_cast<double>(in.k.get(c * p.D + d)) /
                                        std::sqrt(static_cast<double>(p.D));
  const double m = *std::ranges::max_element(s);
  double l = 0, delta = 0;
  std::vector<double> o(static_cast<std::size_t>(p.Dv));
  for (std::int64_t c = 0; c < p.Lk; ++c) {
    const double weight = std::exp(s[static_cast<std::size_t>(c)] - m);
    l += weight;
    for (std::int64_t d = 0; d < p.Dv; ++d)
      o[static_cast<std::size_t>(d)] += narrow(weight) * static_cast<double>(in.v.get(c * p.Dv + d));
  }
  for (std::int64_t d = 0; d < p.Dv; ++d)
    delta += static_cast<double>(in.d_o->get(d)) * narrow(o[static_cast<std::size_t>(d)] / l);
  return delta;
}

// A step of training reads the O that its own forward rounded. Of a single row the roundings of the exact O may cancel
// while those of its neighbours do not: a right kernel must pass all the same.
TEST(Gradients, DeltaOfAStepsOwnOIsNotJudgedByTheLuckOfAnother) {
  Problem p = shape(1, 500, 64, 64);
  p.dtype = DType::bf16;
  int unlucky = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    if (test::left_to_release(seed, 10)) continue;
    const Inputs in = inputs_of(p, seed);
    const ReferenceRows ref = reference_of(p, in);
    Outputs out = perfect(p, ref);
    const double delta = delta_of_own_o(p, in);
    out.delta.set(0, static_cast<float>(delta));
    const Verdict v = judge(p, in, ref, out, choose_rows(p, true));
    EXPECT_TRUE(v.pass) << seed << ": " << v.reason;
    const double stored = delta_of_given_o(p, in);
    const GradientPart& by = ref.gradients->delta;
    const double of_this_row = std::fabs(stored - by.exact[0]) + std::fabs(by.baseline[0] - by.exact[0]);
    if (std::fabs(delta - by.exact[0]) > 6 * of_this_row) ++unlucky;
  }
  EXPECT_TRUE(unlucky > 0 || test::asked("ATTNSCOPE_SANITIZED")) << "no seed shows why the least error is there";
}

TEST(Gradients, RowsWithoutKeysAndKeysWithoutRowsHaveNone) {
  Problem p = shape(9, 5, 4, 4);
  p.mask.causal = true;
  p.mask.key_lengths = {3};
  const Inputs in = inputs_of(p);
  const ReferenceRows ref = reference_of(p, in);
  for (std::size_t n = 0; n < 4 * 4; ++n) EXPECT_EQ(ref.gradients->d_q.exact[n], 0) << n;
  for (std::size_t n = 3 * 4; n < 5 * 4; ++n) {
    EXPECT_EQ(ref.gradients->d_k.exact[n], 0) << n;
    EXPECT_EQ(ref.gradients->d_v.exact[n], 0) << n;
  }
  EXPECT_EQ(ref.gradients->delta.exact[0], 0);
  EXPECT_EQ(ref.lse[0], -std::numeric_limits<double>::infinity());
  Outputs wrong = perfect(p, ref);
  wrong.d_k.set(4 * 4, std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(judge(p, in, ref, wrong, choose_rows(p, true)).pass);
}

TEST(Gradients, WhatIsNotFiniteIsLeftOutOfItsHeadAloneAndMattersNotBeyondTheLength) {
  Problem p = shape(4, 6, 4, 4);
  p.Hq = p.Hkv = 2;
  p.mask.key_lengths = {4};
  Inputs in = inputs_of(p);
  const ReferenceRows clean = reference_of(p, in);
  for (const std::int64_t c : {4, 5}) {
    in.k.set(c * 4, std::numeric_limits<float>::quiet_NaN());
    in.v.set(c * 4, std::numeric_limits<float>::infinity());
  }
  const ReferenceRows beyond = reference_of(p, in);
  EXPECT_EQ(beyond.gradients->d_q.exact, clean.gradients->d_q.exact);
  EXPECT_EQ(beyond.gradients->d_k.exact, clean.gradients->d_k.exact);
  EXPECT_EQ(beyond.gradients->of_keys, clean.gradients->of_keys);
  in.v.set(0, std::numeric_limits<float>::infinity());
  const ReferenceRows ref = reference_of(p, in);
  const Verdict v = judge(p, in, ref, perfect(p, ref), choose_rows(p, true));
  EXPECT_TRUE(v.pass) << v.reason;
  EXPECT_EQ(v.of(Tensor::d_q)->unjudged.from_v, 4 * 4);
  EXPECT_EQ(v.of(Tensor::d_q)->judged, 4 * 4);
  EXPECT_EQ(v.of(Tensor::d_k)->unjudged.from_v, 6 * 4);
  EXPECT_NE(unjudged_words(v).find("16 elements of dQ, which a non-finite number may or may not reach"),
            std::string::npos)
      << unjudged_words(v);
}

// At benchmark sizes: the numbers of the sample are those of the whole.
TEST(Gradients, ASampleHasTheRowsAndKeysOfTheWhole) {
  Problem p = shape(300, 270, 8, 8);
  p.Hq = 6;
  p.Hkv = 3;
  p.mask.causal = true;
  const Inputs in = inputs_of(p);
  const ReferenceRows whole = reference_of(p, in);
  std::vector<RowId> rows;
  for (const std::int64_t r : {0, 17, 128, 299}) rows.push_back({0, 3, r});
  const ReferenceRows some = *reference_rows(p, in, rows, 2, {});
  ASSERT_EQ(some.gradients->keys.size(), sampled_rows(p.Lk).size());
  EXPECT_LT(some.gradients->keys.size(), 270U);
  for (std::size_t n = 0; n < some.gradients->keys.size(); ++n) {
    const KeyId& id = some.gradients->keys[n];
    EXPECT_EQ(id.h, 1);
    const auto at = static_cast<std::size_t>(270 * id.h + id.c);
    for (std::size_t d = 0; d < 8; ++d) {
      EXPECT_DOUBLE_EQ(some.gradients->d_k.exact[n * 8 + d], whole.gradients->d_k.exact[at * 8 + d]);
      EXPECT_EQ(some.gradients->d_v.baseline[n * 8 + d], whole.gradients->d_v.baseline[at * 8 + d]);
    }
  }
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const auto at = static_cast<std::size_t>(300 * 3 + rows[n].r);
    EXPECT_EQ(some.lse[n], whole.lse[at]);
    for (std::size_t d = 0; d < 8; ++d)
      EXPECT_EQ(some.gradients->d_q.exact[n * 8 + d], whole.gradients->d_q.exact[at * 8 + d]);
  }
  Problem large = shape(16384, 16384, 64, 64);
  large.Hq = large.Hkv = 16;
  const RowSample sample = choose_rows(large, false);
  EXPECT_LT(sample.rows.size(), 200U);
  EXPECT_NE(sample.words.find("keys in 1 of 16 heads"), std::string::npos) << sample.words;
}

TEST(Gradients, AnAnswerOfAnotherShapeIsRefused) {
  const Problem p = shape(3, 4, 2, 2);
  const Inputs in = inputs_of(p);
  const ReferenceRows ref = reference_of(p, in);
  Outputs out = perfect(p, ref);
  out.d_k = Array(DType::f32, {1, 1, 3, 2});
  const Verdict v = judge(p, in, ref, out, choose_rows(p, true));
  EXPECT_FALSE(v.pass);
  EXPECT_EQ(v.reason, "dK is f32 [1, 1, 3, 2], but the problem needs f32 [1, 1, 4, 2]");
}

}  // namespace
}  // namespace attn
