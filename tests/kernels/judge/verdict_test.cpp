// The judge: reference, baseline, sampled rows and the rule itself.
#include "kernels/judge/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/judge/judge_cases.h"
#include "tests/kernels/judge/verdict_literals.h"

namespace attn {
namespace {

using namespace judge_test;

TEST(NotFinite, RowsWithoutKeysAreZeroWithLseMinusInfinity) {
  Case c = random_case(5, 2, 4, 3);
  c.p.mask.causal = true;  // rows 0 to 2 see nothing
  c.compute();
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(c.ref.lse[r], -literals::kInf);
    for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(c.ref.out[r * 3 + d], 0);
  }
  EXPECT_TRUE(std::isfinite(c.ref.lse[3]));
}

TEST(NotFinite, MinusInfiniteScoresCarryNoWeight) {
  Case c = random_case(1, 3, 1, 1);
  c.in.q.set(0, 1);
  for (std::int64_t key = 0; key < 3; ++key) c.in.k.set(key, -kInf);
  c.compute();
  EXPECT_EQ(c.ref.out[0], 0);
  EXPECT_EQ(c.ref.lse[0], -literals::kInf);
  c.in.k.set(1, 2);
  c.compute();
  EXPECT_EQ(c.ref.out[0], static_cast<double>(c.in.v.get(1)));
  EXPECT_EQ(c.ref.lse[0], 2);
}

TEST(NotFinite, VisibleNanAndPlusInfinityMakeTheirRowNan) {
  for (const float bad : {kNan, kInf}) {
    Case c = random_case(3, 3, 1, 2);
    for (std::int64_t r = 0; r < 3; ++r) c.in.q.set(r, 1);
    c.in.k.set(2, bad);
    c.p.mask.causal = true;  // row 2 alone sees key 2
    c.compute();
    EXPECT_TRUE(std::isfinite(c.ref.out[2]));
    EXPECT_TRUE(std::isnan(c.ref.out[4]));
    EXPECT_TRUE(std::isnan(c.ref.lse[2]));
    Outputs o = c.perfect();
    EXPECT_TRUE(c.judged(o).pass) << c.judged(o).reason;
    o.out.set(5, 0);
    EXPECT_FALSE(c.judged(o).pass);
  }
}

TEST(Verdict, EachOutputHasItsOwnReason) {
  Case c = random_case(4, 4, 2, 2);
  c.compute();
  Outputs o = c.perfect();
  for (const OutputVerdict& output : c.judged(o).outputs) EXPECT_EQ(output.reason, "");
  o.lse.set(2, o.lse.get(2) + 1);
  Verdict v = c.judged(o);
  EXPECT_EQ(v.of(Tensor::o)->reason, "");
  EXPECT_EQ(v.of(Tensor::lse)->reason, v.reason);
  EXPECT_NE(v.reason.find("LSE (b 0, h 0, row 2)"), std::string::npos) << v.reason;
  o.out.set(1, kNan);
  v = c.judged(o);
  EXPECT_EQ(v.of(Tensor::o)->reason, v.reason);
  EXPECT_NE(v.reason.find("O (b 0, h 0, row 0) column 1 is nan"), std::string::npos) << v.reason;
  EXPECT_NE(v.of(Tensor::lse)->reason, "");
}

TEST(NotFinite, BiasMinusInfinityHidesEvenANanScore) {
  Case c = random_case(1, 3, 2, 2);
  c.in.k.set(2, kNan);
  c.p.bias_shape = {1, 1, 1, 3};
  c.in.bias = Array(DType::f32, {1, 1, 1, 3});
  c.in.bias->set(1, -kInf);
  c.compute();
  EXPECT_TRUE(std::isfinite(c.ref.out[0]));
  EXPECT_TRUE(std::isfinite(c.ref.lse[0]));
}

TEST(NotFinite, VThatIsVisibleMustShowAndElsewhereIsNotJudged) {
  Case c = random_case(4, 4, 1, 2);
  for (std::int64_t n = 0; n < 4; ++n) {
    c.in.q.set(n, 1);
    c.in.k.set(n, 1);
  }
  c.in.v.set(3 * 2 + 1, kInf);  // key 3, column 1
  c.p.mask.causal = true;       // row 3 alone sees it
  c.compute();
  Outputs o = c.perfect();
  EXPECT_EQ(c.ref.out[7], literals::kInf);
  const Verdict whole = c.judged(o);
  EXPECT_TRUE(whole.pass) << whole.reason;
  EXPECT_EQ(whole.of(Tensor::o)->unjudged.from_v, 3);  // column 1 of rows 0 to 2
  o.out.set(1, kNan);                                  // row 0 shares the tile: 0 * inf
  EXPECT_TRUE(c.judged(o).pass);
  o.out.set(7, kNan);  // inf * alpha on the way
  EXPECT_TRUE(c.judged(o).pass);
  o.out.set(7, 0);
  EXPECT_FALSE(c.judged(o).pass);
  o.out.set(7, kInf);
  o.out.set(0, kNan);  // column 0 has nothing to do with it
  EXPECT_FALSE(c.judged(o).pass);
}

TEST(NotFinite, OverflowOfTheDtypeItselfIsNotJudged) {
  Case c = numpy_case(DType::f16);
  c.in.v.set(0, 65504);
  c.compute();
  c.ref.baseline[0] = literals::kInf;  // as where the sum leaves f16
  const Verdict v = c.judged(c.perfect());
  EXPECT_TRUE(v.pass) << v.reason;
  EXPECT_EQ(v.of(Tensor::o)->unjudged.overflow, 1);
}

TEST(Judge, PassesTheReferenceRoundedToEachDtype) {
  for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
    Case c = numpy_case(t);
    c.compute();
    const Verdict v = c.judged(c.perfect());
    EXPECT_TRUE(v.pass) << v.reason;
    EXPECT_LE(v.error(), v.allowed());
    EXPECT_GT(v.allowed(), 0);
    EXPECT_EQ(v.sample, "all 24 rows");
  }
}

TEST(Judge, AllowsWhatTheRuleSaysAndNoMore) {
  Case c = random_case(1, 1, 1, 1);
  c.in.q.set(0, 0);
  c.in.v.set(0, 1.0F);
  c.compute();
  // O = V = 1 and the baseline is exact: the rounding of (1 + 0.3f) - 0.3f, doubled, and 4 * 2^-23 are left.
  const double rounding = std::fabs(static_cast<double>((1.0F + 0.3F) - 0.3F) - 1.0);
  Outputs o = c.perfect();
  EXPECT_DOUBLE_EQ(c.judged(o).allowed(), 2 * rounding + 4 * 0x1p-23);
  const auto steps = static_cast<int>(std::lround((2 * rounding + 4 * 0x1p-23) / 0x1p-23));
  o.out.set(0, 1.0F + static_cast<float>(steps) * 0x1p-23F);
  EXPECT_TRUE(c.judged(o).pass);
  o.out.set(0, 1.0F + static_cast<float>(steps + 1) * 0x1p-23F);
  const Verdict v = c.judged(o);
  EXPECT_FALSE(v.pass);
  EXPECT_NE(v.reason.find("(b 0, h 0, row 0) column 0"), std::string::npos) << v.reason;
}

TEST(Judge, AllowsTwiceTheErrorOfTheBaseline) {
  Case c = numpy_case(DType::f32);
  c.compute();
  const Outputs o = c.perfect();
  const double exact = c.judged(o).allowed();
  c.ref.baseline = c.ref.out;
  const double without = c.judged(o).allowed();
  c.ref.baseline[3] += 0.25;
  EXPECT_DOUBLE_EQ(c.judged(o).allowed() - without, 2 * 0.25);
  EXPECT_GT(exact, without);
}

TEST(Judge, BoundsTheLseByTheLargestScore) {
  Case c = numpy_case(DType::f32);
  c.compute();
  Outputs o = c.perfect();
  const double allowed = 1e-5 * std::max(1.0, c.ref.max_abs_score);
  EXPECT_DOUBLE_EQ(c.judged(o).lse_allowed(), allowed);
  o.lse.set(5, static_cast<float>(c.ref.lse[5] + 2 * allowed));
  const Verdict v = c.judged(o);
  EXPECT_FALSE(v.pass);
  EXPECT_NE(v.reason.find("LSE (b 0, h 1, row 2)"), std::string::npos) << v.reason;
}

// Plain fp32 attention with one thing wrong: what a broken kernel writes.
enum class Mutant { none, last_key_forgotten, scale_off_by_a_percent, no_rescale, half_sums };

Outputs fp32_attention(const Case& c, Mutant mutant) {
  Outputs o = c.perfect();
  const Problem& p = c.p;
  const auto scale =
      static_cast<float>(p.effective_scale()) * (mutant == Mutant::scale_off_by_a_percent ? 1.01F : 1.0F);
  const std::int64_t keys = p.Lk - (mutant == Mutant::last_key_forgotten ? 1 : 0);
  for (std::int64_t r = 0; r < p.Lq; ++r) {
    float m = -kInf, sum = 0;
    std::vector<float> acc(static_cast<std::size_t>(p.Dv));
    for (std::int64_t key = 0; key < keys; ++key) {
      float s = 0;
      for (std::int64_t d = 0; d < p.D; ++d) s += c.in.q.get(r * p.D + d) * c.in.k.get(key * p.D + d);
      s *= scale;
      const float before = std::exchange(m, std::max(m, s));
      const float alpha = mutant == Mutant::no_rescale || before == -kInf ? 1.0F : std::exp(before - m);
      const float weight = std::exp(s - m);
      sum = sum * alpha + weight;
      if (mutant == Mutant::half_sums) sum = round_to(DType::f16, sum);
      for (std::int64_t d = 0; d < p.Dv; ++d) {
        float& x = acc[static_cast<std::size_t>(d)];
        x = x * alpha + weight * c.in.v.get(key * p.Dv + d);
        if (mutant == Mutant::half_sums) x = round_to(DType::f16, x);
      }
    }
    for (std::int64_t d = 0; d < p.Dv; ++d) o.out.set(r * p.Dv + d, acc[static_cast<std::size_t>(d)] / sum);
    o.lse.set(r, m + std::log(sum));
  }
  return o;
}

// Scores of a few units and of hundreds: the allowance that grows with max|S| lets right answers pass and no mutant.
TEST(Judge, RefusesMutantsHoweverLargeTheScoresAre) {
  for (const float size : {0.25F, 1.0F, 6.0F}) {
    Case c = random_case(9, 40, 16, 8);
    for (std::int64_t n = 0; n < c.in.q.size(); ++n) c.in.q.set(n, c.in.q.get(n) * size);
    // A last key that every row attends to.
    for (std::int64_t d = 0; d < 16; ++d) c.in.k.set(39 * 16 + d, c.in.q.get(4 * 16 + d));
    c.compute();
    if (size == 6.0F) {
      EXPECT_GT(c.ref.max_abs_score, 300);
    }
    const Verdict right = c.judged(fp32_attention(c, Mutant::none));
    EXPECT_TRUE(right.pass) << size << ": " << right.reason;
    for (const Mutant mutant :
         {Mutant::last_key_forgotten, Mutant::scale_off_by_a_percent, Mutant::no_rescale, Mutant::half_sums}) {
      EXPECT_FALSE(c.judged(fp32_attention(c, mutant)).pass) << size << ", mutant " << static_cast<int>(mutant);
    }
  }
}

TEST(Judge, AllowsForRoundingOfLargeScores) {
  Case c = random_case(9, 40, 16, 8);
  c.compute();
  const double before = c.judged(c.perfect()).allowed();
  c.ref.max_abs_score += 512;
  EXPECT_NEAR(c.judged(c.perfect()).allowed() - before, 2 * 0x1p-24 * 512 * c.ref.max_abs_v, 1e-12);
}

TEST(Judge, JudgesTheLseOfARowWhoseOutputOverflows) {
  Case c = numpy_case(DType::f16);
  c.compute();
  for (double& x : c.ref.baseline) x = literals::kInf;  // as where every sum leaves f16
  Outputs o = c.perfect();
  const Verdict v = c.judged(o);
  EXPECT_TRUE(v.pass) << v.reason;
  EXPECT_EQ(v.of(Tensor::o)->unjudged.overflow, 48);
  EXPECT_EQ(v.judged(), 24);  // the LSE alone
  o.lse.set(5, static_cast<float>(c.ref.lse[5]) + 1);
  EXPECT_EQ(outcome_of(c.judged(o)), Outcome::wrong);
}

TEST(Judge, AVerdictThatJudgedNothingIsNoPass) {
  Case c = random_case(2, 2, 1, 1);
  for (std::int64_t n = 0; n < 2; ++n) {
    c.in.q.set(n, 3e38F);
    c.in.k.set(n, 3e38F);
  }
  c.compute();
  Outputs o = c.perfect();
  for (std::int64_t n = 0; n < 2; ++n) o.out.set(n, kNan), o.lse.set(n, kNan);  // what fp32 makes of it
  const Verdict v = c.judged(o);
  EXPECT_FALSE(v.pass);
  EXPECT_EQ(outcome_of(v), Outcome::not_judged);
  EXPECT_EQ(v.judged(), 0);
  EXPECT_EQ(v.of(Tensor::o)->unjudged.overflow, 2);
  EXPECT_EQ(v.of(Tensor::lse)->unjudged.beyond_fp32, 2);
  EXPECT_EQ(v.reason,
            "not judged: 2 elements of O, which are outside the range of the dtype; 2 LSE, whose scores are outside "
            "the range of fp32");
}

TEST(Judge, RefusesNanWhereTheReferenceIsFinite) {
  Case c = numpy_case(DType::f32);
  c.compute();
  Outputs o = c.perfect();
  o.out.set(11, kNan);
  const Verdict v = c.judged(o);
  EXPECT_FALSE(v.pass);
  EXPECT_NE(v.reason.find("nan"), std::string::npos) << v.reason;
}

TEST(Judge, RefusesAnswersOfAnotherShape) {
  Case c = numpy_case(DType::f32);
  c.compute();
  Outputs o = c.perfect();
  o.out = Array(DType::f32, {2, 4, 3, 3});
  EXPECT_FALSE(c.judged(o).pass);
  EXPECT_NE(c.judged(o).reason.find("[2, 4, 3, 3]"), std::string::npos);
  o = c.perfect();
  o.lse = Array(DType::f32, {2, 4, 4});
  EXPECT_NE(c.judged(o).reason.find("LSE is f32 [2, 4, 4]"), std::string::npos) << c.judged(o).reason;
}

TEST(ChooseRows, TakesAllOfASmallProblem) {
  Problem p;
  p.B = 2;
  p.Hq = p.Hkv = 3;
  p.Lq = 100;
  p.Lk = 100;
  const RowSample s = choose_rows(p, false);
  EXPECT_TRUE(s.all);
  EXPECT_EQ(s.rows.size(), 600U);
  EXPECT_EQ(s.rows.back(), (RowId{1, 2, 99}));
}

TEST(ChooseRows, SamplesEachChosenHeadOfALargeOne) {
  Problem p;
  p.B = 4;
  p.Hq = p.Hkv = 16;
  p.Lq = p.Lk = 4096;
  const RowSample s = choose_rows(p, false);
  EXPECT_FALSE(s.all);
  std::vector<std::int64_t> first_head;
  for (const RowId& id : s.rows) {
    EXPECT_LT(id.b, 4);
    EXPECT_LT(id.h, 16);
    if (id.b == s.rows[0].b && id.h == s.rows[0].h) first_head.push_back(id.r);
  }
  EXPECT_GE(first_head.size(), 64U);
  EXPECT_EQ(first_head.front(), 0);
  EXPECT_EQ(first_head.back(), 4095);
  for (const std::int64_t edge : {127, 128, 3967, 3968}) {
    EXPECT_NE(std::ranges::find(first_head, edge), first_head.end()) << edge;
  }
  EXPECT_NE(s.words.find("of 4096 rows in"), std::string::npos) << s.words;
  EXPECT_TRUE(choose_rows(p, true).all);
}

TEST(ChooseRows, TakesEveryRowOfADecodingHead) {
  Problem p;
  p.B = 2;
  p.Hq = p.Hkv = 64;
  p.Lq = 2;
  p.Lk = 131072;
  const RowSample s = choose_rows(p, false);
  EXPECT_FALSE(s.all);
  EXPECT_EQ(s.rows.size() % 2, 0U);
  EXPECT_EQ(s.rows[0].r, 0);
  EXPECT_EQ(s.rows[1].r, 1);
}

// Whatever is not finite where it should be, wherever it stands: the error says so, and no rule is kept.
TEST(Verdict, TheErrorOfWhatIsNotFiniteIsNotFinite) {
  for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
    Case c = numpy_case(t);
    c.compute();
    const std::int64_t elements = c.perfect().out.size();
    for (const float bad : {kNan, -kNan, kInf, -kInf}) {
      for (const std::int64_t at : {std::int64_t{0}, elements / 2, elements - 1, std::int64_t{-1}}) {
        Outputs o = c.perfect();
        for (std::int64_t n = 0; n < elements; ++n)
          if (at < 0 || n == at) o.out.set(n, bad);
        const Verdict v = c.judged(o);
        EXPECT_FALSE(v.pass);
        EXPECT_FALSE(v.not_judged);
        EXPECT_EQ(std::isnan(v.error()), std::isnan(bad)) << v.error();
        EXPECT_FALSE(std::isfinite(v.error()));
        EXPECT_FALSE(v.of(Tensor::o)->within());
        EXPECT_TRUE(v.of(Tensor::lse)->within());
        EXPECT_EQ(v.reason.find("-nan"), std::string::npos) << v.reason;
      }
      Outputs o = c.perfect();
      o.lse.set(1, bad);
      EXPECT_FALSE(std::isfinite(c.judged(o).lse_error()));
      EXPECT_TRUE(std::isfinite(c.judged(o).error()));
    }
  }
}

TEST(Verdict, ANumberWhereTheReferenceIsNotANumberIsAnErrorWithoutEnd) {
  OutputVerdict infinite;
  infinite.error = infinite.allowed = literals::kInf;
  EXPECT_FALSE(infinite.within());
  Case c = random_case(3, 3, 1, 2);
  for (std::int64_t r = 0; r < 3; ++r) c.in.q.set(r, 1);
  c.in.k.set(2, kNan);
  c.compute();
  Outputs o = c.perfect();
  o.out.set(5, 0);
  EXPECT_TRUE(std::isnan(c.judged(o).error()));
}

// Every mean of V's rows lies within max|V|: where the rule lets two of them pass for each other, it says nothing.
TEST(Verdict, WhatWouldLetAnyMeanOfVPassIsNotJudged) {
  int judged = 0, not_judged = 0;
  for (const DType t : {DType::f32, DType::bf16}) {
    for (const double scale : {1.0, 1e2, 1e4, 1e6, 1e8}) {
      Case c = numpy_case(t);
      c.p.scale = scale;
      c.compute();
      const Verdict v = c.judged(c.perfect());
      const bool anything = v.allowed() > 2 * c.ref.max_abs_v;
      EXPECT_EQ(v.pass, !anything) << name_of(t) << ' ' << scale << ' ' << v.reason;
      EXPECT_EQ(v.not_judged, anything);
      EXPECT_EQ(v.reason.starts_with("not judged: O may be off by"), anything) << v.reason;
      anything ? ++not_judged : ++judged;
      Outputs broken = c.perfect();
      broken.out.set(0, kNan);
      EXPECT_EQ(outcome_of(c.judged(broken)), Outcome::wrong);
    }
  }
  EXPECT_GT(judged, 0);
  EXPECT_GT(not_judged, 0);
}

}  // namespace
}  // namespace attn
