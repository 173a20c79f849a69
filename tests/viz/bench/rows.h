// Rows of a sweep as a measurement would give them, with times of the test's choice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/baseline.h"
#include "profiling/figures/measurement.h"
#include "profiling/figures/metrics.h"
#include "profiling/spec/sweep_point.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn::bench_test {

// The run that sweep_state() shows.
constexpr const char* kRun = "00000000000000aa";

// A sweep of the CPU kernels over L = 512, 1024, 2048: one batch, four heads, D = 64.
inline State sweep_state() {
  State s;
  s.view.workspace = Workspace::bench;
  s.document.runs.shown = {kRun};
  SweepSpec& sweep = s.document.sweep;
  for (const KernelRow& row : cpu_kernel_table())
    if (row.processor == Processor::cpu) sweep.kernels.emplace_back(row.id);
  sweep.values = {512, 1024, 2048};
  sweep.base.Hq = sweep.base.Hkv = 4;
  sweep.base.Lq = sweep.base.Lk = 512;
  sweep.base.D = sweep.base.Dv = 64;
  return s;
}

inline Measurement timed_row(const SweepSpec& sweep, std::string_view kernel, std::int64_t value, double median_us) {
  Measurement m;
  m.key.kernel = kernel;
  m.key.problem = problem_at(sweep, value);
  m.key.options = options_at(sweep, value);
  if (m.key.options.br == 0) m.key.options.br = 64;
  if (m.key.options.bc == 0) m.key.options.bc = 64;
  m.key.device = "a CPU";
  m.clock = "steady_clock";
  m.time.n = 9;
  m.time.median = median_us;
  m.time.q1 = 0.98 * median_us;
  m.time.q3 = 1.03 * median_us;
  m.time.ci_low = 0.99 * median_us;
  m.time.ci_high = 1.01 * median_us;
  m.time.settled = true;
  m.launches.resize(1);
  m.peaks.peak_gflops = 100;
  m.verdict = Verdict{};
  m.verdict->pass = true;
  m.verdict->at(Tensor::o).error = 1e-7;
  m.verdict->at(Tensor::o).allowed = 1e-6;
  m.verdict->at(Tensor::lse);
  return m;
}

inline Measurement refused_row(const SweepSpec& sweep, std::string_view kernel, std::int64_t value,
                               std::string reason) {
  Measurement m = timed_row(sweep, kernel, value, 0);
  m.time = {};
  m.verdict.reset();
  m.launches.clear();
  m.state = RowState::refused;
  m.reason = std::move(reason);
  return m;
}

inline ListedRun listed_run(std::string id, std::vector<Measurement> rows) {
  ListedRun listed;
  listed.run.id = std::move(id);
  listed.run.rows = std::move(rows);
  relate_to_baseline(listed.run.rows);
  return listed;
}

// No rows: no run either.
inline Model model_of(std::vector<Measurement> rows) {
  Model model;
  if (!rows.empty()) model.runs.push_back(listed_run(kRun, std::move(rows)));
  return model;
}
// The chart that shows this metric; one without lines where none does.
inline const BenchChart& chart_of(const BenchScene& scene, std::string_view metric) {
  static const BenchChart none;
  for (const BenchChart& chart : scene.charts)
    if (chart.metric == metric) return chart;
  return none;
}
inline std::vector<Measurement>& rows_of(Model& model) {
  return model.runs.at(0).run.rows;
}

}  // namespace attn::bench_test
