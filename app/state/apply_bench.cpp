#include <utility>
#include <variant>

#include "app/state/apply_lists.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/metrics.h"
#include "viz/bench/to_step.h"

namespace attn {
namespace {

struct ApplyBench {
  State s;

  Result<State> done() { return std::move(s); }

  Result<State> operator()(const SetSweep& c) {
    s.document.sweep = c.sweep;
    return done();
  }
  Result<State> operator()(const MeasureInBench&) {
    s.document.sweep = sweep_of_step(s.document.sweep, s.document);
    s.view.workspace = Workspace::bench;
    s.view.step.playing = false;
    return done();
  }

  Result<State> operator()(const ChooseBenchMetric& c) {
    if (auto metric = find_metric(c.id); !metric) return tl::unexpected(metric.error());
    s.view.bench.metric = c.id;
    return done();
  }
  Result<State> operator()(const ChooseBenchValue& c) {
    s.view.bench.value = c.value;
    return done();
  }
  Result<State> operator()(const ChooseBenchBaseline& c) {
    if (!c.id.empty()) {
      if (auto row = find_kernel(c.id); !row) return tl::unexpected(row.error());
    }
    s.view.bench.baseline = c.id;
    return done();
  }
};

}  // namespace

Result<State> apply_bench(State state, const BenchCommand& command) {
  return std::visit(ApplyBench{std::move(state)}, command);
}

}  // namespace attn
