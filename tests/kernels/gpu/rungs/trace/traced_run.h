// A problem, its plan and a buffer that a test writes as a kernel's threads would.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/trace/trace.h"
#include "kernels/gpu/rungs/trace/trace_layout.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/replay.h"

namespace attn::gpu {

inline constexpr float kNone = -std::numeric_limits<float>::infinity();
inline constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

// A problem with its plan and inputs, and a buffer that nobody wrote yet.
struct TracedRun {
  Plan plan;
  Inputs in;
  Outputs out;
  std::vector<float> trace;

  const Problem& p() const { return plan.problem; }
  float q(std::int64_t head, std::int64_t r, std::int64_t d) const { return in.q.get((head * p().Lq + r) * p().D + d); }
  std::int64_t kv_head(std::int64_t head) const { return head / p().Hq * p().Hkv + p().kv_head(head % p().Hq); }
  // Before mask and bias; `unit`: 1 or log2 e.
  float score(std::int64_t head, std::int64_t r, std::int64_t c, double unit) const {
    return product(head, r, c) * static_cast<float>(p().effective_scale() * unit);
  }
  float product(std::int64_t head, std::int64_t r, std::int64_t c) const {
    float sum = 0;
    for (std::int64_t d = 0; d < p().D; ++d) {
      sum = std::fmaf(q(head, r, d), in.k.get((kv_head(head) * p().Lk + c) * p().D + d), sum);
    }
    return sum;
  }
  float masked(std::int64_t head, std::int64_t r, std::int64_t c, float s, double unit) const {
    if (!p().visible(head / p().Hq, r, c)) return kNone;
    if (!in.bias) return s;
    return s + in.bias->get(p().bias_index(head / p().Hq, head % p().Hq, r, c)) * static_cast<float>(unit);
  }
  float v(std::int64_t head, std::int64_t c, std::int64_t d) const {
    return in.v.get((kv_head(head) * p().Lk + c) * p().Dv + d);
  }
};

inline TracedRun make_run(const char* kernel, Problem p, Options o) {
  const KernelRow& row = **find_kernel(kernel);
  const Device device = *device_for(kArchRunOn);
  auto plan = row.plan(row, p, o, device);
  EXPECT_TRUE(plan) << plan.error().message;
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = 7;
  auto in = make_inputs(p, spec);
  EXPECT_TRUE(in) << in.error().message;
  TracedRun run{std::move(*plan), std::move(*in), {}, {}};
  run.out = {Array(p.dtype, {p.B, p.Hq, p.Lq, p.Dv}), Array(DType::f32, {p.B, p.Hq, p.Lq})};
  run.trace.assign(trace_floats(run.plan, *trace_facts(row, p, run.plan.options)), std::bit_cast<float>(~0U));
  return run;
}

inline float who(std::uint32_t block, std::uint32_t warp) {
  return std::bit_cast<float>(1 + kTraceWarps * block + warp);
}

inline Result<Recording> decoded(const TracedRun& run) {
  return recording_of_trace(run.plan, run.in, run.out, run.trace, "NVIDIA H100", "00112233445566778899aabbccddeeff");
}

inline Problem ragged(bool causal) {
  Problem p;
  p.B = 2;
  p.Hq = 2;
  p.Hkv = 1;
  p.Lq = 37;
  p.Lk = 53;
  p.D = 24;
  p.Dv = 20;
  p.mask.causal = causal;
  return p;
}
inline Options small_tile() {
  Options o;
  o.br = 16;
  o.bc = 16;
  return o;
}

inline void expect_good(const Recording& rec) {
  const auto good = check_recording(rec, "it");
  EXPECT_TRUE(good) << good.error().message;
  const auto difference = replay(rec);
  EXPECT_FALSE(difference) << difference->words;
}

// A number of the trace, and the phase that computes it.
struct TracePart {
  std::int64_t place;
  Phase phase;
};
// Makes each of these numbers another one, one at a time: replay first differs in its phase. `check` looks closer.
template <class Decode, class Check>
void expect_replay_names_first_difference(TracedRun& run, std::initializer_list<TracePart> parts, const Decode& decode,
                                          const Check& check) {
  const std::vector<float> whole = run.trace;
  for (const auto& [place, phase] : parts) {
    run.trace = whole;
    float& x = run.trace[static_cast<std::size_t>(place)];
    x = x * 1.001F + 0.001F;
    const auto rec = decode(run);
    ASSERT_TRUE(rec) << rec.error().message;
    const auto difference = replay(*rec);
    ASSERT_TRUE(difference) << name_of(phase);
    EXPECT_EQ(rec->events[difference->event].id.phase, phase) << difference->words;
    check(*rec, *difference);
  }
  run.trace = whole;
}

}  // namespace attn::gpu
