// What prepare() does and what it leaves to launch(), asked of a driver that keeps what it was called for.
#include "kernels/gpu/launch/launching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu/aligned.h"
#include "kernels/gpu/launch/device_run.h"
#include "kernels/gpu/rungs/args.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/hopper/hopper_args.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "tests/kernels/gpu/device/fake_driver.h"

namespace attn::gpu {
namespace {

using Calls = std::vector<std::string>;

std::ptrdiff_t count_of(const Calls& calls, const char* what) {
  return std::ranges::count(calls, what);
}

// Naive with key lengths and ALiBi: all that prepare() may have to send.
class Launching : public testing::Test {
 protected:
  Launching() {
    problem_.B = 2;
    problem_.Lq = problem_.Lk = 5;
    problem_.D = problem_.Dv = 8;
    problem_.mask.key_lengths = {3, 5};
    problem_.alibi.emplace();
  }

  Plan plan_for(const KernelRow& row) {
    const auto plan = row.plan(row, problem_, {}, *device_for("sm_90a"));
    EXPECT_TRUE(plan) << plan.error().message;
    return *plan;
  }
  Buffers buffers() { return buffers_of(inputs_, outputs_, workspace_.data()); }

  Problem problem_;
  FakeDriver driver_;
  NoCompiler compiler_;
  CompileService service_{compiler_, {}};
  Queue queue_ = *Queue::make(driver_, service_, "sm_90a", {});
  Stream stream_{{}, &queue_};
  const KernelRow& naive_ = **find_kernel("naive");
  Inputs inputs_;
  Outputs outputs_;
  cpu::AlignedBytes workspace_{1 << 16};
};

TEST_F(Launching, APreparedKernelUnderCaptureTouchesLaunchesAlone) {
  const Plan plan = plan_for(naive_);
  const auto ready = prepare(plan, buffers(), stream_);
  ASSERT_TRUE(ready) << ready.error().message;
  driver_.calls.clear();
  driver_.captured = true;
  const Calls once{"launch naive_scores", "launch naive_softmax", "launch naive_output"};
  ASSERT_EQ(plan.launches.size(), once.size());
  for (int time = 0; time < 2; ++time) {
    ASSERT_TRUE(launch(*ready, stream_));
    EXPECT_EQ(driver_.calls, once);
    driver_.calls.clear();
  }
}

TEST_F(Launching, AnUnpreparedKernelIsRefusedUnderCaptureBeforeAnythingIsDone) {
  driver_.captured = true;
  const auto refused = prepare(plan_for(naive_), buffers(), stream_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(driver_.calls, (Calls{"capturing"}));
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
  EXPECT_NE(refused.error().message.find("being captured into a graph"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("Prepare the kernel before"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(refused.error().message.starts_with("naive")) << refused.error().message;
}

TEST_F(Launching, LengthsAndSlopesOfTheProblemAreSentOnceToWhereTheKernelsLook) {
  Args seen{};
  driver_.on_launch = [&](const FakeDriver::Launched& l) { std::memcpy(&seen, l.parameters[0], sizeof seen); };
  const auto ready = prepare(plan_for(naive_), buffers(), stream_);
  ASSERT_TRUE(ready) << ready.error().message;
  EXPECT_EQ(count_of(driver_.calls, "upload"), 2);
  ASSERT_TRUE(launch(*ready, stream_));
  ASSERT_TRUE(launch(*ready, stream_));
  EXPECT_EQ(count_of(driver_.calls, "upload"), 2);
  EXPECT_EQ(seen.key_lengths[0], 3);
  EXPECT_EQ(seen.key_lengths[1], 5);
  EXPECT_EQ(seen.slopes[0], problem_.slope(0, 0));
}

TEST_F(Launching, LengthsAndSlopesThatAreTensorsAreNeverSent) {
  const std::int64_t lengths[] = {1, 2};
  const float slopes[] = {0.5F};
  Buffers b = buffers();
  b.in[Tensor::key_lengths] = lengths;
  b.in[Tensor::slopes] = slopes;
  Args seen{};
  driver_.on_launch = [&](const FakeDriver::Launched& l) { std::memcpy(&seen, l.parameters[0], sizeof seen); };
  const auto ready = prepare(plan_for(naive_), b, stream_);
  ASSERT_TRUE(ready) << ready.error().message;
  ASSERT_TRUE(launch(*ready, stream_));
  EXPECT_EQ(count_of(driver_.calls, "upload"), 0);
  EXPECT_EQ(static_cast<const void*>(seen.key_lengths), lengths);
  EXPECT_EQ(seen.slopes, slopes);
}

TEST_F(Launching, ATensorThatTheProblemDoesNotKnowIsRefused) {
  const std::int64_t lengths[] = {1, 2};
  problem_.mask.key_lengths.clear();
  Buffers b = buffers();
  b.in[Tensor::key_lengths] = lengths;
  for (const char* id : {"naive", "cpu_flash"}) {
    const KernelRow& row = **find_kernel(id);
    Plan plan;
    plan.kernel = &row;
    plan.problem = problem_;
    const auto refused = row.processor == Processor::cpu ? row.prepare(plan, b, stream_) : prepare(plan, b, stream_);
    ASSERT_FALSE(refused) << id;
    for (const char* part :
         {"key lengths", "passed as a tensor, but neither the problem nor the compiled kernel has this tensor"})
      EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  }
}

struct OwnParameters {
  std::int64_t row_stride;
  float scale;
};

Result<std::vector<Parameters>> parameters_of_its_own(const Plan& plan, const Buffers& buffers, Queue& queue) {
  TensorTiles tiles;
  tiles.address = reinterpret_cast<DevicePointer>(buffers.workspace);
  tiles.rank = 2;
  tiles.extents = {64, 5};
  tiles.strides = {128};
  tiles.box = {64, 5};
  tiles.swizzle = Swizzle::bytes_128;
  const auto map = queue.driver().encode(tiles);
  if (!map) return tl::unexpected(map.error());
  std::vector<Parameters> lists(plan.launches.size());
  for (Parameters& list : lists) {
    list.add(OwnParameters{7, 0.5F});
    list.add(*map);
    list.add(buffers.in[Tensor::q]);
  }
  return lists;
}

// A rung that is in no table: its parameters, cluster and early start arrive as it says.
TEST_F(Launching, ARungMayTakeParametersOfItsOwnAndLaunchAsItsPlanSays) {
  const auto prepare_own = [](const Plan& plan, const Buffers& b, const Stream& s) {
    return prepare_with(parameters_of_its_own, plan, b, s);
  };
  KernelRow row = naive_;
  row.prepare = prepare_own;
  Plan plan = plan_for(naive_);
  plan.kernel = &row;
  plan.launches.resize(1);
  plan.launches[0].cluster[0] = 2;
  plan.launches[0].early_start = true;
  plan.launches[0].shared_bytes = 100;
  int launched = 0;
  driver_.on_launch = [&](const FakeDriver::Launched& l) {
    ++launched;
    EXPECT_EQ(l.shape.cluster, (std::array<std::uint32_t, 3>{2, 1, 1}));
    EXPECT_TRUE(l.shape.early_start);
    EXPECT_EQ(l.shape.shared_bytes, 100U);
    ASSERT_EQ(l.parameters.size(), 3U);
    EXPECT_EQ(static_cast<const OwnParameters*>(l.parameters[0])->row_stride, 7);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(l.parameters[1]) % alignof(TensorMap), 0U);
    EXPECT_EQ(static_cast<const TensorMap*>(l.parameters[1])->opaque[0],
              reinterpret_cast<DevicePointer>(workspace_.data()));
  };
  const auto ready = prepare(plan, buffers(), stream_);
  ASSERT_TRUE(ready) << ready.error().message;
  ASSERT_TRUE(launch(*ready, stream_));
  EXPECT_EQ(launched, 1);
}

TEST_F(Launching, AQueueOnTheCallersStreamGoesWhereItIsSentAndEndsNoStream) {
  int first = 0, second = 0;
  std::vector<StreamHandle> streams;
  driver_.on_launch = [&](const FakeDriver::Launched& l) { streams.push_back(l.stream); };
  {
    Queue queue = Queue::on(driver_, service_, "sm_90a", {}, &first);
    const Stream stream{{}, &queue};
    const Plan plan = plan_for(naive_);
    const auto ready = prepare(plan, buffers(), stream);
    ASSERT_TRUE(ready);
    ASSERT_TRUE(launch(*ready, stream));
    queue.go_to(&second);
    ASSERT_TRUE(launch(*ready, stream));
  }
  EXPECT_EQ(streams, (std::vector<StreamHandle>{&first, &first, &first, &second, &second, &second}));
  EXPECT_EQ(count_of(driver_.calls, "destroy_stream"), 0);
  EXPECT_EQ(count_of(driver_.calls, "unload"), 1) << "its own module";
}

TEST_F(Launching, ARunPoisonsEveryOutputAndSendsGivenLengthsAsATensor) {
  InputSpec spec;
  spec.generator = Generator::normal;
  const auto inputs = make_inputs(problem_, spec);
  ASSERT_TRUE(inputs);
  const Plan plan = plan_for(naive_);
  TensorBytes tensors = tensor_bytes_of(*inputs);
  const std::vector<std::int64_t> lengths{2, 4};
  tensors[Tensor::key_lengths] = std::as_bytes(std::span(lengths));
  auto run = DeviceRun::place(queue_, plan, tensors);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_FALSE(run->launch()) << "nothing was prepared";
  Args seen{};
  driver_.on_launch = [&](const FakeDriver::Launched& l) { std::memcpy(&seen, l.parameters[0], sizeof seen); };
  ASSERT_TRUE(run->once());
  ASSERT_NE(run->memory(Tensor::key_lengths), nullptr);
  EXPECT_EQ(static_cast<const void*>(seen.key_lengths), run->memory(Tensor::key_lengths)->pointer());
  EXPECT_EQ(seen.key_lengths[1], 4);
  EXPECT_EQ(run->memory(Tensor::slopes), nullptr) << "they stand in the problem";
  Outputs out = empty_outputs(problem_);
  ASSERT_TRUE(run->fetch(out));
  EXPECT_NE(out.out.get(79), out.out.get(79)) << "NaN";
  EXPECT_NE(out.lse.get(9), out.lse.get(9));
  tensors[Tensor::q] = tensors[Tensor::q].subspan(4);
  EXPECT_FALSE(DeviceRun::place(queue_, plan, tensors));
}

TEST_F(Launching, WithHeadsInsideRowsTensorsLieSoOnTheDeviceAndComeBackAsTheyWere) {
  problem_ = Problem();
  problem_.B = 2;
  problem_.Hq = 4;
  problem_.Hkv = 2;
  problem_.Lq = 3;
  problem_.Lk = 5;
  problem_.D = 64;
  problem_.Dv = 16;
  problem_.dtype = DType::f16;
  problem_.layout = AxisOrder::blhd;
  InputSpec spec;
  spec.generator = Generator::normal;
  const auto inputs = make_inputs(problem_, spec);
  ASSERT_TRUE(inputs);
  const Plan plan = plan_for(**find_kernel("flash_hopper"));
  auto run = DeviceRun::place(queue_, plan, tensor_bytes_of(*inputs));
  ASSERT_TRUE(run) << run.error().message;
  const auto* const k = static_cast<const std::uint16_t*>(run->memory(Tensor::k)->pointer());
  const auto* const given = reinterpret_cast<const std::uint16_t*>(inputs->k.data());
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 2; ++h)
      for (int r = 0; r < 5; ++r)
        for (int d = 0; d < 64; ++d)
          ASSERT_EQ(k[((b * 5 + r) * 2 + h) * 64 + d], given[((b * 2 + h) * 5 + r) * 64 + d]) << b << h << r << d;
  // O is filled as the kernel would: number n of row (b, r, h).
  auto* const o = static_cast<std::uint16_t*>(run->memory(Tensor::o)->pointer());
  for (int n = 0; n < 2 * 3 * 4 * 16; ++n) o[n] = static_cast<std::uint16_t>(n);
  Outputs out = empty_outputs(problem_);
  ASSERT_TRUE(run->fetch(out));
  const auto* const back = reinterpret_cast<const std::uint16_t*>(out.out.data());
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 4; ++h)
      for (int r = 0; r < 3; ++r)
        ASSERT_EQ(back[((b * 4 + h) * 3 + r) * 16], ((b * 3 + r) * 4 + h) * 16) << b << h << r;
}

TEST(TensorTiles, WhatTheHardwareDoesNotTakeIsRefusedInWords) {
  TensorTiles good;
  good.address = 0x1000;
  good.rank = 3;
  good.extents = {64, 1000, 8};
  good.strides = {128, 128000};
  good.box = {64, 128, 1};
  good.swizzle = Swizzle::bytes_128;
  ASSERT_TRUE(validate(good));
  const auto words = [&](auto change) {
    TensorTiles t = good;
    change(t);
    const auto said = validate(t);
    return said ? std::string("it was taken") : said.error().message;
  };
  EXPECT_EQ(words([](TensorTiles& t) { t.address = 0x1008; }),
            "A tensor map's address is 0x1008; use a nonzero multiple of 16.");
  EXPECT_EQ(words([](TensorTiles& t) { t.strides[1] = 118; }),
            "A tensor map's stride along axis 2 is 118 bytes; use multiples of 16 below 2^40.");
  EXPECT_EQ(words([](TensorTiles& t) { t.box[1] = 257; }),
            "A tile has 257 elements along axis 1; a tensor map allows 1 to 256.");
  EXPECT_EQ(words([](TensorTiles& t) { t.box[0] = 128; }),
            "A tile's row is 256 bytes; with a swizzle of 128 bytes, the limit is 128.");
  EXPECT_EQ(words([](TensorTiles& t) { t.box[0] = 4; }),
            "A tile's row is 8 bytes; a tensor map needs multiples of 16.");
  EXPECT_EQ(words([](TensorTiles& t) { t.rank = 6; }), "A tensor map has 1 to 5 axes, not 6.");
  EXPECT_EQ(words([](TensorTiles& t) { t.extents[2] = 0; }), "A tensor map's extent 2 is 0; use 1 to 2^32.");
  EXPECT_EQ(words([](TensorTiles& t) { t.element_strides[1] = 9; }),
            "A tensor map's element stride along axis 1 is 9; use 1 to 8.");
}

// Four tensor maps and a struct of its own; counters that are 0 before the first launch.
TEST_F(Launching, HopperIsHandedMapsAndItsCountersAreCleared) {
  problem_.Hq = 8;
  problem_.Hkv = 2;
  problem_.D = problem_.Dv = 64;
  problem_.dtype = DType::f16;
  problem_.scale = -0.5;
  problem_.alibi.reset();
  inputs_ = *make_inputs(problem_, {});
  outputs_ = empty_outputs(problem_);
  const KernelRow& row = **find_kernel("flash_hopper");
  const Plan plan = plan_for(row);
  std::memset(workspace_.data(), 1, plan.workspace_bytes);
  HopperArgs seen{};
  std::size_t parameters = 0;
  TensorMap maps[4];
  driver_.on_launch = [&](const FakeDriver::Launched& l) {
    parameters = l.parameters.size();
    for (int n = 0; n < 4; ++n) std::memcpy(&maps[n], l.parameters[n], sizeof maps[n]);
    std::memcpy(&seen, l.parameters[4], sizeof seen);
  };
  const Buffers b = buffers();
  const auto ready = prepare(plan, b, stream_);
  ASSERT_TRUE(ready) << ready.error().message;
  ASSERT_TRUE(launch(*ready, stream_));
  ASSERT_EQ(parameters, 5U);
  const void* tensors[] = {b.in[Tensor::q], b.in[Tensor::k], b.in[Tensor::v], b.out[Tensor::o]};
  for (int n = 0; n < 4; ++n) EXPECT_EQ(maps[n].opaque[0], reinterpret_cast<std::uint64_t>(tensors[n])) << n;
  EXPECT_EQ(seen.counter[0], 0);
  EXPECT_EQ(seen.counter[1], 0);
  EXPECT_EQ(seen.key_lengths[0], 3);
  // Five queries of four heads that share keys are packed: 20 rows of two packed heads in two batches, a tile each.
  EXPECT_EQ(seen.rows, 20);
  EXPECT_EQ(seen.heads, 2);
  EXPECT_EQ(seen.share, 1);
  EXPECT_EQ(seen.tiles, 1);
  EXPECT_EQ(seen.total, 4);
  EXPECT_EQ(plan.launches[0].grid[0], 4);
  EXPECT_EQ(seen.query_factor, -1.0F) << "the kernel's scale is positive";
  EXPECT_FLOAT_EQ(seen.scale_log2, 0.5F * 1.442695F);
}

// What hopper_copy.cuh does with its parameters.
void copied(const HopperCopy& c) {
  for (int b = 0; b < c.batches; ++b)
    for (int h = 0; h < c.heads; ++h)
      for (int r = 0; r < c.rows; ++r)
        for (int d = 0; d < c.columns; ++d)
          static_cast<std::uint16_t*>(c.to)[b * c.to_b + h * c.to_h + r * c.to_r + d] =
              static_cast<const std::uint16_t*>(c.from)[b * c.from_b + h * c.from_h + r * c.from_r + d];
}

// No tensor map can be made of rows of 59 numbers: the maps are of copies in the workspace, and O comes out of one.
TEST_F(Launching, HopperCopiesWhatLiesBetween16Bytes) {
  problem_.Hq = 2;
  problem_.Hkv = 1;
  problem_.D = 59;
  problem_.Dv = 3;
  problem_.dtype = DType::bf16;
  problem_.alibi.reset();
  for (const AxisOrder layout : {AxisOrder::bhld, AxisOrder::blhd}) {
    problem_.layout = layout;
    inputs_ = *make_inputs(problem_, {});
    outputs_ = empty_outputs(problem_);
    const Plan plan = plan_for(**find_kernel("flash_hopper"));
    cpu::AlignedBytes workspace(plan.workspace_bytes);
    Buffers b = buffers();
    b.workspace = workspace.data();
    TensorMap maps[4];
    HopperArgs seen{};
    Calls names;
    driver_.on_launch = [&](const FakeDriver::Launched& l) {
      HopperCopies copies{};
      if (l.parameters.size() == 1) {
        std::memcpy(&copies, l.parameters[0], sizeof copies);
        for (const HopperCopy& c : copies.of)
          if (c.from != nullptr) copied(c);
        return;
      }
      for (int n = 0; n < 4; ++n) std::memcpy(&maps[n], l.parameters[n], sizeof maps[n]);
      std::memcpy(&seen, l.parameters[4], sizeof seen);
      // Attention: O, in rows of its own, is 100 h + r.
      for (int h = 0; h < 2; ++h)
        for (int r = 0; r < static_cast<int>(problem_.Lq); ++r)
          for (int d = 0; d < 3; ++d)
            static_cast<std::uint16_t*>(seen.out)[seen.out_b + h * seen.out_h + r * seen.out_r + d] =
                static_cast<std::uint16_t>(100 * h + r);
    };
    const auto ready = prepare(plan, b, stream_);
    ASSERT_TRUE(ready) << ready.error().message;
    ASSERT_TRUE(launch(*ready, stream_));
    for (const TensorMap& map : maps) {
      EXPECT_EQ(map.opaque[0] % 16, 0U);
      EXPECT_GE(map.opaque[0], reinterpret_cast<std::uint64_t>(workspace.data()));
      EXPECT_LT(map.opaque[0], reinterpret_cast<std::uint64_t>(workspace.data()) + plan.workspace_bytes);
    }
    // Q of batch 1, head 1, row 2 begins on a row of 64 in the copy.
    const bool rows_first = layout == AxisOrder::blhd;
    const std::int64_t Lq = problem_.Lq;
    const auto* const q = static_cast<const std::uint16_t*>(b.in[Tensor::q]) +
                          (rows_first ? (Lq * 2 + 2 * 2 + 1) * 59 : ((2 + 1) * Lq + 2) * 59);
    const auto* const copy = reinterpret_cast<const std::uint16_t*>(maps[0].opaque[0]) + ((2 + 1) * Lq + 2) * 64;
    for (int d = 0; d < 59; ++d) EXPECT_EQ(copy[d], q[d]) << d;
    EXPECT_EQ(seen.out_r, 8);
    const auto* const out = static_cast<const std::uint16_t*>(b.out[Tensor::o]) +
                            (rows_first ? (Lq * 2 + 2 * 2 + 1) * 3 : ((2 + 1) * Lq + 2) * 3);
    for (int d = 0; d < 3; ++d) EXPECT_EQ(out[d], 102) << d;
  }
}

// O in fp32 is stored without a tensor map, two columns at a time.
TEST_F(Launching, HopperSaysWhatAnAddressBetween16BytesTakes) {
  problem_.D = problem_.Dv = 64;
  problem_.dtype = DType::f16;
  problem_.alibi.reset();
  inputs_ = *make_inputs(problem_, {});
  outputs_ = empty_outputs(problem_);
  Buffers b = buffers();
  b.in[Tensor::k] = static_cast<const std::byte*>(b.in[Tensor::k]) + 2;
  const KernelRow& row = **find_kernel("flash_hopper");
  const auto refused = prepare(plan_for(row), b, stream_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(
                "flash_hopper needs tensors aligned to 16 bytes. Set copies = 2 to copy the tensor."),
            std::string::npos)
      << refused.error().message;
  problem_.output = OutputType::f32;
  outputs_ = empty_outputs(problem_);
  b = buffers();
  b.out[Tensor::o] = static_cast<std::byte*>(b.out[Tensor::o]) + 8;
  EXPECT_TRUE(prepare(plan_for(row), b, stream_));
  b.out[Tensor::o] = static_cast<std::byte*>(b.out[Tensor::o]) + 4;
  const auto sums = prepare(plan_for(row), b, stream_);
  ASSERT_FALSE(sums);
  EXPECT_NE(sums.error().message.find("flash_hopper stores it in f32 only at multiples of 8 bytes."),
            std::string::npos);
}

}  // namespace
}  // namespace attn::gpu
