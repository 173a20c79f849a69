// Training steps: pairs of rungs that run as one chain. On the CPU they are right against fp64, and give the bits of
// their two rungs run apart; of the GPU's the plans are looked at here, and tests/kernels/gpu/device runs them.
#include "kernels/training.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/device.h"
#include "kernels/cpu/run.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/shape_list.h"
#include "kernels/model/problem/costs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/problem/validate.h"
#include "kernels/model/traffic.h"
#include "tests/environment/asked.h"

namespace attn {
namespace {

Problem problem(DType dtype = DType::f32) {
  Problem p;
  p.pass = Pass::training;
  p.B = 2, p.Hq = 4, p.Hkv = 2;
  p.Lq = 70, p.Lk = 93, p.D = 24, p.Dv = 16;
  p.dtype = dtype;
  return p;
}

Inputs inputs(const Problem& p) {
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = 5;
  return *make_inputs(p, spec);
}

bool same(const Array& a, const Array& b) {
  return a.bytes() == b.bytes() && a.bytes() > 0 && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

std::vector<const KernelRow*> steps_on(Processor processor) {
  std::vector<const KernelRow*> rows;
  for (const KernelRow& row : training_table())
    if (row.processor == processor) rows.push_back(&row);
  return rows;
}

TEST(TrainingSteps, EachStepIsAForwardAndItsBackward) {
  EXPECT_EQ(steps_on(Processor::cpu).size(), cpu_backward_table().size());
  EXPECT_EQ(ladder_of(Pass::training).size(), training_table().size());
  EXPECT_GE(steps_on(Processor::gpu).size(), 4U);
  std::set<std::string_view> ids, rungs;
  for (const KernelRow* row : measured_rows()) {
    EXPECT_TRUE(ids.insert(row->id).second) << row->id;
    EXPECT_TRUE(rungs.insert(row->rung).second) << row->id << ": rung " << row->rung;
    EXPECT_EQ(*find_kernel(row->id), row);
  }
  for (const KernelRow& row : training_table()) {
    SCOPED_TRACE(row.id);
    ASSERT_EQ(row.parts.size(), 2U);
    const KernelRow &forward = *row.parts[0], &backward = *row.parts[1];
    EXPECT_TRUE(takes_pass(forward, Pass::forward) && takes_pass(backward, Pass::backward));
    EXPECT_TRUE(takes_pass(row, Pass::training) && !takes_pass(row, Pass::forward));
    EXPECT_EQ(forward.processor, row.processor);
    EXPECT_EQ(backward.processor, row.processor);
    EXPECT_FALSE(row.dtypes.empty());
    EXPECT_FALSE(row.title.empty());
    for (const DType t : row.dtypes)
      for (const KernelRow* part : row.parts) EXPECT_NE(std::ranges::find(part->dtypes, t), part->dtypes.end());
  }
}

TEST(TrainingSteps, CpuStepsAreRightOnTheListsOfShapes) {
  const std::int64_t longest = test::asked("ATTNSCOPE_SANITIZED") ? 40 : 130;
  std::size_t judged = 0;
  for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
    std::vector<CheckCase> cases = paired_cases(t);
    for (const CheckCase& c : score_cases(t)) cases.push_back(c);
    for (CheckCase& c : cases) {
      if (std::max(c.problem.Lq, c.problem.Lk) > longest) continue;
      c.problem.pass = Pass::training;
      const Inputs in = *inputs_of(c);
      const RowSample sample = choose_rows(c.problem, true);
      const auto reference = reference_rows(c.problem, in, sample.rows, 2, {});
      ASSERT_TRUE(reference);
      for (const KernelRow* row : steps_on(Processor::cpu)) {
        const auto answer = run_on_cpu(*row, c.problem, {}, in, 0, {});
        ASSERT_TRUE(answer) << row->id << ": " << answer.error().message;
        const Verdict v = judge(c.problem, in, *reference, *answer, sample);
        EXPECT_TRUE(v.pass || v.not_judged) << row->id << " on " << describe(c) << ": " << v.reason;
        judged += v.pass ? 1 : 0;
        for (const Tensor tensor : {Tensor::o, Tensor::lse, Tensor::d_q, Tensor::d_k, Tensor::d_v})
          EXPECT_NE(v.of(tensor), nullptr) << name_of(tensor);
      }
    }
  }
  EXPECT_GE(judged, test::asked("ATTNSCOPE_SANITIZED") ? 10U : 60U);
}

// The backward reads the O and the LSE that the forward of the same step wrote, and nothing that was given.
TEST(TrainingSteps, AStepGivesTheBitsOfItsTwoRungsRunApart) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    Problem p = problem(dtype);
    p.mask.causal = true;
    Inputs in = inputs(p);
    for (const KernelRow* row : steps_on(Processor::cpu)) {
      SCOPED_TRACE(row->id);
      const Outputs step = *run_on_cpu(*row, p, {}, in, 0, {});
      const Outputs forward = *run_on_cpu(*row->parts[0], with_pass(p, Pass::forward), {}, in, 0, {});
      EXPECT_TRUE(same(step.out, forward.out));
      EXPECT_TRUE(same(step.lse, forward.lse));
      Inputs with = in;
      with.o = forward.out;
      with.lse = forward.lse;
      const Outputs backward = *run_on_cpu(*row->parts[1], with_pass(p, Pass::backward), {}, with, 0, {});
      EXPECT_TRUE(same(step.d_q, backward.d_q));
      EXPECT_TRUE(same(step.d_k, backward.d_k));
      EXPECT_TRUE(same(step.d_v, backward.d_v));
    }
  }
}

TEST(TrainingSteps, AWrongOutputIsNamed) {
  const Problem p = problem();
  const Inputs in = inputs(p);
  const KernelRow& row = *steps_on(Processor::cpu).back();
  const RowSample sample = choose_rows(p, true);
  const auto reference = reference_rows(p, in, sample.rows, 2, {});
  ASSERT_TRUE(reference);
  const Outputs right = *run_on_cpu(row, p, {}, in, 0, {});
  ASSERT_TRUE(judge(p, in, *reference, right, sample).pass);
  const auto spoiled = [&](Array Outputs::*part) {
    Outputs out = right;
    Array& a = out.*part;
    a.set(7, a.get(7) + 1);
    return judge(p, in, *reference, out, sample);
  };
  for (const auto& [part, name] :
       {std::pair(&Outputs::out, "O "), std::pair(&Outputs::lse, "LSE "), std::pair(&Outputs::d_q, "dQ "),
        std::pair(&Outputs::d_k, "dK "), std::pair(&Outputs::d_v, "dV ")}) {
    const Verdict v = spoiled(part);
    EXPECT_FALSE(v.pass) << name;
    EXPECT_EQ(outcome_of(v), Outcome::wrong) << name;
    EXPECT_TRUE(v.reason.starts_with(name)) << v.reason;
  }
  EXPECT_TRUE(judge_without_lse(p, in, *reference, right, sample).pass);
  EXPECT_TRUE(judge_without_lse(p, in, *reference, right, sample).no_lse());
}

TEST(TrainingSteps, CostsAreThoseOfBothPasses) {
  Problem p = problem(DType::f16);
  p.mask.causal = true;
  p.Dv = p.D;
  const double forward = flops_of(with_pass(p, Pass::forward));
  EXPECT_DOUBLE_EQ(flops_of(p), 3.5 * forward);
  EXPECT_EQ(compulsory_costs(p).total(), compulsory_costs(with_pass(p, Pass::forward)).total() +
                                             compulsory_costs(with_pass(p, Pass::backward)).total());
  for (const KernelRow& row : training_table()) {
    const std::uint64_t apart = compulsory(*row.parts[0], with_pass(p, Pass::forward)).total() +
                                compulsory(*row.parts[1], with_pass(p, Pass::backward)).total();
    EXPECT_EQ(compulsory(row, p).total(), apart) << row.id;
  }
}

TEST(TrainingSteps, PlansFollowOneAnotherInOneChain) {
  for (const KernelRow* row : steps_on(Processor::gpu)) {
    SCOPED_TRACE(row->id);
    Problem p = problem(row->dtypes.front());
    p.D = p.Dv = 64;
    const Device device = *gpu::device_for(row->architectures.back());
    ASSERT_TRUE(row->supports(*row, p, {}, device)) << row->supports(*row, p, {}, device).error().message;
    const auto plan = row->plan(*row, p, {}, device);
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_EQ(plan->parts.size(), 2U);
    std::vector<std::string> names;
    for (const Plan& part : plan->parts)
      for (const Launch& l : part.launches) names.push_back(l.name);
    ASSERT_EQ(names.size(), plan->launches.size());
    for (std::size_t n = 0; n < names.size(); ++n) EXPECT_EQ(plan->launches[n].name, names[n]);
    // The parts' workspaces lie apart, aligned, and within the plan's.
    EXPECT_GE(workspace_at(*plan, 1), plan->parts[0].workspace_bytes);
    EXPECT_EQ(workspace_at(*plan, 1) % 256, 0U);
    EXPECT_GE(plan->workspace_bytes, workspace_at(*plan, 1) + plan->parts[1].workspace_bytes);
    Buffers all;
    std::vector<std::byte> memory(16);
    all.workspace = memory.data();
    all.out[Tensor::o] = &memory[1];
    all.out[Tensor::lse] = &memory[2];
    EXPECT_FALSE(buffers_of_part(*plan, 0, all).in.has(Tensor::o));
    EXPECT_EQ(buffers_of_part(*plan, 1, all).in[Tensor::o], &memory[1]);
    EXPECT_EQ(buffers_of_part(*plan, 1, all).in[Tensor::lse], &memory[2]);
    EXPECT_FALSE(row->supports(*row, with_pass(p, Pass::forward), {}, device));
  }
}

TEST(TrainingSteps, WhatABackwardDoesNotTakeIsRefusedInWords) {
  Problem paged = problem();
  paged.storage = {16, 32};
  EXPECT_NE(validate(paged).error().message.find("A backward pass needs dense K and V"), std::string::npos);
  Problem sums = problem(DType::f16);
  sums.output = OutputType::f32;
  EXPECT_NE(validate(sums).error().message.find("A backward pass reads O in the dtype"), std::string::npos);
  const KernelRow& row = *steps_on(Processor::cpu).back();
  const auto forward = run_on_cpu(row, with_pass(problem(), Pass::forward), {}, inputs(problem()), 0, {});
  ASSERT_FALSE(forward);
  EXPECT_NE(forward.error().message.find("supports the pass training, not forward"), std::string::npos);
}

}  // namespace
}  // namespace attn
