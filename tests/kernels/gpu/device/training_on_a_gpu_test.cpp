// On a machine with an NVIDIA GPU: training steps are right by the rule, O and LSE as well as the gradients, and with
// `deterministic` give the bits of their two rungs run apart. Skipped, with the reason, where there is no GPU.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/base/on_threads.h"
#include "kernels/gpu/launch/device_run.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "tests/kernels/gpu/device/gpu_fixture.h"

namespace attn::gpu {
namespace {

class TrainingOnAGpu : public test::GpuTest {
 protected:
  std::vector<const KernelRow*> steps() const {
    std::vector<const KernelRow*> rows;
    for (const KernelRow& row : training_table())
      if (row.processor == Processor::gpu && runs_here(row)) rows.push_back(&row);
    EXPECT_FALSE(rows.empty());
    return rows;
  }
  static Inputs inputs(const Problem& p) {
    InputSpec spec;
    spec.generator = Generator::normal;
    spec.seed = 3;
    return *make_inputs(p, spec, on_threads);
  }
  Options options_of(const KernelRow& row) const {
    Options o;
    if (row.deterministic != nullptr) choose(o, *row.deterministic, 1);
    return o;
  }
  Outputs answer(const KernelRow& row, const Problem& p, const Inputs& in) {
    Outputs out = empty_outputs(p);
    const auto plan = row.plan(row, p, options_of(row), device_of(properties_));
    EXPECT_TRUE(plan) << plan.error().message;
    auto run = DeviceRun::place(*queue_, *plan, tensor_bytes_of(in));
    EXPECT_TRUE(run) << run.error().message;
    const auto done = run->once();
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_TRUE(run->fetch(out));
    return out;
  }
};

std::vector<Problem> problems(DType dtype) {
  Problem p;
  p.pass = Pass::training;
  p.B = 2, p.Hq = 4, p.Hkv = 2;
  p.Lq = 256, p.Lk = 384, p.D = p.Dv = 64;
  p.dtype = dtype;
  std::vector<Problem> all{p, p, p};
  all[1].mask.causal = true;
  all[1].Lq = 203, all[1].Lk = 331, all[1].D = all[1].Dv = 128;
  all[2].mask.window_left = 90, all[2].mask.window_right = 20;
  all[2].mask.key_lengths = {384, 70};
  return all;
}

bool same(const Array& a, const Array& b) {
  return a.bytes() == b.bytes() && a.bytes() > 0 && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

TEST_F(TrainingOnAGpu, IsRightByTheRuleAndAsItsRungsAre) {
  std::size_t judged = 0;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const Problem& p : problems(dtype)) {
      const Inputs in = inputs(p);
      const RowSample sample = choose_rows(p, true);
      const auto reference = reference_rows(p, in, sample.rows, 0, {});
      ASSERT_TRUE(reference);
      for (const KernelRow* row : steps()) {
        if (!row->supports(*row, p, options_of(*row), device_of(properties_))) continue;
        SCOPED_TRACE(std::string(row->id) + " on " + describe(p));
        const Outputs step = answer(*row, p, in);
        const Verdict v = judge(p, in, *reference, step, sample);
        EXPECT_TRUE(v.pass) << v.reason;
        ++judged;
        const Outputs forward = answer(*row->parts[0], with_pass(p, Pass::forward), in);
        EXPECT_TRUE(same(step.out, forward.out));
        EXPECT_TRUE(same(step.lse, forward.lse));
        Inputs with = in;
        with.o = forward.out;
        with.lse = forward.lse;
        const Outputs backward = answer(*row->parts[1], with_pass(p, Pass::backward), with);
        EXPECT_TRUE(same(step.d_q, backward.d_q));
        EXPECT_TRUE(same(step.d_k, backward.d_k));
        EXPECT_TRUE(same(step.d_v, backward.d_v));
      }
    }
  }
  EXPECT_GE(judged, 18U);
}

}  // namespace
}  // namespace attn::gpu
