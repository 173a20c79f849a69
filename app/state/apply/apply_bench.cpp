#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "app/state/apply/apply_lists.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "profiling/session/run.h"
#include "viz/bench/runs/row_filter.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/to_step.h"

namespace attn {
namespace {

struct ApplyBench {
  State s;

  Result<State> done() { return std::move(s); }

  Result<State> operator()(const SetSweep& c) {
    s.document.sweep = c.sweep;
    return done();
  }
  // In place of an earlier text of the same file, whose rows stay.
  Result<State> operator()(const TakeOwnKernels& c) {
    SweepSpec& sweep = s.document.sweep;
    for (const auto& kernel : c.kernels) {
      if (c.replace) {
        const std::string_view stem = gpu::own_stem(kernel->id);
        std::erase_if(sweep.kernels, [&](const std::string& id) { return gpu::own_stem(id) == stem; });
        std::erase_if(sweep.own, [&](const auto& k) { return gpu::own_stem(k->id) == stem; });
      }
      if (std::ranges::find(sweep.own, kernel->id, [](const auto& k) { return k->id; }) != sweep.own.end()) continue;
      if (sweep.own.size() == kMaxOwnKernels)
        return bad_input(
            phrase("You can have at most {} of your own kernels; remove one from the list first.", kMaxOwnKernels));
      sweep.own.push_back(kernel);
    }
    if (!c.choose || c.kernels.empty()) return done();
    const std::string id(c.kernels.back()->id);
    if (std::ranges::find(sweep.kernels, id) == sweep.kernels.end()) sweep.kernels.push_back(id);
    s.view.bench.kernel = id;
    return done();
  }
  Result<State> operator()(const DropOwnKernel& c) {
    SweepSpec& sweep = s.document.sweep;
    std::erase(sweep.kernels, c.id);
    std::erase_if(sweep.own, [&](const auto& k) { return k->id == c.id; });
    if (s.view.bench.kernel == c.id) s.view.bench.kernel.clear();
    return done();
  }
  Result<State> operator()(const MeasureInBench&) {
    s.document.sweep = sweep_of_step(s.document.sweep, s.document);
    s.view.workspace = Workspace::bench;
    s.view.step.playing = false;
    return done();
  }
  Result<State> operator()(const ShowRun& c) {
    c.on ? show_run(s.document.runs, c.id) : hide_run(s.document.runs, c.id);
    return done();
  }
  Result<State> operator()(const RenameRun& c) {
    if (c.name.size() > kMaxRunName)
      return bad_input(
          phrase("A run's name can have at most {} bytes, but this name has {}.", kMaxRunName, c.name.size()));
    s.document.runs.names[c.id] = c.name;
    return done();
  }
  Result<State> operator()(const RemoveRun& c) {
    BenchRuns& runs = s.document.runs;
    hide_run(runs, c.id);
    if (runs.reference == c.id) runs.reference.clear();
    runs.removed.insert(c.id);
    return done();
  }
  Result<State> operator()(const CompareWithRun& c) {
    s.document.runs.reference = c.id;
    constexpr std::string_view kAgainst = "against_run_ratio";
    auto& charts = s.view.bench.charts;
    const bool shown = std::find(charts.begin(), charts.end(), kAgainst) != charts.end();
    if (!c.id.empty() && !shown) charts.back() = kAgainst;
    if (c.id.empty()) std::replace(charts.begin(), charts.end(), std::string(kAgainst), std::string());
    return done();
  }

  Result<State> operator()(const ChooseBenchMetric& c) {
    if (c.chart >= kBenchCharts)
      return bad_input(phrase("Bench has only {} charts, so there is no chart {}.", kBenchCharts, c.chart + 1));
    if (!c.id.empty())
      if (auto known = check_chart_metric(c.id); !known) return tl::unexpected(known.error());
    s.view.bench.charts.at(c.chart) = c.id;
    if (c.show) s.view.bench.page = BenchPage::charts;
    return done();
  }
  Result<State> operator()(const ChooseBenchKernel& c) {
    if (!c.id.empty())
      if (const auto row = find_kernel(c.id, s.document.sweep.own); !row) return tl::unexpected(row.error());
    s.view.bench.kernel = c.id;
    return done();
  }
  Result<State> operator()(const ChooseBenchValue& c) {
    s.view.bench.value = c.value;
    return done();
  }
  Result<State> operator()(const ChooseBenchBaseline& c) {
    if (!c.id.empty()) {
      if (auto row = find_kernel(c.id, s.document.sweep.own); !row) return tl::unexpected(row.error());
    }
    s.view.bench.baseline = c.id;
    return done();
  }
  Result<State> operator()(const FilterRows& c) {
    if (auto read = check_row_filter(c.filter); !read) return tl::unexpected(read.error());
    s.view.bench.filter = c.filter;
    return done();
  }
  Result<State> operator()(const ChooseBenchPage& c) {
    s.view.bench.page = c.page;
    return done();
  }
  Result<State> operator()(const CompareSources& c) {
    for (const std::string& id : c.kernels) {
      if (id.empty()) continue;
      if (auto row = find_kernel(id); !row) return tl::unexpected(row.error());
    }
    s.view.bench.sources = c.kernels;
    s.view.bench.page = BenchPage::sources;
    return done();
  }
};

}  // namespace

Result<State> apply_bench(State state, const BenchCommand& command) {
  return std::visit(ApplyBench{std::move(state)}, command);
}

}  // namespace attn
