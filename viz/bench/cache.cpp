#include "viz/bench/cache.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "viz/bench/planned.h"

namespace attn {
namespace {

std::string scene_key(const State& state, const Model& model, const BenchCache& cache) {
  std::string key =
      fmt::format("{:x}|{}|{}|{}|{}|{}|{}", rows_fingerprint(model), cache.estimate_key, bench_kernel(state),
                  state.view.bench.metric, state.view.bench.value ? *state.view.bench.value : 0,
                  cache.switches.all_values, cache.estimate.words) +
      fmt::format("|{}|{}", state.view.bench.baseline,
                  cache.switches.group ? static_cast<int>(*cache.switches.group) : -1);
  for (const auto& log : cache.switches.log) key += log ? (*log ? "l" : "-") : ".";
  return key;
}

}  // namespace

BenchCache& refreshed(BenchHeld& held, const State& state, const Model& model) {
  if (!held.cache) held.cache = std::make_shared<BenchCache>();
  BenchCache& cache = *held.cache;
  std::string key = sweep_key(state.document.sweep);
  if (!model.task.running) key += fmt::format("|{}", model.measurements.size());  // rates known from finished rows
  if (key != cache.estimate_key && !(model.task.running && !cache.estimate_key.empty())) {
    cache.estimate_key = std::move(key);
    cache.valid = validate(state.document.sweep).has_value();
    cache.estimate = estimate(state.document.sweep, model.measurements);
    cache.planned = planned_rows(state.document.sweep);
    cache.count = {};
    if (model.rows_from_here)
      cache.count =
          count_finished(state.document.sweep, model.measurements, gpu_device(state.document.sweep, model.gpu));
  }
  key = scene_key(state, model, cache);
  if (key != cache.scene_key) {
    cache.scene_key = std::move(key);
    cache.scene = bench_scene(state, model, cache.switches, cache.estimate.words, cache.planned);
    ++cache.scene_number;
  }
  return cache;
}

}  // namespace attn
