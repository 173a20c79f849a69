// The CPU's backwards: right by the rule on the lists of shapes, bit for bit the same whatever runs them.
#include <cstring>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/run.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/judge/gradients.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/shape_list.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/traffic.h"
#include "kernels/orders/backward/options.h"
#include "tests/environment/asked.h"

namespace attn {
namespace {

// `verify --pass backward` has the whole lists.
std::int64_t longest() {
  return test::asked("ATTNSCOPE_SANITIZED") ? 70 : 220;
}

// Each kernel with each loop outside.
struct Walk {
  const KernelRow& row;
  Options options;
};
std::vector<Walk> walks(const Options& o = {}) {
  std::vector<Walk> all;
  for (const KernelRow& row : cpu_backward_table()) {
    all.push_back({row, o});
    if (spec_of(row, orders::backward::kOutside) == nullptr) continue;
    all.push_back({row, o});
    choose(all.back().options, orders::backward::kOutside, orders::backward::kQueriesOutside);
  }
  return all;
}

Inputs complete(const Problem& p, Inputs in) {
  const auto added = add_forward(p, in, 0, Stream{});
  EXPECT_TRUE(added) << added.error().message;
  return in;
}

void expect_right(const CheckCase& c, const Options& o = {}) {
  const Inputs in = complete(c.problem, *inputs_of(c));
  const RowSample sample = choose_rows(c.problem, true);
  const auto reference = reference_rows(c.problem, in, sample.rows, 2, {});
  ASSERT_TRUE(reference);
  for (const auto& [row, options] : walks(o)) {
    const auto answer = run_on_cpu(row, c.problem, options, in, 0, {});
    ASSERT_TRUE(answer) << row.id << ": " << answer.error().message;
    const Verdict v = judge(c.problem, in, *reference, *answer, sample);
    EXPECT_TRUE(v.pass || v.not_judged) << row.id << " on " << describe(c) << ": " << v.reason;
  }
}

TEST(CpuBackward, IsRightOnTheListsOfShapes) {
  for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
    std::vector<CheckCase> cases = paired_cases(t);
    for (const CheckCase& c : score_cases(t)) cases.push_back(c);
    for (CheckCase& c : cases) {
      if (std::max(c.problem.Lq, c.problem.Lk) > longest()) continue;
      c.problem.pass = Pass::backward;
      expect_right(c);
    }
  }
}

TEST(CpuBackward, IsRightOnRandomProblemsWithAnyTile) {
  std::int32_t n = 0;
  for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
    for (CheckCase& c : random_cases(t, 36, 36)) {
      if (std::max(c.problem.Lq, c.problem.Lk) > longest()) continue;
      c.problem.pass = Pass::backward;
      Options o;
      o.br = 1 + n * 7 % 70;
      o.bc = 1 + n * 13 % 90;
      expect_right(c, o);
      ++n;
    }
  }
  EXPECT_GT(n, test::asked("ATTNSCOPE_SANITIZED") ? 2 : 8);
}

// One key: dP is delta and dS is 0, to the last bit, or nothing would allow the rest.
TEST(CpuBackward, OneKeyHasNoGradientOfItsScore) {
  for (const std::int64_t dims : {1, 7, 64, 256}) {
    CheckCase c;
    c.problem.pass = Pass::backward;
    c.problem.Lq = 33;
    c.problem.D = c.problem.Dv = dims;
    c.inputs.generator = Generator::normal;
    const Inputs in = complete(c.problem, *inputs_of(c));
    for (const KernelRow& row : cpu_backward_table()) {
      const Outputs out = *run_on_cpu(row, c.problem, {}, in, 0, {});
      for (std::int64_t i = 0; i < out.d_q.size(); ++i) ASSERT_EQ(out.d_q.get(i), 0) << row.id << " " << dims;
    }
    expect_right(c);
  }
}

Problem mixed() {
  Problem p;
  p.pass = Pass::backward;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 70;
  p.Lk = 203;
  p.D = 20;
  p.Dv = 12;
  p.mask.causal = true;
  p.mask.key_lengths = {203, 77};
  p.alibi.emplace();
  p.softcap = 3;
  return p;
}

Inputs inputs(const Problem& p) {
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = 11;
  return complete(p, *make_inputs(p, spec));
}

TEST(CpuBackward, RepeatsAndThreadCountsGiveTheSameBits) {
  const Problem p = mixed();
  const Inputs in = inputs(p);
  for (const auto& [row, options] : walks()) {
    Options o = options;
    o.bc = 16;
    const Outputs first = *run_on_cpu(row, p, o, in, 0, {});
    for (std::int32_t repeat = 0; repeat < 24; ++repeat) {
      o.threads = 1 + repeat % 5;
      EXPECT_TRUE(same_bits(*run_on_cpu(row, p, o, in, 0, {}), first)) << row.id << " " << o.threads;
    }
  }
}

TEST(CpuBackward, AnswerDoesNotDependOnWhatMemoryHeldBefore) {
  const Problem p = mixed();
  const Inputs in = inputs(p);
  for (const auto& [row, options] : walks()) {
    const Plan plan = *row.plan(row, p, options, cpu_device());
    cpu::AlignedBytes workspace(plan.workspace_bytes);
    std::memset(workspace.data(), 0xff, plan.workspace_bytes);
    Outputs out = empty_outputs(p);
    for (Array* a : {&out.d_q, &out.d_k, &out.d_v, &out.delta}) std::memset(a->data(), 0xff, a->bytes());
    cpu::ThreadCrew crew(plan.options.threads);
    EXPECT_TRUE(enqueue(plan, buffers_of(in, out, workspace.data()), Stream{{}, nullptr, &crew}));
    EXPECT_TRUE(same_bits(out, *run_on_cpu(row, p, options, in, 0, {}))) << row.id;
  }
}

TEST(CpuBackward, KeysBeyondTheLengthMatterNotWhateverMemoryHolds) {
  const Problem p = mixed();
  const Inputs clean = inputs(p);
  Inputs in = clean;
  for (std::int64_t kv = 2; kv < 4; ++kv) {
    for (std::int64_t c = 77; c < p.Lk; ++c) {
      in.k.set((kv * p.Lk + c) * p.D, std::numeric_limits<float>::quiet_NaN());
      in.v.set((kv * p.Lk + c) * p.Dv, std::numeric_limits<float>::infinity());
    }
  }
  for (const auto& [row, options] : walks())
    EXPECT_TRUE(same_bits(*run_on_cpu(row, p, options, in, 0, {}), *run_on_cpu(row, p, options, clean, 0, {})))
        << row.id;
}

TEST(CpuBackward, LengthsAndSlopesInTensorsCountAsTheyAreWhenItIsLaunched) {
  const Problem p = mixed();
  const Inputs in = inputs(p);
  Problem meant = p;
  meant.mask.key_lengths = {9, 30};
  meant.alibi = {0.75F, 0.125F, 0.5F, 1.0F};
  for (const auto& [row, options] : walks()) {
    const Plan plan = *row.plan(row, p, options, cpu_device());
    cpu::AlignedBytes workspace(plan.workspace_bytes);
    Outputs out = empty_outputs(p);
    Buffers b = buffers_of(in, out, workspace.data());
    b.in[Tensor::key_lengths] = meant.mask.key_lengths.data();
    b.in[Tensor::slopes] = meant.alibi->data();
    const auto ready = row.prepare(plan, b, Stream{});
    ASSERT_TRUE(ready) << ready.error().message;
    ASSERT_TRUE(row.launch(*ready, Stream{}));
    EXPECT_TRUE(same_bits(out, *run_on_cpu(row, meant, options, in, 0, {}))) << row.id;
  }
}

TEST(CpuBackward, RefusesAForwardAndStopsWhenAsked) {
  Problem p = mixed();
  const Inputs in = inputs(p);
  std::stop_source source;
  source.request_stop();
  for (const KernelRow& row : cpu_backward_table()) {
    const auto stopped = run_on_cpu(row, p, {}, in, 0, source.get_token());
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled) << row.id;
    const auto refused = run_on_cpu(row, forward_of(p), {}, in, 0, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("supports the pass backward, not forward"), std::string::npos);
  }
  Inputs without = in;
  without.lse.reset();
  EXPECT_EQ(run_on_cpu(cpu_backward_table().front(), p, {}, without, 0, {}).error().message,
            "LSE is missing for this problem.");
}

// What a wrong backward would do: the rule sees it.
TEST(CpuBackward, AForgottenDeltaOrADoubledScaleDoesNotPass) {
  Problem p = mixed();
  const Inputs in = inputs(p);
  const RowSample sample = choose_rows(p, true);
  const ReferenceRows ref = *reference_rows(p, in, sample.rows, 2, {});
  const KernelRow& row = cpu_backward_table().back();
  Inputs without_delta = in;  // O = 0 makes delta 0
  for (std::int64_t i = 0; i < without_delta.o->size(); ++i) without_delta.o->set(i, 0);
  const Verdict forgotten = judge(p, in, ref, *run_on_cpu(row, p, {}, without_delta, 0, {}), sample);
  EXPECT_FALSE(forgotten.pass);
  EXPECT_FALSE(forgotten.of(Tensor::d_q)->within() || forgotten.of(Tensor::d_k)->within());
  EXPECT_TRUE(forgotten.of(Tensor::d_v)->within()) << "dV knows nothing of delta";
  Outputs doubled = *run_on_cpu(row, p, {}, in, 0, {});
  for (std::int64_t i = 0; i < doubled.d_k.size(); ++i)
    doubled.d_k.set(i, doubled.d_k.get(i) * static_cast<float>(p.effective_scale()));
  EXPECT_FALSE(judge(p, in, ref, doubled, sample).pass);
}

TEST(CpuBackward, BytesAreThoseOfTheOrdersWalk) {
  Problem p;
  p.pass = Pass::backward;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 64;
  p.Lk = 96;
  p.D = p.Dv = 16;
  p.dtype = DType::f16;
  Options o;
  o.br = 16;
  o.bc = 32;
  const Traffic t = tile_loads(*order_named("backward"), 0, p, o);
  const std::uint64_t rows = 64 * 16 * 4, keys = 96 * 16 * 2, tiles = 3;
  // K and V once a head of keys, dK and dV written once.
  EXPECT_EQ(t.read[1], keys * 2);
  EXPECT_EQ(t.written[1], keys * 2);
  EXPECT_EQ(t.read[2], keys * 2);
  // Q with each key tile, dQ in fp32 there and back at each, then once more to be rounded.
  EXPECT_EQ(t.read[0], rows * 2 * tiles + rows * 4 * tiles + rows * 4);
  EXPECT_EQ(t.written[0], rows * 4 * tiles + rows * 2);
  EXPECT_EQ(t.read[6], rows * 2 * 2 + rows * 2 * tiles);  // O and dO for delta, dO with each key tile
  EXPECT_EQ(t.read[4] + t.read[5] + t.written[4] + t.written[5], 0U) << "S and P never go to memory";
  const Traffic naive = tile_loads(*order_named("naive-backward"), 2, p, o);
  const std::uint64_t pairs = 64 * 96 * 4;
  EXPECT_EQ(naive.written[5], pairs * 2);
  EXPECT_EQ(naive.read[5], 2 * pairs * 2);
  EXPECT_EQ(naive.written[4], pairs * 2);
  EXPECT_EQ(naive.read[4], pairs * 2);
}

}  // namespace
}  // namespace attn
