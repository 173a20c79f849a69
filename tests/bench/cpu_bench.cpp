// CPU kernels: time on the shapes that Bench begins with, and how far vectors, tiles and cores carry.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>

#include "budget.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/costs.h"
#include "profiling/figures/metrics.h"
#include "profiling/spec/sweep_spec.h"
#include "profiling/sweep/sweep.h"

namespace attn::bench {
namespace {

Problem one_head(std::int64_t L) {
  Problem p;
  p.Lq = p.Lk = L;
  p.D = p.Dv = 64;
  return p;
}

void kernel_time(benchmark::State& state, const KernelRow* row) {
  const Problem p = one_head(state.range(0));
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = 1;
  const auto inputs = make_inputs(p, spec);
  const auto plan = row->plan(*row, p, {}, cpu_device());
  if (!inputs || !plan) {
    state.SkipWithError("the kernel does not take the problem");
    return;
  }
  Outputs out{Array(p.dtype, {1, 1, p.Lq, p.Dv}), Array(DType::f32, {1, 1, p.Lq})};
  // Array's memory is aligned for floats; a workspace promises 64 bytes.
  Array workspace(DType::f32, {static_cast<std::int64_t>(plan->workspace_bytes / 4 + 32)});
  void* aligned = workspace.data();
  std::size_t room = workspace.bytes();
  std::align(64, plan->workspace_bytes, aligned, room);
  const Buffers b = buffers_of(*inputs, out, aligned);
  cpu::ThreadCrew crew(plan->options.threads);
  const Stream stream{{}, nullptr, &crew};
  const auto ready = row->prepare(*plan, b, stream);
  if (!ready) state.SkipWithError("the kernel cannot be prepared");
  for (auto _ : state)
    if (!row->launch(*ready, stream)) state.SkipWithError("the kernel failed");
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops_of(p) * 1e-9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

}  // namespace

void register_kernels() {
  for (const KernelRow& row : cpu_kernel_table()) {
    if (row.processor != Processor::cpu) continue;
    benchmark::RegisterBenchmark(std::string(row.id).c_str(), kernel_time, &row)
        ->Arg(512)
        ->Arg(2048)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

std::vector<Budget> cpu_budgets() {
  SweepSpec s;
  s.kernels = {"cpu_sequential", "cpu_multicore", "cpu_flash"};
  s.values = {2048};
  s.base = one_head(2048);
  s.seconds_per_point = 2;
  const auto rows = run_sweep(s, {}, {});
  if (!rows) return {{"CPU kernels, L = 2048", "run", rows.error().message, Outcome::missed}};
  std::vector<Budget> budgets;
  const Measurement *sequential = nullptr, *flash = nullptr;
  for (const Measurement& m : *rows) {
    const bool right = m.state == RowState::done && m.verdict && m.verdict->pass;
    budgets.push_back({m.key.kernel + ", L = 2048, D = 64, one head, is right", "verdict",
                       right ? fmt::format("{:.2f} ms", m.time.median * 1e-3) : "no: " + m.reason, held(right)});
    if (m.key.kernel == "cpu_sequential" && right) sequential = &m;
    if (m.key.kernel == "cpu_flash" && right) flash = &m;
  }
  if (sequential == nullptr || flash == nullptr) return budgets;
  const double ratio = sequential->time.median / flash->time.median;
  budgets.push_back({fmt::format("cpu_flash over cpu_sequential, {} threads", flash->key.options.threads), ">= 20 x",
                     fmt::format("{:.1f} x", ratio), held(ratio >= 20)});
  const double gflops = figure(*flash, "tflops").value * 1e3;
  budgets.push_back({"cpu_flash's share of this CPU's measured peak", "printed",
                     fmt::format("{:.1f} of {:.1f} GFLOP/s, {:.1f} %", gflops, flash->peaks.peak_gflops,
                                 figure(*flash, "peak_share_pct").value),
                     held(figure(*flash, "peak_share_pct").available())});
  return budgets;
}

}  // namespace attn::bench
