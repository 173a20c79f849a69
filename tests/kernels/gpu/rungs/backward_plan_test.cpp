// What the rungs of a backward are launched with: shares of a tile that cover it once, parts of a workspace that lie
// apart, tensors that reach the kernels' parameters, refusals in words.
#include "kernels/gpu/rungs/backward/backward_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/launch/device_run.h"
#include "kernels/gpu/rungs/backward/flash_bwd_layout.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "tests/kernels/gpu/device/fake_driver.h"

namespace attn::gpu {
namespace {

const KernelRow& rung(const char* id) {
  return **find_kernel(id);
}

Problem problem(DType dtype, std::int64_t d, std::int64_t dv) {
  Problem p;
  p.pass = Pass::backward;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 130;
  p.Lk = 70;
  p.D = d;
  p.Dv = dv;
  p.dtype = dtype;
  return p;
}

Options with(bool deterministic) {
  Options o;
  choose(o, kDeterministic, deterministic ? 1 : 0);
  return o;
}

std::vector<std::string> entries(const Plan& plan) {
  std::vector<std::string> names;
  for (const Launch& l : plan.launches) names.push_back(l.name);
  return names;
}

TEST(BackwardPlan, EveryHeadDimensionHasATileOnEveryArchitecture) {
  for (const char* id : {"naive_bwd", "flash_bwd_simt", "flash_bwd"}) {
    const KernelRow& row = rung(id);
    for (const std::string_view arch : row.architectures) {
      for (std::int64_t d = 1; d <= kMaxHeadDim; d += d < 8 ? 1 : 31) {
        for (const std::int64_t dv : {d, std::int64_t{1}, kMaxHeadDim}) {
          for (const bool capped : {false, true}) {
            Problem p = problem(row.dtypes.front(), d, dv);
            if (capped) p.softcap = 3;
            for (const bool deterministic : {false, true}) {
              const Options o = row.deterministic != nullptr ? with(deterministic) : Options();
              const auto takes = row.supports(row, p, o, *device_for(arch));
              EXPECT_TRUE(takes) << arch << ": " << takes.error().message;
            }
          }
        }
      }
    }
  }
}

TEST(BackwardPlan, WarpsShareEachResultSoThatEveryElementHasOne) {
  int tiles = 0;
  for (const int br : {16, 32, 64, 128}) {
    for (const int bc : {16, 32, 64, 128}) {
      for (const int threads : {64, 128, 256}) {
        for (const int d : {8, 59, 64, 96, 128, 192, 256}) {
          const FlashBwdLayout at = flash_bwd_layout(d, d, br, bc, threads, 2, false);
          if (!at.fits) continue;
          ++tiles;
          const int warps = threads / 32;
          for (const FlashBwdShare& x : {at.s, at.k, at.q}) EXPECT_EQ(x.down * x.across, warps);
          EXPECT_EQ(at.s.down * at.s.tiles * 16, br);
          EXPECT_EQ(at.s.across * at.warp_keys, bc);
          EXPECT_EQ(at.warp_keys % 16, 0);
          EXPECT_EQ(at.k.down * at.k.tiles * 16, bc);
          EXPECT_EQ(at.q.down * at.q.tiles * 16, br);
          EXPECT_EQ(at.k.across * at.k_steps * 16, at.d);
          EXPECT_EQ(at.k.across * at.v_steps * 16, at.dv);
          EXPECT_EQ(at.q.across * at.q_steps * 16, at.d);
          EXPECT_GE(at.d, d);
        }
      }
    }
  }
  EXPECT_GT(tiles, 60);
}

TEST(BackwardPlan, PartsOfTheWorkspaceLieApart) {
  for (const char* id : {"naive_bwd", "flash_bwd_simt", "flash_bwd"}) {
    const KernelRow& row = rung(id);
    Problem p = problem(row.dtypes.front(), 64, 64);
    p.mask.key_lengths = {70, 3};
    p.alibi.emplace();
    const Plan plan = *row.plan(row, p, {}, *device_for("sm_90a"));
    const Workspace first = workspace_of(row, p);
    const BackwardWorkspace at = backward_workspace_of(row, p, plan.options);
    const std::uint64_t rows = static_cast<std::uint64_t>(p.B * p.Hq * padded_rows(p, plan.options)) * sizeof(float);
    EXPECT_LE(first.total, at.shift) << id;
    EXPECT_LE(at.shift + rows, at.delta) << id;
    EXPECT_LE(at.delta + rows, row.d_q_sums != nullptr ? at.d_q_sum : at.total) << id;
    EXPECT_EQ(plan.workspace_bytes, at.total) << id;
    if (row.d_q_sums == nullptr) continue;
    EXPECT_LE(at.d_q_sum + rows * static_cast<std::uint64_t>(row.d_q_sums(p, plan.options)), at.total) << id;
  }
  // P and dS, both in the input's type.
  Problem p = problem(DType::f16, 64, 64);
  const std::uint64_t pairs = static_cast<std::uint64_t>(p.B * p.Hq * p.Lq * p.Lk);
  const Workspace w = workspace_of(rung("naive_bwd"), p);
  EXPECT_GE(w.p - w.s, 2 * pairs);
  EXPECT_LT(w.p - w.s, 2 * pairs + 512);
}

TEST(BackwardPlan, ADeterministicOneHasATurnForEachQueryTile) {
  const Device d = *device_for("sm_90a");
  const KernelRow& row = rung("flash_bwd");
  const Problem p = problem(DType::bf16, 64, 64);
  const Plan any = *row.plan(row, p, with(false), d), one = *row.plan(row, p, with(true), d);
  EXPECT_EQ(entries(any), (std::vector<std::string>{"flash_bwd_rows", "flash_bwd_keys", "flash_bwd_dq"}));
  EXPECT_EQ(entries(one), entries(any));
  const BackwardWorkspace at = backward_workspace_of(row, p, one.options);
  const std::int64_t query_tiles = p.B * p.Hq * padded_rows(p, one.options) / one.options.br;
  EXPECT_GE(at.turns, any.workspace_bytes);
  EXPECT_GE(one.workspace_bytes, at.turns + sizeof(int) * static_cast<std::uint64_t>(1 + query_tiles));
  Buffers buffers;
  buffers.workspace = reinterpret_cast<void*>(256);  // NOLINT(performance-no-int-to-ptr): nobody looks there
  EXPECT_EQ(backward_args_of(any, buffers).turns, nullptr);
  EXPECT_NE(backward_args_of(one, buffers).turns, nullptr);
  EXPECT_FALSE(repeats_bits(row, any.options));
  EXPECT_TRUE(repeats_bits(row, one.options));
  EXPECT_TRUE(repeats_bits(rung("naive_bwd"), {}));
  EXPECT_TRUE(repeats_bits(rung("flash_mma"), {}));
}

// Up to D = 64 keys are rows, each warp has 32, and two blocks share an SM's shared memory on every architecture; a
// bias or a softcap, another width of V and what is chosen by hand keep the form in which queries are.
TEST(BackwardPlan, KeysAreRowsWhereTheirSumsLeaveRegisters) {
  const KernelRow& row = rung("flash_bwd");
  const auto options = [&](const Problem& p, const Options& o, const char* arch) {
    return row.plan(row, p, o, *device_for(arch))->options;
  };
  const auto keys_are_rows = [&](const Problem& p, const Options& o) {
    return flash_bwd_layout(static_cast<int>(p.D), static_cast<int>(p.Dv), o.br, o.bc, o.threads, o.stages,
                            p.changes_scores())
        .keys_are_rows;
  };
  for (const auto& [arch, queries] :
       {std::pair<const char*, int>{"sm_80", 32}, {"sm_89", 32}, {"sm_90a", 128}, {"sm_100", 64}, {"sm_120", 32}}) {
    SCOPED_TRACE(arch);
    const Device d = *device_for(arch);
    const Problem p = problem(DType::f16, 64, 64);
    for (const bool deterministic : {false, true}) {
      const Options o = options(p, with(deterministic), arch);
      EXPECT_TRUE(keys_are_rows(p, o));
      EXPECT_EQ(o.br, queries);
      EXPECT_EQ(o.bc, o.threads);
      const Plan plan = *row.plan(row, p, with(deterministic), d);
      const ArchLimits limits = *limits_of(arch);
      EXPECT_GE(occupancy(limits, o.threads, kMaxRegisters, plan.launches[1].shared_bytes).blocks, 2);
    }
    Problem capped = p;
    capped.softcap = 3;
    for (const Problem& other : {capped, problem(DType::f16, 64, 32), problem(DType::f16, 59, 59)})
      EXPECT_FALSE(keys_are_rows(other, options(other, {}, arch))) << describe(other);
    Options wide;
    wide.threads = 256;
    EXPECT_FALSE(keys_are_rows(p, options(p, wide, arch)));
  }
}

// At D = 128 half as many keys a block let two blocks share an SM where its memory holds both; in turns it keeps the
// larger key tile, whose turns are half as many.
TEST(BackwardPlan, WideHeadsHaveTwoBlocksAnSMWhereMemoryHoldsThem) {
  const KernelRow& row = rung("flash_bwd");
  const Problem p = problem(DType::f16, 128, 128);
  const auto keys = [&](bool deterministic, const char* arch) {
    return row.plan(row, p, with(deterministic), *device_for(arch))->options.bc;
  };
  EXPECT_EQ(keys(false, "sm_90a"), 64);
  EXPECT_EQ(keys(true, "sm_90a"), 128);
  EXPECT_EQ(keys(false, "sm_80"), 128);
  const Plan plan = *row.plan(row, p, {}, *device_for("sm_90a"));
  EXPECT_EQ(occupancy(*limits_of("sm_90"), 128, kMaxRegisters, plan.launches[1].shared_bytes).blocks, 2);
}

// A block of the first launch has a query tile, a warp of the last two fragments of 16 x 8 side by side.
TEST(BackwardPlan, EveryRowHasItsDeltaAndEveryNumberOfDqAThread) {
  const KernelRow& row = rung("flash_bwd");
  for (const std::int64_t dims : {16, 64, 72, 128, 256}) {
    const Problem p = problem(DType::f16, dims, dims);
    const Plan plan = *row.plan(row, p, {}, *device_for("sm_90a"));
    const std::int64_t rows = p.B * p.Hq * padded_rows(p, plan.options);
    EXPECT_EQ(plan.launches[0].grid[0] * plan.options.br, rows);
    EXPECT_GE(plan.launches[2].grid[0] * plan.launches[2].block[0] * 8, rows * row.d_q_sums(p, plan.options));
    EXPECT_LT((plan.launches[2].grid[0] - 1) * plan.launches[2].block[0] * 8, rows * row.d_q_sums(p, plan.options));
  }
}

TEST(BackwardPlan, HoppersTakesTwoHeadDimensionsAndPointsElsewhere) {
  const KernelRow& row = rung("flash_bwd_hopper");
  const Device d = *device_for("sm_90a");
  for (const std::int64_t dims : {64, 128}) {
    const auto plan = row.plan(row, problem(DType::bf16, dims, dims), {}, d);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(entries(*plan),
              (std::vector<std::string>{"flash_bwd_hopper_rows", "flash_bwd_hopper_keys", "flash_bwd_hopper_dq"}));
    EXPECT_LE(plan->launches[1].shared_bytes, 227 * 1024);
  }
  Problem capped = problem(DType::f16, 64, 64);
  capped.softcap = 3;
  for (const Problem& p : {problem(DType::f16, 96, 96), problem(DType::f16, 64, 128), capped}) {
    const auto takes = row.supports(row, p, {}, d);
    ASSERT_FALSE(takes);
    EXPECT_NE(takes.error().message.find("flash_bwd "), std::string::npos) << takes.error().message;
  }
}

// Its blocks zero sums of dQ for later ones and count that in the workspace, whatever the order of the sums: a number a
// head of keys, which is at most one a query tile, and one where there is no query.
TEST(BackwardPlan, HoppersLaunchesStartEarlyAndCountWhatTheyZero) {
  const KernelRow& row = rung("flash_bwd_hopper");
  const Device d = *device_for("sm_90a");
  for (const std::int64_t queries : {0, 1, 1000}) {
    Problem p = problem(DType::f16, 64, 64);
    p.Lq = queries;
    for (const bool deterministic : {false, true}) {
      const Plan plan = *row.plan(row, p, with(deterministic), d);
      ASSERT_EQ(plan.launches.size(), 3U);
      EXPECT_FALSE(plan.launches[0].early_start);
      EXPECT_TRUE(plan.launches[1].early_start && plan.launches[2].early_start);
      const BackwardWorkspace at = backward_workspace_of(row, p, plan.options);
      const std::int64_t tiles = padded_rows(p, plan.options) / plan.options.br;
      EXPECT_GE(at.total, at.turns + sizeof(int) * static_cast<std::uint64_t>(1 + p.B * std::max(p.Hkv, p.Hq * tiles)));
      Buffers buffers;
      buffers.workspace = reinterpret_cast<void*>(256);  // NOLINT(performance-no-int-to-ptr): nobody looks there
      EXPECT_NE(backward_args_of(plan, buffers).turns, nullptr);
    }
  }
}

// Registers decide how many queries a warpgroup holds scores of: twice as many where a head is half as wide.
TEST(BackwardPlan, HoppersTileFollowsFromTheHeadDimension) {
  const KernelRow& row = rung("flash_bwd_hopper");
  const Device d = *device_for("sm_90a");
  for (const auto& [dims, queries] : {std::pair<std::int64_t, std::int32_t>{64, 128}, {128, 64}}) {
    const Problem p = problem(DType::f16, dims, dims);
    const auto plan = row.plan(row, p, {}, d);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->options.br, queries);
    const std::int64_t rows = p.B * p.Hq * ((p.Lq + queries - 1) / queries) * queries;
    ASSERT_EQ(plan->launches.size(), 3U);
    EXPECT_EQ(plan->launches[0].grid[0] * plan->launches[0].block[0] / 2, rows);          // a warpgroup takes 64
    EXPECT_EQ(plan->launches[2].grid[0] * plan->launches[2].block[0] * 16, rows * dims);  // a thread takes 16 numbers
    Options other;
    other.br = 192 - queries;
    const auto refused = row.plan(row, p, other, d);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find(std::to_string(queries) + " queries at a time"), std::string::npos)
        << refused.error().message;
  }
}

TEST(BackwardPlan, WhatIsNotTakenIsRefusedInWords) {
  const KernelRow& row = rung("flash_bwd");
  const auto refusal = [&](const Problem& p, const Options& o, const char* arch) {
    const auto takes = row.supports(row, p, o, *device_for(arch));
    return takes ? std::string() : takes.error().message;
  };
  Problem forward = problem(DType::f16, 64, 64);
  forward.pass = Pass::forward;
  EXPECT_EQ(refusal(forward, {}, "sm_90a"), "flash_bwd supports the pass backward, not forward");
  EXPECT_NE(refusal(problem(DType::f16, 64, 64), {}, "sm_75").find("not on sm_75"), std::string::npos);
  Options odd;
  odd.br = 48;
  const std::string words = refusal(problem(DType::f16, 64, 64), odd, "sm_90a");
  EXPECT_NE(words.find("128 threads do not work for 48 x 128"), std::string::npos) << words;
  Options large;
  large.br = 128;
  large.bc = 128;
  EXPECT_NE(refusal(problem(DType::f16, 256, 256), large, "sm_90a").find("bytes of shared memory"), std::string::npos);
}

// The run's own memory: every tensor by its name, delta too.
TEST(BackwardPlan, ARunHandsTheKernelsEveryTensorOfTheProblem) {
  FakeDriver driver;
  NoCompiler compiler;
  CompileService service(compiler, {});
  Queue queue = *Queue::make(driver, service, "sm_90a", {});
  const KernelRow& row = rung("naive_bwd");
  const Problem p = problem(DType::f32, 8, 12);
  Inputs in = *make_inputs(p, {});
  in.o = Array(p.dtype, {p.B, p.Hq, p.Lq, p.Dv});
  in.lse = Array(DType::f32, {p.B, p.Hq, p.Lq});
  const Plan plan = *row.plan(row, p, {}, *device_for("sm_90a"));
  auto run = DeviceRun::place(queue, plan, tensor_bytes_of(in));
  ASSERT_TRUE(run) << run.error().message;
  std::set<std::string> launched;
  driver.on_launch = [&](const FakeDriver::Launched& l) {
    launched.insert(l.kernel);
    ASSERT_EQ(l.parameters.size(), 2U);
    Args a{};
    BackwardArgs g{};
    std::memcpy(&a, l.parameters[0], sizeof a);
    std::memcpy(&g, l.parameters[1], sizeof g);
    const auto at = [&](Tensor t) -> const void* { return run->memory(t)->pointer(); };
    EXPECT_EQ(a.q, at(Tensor::q));
    EXPECT_EQ(a.lse, at(Tensor::lse));
    EXPECT_EQ(a.out, nullptr);
    EXPECT_EQ(g.o, at(Tensor::o));
    EXPECT_EQ(g.d_o, at(Tensor::d_o));
    EXPECT_EQ(g.d_q, at(Tensor::d_q));
    EXPECT_EQ(g.d_k, at(Tensor::d_k));
    EXPECT_EQ(g.d_v, at(Tensor::d_v));
    EXPECT_EQ(g.delta_out, at(Tensor::delta));
    EXPECT_EQ(g.d_q_sum, nullptr);
    EXPECT_EQ(g.rows, p.Lq);
  };
  ASSERT_TRUE(run->once());
  EXPECT_EQ(launched.size(), plan.launches.size());
  Outputs out = empty_outputs(p);
  ASSERT_TRUE(run->fetch(out));
  for (const Array* array : {&out.d_q, &out.d_k, &out.d_v, &out.delta})
    EXPECT_NE(array->get(0), array->get(0)) << "what nobody wrote is NaN";
}

// A training step hands its backward what its forward wrote, each run anew, and each part its own workspace.
TEST(BackwardPlan, AStepOfTrainingReadsOAndLseWhereItsForwardLeftThem) {
  for (const char* id : {"naive_train", "flash_simt_train", "flash_train"}) {
    SCOPED_TRACE(id);
    FakeDriver driver;
    NoCompiler compiler;
    CompileService service(compiler, {});
    Queue queue = *Queue::make(driver, service, "sm_90a", {});
    const KernelRow& row = rung(id);
    Problem p = problem(row.dtypes.front(), 64, 64);
    p.pass = Pass::training;
    p.mask.key_lengths = {70, 31};
    const Inputs in = *make_inputs(p, {});
    const Plan plan = *row.plan(row, p, {}, *device_for("sm_90a"));
    auto run = DeviceRun::place(queue, plan, tensor_bytes_of(in));
    ASSERT_TRUE(run) << run.error().message;
    const auto at = [&](Tensor t) -> const void* { return run->memory(t)->pointer(); };
    const std::size_t forwards = plan.parts[0].launches.size();
    std::vector<std::string> launched;
    std::set<const void*> lengths;
    driver.on_launch = [&](const FakeDriver::Launched& l) {
      const bool forward = launched.size() % plan.launches.size() < forwards;
      launched.push_back(l.kernel);
      ASSERT_EQ(l.parameters.size(), forward ? 1U : 2U);
      Args a{};
      std::memcpy(&a, l.parameters[0], sizeof a);
      EXPECT_EQ(a.q, at(Tensor::q));
      EXPECT_EQ(a.lse, at(Tensor::lse));
      lengths.insert(a.key_lengths);
      if (forward) {
        EXPECT_EQ(a.out, at(Tensor::o));
        return;
      }
      BackwardArgs g{};
      std::memcpy(&g, l.parameters[1], sizeof g);
      EXPECT_EQ(g.o, at(Tensor::o));
      EXPECT_EQ(g.d_o, at(Tensor::d_o));
      EXPECT_EQ(g.d_q, at(Tensor::d_q));
      EXPECT_EQ(g.d_k, at(Tensor::d_k));
      EXPECT_EQ(g.d_v, at(Tensor::d_v));
    };
    ASSERT_TRUE(run->once());
    ASSERT_TRUE(run->launch());  // as it is timed
    std::vector<std::string> twice = entries(plan);
    for (const std::string& name : entries(plan)) twice.push_back(name);
    EXPECT_EQ(launched, twice);
    EXPECT_EQ(lengths.size(), 2U) << "the parts share a workspace";
    EXPECT_FALSE(lengths.contains(nullptr));
    Outputs out = empty_outputs(p);
    ASSERT_TRUE(run->fetch(out));
    for (const Array* array : {&out.out, &out.lse, &out.d_q, &out.d_k, &out.d_v})
      EXPECT_NE(array->get(0), array->get(0)) << "what nobody wrote is NaN";
  }
}

}  // namespace
}  // namespace attn::gpu
