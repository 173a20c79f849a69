// What every CPU kernel must hold beside being right (the verdict is tried by `attnscope verify` and verdict_test).
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/run.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/fits.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/tensor_bytes.h"

namespace attn {
namespace {

Problem small() {
  Problem p;
  p.Hq = 2;
  p.Lq = 37;
  p.Lk = 53;
  p.D = 20;
  p.Dv = 12;
  return p;
}

Inputs inputs(const Problem& p, Generator g = Generator::normal) {
  InputSpec spec;
  spec.generator = g;
  spec.seed = 11;
  return *make_inputs(p, spec);
}

// A run with memory that held NaN before.
Outputs run_poisoned(const KernelRow& row, const Problem& p, const Inputs& in, const Options& o) {
  const Plan plan = *row.plan(row, p, o, cpu_device());
  cpu::AlignedBytes workspace(plan.workspace_bytes);
  std::memset(workspace.data(), 0xff, plan.workspace_bytes);
  Outputs out{Array(p.dtype, {p.B, p.Hq, p.Lq, p.Dv}), Array(DType::f32, {p.B, p.Hq, p.Lq})};
  std::memset(out.out.data(), 0xff, out.out.bytes());
  std::memset(out.lse.data(), 0xff, out.lse.bytes());
  const Buffers b = buffers_of(in, out, workspace.data());
  cpu::ThreadCrew crew(plan.options.threads);
  EXPECT_TRUE(enqueue(plan, b, Stream{{}, nullptr, &crew}));
  return out;
}

TEST(CpuKernels, AnswerDoesNotDependOnWhatMemoryHeldBefore) {
  const Problem p = small();
  const Inputs in = inputs(p);
  for (const KernelRow& row : cpu_kernel_table()) {
    const Outputs clean = *run_on_cpu(row, p, {}, in, 0, {});
    const Outputs poisoned = run_poisoned(row, p, in, {});
    EXPECT_EQ(clean.out, poisoned.out) << row.id;
    EXPECT_EQ(clean.lse, poisoned.lse) << row.id;
  }
}

// The contract of a GPU's rung: prepared once, launched often, on lengths and slopes in tensors that may change.
TEST(CpuKernels, LengthsAndSlopesInTensorsCountAsTheyAreWhenItIsLaunched) {
  Problem p = small();
  p.B = 2;
  p.mask.key_lengths = {53, 53};
  p.alibi.emplace();
  const Inputs in = inputs(p);
  Problem meant = p;
  meant.mask.key_lengths = {7, 30};
  meant.alibi = {0.75F, 0.125F};
  for (const KernelRow& row : cpu_kernel_table()) {
    const Plan plan = *row.plan(row, p, {}, cpu_device());
    cpu::AlignedBytes workspace(plan.workspace_bytes);
    Outputs out = empty_outputs(p);
    std::vector<std::int64_t> lengths = p.mask.key_lengths;
    std::vector<float> slopes = slopes_of(p);
    Buffers b = buffers_of(in, out, workspace.data());
    b.in[Tensor::key_lengths] = lengths.data();
    b.in[Tensor::slopes] = slopes.data();
    const auto ready = row.prepare(plan, b, Stream{});
    ASSERT_TRUE(ready) << ready.error().message;
    ASSERT_TRUE(row.launch(*ready, Stream{}));
    EXPECT_TRUE(same_bits(out, *run_on_cpu(row, p, {}, in, 0, {}))) << row.id;
    lengths = meant.mask.key_lengths;
    slopes = *meant.alibi;
    ASSERT_TRUE(row.launch(*ready, Stream{}));
    EXPECT_TRUE(same_bits(out, *run_on_cpu(row, meant, {}, in, 0, {}))) << row.id;
  }
}

TEST(CpuKernels, RepeatsAndThreadCountsGiveTheSameBits) {
  const Problem p = small();
  const Inputs in = inputs(p);
  for (const KernelRow& row : cpu_kernel_table()) {
    const Outputs first = *run_on_cpu(row, p, {}, in, 0, {});
    for (std::int32_t repeat = 0; repeat < 20; ++repeat) {
      Options o;
      o.threads = 1 + repeat % 4;
      EXPECT_EQ(run_on_cpu(row, p, o, in, 0, {})->out, first.out) << row.id;
    }
  }
}

TEST(CpuKernels, DefinitionDoesNotDependOnWhereItPauses) {
  const Problem p = small();
  const Inputs in = inputs(p);
  const KernelRow* row = *find_kernel("cpu_sequential");
  const Outputs whole = *run_on_cpu(*row, p, {}, in, 0, {});
  Options o;
  o.br = 3;
  o.bc = 7;
  EXPECT_EQ(run_on_cpu(*row, p, o, in, 0, {})->out, whole.out);
}

TEST(CpuKernels, AnyTileGivesAnAnswerThatPasses) {
  const Problem p = small();
  const Inputs in = inputs(p);
  const RowSample sample = choose_rows(p, true);
  const ReferenceRows ref = *reference_rows(p, in, sample.rows, 1, {});
  for (const char* id : {"cpu_tiled", "cpu_flash1", "cpu_flash"}) {
    const KernelRow* row = *find_kernel(id);
    for (const std::int32_t br : {1, 2, 5, 16, 64, 4096}) {
      for (const std::int32_t bc : {1, 3, 16, 17, 4096}) {
        Options o;
        o.br = br;
        o.bc = bc;
        const Outputs out = *run_on_cpu(*row, p, o, in, 0, {});
        const Verdict v = judge(p, in, ref, out, sample);
        EXPECT_TRUE(v.pass) << id << " " << br << "x" << bc << ": " << v.reason;
      }
    }
  }
}

TEST(CpuKernels, RowWithNoVisibleKeyIsZeroWithLseMinusInfinity) {
  Problem p = small();
  p.Lq = 60;  // more queries than keys: causal leaves the first rows none
  p.mask.causal = true;
  const Inputs in = inputs(p);
  for (const KernelRow& row : cpu_kernel_table()) {
    const Outputs out = *run_on_cpu(row, p, {}, in, 0, {});
    for (std::int64_t d = 0; d < p.Dv; ++d) EXPECT_EQ(out.out.get(d), 0.0F) << row.id;
    EXPECT_EQ(out.lse.get(0), -HUGE_VALF) << row.id;
    EXPECT_TRUE(std::isfinite(out.lse.get(59))) << row.id;
  }
}

TEST(CpuKernels, NonFiniteQueriesAndKeysReachTheRowsThatTheMathematicsSays) {
  Problem p = small();
  p.mask.causal = true;
  Inputs in = inputs(p);
  const std::int64_t row = 5;
  in.q.set(row * p.D, std::nanf(""));       // head 0, row 5
  in.k.set((40 * p.D) + 1, std::nanf(""));  // head 0, key 40: rows that see it, r + 16 >= 40
  for (const KernelRow& kernel : cpu_kernel_table()) {
    const Outputs out = *run_on_cpu(kernel, p, {}, in, 0, {});
    for (std::int64_t r = 0; r < p.Lq; ++r) {
      const bool bad = r == row || r + 16 >= 40;
      EXPECT_EQ(std::isnan(out.out.get(r * p.Dv)), bad) << kernel.id << " row " << r;
      EXPECT_EQ(std::isnan(out.lse.get(r)), bad) << kernel.id << " row " << r;
    }
  }
}

TEST(CpuKernels, OptionsOutOfRangeAreRefusedWithWhatWouldDo) {
  const KernelRow* row = *find_kernel("cpu_flash");
  Options o;
  o.br = 5000;
  const Result<Options> refused = resolve(*row, o, cpu_device());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "cpu_flash supports br from 1 to 4096, not 5000");
  o.br = -1;
  EXPECT_FALSE(resolve(*row, o, cpu_device()));
}

TEST(CpuKernels, WhatDoesNotFitIsRefusedBeforeItIsAllocated) {
  Problem p;
  p.Lq = p.Lk = 1LL << 40;
  p.D = p.Dv = 64;
  for (const KernelRow& row : cpu_kernel_table()) {
    const Result<Plan> plan = row.plan(row, p, {}, cpu_device());
    ASSERT_TRUE(plan) << row.id;
    const Result<void> fits = check_memory(*plan, cpu_device(), 0);
    ASSERT_FALSE(fits) << row.id;
    EXPECT_NE(fits.error().message.find("largest L that fits is"), std::string::npos) << fits.error().message;
  }
}

TEST(CpuKernels, CancelEndsARunInWords) {
  Problem p;
  p.Lq = p.Lk = 512;
  p.D = p.Dv = 64;
  const Inputs in = inputs(p);
  std::stop_source source;
  source.request_stop();
  for (const KernelRow& row : cpu_kernel_table()) {
    const Result<Outputs> out = run_on_cpu(row, p, {}, in, 0, source.get_token());
    ASSERT_FALSE(out) << row.id;
    EXPECT_EQ(out.error().kind, ErrorKind::cancelled);
  }
}

}  // namespace
}  // namespace attn
