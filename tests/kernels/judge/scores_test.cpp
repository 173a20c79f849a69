// Softcap and ALiBi from the definition to every CPU kernel: the judge's reference against NumPy, the kernels against
// the reference, and what must hold whatever the numbers are.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "kernels/cpu/device.h"
#include "kernels/cpu/run.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/inputs/shape_list.h"
#include "kernels/model/problem/validate.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/replay/replay.h"
#include "kernels/recording/size.h"
#include "tests/environment/asked.h"
#include "tests/kernels/judge/scores_literals.h"

namespace attn {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// The same line as in scores_literals.py.
Array sequence(DType t, std::vector<std::int64_t> shape, std::int64_t factor, std::int64_t modulus) {
  Array a(t, std::move(shape));
  for (std::int64_t i = 0; i < a.size(); ++i) {
    a.set(i, static_cast<float>((i * factor) % modulus - modulus / 2) / 4.0F);
  }
  return a;
}

Problem numpy_problem() {
  Problem p;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 3;
  p.Lk = 5;
  p.D = 3;
  p.Dv = 2;
  return p;
}

Inputs numpy_inputs(DType t) {
  Inputs in;
  in.q = sequence(t, {2, 4, 3, 3}, 7, 11);
  in.k = sequence(t, {2, 2, 5, 3}, 5, 9);
  in.v = sequence(t, {2, 2, 5, 2}, 3, 13);
  return in;
}

void expect_reference(const Problem& p, const Inputs& in, const std::vector<double>& out,
                      const std::vector<double>& lse) {
  ASSERT_TRUE(validate(p));
  const RowSample sample = choose_rows(p, true);
  const auto ref = reference_rows(p, in, sample.rows, 1, {});
  ASSERT_TRUE(ref);
  ASSERT_EQ(ref->out.size(), out.size());
  ASSERT_EQ(ref->lse.size(), lse.size());
  for (std::size_t n = 0; n < out.size(); ++n) EXPECT_NEAR(ref->out[n], out[n], 1e-14) << n;
  for (std::size_t n = 0; n < lse.size(); ++n) EXPECT_NEAR(ref->lse[n], lse[n], 1e-14) << n;
}

TEST(ScoreReference, AgreesWithNumpyUnderSoftcap) {
  Problem p = numpy_problem();
  p.scale = 2.0;
  p.softcap = 0.5;
  expect_reference(p, numpy_inputs(DType::f32), score_literals::capped_out, score_literals::capped_lse);
}

TEST(ScoreReference, AgreesWithNumpyUnderTheUsualSlopesOfAlibi) {
  Problem p = numpy_problem();
  p.dtype = DType::bf16;
  p.alibi.emplace();
  expect_reference(p, numpy_inputs(DType::bf16), score_literals::sloped_out, score_literals::sloped_lse);
}

TEST(ScoreReference, AgreesWithNumpyUnderSoftcapAndSlopesOfEachBatchAndHead) {
  Problem p = numpy_problem();
  p.softcap = 0.75;
  p.alibi = std::vector<float>(score_literals::own_slopes.begin(), score_literals::own_slopes.end());
  expect_reference(p, numpy_inputs(DType::f32), score_literals::both_out, score_literals::both_lse);
}

TEST(ScoreReference, AgreesWithNumpyUnderSoftcapBiasAlibiAndCausalMaskInThatOrder) {
  Problem p = numpy_problem();
  p.scale = 0.5;
  p.softcap = 0.5;
  p.alibi.emplace();
  p.mask.causal = true;
  p.bias_shape = {1, 4, 3, 5};
  Inputs in = numpy_inputs(DType::f32);
  in.bias = sequence(DType::f32, {1, 4, 3, 5}, 11, 17);
  for (std::int64_t h = 0; h < 4; ++h) in.bias->set(h * 15 + 11, -kInf);
  expect_reference(p, in, score_literals::all_out, score_literals::all_lse);
}

enum class With : std::uint8_t { softcap, alibi, both };

Problem with(Problem p, With what) {
  if (what != With::alibi) p.softcap = 1.5;
  if (what != With::softcap) p.alibi.emplace();
  return p;
}

Inputs made(const Problem& p) {
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = 5;
  return *make_inputs(p, spec);
}

// A list of pairs: each dtype, each mask, each of the three, grouped heads and odd dimensions occur.
std::vector<Problem> problems() {
  std::vector<Problem> all;
  Problem p;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 37;
  p.Lk = 53;
  p.D = 19;
  p.Dv = 12;
  all.push_back(with(p, With::both));
  p.dtype = DType::f16;
  p.mask.causal = true;
  all.push_back(with(p, With::softcap));
  p.mask = {};
  p.mask.window_left = 9;
  p.mask.window_right = 4;
  p.dtype = DType::bf16;
  all.push_back(with(p, With::alibi));
  p.mask = {};
  p.B = 2;
  p.mask.key_lengths = {53, 20};
  p.dtype = DType::f32;
  p.bias_shape = {1, 4, 1, 53};
  all.push_back(with(p, With::both));
  all.back().alibi = std::vector<float>{0.5F, 0.25F, 0, -0.125F, 1, 0.75F, 0.0625F, 2};
  return all;
}

TEST(CpuScores, EveryKernelPassesTheVerdictWithSoftcapAndAlibi) {
  constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};
  for (std::size_t t = 0; t < 3; ++t) {
    const std::vector<CheckCase> cases = score_cases(kTypes[t]);
    for (std::size_t n = t; n < cases.size(); n += 3) {
      const CheckCase& c = cases[n];
      const Problem& p = c.problem;
      if (p.Lq * p.Lk > 100'000 || test::left_to_release(n / 3, 4)) continue;  // `verify --scores` has them
      ASSERT_TRUE(validate(p)) << describe(c);
      const auto in = inputs_of(c);
      ASSERT_TRUE(in) << in.error().message;
      const RowSample sample = choose_rows(p, false);
      const auto ref = reference_rows(p, *in, sample.rows, 1, {});
      ASSERT_TRUE(ref);
      for (const KernelRow& row : cpu_kernel_table()) {
        const auto out = run_on_cpu(row, p, {}, *in, 0, {});
        ASSERT_TRUE(out) << out.error().message;
        const Verdict v = judge(p, *in, *ref, *out, sample);
        EXPECT_TRUE(v.pass) << row.id << " on " << describe(c) << ": " << v.reason;
      }
    }
  }
}

// A kernel that left them out would pass nowhere: the rule tells them apart.
TEST(CpuScores, AnAnswerWithoutThemFails) {
  for (const With what : {With::softcap, With::alibi}) {
    Problem plain = problems()[0];
    plain.softcap.reset();
    plain.alibi.reset();
    const Problem p = with(plain, what);
    const Inputs in = made(p);
    const RowSample sample = choose_rows(p, true);
    const auto ref = reference_rows(p, in, sample.rows, 1, {});
    ASSERT_TRUE(ref);
    EXPECT_FALSE(judge(p, in, *ref, *run_on_cpu(**find_kernel("cpu_flash"), plain, {}, in, 0, {}), sample).pass);
  }
}

// Replay takes phase by phase from the recorded operands; a file keeps all of it.
TEST(CpuScores, EveryRecordingReplaysBitForBitAlsoOutOfAFile) {
  for (Problem p : problems()) {
    const Inputs in = made(p);
    for (const KernelRow& row : cpu_kernel_table()) {
      if (row.record == nullptr) continue;
      Options o;
      o.br = 16;
      o.bc = 16;
      const auto rec = row.record(row, p, o, in, {});
      ASSERT_TRUE(rec) << rec.error().message;
      EXPECT_LE(rec->bytes(), recording_bytes(row.order, p, rec->options)) << row.id;
      const auto difference = replay(*rec, {});
      EXPECT_FALSE(difference) << row.id << " on " << describe(p) << ": " << difference->words;
      EXPECT_EQ(rec->outputs.out, run_on_cpu(row, p, o, in, 0, {})->out) << row.id;
      Recording wrong = *rec;
      wrong.problem.softcap = p.softcap.value_or(1) * 1.001;
      EXPECT_TRUE(replay(wrong, {})) << row.id << ": another softcap replays alike";
    }
  }
}

TEST(CpuScores, AHugeSoftcapChangesNextToNothing) {
  Problem p = problems()[0];
  p.alibi.reset();
  p.softcap.reset();
  const Inputs in = made(p);
  for (const KernelRow& row : cpu_kernel_table()) {
    const Outputs without = *run_on_cpu(row, p, {}, in, 0, {});
    Problem capped = p;
    capped.softcap = 1e6;
    const Outputs out = *run_on_cpu(row, capped, {}, in, 0, {});
    for (std::int64_t n = 0; n < out.out.size(); ++n) {
      EXPECT_NEAR(out.out.get(n), without.out.get(n), 1e-5) << row.id << " " << n;
    }
  }
}

TEST(CpuScores, AlibiIsTheBiasOfItsDistancesBitForBit) {
  Problem p = problems()[0];
  p.softcap.reset();
  Problem biased = p;
  biased.alibi.reset();
  biased.bias_shape = {1, p.Hq, p.Lq, p.Lk};
  const Inputs in = made(p);
  Inputs with_bias = in;
  with_bias.bias.emplace(DType::f32, biased.bias_shape);
  std::int64_t n = 0;
  for (std::int64_t h = 0; h < p.Hq; ++h) {
    for (std::int64_t r = 0; r < p.Lq; ++r) {
      for (std::int64_t c = 0; c < p.Lk; ++c) {
        const float slope = std::ldexp(1.0F, static_cast<int>(-2 * (h + 1)));  // 2^(-8 (h + 1) / 4)
        with_bias.bias->set(n++, -slope * static_cast<float>(std::abs(r + 16 - c)));
      }
    }
  }
  for (const KernelRow& row : cpu_kernel_table()) {
    EXPECT_EQ(run_on_cpu(row, p, {}, in, 0, {})->out, run_on_cpu(row, biased, {}, with_bias, 0, {})->out) << row.id;
  }
}

// Key 0 scores +inf with every query: without a cap its rows are NaN, with one it scores c like any very large score.
TEST(CpuScores, AnInfiniteScoreBecomesTheSoftcap) {
  Problem p;
  p.Lq = 3;
  p.Lk = 4;
  p.D = p.Dv = 1;
  Inputs in{Array(DType::f32, {1, 1, 3, 1}), Array(DType::f32, {1, 1, 4, 1}), Array(DType::f32, {1, 1, 4, 1}), {}};
  for (std::int64_t r = 0; r < 3; ++r) in.q.set(r, 1);
  in.k.set(0, kInf);
  in.v.set(0, 1);  // the other keys score 0 and have V = 0
  Problem capped = p;
  capped.softcap = 2;
  const double e = std::exp(2.0);
  for (const KernelRow& row : cpu_kernel_table()) {
    EXPECT_TRUE(std::isnan(run_on_cpu(row, p, {}, in, 0, {})->out.get(0))) << row.id;
    const Outputs out = *run_on_cpu(row, capped, {}, in, 0, {});
    for (std::int64_t r = 0; r < 3; ++r) EXPECT_NEAR(out.out.get(r), e / (e + 3), 1e-6) << row.id;
    EXPECT_NEAR(out.lse.get(0), std::log(e + 3), 1e-6) << row.id;
  }
}

}  // namespace
}  // namespace attn
