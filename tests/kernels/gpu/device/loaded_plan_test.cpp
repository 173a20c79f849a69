// A plan loaded once and launched at addresses that change, asked of a driver that keeps what it was called for.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/aligned.h"
#include "kernels/gpu/launch/launching.h"
#include "kernels/gpu/rungs/args.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/splitkv/splitkv_args.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "tests/kernels/gpu/device/fake_driver.h"

namespace attn::gpu {
namespace {

class LoadedPlans : public testing::Test {
 protected:
  LoadedPlans() {
    problem_.B = 2;
    problem_.Lq = problem_.Lk = 5;
    problem_.D = problem_.Dv = 8;
    problem_.dtype = DType::f16;
    problem_.mask.key_lengths = {3, 5};
    problem_.alibi.emplace();
  }

  Plan plan_for(std::string_view kernel) {
    const KernelRow& row = **find_kernel(kernel);
    const auto plan = row.plan(row, problem_, {}, *device_for("sm_90a"));
    EXPECT_TRUE(plan) << plan.error().message;
    return *plan;
  }
  // Addresses that nobody reads, a page apart from `first`.
  Buffers at(std::uintptr_t first) {
    Buffers b;
    for (const Tensor t : {Tensor::q, Tensor::k, Tensor::v}) b.in[t] = reinterpret_cast<void*>(first += 4096);
    for (const Tensor t : {Tensor::o, Tensor::lse}) b.out[t] = reinterpret_cast<void*>(first += 4096);
    b.workspace = workspace_.data();
    return b;
  }

  Problem problem_;
  FakeDriver driver_;
  NoCompiler compiler_;
  CompileService service_{compiler_, {}};
  Queue queue_ = *Queue::make(driver_, service_, "sm_90a", {});
  Stream stream_{{}, &queue_};
  cpu::AlignedBytes workspace_{1 << 16};
};

TEST_F(LoadedPlans, ALaunchTakesItsOwnAddressesAndCallsTheDriverForNothingElse) {
  const auto loaded = load_plan(plan_for("naive"), true, stream_);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(loaded->has_memory());
  EXPECT_EQ(std::ranges::count(driver_.calls, "synchronize"), 1) << "other streams read the lengths as well";
  std::vector<Args> seen;
  driver_.on_launch = [&](const FakeDriver::Launched& l) {
    std::memcpy(&seen.emplace_back(), l.parameters[0], sizeof(Args));
  };
  driver_.captured = true;
  for (const std::uintptr_t first : {0x10000U, 0x90000U}) {
    driver_.calls.clear();
    seen.clear();
    const Buffers b = at(first);
    ASSERT_TRUE(launch_at(*loaded, b, stream_));
    EXPECT_EQ(driver_.calls,
              (std::vector<std::string>{"launch naive_scores", "launch naive_softmax", "launch naive_output"}));
    ASSERT_EQ(seen.size(), 3U);
    for (const Args& a : seen) {
      EXPECT_EQ(a.q, b.in[Tensor::q]);
      EXPECT_EQ(a.v, b.in[Tensor::v]);
      EXPECT_EQ(a.out, b.out[Tensor::o]);
      EXPECT_EQ(a.key_lengths[0], 3);
      EXPECT_EQ(a.key_lengths[1], 5);
      EXPECT_EQ(a.slopes[0], problem_.slope(0, 0));
    }
  }
}

TEST_F(LoadedPlans, LengthsAndSlopesOfTheBuffersGoBeforeThoseOfTheProblem) {
  const auto loaded = load_plan(plan_for("naive"), true, stream_);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const std::array<std::int64_t, 2> lengths{4, 1};
  const std::array<float, 1> slopes{0.25F};
  Buffers b = at(0x10000);
  b.in[Tensor::key_lengths] = lengths.data();
  b.in[Tensor::slopes] = slopes.data();
  Args seen{};
  driver_.on_launch = [&](const FakeDriver::Launched& l) { std::memcpy(&seen, l.parameters[0], sizeof seen); };
  ASSERT_TRUE(launch_at(*loaded, b, stream_));
  EXPECT_EQ(static_cast<const void*>(seen.key_lengths), lengths.data());
  EXPECT_EQ(seen.slopes, slopes.data());
}

TEST_F(LoadedPlans, NothingIsLoadedWhileTheStreamIsCaptured) {
  driver_.captured = true;
  const auto refused = load_plan(plan_for("naive"), true, stream_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(driver_.calls, (std::vector<std::string>{"capturing"}));
  EXPECT_NE(refused.error().message.find("Prepare the kernel before"), std::string::npos) << refused.error().message;
}

TEST_F(LoadedPlans, StridesOfTheBuffersGoBeforeThoseOfTheLayout) {
  const Plan plan = plan_for("flash_splitkv");
  EXPECT_TRUE(reads_strides(*plan.kernel));
  EXPECT_TRUE(reads_strides(**find_kernel("flash_bwd_hopper")));
  EXPECT_FALSE(reads_strides(**find_kernel("naive")));
  const auto loaded = load_plan(plan, true, stream_);
  ASSERT_TRUE(loaded) << loaded.error().message;
  SplitArgs seen{};
  driver_.on_launch = [&](const FakeDriver::Launched& l) { std::memcpy(&seen, l.parameters[0], sizeof seen); };
  Buffers b = at(0x10000);
  b.strides[Tensor::k] = {4000, 8, 24};
  ASSERT_TRUE(launch_at(*loaded, b, stream_));
  EXPECT_EQ((std::array{seen.k_b, seen.k_h, seen.k_r}), (std::array{4000LL, 8LL, 24LL}));
  EXPECT_EQ((std::array{seen.q_b, seen.q_h, seen.q_r}), (std::array{40LL, 40LL, 8LL}));
  const auto prepared = prepare(plan, b, stream_);
  ASSERT_TRUE(prepared) << prepared.error().message;
  seen = {};
  ASSERT_TRUE(launch(*prepared, stream_));
  EXPECT_EQ((std::array{seen.k_b, seen.k_h, seen.k_r}), (std::array{4000LL, 8LL, 24LL}));
}

}  // namespace
}  // namespace attn::gpu
