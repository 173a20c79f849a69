// Every recorded number lies within its stated bound of fp64, and the bound is tight enough to say something.
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/replay/exact.h"

namespace attn {
namespace {

struct Tally {
  std::size_t numbers = 0;
  std::size_t outside = 0;
  double worst = 0;  // error / bound
  std::string first;
};

Tally check(const Recording& rec) {
  Tally tally;
  for (std::int32_t b = 0; b < rec.problem.B; ++b) {
    for (std::int32_t h = 0; h < rec.problem.Hq; ++h) {
      for (std::int32_t i = 0; i < rec.query_tiles(); ++i) {
        const ExactTile tile(rec, b, h, i);
        for (VersionId v = 0; v < rec.versions.size(); ++v) {
          const std::span<const float> recorded = rec.values(v);
          for (std::size_t x = 0; x < recorded.size(); ++x) {
            const auto exact = tile.at(v, x);
            if (!exact || !std::isfinite(recorded[x]) || !std::isfinite(exact->exact)) continue;
            const double error = std::fabs(static_cast<double>(recorded[x]) - exact->exact);
            ++tally.numbers;
            if (exact->bound > 0) tally.worst = std::max(tally.worst, error / exact->bound);
            if (error > exact->bound && tally.outside++ == 0)
              tally.first = std::string(name_of(rec.version(v).slot)) + " recorded " + std::to_string(recorded[x]) +
                            " exact " + std::to_string(exact->exact) + " bound " + std::to_string(exact->bound);
          }
        }
      }
    }
  }
  return tally;
}

TEST(Exact, EveryPresetInEveryOrderLiesWithinItsBound) {
  for (const Preset& preset : presets()) {
    InputSpec spec;
    spec.generator = preset.generator;
    spec.seed = preset.seed;
    const Inputs in = *make_inputs(preset.problem, spec);
    Options o;
    o.br = preset.br;
    o.bc = preset.bc;
    for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
      Problem p = preset.problem;
      p.dtype = t;
      Inputs typed{in.q.converted(t), in.k.converted(t), in.v.converted(t), in.bias};
      typed.page_table = in.page_table;
      for (const KernelRow& row : cpu_kernel_table()) {
        if (!check_takes(row, p)) continue;  // pages
        SCOPED_TRACE(std::string(preset.id) + " " + std::string(row.id) + " " + std::string(name_of(t)));
        const Result<Recording> rec = row.record(row, p, o, typed, {});
        ASSERT_TRUE(rec) << rec.error().message;
        const Tally tally = check(*rec);
        EXPECT_EQ(tally.outside, 0U) << tally.first;
        EXPECT_GT(tally.numbers, 0U);
      }
    }
  }
}

TEST(Exact, NarrowAccumulationStaysWithinTheWiderBound) {
  Problem p;
  p.Lq = p.Lk = 32;
  p.D = p.Dv = 8;
  InputSpec spec;
  spec.generator = Generator::normal;
  const Inputs in = *make_inputs(p, spec);
  const KernelRow* row = *find_kernel("cpu_flash");
  Options o;
  o.br = o.bc = 8;
  for (const DType t : {DType::f16, DType::bf16}) {
    o.accumulate = t;
    const Recording rec = *row->record(*row, p, o, in, {});
    const Tally tally = check(rec);
    EXPECT_EQ(tally.outside, 0U) << tally.first;
    EXPECT_GT(tally.worst, 1e-3);  // a bound a thousand times too wide would say nothing
  }
}

TEST(Exact, BlackboardIsTheWorkedExample) {
  // The fp64 values of the worked example, rounded to six decimals.
  const Preset& preset = **find_preset("blackboard");
  const Inputs in = *make_inputs(preset.problem, InputSpec{});
  const KernelRow* row = *find_kernel("cpu_flash");
  Options o;
  o.br = preset.br;
  o.bc = preset.bc;
  const Recording rec = *row->record(*row, preset.problem, o, in, {});
  const ExactTile tile(rec, 0, 0, 0);
  const auto exact = [&](std::int32_t j, Phase phase, Slot slot, std::size_t x) {
    return tile.at(rec.after(*rec.find({0, 0, 0, j, phase}), slot), x)->exact;
  };
  EXPECT_NEAR(exact(0, Phase::scores, Slot::s, 0), 2.474874, 5e-7);
  EXPECT_NEAR(exact(0, Phase::scores, Slot::s, 1), 6.717514, 5e-7);
  EXPECT_NEAR(exact(1, Phase::scores, Slot::s, 3), 35.001786, 5e-7);
  EXPECT_NEAR(exact(0, Phase::weights, Slot::p, 0), 0.014369596, 5e-10);
  EXPECT_NEAR(exact(0, Phase::sum, Slot::l_new, 0), 1.014370, 5e-7);
  EXPECT_NEAR(exact(0, Phase::output, Slot::o_new, 0), 0.301437, 5e-7);
  EXPECT_NEAR(exact(0, Phase::output, Slot::o_new, 1), 0.402874, 5e-7);
  EXPECT_NEAR(exact(1, Phase::max, Slot::m_new, 0), 15.202796, 5e-7);
  EXPECT_NEAR(exact(1, Phase::rescale, Slot::alpha, 0), 0.000206, 5e-7);
  EXPECT_NEAR(exact(1, Phase::sum, Slot::l_new, 0), 1.014579, 5e-7);
  EXPECT_NEAR(exact(1, Phase::output, Slot::o_new, 0), 0.707247, 5e-7);
  EXPECT_NEAR(exact(-1, Phase::normalise, Slot::o_new, 0), 0.697084, 5e-7);
  EXPECT_NEAR(exact(-1, Phase::normalise, Slot::o_new, 1), 0.797084, 5e-7);
  EXPECT_NEAR(exact(-1, Phase::normalise, Slot::lse, 0), 15.217270, 5e-7);
  EXPECT_NEAR(exact(-1, Phase::normalise, Slot::lse, 1), 35.001836, 5e-7);
}

TEST(Exact, FinalOutputIsTheReferenceOfTheJudge) {
  const Preset& preset = **find_preset("late_outlier");
  InputSpec spec;
  spec.generator = preset.generator;
  spec.seed = preset.seed;
  const Inputs in = *make_inputs(preset.problem, spec);
  const RowSample sample = choose_rows(preset.problem, true);
  const ReferenceRows ref = *reference_rows(preset.problem, in, sample.rows, 1, {});
  Options o;
  o.br = preset.br;
  o.bc = preset.bc;
  const auto dv = static_cast<std::size_t>(preset.problem.Dv);
  for (const KernelRow& row : cpu_kernel_table()) {
    const Recording rec = *row.record(row, preset.problem, o, in, {});
    for (std::size_t x = 0; x < ref.rows.size(); ++x) {
      const auto i = static_cast<std::int32_t>(ref.rows[x].r / rec.options.br);
      const ExactTile tile(rec, 0, 0, i);
      const EventIndex last = *rec.find({0, 0, i, -1, Phase::store_o});
      const auto r = static_cast<std::size_t>(ref.rows[x].r % rec.options.br);
      const auto o_final = tile.row(rec.after(last, Slot::o_new), static_cast<std::int32_t>(r));
      ASSERT_EQ(o_final.size(), dv) << row.id;
      for (std::size_t d = 0; d < dv; ++d) EXPECT_NEAR(o_final[d].exact, ref.out[x * dv + d], 1e-12);
    }
  }
}

}  // namespace
}  // namespace attn
