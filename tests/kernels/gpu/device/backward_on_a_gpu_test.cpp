// On a machine with an NVIDIA GPU: the rungs of a backward are right by the rule, keys beyond a batch's length do not
// matter, and with `deterministic` the bits repeat. Skipped, with the reason, where there is no GPU. `attnscope verify
// --pass backward --device gpu` has the whole lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/on_threads.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/gpu/launch/device_run.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "tests/environment/asked.h"
#include "tests/kernels/gpu/device/gpu_fixture.h"

namespace attn::gpu {
namespace {

class BackwardOnAGpu : public test::GpuTest {
 protected:
  std::vector<const KernelRow*> rungs() const {
    std::vector<const KernelRow*> rows = ladder_of(Pass::backward);
    std::erase_if(rows, [&](const KernelRow* row) { return row->processor != Processor::gpu || !runs_here(*row); });
    EXPECT_FALSE(rows.empty());
    return rows;
  }
  static Inputs inputs(const Problem& p) {
    InputSpec spec;
    spec.generator = Generator::normal;
    spec.seed = 3;
    cpu::ThreadCrew crew(cpu_device().cores);
    return *make_all_inputs(p, spec, on_threads, 0, Stream{{}, nullptr, &crew});
  }
  std::optional<Plan> plan_for(const KernelRow& row, const Problem& p, bool deterministic) {
    Options o;
    if (row.deterministic != nullptr) choose(o, *row.deterministic, deterministic ? 1 : 0);
    if (!row.supports(row, p, o, device_of(properties_))) return std::nullopt;
    return *row.plan(row, p, o, device_of(properties_));
  }
};

Problem problem(DType dtype, std::int64_t rows, std::int64_t keys, std::int64_t dims) {
  Problem p;
  p.pass = Pass::backward;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = rows;
  p.Lk = keys;
  p.D = p.Dv = dims;
  p.dtype = dtype;
  return p;
}

// One of each that a kernel does in another way: whole and cut tiles, wide and odd heads, every mask and score.
std::vector<Problem> problems(DType dtype) {
  std::vector<Problem> all{problem(dtype, 256, 384, 64), problem(dtype, 203, 331, 128), problem(dtype, 1, 1, 8)};
  all[1].mask.causal = true;
  Problem odd = problem(dtype, 113, 217, 59);
  odd.Dv = 40;
  odd.mask.causal = true;
  odd.mask.key_lengths = {217, 101};
  odd.bias_shape = {1, 4, 113, 217};
  all.push_back(odd);
  Problem wide = problem(dtype, 130, 97, 256);
  wide.mask.window_left = 40;
  wide.mask.window_right = 3;
  all.push_back(wide);
  Problem shaped = problem(dtype, 90, 300, 96);
  shaped.softcap = 5;
  shaped.alibi.emplace();
  shaped.mask.key_lengths = {300, 0};
  all.push_back(shaped);
  // What the rung of Hopper takes.
  Problem window = problem(dtype, 200, 333, 128);
  window.mask.window_left = 90;
  window.mask.window_right = 20;
  window.mask.key_lengths = {333, 70};
  all.push_back(window);
  all.push_back(problem(dtype, 1, 1, 64));
  // The same masks where keys are the rows of a tile, of heads that fill it and of one that is padded.
  for (const std::int64_t dims : {64, 40}) {
    Problem narrow = window;
    narrow.D = narrow.Dv = dims;
    all.push_back(narrow);
  }
  return all;
}

// NaN where no kernel may look.
void poison_beyond_lengths(const Problem& p, Inputs& in) {
  if (p.mask.key_lengths.empty()) return;
  for (Array* array : {&in.k, &in.v}) {
    const std::size_t row = array->bytes() / static_cast<std::size_t>(p.B * p.Hkv * p.Lk);
    for (std::int64_t n = 0; n < p.B * p.Hkv * p.Lk; ++n) {
      if (n % p.Lk < p.mask.key_lengths[static_cast<std::size_t>(n / p.Lk / p.Hkv)]) continue;
      std::memset(array->data() + static_cast<std::size_t>(n) * row, 0xff, row);
    }
  }
}

TEST_F(BackwardOnAGpu, IsRightByTheRule) {
  std::size_t judged = 0;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const Problem& p : problems(dtype)) {
      Inputs in = inputs(p);
      poison_beyond_lengths(p, in);
      const RowSample sample = choose_rows(p, true);
      const auto reference = reference_rows(p, in, sample.rows, 0, {});
      ASSERT_TRUE(reference);
      for (const KernelRow* row : rungs()) {
        for (const bool deterministic : {false, true}) {
          const auto plan = plan_for(*row, p, deterministic);
          if (!plan || (deterministic && row->deterministic == nullptr)) continue;
          SCOPED_TRACE(std::string(row->id) + " on " + describe(p) + (deterministic ? " deterministic" : ""));
          auto run = DeviceRun::place(*queue_, *plan, tensor_bytes_of(in));
          ASSERT_TRUE(run) << run.error().message;
          Outputs out = empty_outputs(p);
          const auto done = run->once();
          ASSERT_TRUE(done) << done.error().message;
          ASSERT_TRUE(run->fetch(out));
          const Verdict v = judge(p, in, *reference, out, sample);
          EXPECT_TRUE(v.pass) << v.reason;
          ++judged;
        }
      }
    }
  }
  EXPECT_GE(judged, 54U);
}

// More heads than run at once: a rung may zero their sums of dQ while it computes others. The second run finds the sums
// of the first.
TEST_F(BackwardOnAGpu, HeadsThatBeginLateAreRight) {
  for (const std::int64_t dims : {64, 128}) {
    Problem p = problem(dims == 64 ? DType::bf16 : DType::f16, 200, 130, dims);
    p.B = 6;
    p.Hq = 64;
    p.Hkv = 32;
    p.mask.causal = dims == 64;
    const Inputs in = inputs(p);
    const RowSample sample = choose_rows(p, true);
    const auto reference = reference_rows(p, in, sample.rows, 0, {});
    ASSERT_TRUE(reference);
    for (const KernelRow* row : rungs()) {
      const auto plan = plan_for(*row, p, false);
      if (!plan) continue;
      auto run = DeviceRun::place(*queue_, *plan, tensor_bytes_of(in));
      ASSERT_TRUE(run) << row->id;
      Outputs out = empty_outputs(p);
      for (int repeat = 0; repeat < 2; ++repeat) {
        ASSERT_TRUE(run->once() && run->fetch(out)) << row->id;
        const Verdict v = judge(p, in, *reference, out, sample);
        EXPECT_TRUE(v.pass) << row->id << ", D = " << dims << ", run " << repeat << ": " << v.reason;
      }
    }
  }
}

TEST_F(BackwardOnAGpu, RepeatsTheirBitsWhereTheySayTheyDo) {
  const int repeats = test::asked("ATTNSCOPE_LONG_TESTS") ? 250 : 20;
  for (const KernelRow* row : rungs()) {
    for (const DType dtype : row->dtypes) {
      Problem p = problem(dtype, 511, 700, 64);
      p.mask.causal = true;
      const Inputs in = inputs(p);
      const auto plan = plan_for(*row, p, true);
      ASSERT_TRUE(plan) << row->id;
      EXPECT_TRUE(repeats_bits(*row, plan->options)) << row->id;
      auto run = DeviceRun::place(*queue_, *plan, tensor_bytes_of(in));
      Outputs first = empty_outputs(p), again = empty_outputs(p);
      ASSERT_TRUE(run && run->once() && run->fetch(first)) << row->id;
      for (int n = 0; n < repeats; ++n) {
        ASSERT_TRUE(run->once() && run->fetch(again));
        ASSERT_TRUE(same_bits(first, again)) << row->id << " " << name_of(dtype) << ", repeat " << n;
      }
    }
  }
}

}  // namespace
}  // namespace attn::gpu
