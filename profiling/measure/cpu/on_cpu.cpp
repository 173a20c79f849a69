#include "profiling/measure/cpu/on_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

#include "attnscope_version.h"
#include "kernels/base/bytes.h"
#include "kernels/base/clock.h"
#include "kernels/base/on_threads.h"
#include "kernels/base/text.h"
#include "kernels/cpu/aligned.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/judge/verdict.h"
#include "kernels/model/fits.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/problem/validate.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/row_state.h"
#include "profiling/figures/statistics.h"
#include "profiling/measure/point.h"
#include "profiling/measure/repeat.h"
#include "profiling/measure/stages.h"

namespace attn {
namespace {

// Everything that one run writes. Poisoned with NaN (all bits set is a NaN in f32, f16 and bf16), so that a kernel
// that leaves an element alone, or reads its workspace before writing it, does not pass by luck.
class Scratch {
 public:
  Scratch(const Problem& p, std::uint64_t workspace_bytes)
      : outputs_(empty_outputs(p)), workspace_(static_cast<std::size_t>(workspace_bytes)) {
    const ByTensor<Array*> arrays = arrays_of(outputs_);
    for (std::size_t n = 0; n < kTensors; ++n)
      if (Array* array = arrays[static_cast<Tensor>(n)]; array != nullptr && !array->empty())
        std::memset(array->data(), 0xff, array->bytes());
    std::memset(workspace_.data(), 0xff, static_cast<std::size_t>(workspace_bytes));
  }

  const Outputs& outputs() const { return outputs_; }

  Buffers buffers(const Inputs& in) { return buffers_of(in, outputs_, workspace_.data()); }

 private:
  Outputs outputs_;
  cpu::AlignedBytes workspace_;
};

Result<void> not_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "Cancelled before timing.");
  return ok();
}

Result<Verdict> verdict_on(const Point& point, const Inputs& in, const Outputs& out, const std::stop_token& stop) {
  const Problem& p = point.problem;
  const RowSample sample = choose_rows(p, point.verify_full);
  const auto reference = reference_rows(p, in, sample.rows, cpu_device().cores, stop);
  if (!reference) return tl::unexpected(reference.error());
  return judge(p, in, *reference, out, sample);
}

// Supports and plan; what is known then goes into `m`, so that a refused row still says what it would have needed.
Result<Plan> plan_for(const KernelRow& row, const Point& point, Measurement& m) {
  const Device cpu = cpu_device();
  if (auto valid = validate(m.key.problem); !valid) return tl::unexpected(valid.error());
  if (auto resolved = resolve(row, m.key.options, cpu); resolved) m.key.options = *resolved;
  if (auto takes = row.supports(row, m.key.problem, m.key.options, cpu); !takes) return tl::unexpected(takes.error());
  auto plan = row.plan(row, m.key.problem, m.key.options, cpu);
  if (!plan) return plan;
  m.key.options = plan->options;
  m.launches = plan->launches;
  m.workspace_bytes = plan->workspace_bytes;
  BytesBeside check;
  if (point.verify) check = [&](const Problem& p) { return reference_bytes(p, point.verify_full, cpu.cores); };
  if (auto fits = check_memory(*plan, cpu, point.memory_limit, check); !fits) return tl::unexpected(fits.error());
  return plan;
}

Result<void> check_and_time(const KernelRow& row, const Point& point, Measurement& m, Stages& stages,
                            const std::stop_token& stop) {
  stages.enter("plan");
  const auto plan = plan_for(row, point, m);
  if (!plan) return tl::unexpected(plan.error());
  if (auto go = not_stopped(stop); !go) return go;
  stages.enter("inputs");
  InputSpec spec;
  spec.generator = point.generator;
  spec.seed = point.seed;
  cpu::ThreadCrew crew(plan->options.threads);
  const Stream stream{stop, nullptr, &crew};
  const auto inputs = make_all_inputs(point.problem, spec, on_threads, point.memory_limit, stream);
  if (!inputs) return tl::unexpected(inputs.error());

  Scratch scratch(point.problem, plan->workspace_bytes);
  const Buffers buffers = scratch.buffers(*inputs);
  const auto ready = row.prepare(*plan, buffers, stream);
  if (!ready) return tl::unexpected(ready.error());
  const auto run = [&] { return row.launch(*ready, stream); };
  stages.enter("run");
  const double begin = steady_seconds();
  if (auto ran = run(); !ran) return ran;
  const double first_run_s = steady_seconds() - begin;
  if (auto go = not_stopped(stop); !go) return go;
  if (point.verify) {
    stages.enter("verify");
    auto verdict = verdict_on(point, *inputs, scratch.outputs(), stop);
    if (!verdict) return tl::unexpected(verdict.error());
    m.verdict = std::move(*verdict);
  }
  // Where one run outlasts the limit, what the verification left in the caches no longer matters.
  const double warm_up_s = first_run_s > point.seconds_per_point ? 0 : std::min(0.1, point.seconds_per_point / 10);
  const StopRule rule(MinRepeats{point.min_repeats}, Settled{}, TimeLimit{point.seconds_per_point});
  stages.enter("warm up");
  const cpu::ThreadCrew::Warm warm(crew);
  auto samples = time_repeats(run, warm_up_s, rule, steady_seconds, stop, [&] { stages.enter("time"); });
  if (!samples) return tl::unexpected(samples.error());
  m.samples_us = std::move(*samples);
  m.time = statistics_of(m.samples_us);
  return ok();
}

}  // namespace

Result<std::vector<double>> turn_on_cpu(const KernelRow& row, const Point& p, const Inputs& inputs, const Turn& turn,
                                        const std::stop_token& stop) {
  const InEnglish recorded;
  const auto plan = row.plan(row, p.problem, p.options, cpu_device());
  if (!plan) return tl::unexpected(plan.error());
  Scratch scratch(p.problem, plan->workspace_bytes);
  const Buffers buffers = scratch.buffers(inputs);
  cpu::ThreadCrew crew(plan->options.threads);
  const Stream stream{stop, nullptr, &crew};
  const auto ready = row.prepare(*plan, buffers, stream);
  if (!ready) return tl::unexpected(ready.error());
  std::vector<double> samples;
  const cpu::ThreadCrew::Warm warm(crew);
  for (std::int32_t n = -turn.warm_up; n < turn.repeats; ++n) {
    if (n >= 0) std::this_thread::sleep_for(std::chrono::microseconds(turn.pause_us));
    const double begin = steady_seconds();
    if (auto ran = row.launch(*ready, stream); !ran) return tl::unexpected(ran.error());
    if (auto go = not_stopped(stop); !go) return tl::unexpected(go.error());
    if (n >= 0) samples.push_back(1e6 * (steady_seconds() - begin));
  }
  return samples;
}

Measurement measure_on_cpu(const KernelRow& row, const Point& p, const CpuPeak& peak, std::stop_token stop) {
  const InEnglish recorded;
  Measurement m = empty_row(p, Processor::cpu);
  m.key.source_hash = ATTNSCOPE_COMMIT;
  m.key.device = cpu_device().name;
  m.clock = "steady_clock";
  m.peaks.peak_gflops = peak.gflops;
  m.peaks.copy_gb_per_s = peak.copy_gb_per_s;
  Stages stages(m);
  try {
    if (auto timed = check_and_time(row, p, m, stages, stop); !timed) give_up(m, timed.error());
  } catch (const std::bad_alloc&) {
    give_up(m, {ErrorKind::failed,
                fmt::format("Out of memory although the check passed: this point needs {}. Close other programs, "
                            "or choose a smaller L.",
                            format_bytes(tensor_bytes(p.problem) + m.workspace_bytes))});
  } catch (const std::exception& bug) {
    give_up(m, {ErrorKind::failed, fmt::format("The kernel failed: {}. This is a bug in AttnScope.", bug.what())});
  }
  stages.end();
  fill_figures(m);
  return m;
}

}  // namespace attn
