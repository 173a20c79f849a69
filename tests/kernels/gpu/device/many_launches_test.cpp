// On a machine with an NVIDIA GPU: thousands of launches of mixed lengths one behind the other, with nobody waiting
// between them, end and leave the bits of a run by itself. A block whose warps drift apart hangs once in thousands.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/launch/device_run.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "tests/kernels/gpu/device/gpu_fixture.h"

namespace attn::gpu {
namespace {

// A problem with what its kernel gives when it runs by itself.
struct Placed {
  Plan plan;
  Inputs inputs;
  Outputs alone;
  std::optional<DeviceRun> run = {};
};

class ManyLaunches : public test::GpuTest {
 protected:
  static Problem problem(std::int64_t D, std::int64_t Lq, std::int64_t Lk, bool causal) {
    Problem p;
    p.B = 3;
    p.Hq = 4;
    p.Hkv = 2;
    p.Lq = Lq;
    p.Lk = Lk;
    p.D = p.Dv = D;
    p.dtype = DType::f16;
    p.mask.causal = causal;
    return p;
  }

  // Lengths of a tile of keys and one beside it, batches without a key, one query tile more than multiprocessors.
  std::vector<Problem> problems() const {
    std::vector<Problem> all;
    for (const std::int64_t D : {64, 128, 256}) {
      for (const std::int64_t L : {1, 95, 97, 129, 700}) all.push_back(problem(D, L, L, L % 2 == 0 || L == 97));
      all.push_back(problem(D, 300, 1029, false));
      all.push_back(problem(D, 200, 217, true));
      all.back().mask.key_lengths = {0, 217, 1};
    }
    all.push_back(problem(64, 64, 500, false));
    all.back().B = 1;
    all.back().Hq = all.back().Hkv = properties_.sms + 1;
    return all;
  }

  void place(const KernelRow& row, const Problem& p) {
    const Device d = device_of(properties_);
    auto plan = row.plan(row, p, {}, d);
    ASSERT_TRUE(plan) << plan.error().message;
    InputSpec spec;
    spec.generator = Generator::normal;
    spec.seed = 3;
    Placed& at = placed_.emplace_back(Placed{*std::move(plan), *make_inputs(p, spec), empty_outputs(p)});
    auto run = DeviceRun::place(*queue_, at.plan, tensor_bytes_of(at.inputs));
    ASSERT_TRUE(run) << run.error().message;
    at.run.emplace(*std::move(run));
    const auto ran = at.run->once();
    ASSERT_TRUE(ran) << ran.error().message;
    ASSERT_TRUE(at.run->fetch(at.alone));
    ASSERT_TRUE(at.run->poison());
    ASSERT_TRUE(at.run->prepare());
  }

  std::deque<Placed> placed_;  // runs point to their plans
};

TEST_F(ManyLaunches, OfMixedLengthsEndWithTheBitsOfOne) {
  constexpr std::size_t kLaunches = 10000, kStride = 7;  // no length beside itself
  const KernelRow& row = **find_kernel("flash_hopper");
  if (!runs_here(row)) GTEST_SKIP() << properties_.arch() << " does not run " << row.id;
  for (const Problem& p : problems()) ASSERT_NO_FATAL_FAILURE(place(row, p)) << describe(p);
  for (std::size_t n = 0; n < kLaunches; ++n) {
    const auto launched = placed_[n * kStride % placed_.size()].run->launch();
    ASSERT_TRUE(launched) << n << ": " << launched.error().message;
  }
  for (Placed& at : placed_) {
    SCOPED_TRACE(describe(at.plan.problem));
    Outputs out = empty_outputs(at.plan.problem);
    const auto fetched = at.run->fetch(out);
    ASSERT_TRUE(fetched) << fetched.error().message;
    EXPECT_TRUE(same_bits(out, at.alone));
  }
}

}  // namespace
}  // namespace attn::gpu
