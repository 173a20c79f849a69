#include "viz/bench/scene/bench_cache.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "viz/bench/runs/run_holds.h"
#include "viz/bench/sweep/planned.h"

namespace attn {
namespace {

std::string scene_key(const State& state, const Model& model, const BenchCache& cache) {
  std::string key =
      fmt::format("{:x}|{}|{}|{}|{}|{}|{}", rows_fingerprint(state, model), cache.estimate_key, bench_kernel(state),
                  fmt::join(state.view.bench.charts, "/"), state.view.bench.value ? *state.view.bench.value : 0,
                  cache.switches.all_values, cache.estimate.words) +
      fmt::format("|{}|{}|{}|{}", state.view.bench.filter, state.view.bench.baseline, state.view.bench.kernel,
                  cache.switches.group ? static_cast<int>(*cache.switches.group) : -1);
  for (const auto& [metric, log] : cache.switches.log) key += fmt::format("|{}{}", metric, log ? "+" : "-");
  return key;
}

// Rows of this machine: their rates say how long a sweep will take.
std::vector<Measurement> known_rows(const Model& model) {
  std::vector<Measurement> rows;
  for (const ListedRun& r : model.runs)
    if (r.local) rows.insert(rows.end(), r.run.rows.begin(), r.run.rows.end());
  return rows;
}

// Changes when they do, and when the compiler has answered.
std::string known_key(const Model& model) {
  std::string key =
      fmt::format("|{}|{}|{}|{}", model.compiled_for, model.compiled.size(), model.kept.of, model.kept.times);
  for (const ListedRun& r : model.runs) key += fmt::format("|{}", r.run.rows.size());
  return key;
}

// How much of the sweep some run of this machine has finished, where that is neither nothing nor all.
SweepCount count_in_runs(const SweepSpec& sweep, const BenchRuns& list, const Model& model) {
  SweepCount most = count_finished(sweep, {}, {});
  const Device gpu = gpu_device(sweep, model.gpu);
  for (const ListedRun& r : model.runs) {
    if (!r.local || r.growing || list.removed.contains(r.run.id)) continue;
    const SweepCount count = count_finished(sweep, r.run.rows, gpu);
    if (count.finished > most.finished && count.finished < count.points) most = count;
  }
  return most;
}

// Of the pages beside the charts the one that is shown.
void refresh_page(BenchCache& cache, const State& state, const Model& model) {
  const BenchView& view = state.view.bench;
  if (view.page == BenchPage::charts) return;
  const std::string& subject = cache.scene.verdict.kernel;
  std::string key = fmt::format("{}|{}|{}", cache.scene_key, static_cast<int>(view.page),
                                fmt::join(compared_kernels(state, subject), "|"));
  if (view.page == BenchPage::tiles) key += tiles_fingerprint(state, model);
  if (key == cache.page_key) return;
  cache.page_key = std::move(key);
  if (view.page == BenchPage::ladder) cache.ladder = ladder_scene(state, model, cache.planned);
  if (view.page == BenchPage::sources) cache.sources = source_pair_scene(state, model, subject);
  if (view.page == BenchPage::tiles) cache.tiles = tune_map(state, model);
  if (view.page == BenchPage::ranks) cache.ranks = rank_lanes(state, model);
}

}  // namespace

BenchCache& refreshed(BenchUiState& ui, const State& state, const Model& model) {
  if (!ui.cache) ui.cache = std::make_shared<BenchCache>();
  BenchCache& cache = *ui.cache;
  const SweepSpec& sweep = state.document.sweep;
  std::string key = sweep_key(sweep);
  key += fmt::format("|{}|{}|", model.gpu.looked, model.gpu.gpus.size());
  if (!model.task.running) key += known_key(model);
  if (key != cache.estimate_key && !(model.task.running && !cache.estimate_key.empty())) {
    cache.estimate_key = std::move(key);
    cache.estimate = estimate(sweep, known_rows(model));
    cache.planned = planned_rows(sweep, model.kept);
    if (model.compiled_for == sweep_key(sweep)) add_compiled(cache.planned, model.compiled);
    cache.why_not_run = why_nothing_runs(sweep, model.gpu, cache.planned, model.kept);
    cache.count = count_in_runs(sweep, state.document.runs, model);
  }
  key = scene_key(state, model, cache);
  if (key != cache.scene_key) {
    cache.scene_key = std::move(key);
    cache.scene = bench_scene(state, model, cache.switches, cache.estimate.words, cache.planned);
    cache.tiles_kernel = tiles_kernel(state, model);
    cache.has_ranks = has_rank_lanes(state, model);
  }
  refresh_page(cache, state, model);
  return cache;
}

const RunHolds& held(const ListedRun& run, BenchCache& cache) {
  const auto [at, is_new] = cache.run_holds.try_emplace(run.run.id);
  if (is_new || at->second.rows != run.run.rows.size())
    at->second = {run.run.rows.size(), kernels_in(run.run).size(), run_holds(run.run), timed_kernels(run.run)};
  return at->second;
}

BenchVerdict strip_words(const State& state, const BenchCache& cache) {
  const bool ladder = state.view.bench.page == BenchPage::ladder && cache.ladder.empty.empty();
  if (ladder) return {cache.ladder.subject, cache.ladder.headline, cache.ladder.recorded};
  if (state.view.bench.page == BenchPage::sources) return {cache.sources.kernels[1], cache.sources.headline, ""};
  if (state.view.bench.page == BenchPage::tiles && cache.tiles.empty.empty())
    return {cache.tiles.kernel, cache.tiles.headline, cache.tiles.reason + "\nTile: " + cache.tiles.tile};
  if (state.view.bench.page == BenchPage::ranks && cache.ranks.empty.empty())
    return {cache.ranks.kernel, cache.ranks.headline, cache.ranks.reason};
  return cache.scene.verdict;
}

}  // namespace attn
