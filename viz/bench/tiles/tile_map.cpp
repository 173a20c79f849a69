#include "viz/bench/tiles/tile_map.h"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "profiling/spec/sweep_point.h"
#include "viz/bench/runs/slice.h"
#include "viz/bench/runs/subject.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/tiles/tile_occupancy_words.h"
#include "viz/draw/figure_text.h"
#include "viz/draw/hands.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

// The GPU that the sweep would run on, else the architecture that it is compiled for.
Result<Device> device_for(const KernelRow& row, const State& state, const Model& model) {
  if (row.processor == Processor::cpu) return cpu_device();
  const SweepSpec& sweep = state.document.sweep;
  Device d = gpu_device(sweep, model.gpu);
  if (!d.arch.empty()) return d;
  return gpu::device_for(sweep.arch);
}

std::string us_text(double us) {
  return value_with_unit(us, time_unit(us, us));
}

// A line of a cell's tooltip: one choice of threads and stages.
std::string variant_words(const KernelRow& row, const TuneResult& r, std::size_t n) {
  const TriedTile& t = r.tiles[n];
  std::string words = tile_words(row, t.tile.options) + ": ";
  switch (t.fate) {
    case TileFate::timed:
      words += us_text(t.time.median);
      if (t.turns.n > 0) words += phrase(", alternating {}", us_text(t.turns.median));
      if (t.verdict == "pass") words += ", right";
      break;
    case TileFate::not_tried:
      words += tr("not tried");
      break;
    default:
      words += fmt::format("{}: {}", name_of(t.fate), t.why);
  }
  if (n == r.usual) words += tr(", the usual tile");
  if (r.decision && n == r.chosen) words += tr(", chosen");
  if (const std::string more = hold_words(t.tile); !more.empty() && t.fate != TileFate::refused) words += "\n  " + more;
  return words;
}

TileCellState state_of(TileFate f) {
  switch (f) {
    case TileFate::refused:
      return TileCellState::refused;
    case TileFate::not_tried:
      return TileCellState::waiting;
    case TileFate::failed:
      return TileCellState::failed;
    case TileFate::wrong:
      return TileCellState::wrong;
    case TileFate::timed:
      return TileCellState::timed;
  }
  return TileCellState::none;
}

// Which of a cell's choices stands for it: the fastest, else one that waits, was wrong, failed, was refused.
int rank(TileFate f) {
  constexpr TileFate kOrder[] = {TileFate::timed, TileFate::wrong, TileFate::not_tried, TileFate::failed,
                                 TileFate::refused};
  return static_cast<int>(std::ranges::find(kOrder, f) - kOrder);
}

// `turn`: when each tile's turn to be tried comes.
TileCell cell_of(const KernelRow& row, const TuneResult& r, std::vector<std::size_t> tiles, double best_us,
                 std::span<const std::size_t> turn, const BenchUnit& unit) {
  TileCell cell;
  if (tiles.empty()) return cell;
  std::ranges::sort(
      tiles, {}, [&](std::size_t n) { return std::tuple(rank(r.tiles[n].fate), r.tiles[n].time.median, turn[n], n); });
  const TriedTile& t = r.tiles[tiles.front()];
  cell.state = state_of(t.fate);
  cell.options = t.tile.options;
  cell.spills = t.spills();
  const auto has = [&](std::size_t which) { return std::ranges::find(tiles, which) != tiles.end(); };
  cell.usual = has(r.usual);
  cell.chosen = r.decision && has(r.chosen);
  const bool gpu = row.processor == Processor::gpu;
  if (gpu && t.fate != TileFate::refused)
    cell.small = t.tile.options.stages > 0 ? phrase("{} thr · {} st", t.tile.options.threads, t.tile.options.stages)
                                           : phrase("{} thr", t.tile.options.threads);
  if (t.fate == TileFate::timed) {
    cell.text = figure_text(t.time.median * unit.factor);
    cell.share = t.time.median > 0 ? best_us / t.time.median : 0;
  } else if (t.fate == TileFate::not_tried) {
    cell.text = best_us > 0 ? tr("not tried")
                : gpu       ? fmt::format("{}{:.3g} %", t.tile.compiled ? "" : "≤ ", t.tile.occupancy.percent())
                            : tr("fits");
  } else {
    cell.text = t.fate == TileFate::refused ? "–" : std::string(name_of(t.fate));
  }
  constexpr std::size_t kLines = 6;  // of choices: more would not fit a tooltip
  for (std::size_t n = 0; n < std::min(tiles.size(), kLines); ++n)
    cell.tip += (n == 0 ? "" : "\n") + variant_words(row, r, tiles[n]);
  if (tiles.size() > kLines)
    cell.tip += phrase(
        "\n"
        "… and {} more combinations of threads and stages",
        tiles.size() - kLines);
  if (t.fate == TileFate::timed || t.fate == TileFate::not_tried)
    cell.tip += for_hands(tr("\n"
                             "Click to use this tile in the sweep."),
                          tr("\n"
                             "Tap to use this tile in the sweep."));
  return cell;
}

void put_cells(const KernelRow& row, const TuneResult& r, TuneMap& scene) {
  std::set<std::int32_t> rows, columns;
  double best = 0, worst = 0;
  for (const TriedTile& t : r.tiles) {
    rows.insert(t.tile.options.br);
    columns.insert(t.tile.options.bc);
    if (t.fate != TileFate::timed) continue;
    if (best == 0 || t.time.median < best) best = t.time.median;
    worst = std::max(worst, t.time.median);
  }
  scene.measured = best > 0;
  const BenchUnit unit = time_unit(best, worst);
  scene.unit = scene.measured ? unit.name : "";
  std::vector<TileCandidate> candidates;
  candidates.reserve(r.tiles.size());
  for (const TriedTile& t : r.tiles) candidates.push_back(t.tile);
  const std::vector<std::size_t> order = order_to_try(candidates);
  std::vector<std::size_t> turn(r.tiles.size(), r.tiles.size());
  for (std::size_t n = 0; n < order.size(); ++n) turn[order[n]] = n;
  scene.rows.assign(rows.begin(), rows.end());
  scene.columns.assign(columns.begin(), columns.end());
  for (const std::int32_t br : scene.rows) {
    for (const std::int32_t bc : scene.columns) {
      std::vector<std::size_t> tiles;
      for (std::size_t n = 0; n < r.tiles.size(); ++n)
        if (r.tiles[n].tile.options.br == br && r.tiles[n].tile.options.bc == bc) tiles.push_back(n);
      scene.cells.push_back(cell_of(row, r, std::move(tiles), best, turn, unit));
    }
  }
}

void put_turns(const KernelRow& row, const TuneResult& r, TuneMap& scene) {
  std::vector<std::size_t> sides;
  for (std::size_t n = 0; n < r.tiles.size(); ++n)
    if (r.tiles[n].turns.n > 0) sides.push_back(n);
  if (sides.empty()) return;
  std::ranges::sort(sides, {}, [&](std::size_t n) { return r.tiles[n].turns.median; });
  // One unit a table: 990 over 1.01 would read as the slower.
  double least = r.tiles[sides.front()].turns.ci_low, most = 0;
  for (const std::size_t n : sides) {
    least = std::min(least, r.tiles[n].turns.ci_low);
    most = std::max(most, r.tiles[n].turns.ci_high);
  }
  const BenchUnit unit = time_unit(least, most);
  const auto text = [&](double us) { return value_with_unit(us, unit); };
  scene.table_head = {tr("alternating"), tr("median"), tr("95 % interval"), tr("repeats"), tr("× usual"), ""};
  for (const std::size_t n : sides) {
    const TriedTile& t = r.tiles[n];
    std::string marks = n == r.usual ? tr("usual") : "";
    if (r.decision && n == r.chosen) marks += marks.empty() ? tr("chosen") : tr(", chosen");
    scene.table.push_back({tile_words(row, t.tile.options), text(t.turns.median),
                           range_text(t.turns.ci_low, t.turns.ci_high, unit), fmt::format("{}", t.turns.n),
                           fmt::format("{:.3f}×", r.tiles[r.usual].turns.median / t.turns.median), marks});
  }
}

std::string decided(TuneDecision decision, std::string_view kernel, const std::string& tile, const std::string& at) {
  switch (decision) {
    case TuneDecision::faster:
      return phrase("{}: {} is faster than the usual tile at {}", kernel, tile, at);
    case TuneDecision::usual_best:
      return phrase("{}: the usual tile, {}, is the fastest at {}", kernel, tile, at);
    case TuneDecision::cannot_tell:
      break;
  }
  return phrase("{}: the usual tile, {}, is kept for {} because the 95 % intervals overlap", kernel, tile, at);
}

std::string nothing_tried(const Problem& problem) {
  return by_touch()
             ? phrase("{}. Nothing has been tried yet. Hold a hatched cell to see why the tile does not fit.",
                      describe(problem))
             : phrase("{}. Nothing has been tried yet. Hover over a hatched cell to see why the tile does not fit.",
                      describe(problem));
}

void put_words(const KernelRow& row, const TuneResult& r, const TuningView& view, TuneMap& scene) {
  const std::size_t refused = r.tiles.size() - r.fitting();
  const std::string fits =
      scene.gpu ? phrase("{} of {} combinations of tile, threads and stages fit", r.fitting(), r.tiles.size())
                : phrase("{} of {} tiles fit", r.fitting(), r.tiles.size());
  if (view.running) {
    scene.headline = phrase("{}: {} of {} tiles were tried", row.id, r.tried(), r.fitting());
  } else if (r.decision) {
    scene.headline = decided(*r.decision, row.id, tile_words(row, r.tiles[r.chosen].tile.options), describe(r.problem));
  } else if (r.tried() > 0) {
    scene.headline = phrase("{}: no tile was chosen", row.id);
  } else {
    scene.headline = fmt::format("{}: {}", row.id, fits);
  }
  scene.reason = r.words;
  if (!view.none.empty()) scene.reason = view.none;
  if (scene.reason.empty())
    scene.reason = view.running  ? describe(r.problem)
                   : refused > 0 ? nothing_tried(r.problem)
                                 : phrase("{}. Nothing has been tried yet.", describe(r.problem));
  scene.tile = why_tile(row, r, r.decision ? r.chosen : r.usual);
  const std::string cell =
      scene.measured
          ? fmt::format("{} of {}", scene.unit,
                        scene.gpu ? tr("the fastest combination of threads and stages for each tile") : tr("each"))
      : scene.gpu ? tr("the occupancy that shared memory and threads allow")
                  : "";
  const bool chosen = std::ranges::any_of(scene.cells, &TileCell::chosen);
  scene.note = phrase("Br down, Bc across{}{}. Hatched: does not fit.{}{}{} Measured on {}{}.",
                      cell.empty() ? "" : "; ", cell, tr(" Dashed: the usual tile."),
                      chosen ? tr(" Framed: the chosen tile.") : "", scene.gpu ? tr(" Corner: registers spill.") : "",
                      r.device, r.date.empty() ? "" : phrase(", kept {}", r.date.substr(0, 10)));
}

}  // namespace

std::string tiles_kernel(const State& state, const Model& model) {
  const std::string& chosen = bench_kernel(state);
  const SweepSpec& sweep = state.document.sweep;
  if (!state.view.bench.kernel.empty()) return chosen;
  const std::vector<const ListedRun*> runs = shown_runs(state.document.runs, model);
  const auto lead = std::find_if(runs.rbegin(), runs.rend(), [](const auto* r) { return !r->run.rows.empty(); });
  if (lead != runs.rend()) {
    const SweepRun& run = (*lead)->run;
    const BenchSlice slice = slice_rows(sweep, run.rows, run.provenance.loaded);
    const auto value = chosen_value(slice, state.view.bench.value);
    std::string subject = value ? subject_kernel(state, slice, *value) : std::string();
    if (!subject.empty()) return subject;
  }
  const auto& kernels = sweep.kernels;
  if (kernels.empty() || std::ranges::find(kernels, chosen) != kernels.end()) return chosen;
  const auto tiled = std::ranges::find_if(kernels, [&](const std::string& id) {
    const auto row = find_kernel(id);
    return row && has_tiles(**row);
  });
  return tiled == kernels.end() ? chosen : *tiled;
}

Result<TuneSpec> tune_of(const State& state, const std::string& kernel) {
  const SweepSpec& sweep = state.document.sweep;
  const auto row = find_kernel(kernel);
  if (!row) return tl::unexpected(row.error());
  if (!has_tiles(**row)) return bad_input(phrase("{} has no tile; choose another kernel.", kernel));
  if (const auto takes = check_takes(**row, sweep.base); !takes)
    return bad_input(
        phrase("{}; choose another pass or type on the left, or another kernel above.", takes.error().message));
  if (sweep.values.empty()) return bad_input(tr("The sweep has no values, so there is no problem to tune for."));
  const auto& looked = state.view.bench.value;
  const bool there = looked && std::ranges::find(sweep.values, *looked) != sweep.values.end();
  TuneSpec spec;
  // Inputs, device and memory as the sweep's; its time a point is another matter.
  spec.generator = sweep.generator;
  spec.seed = sweep.seed;
  spec.memory_limit = sweep.memory_limit;
  spec.gpu = sweep.gpu;
  spec.arch = sweep.arch;
  spec.l2 = sweep.l2;
  spec.kernel = kernel;
  spec.problem = problem_at(sweep, there ? *looked : sweep.values.back());
  spec.options = sweep.options;
  for (const Option* option : declared_options())
    if (option->tuned && (!option->is(Option::threads) || (*row)->processor == Processor::gpu))
      choose(spec.options, *option, std::nullopt);
  if (auto valid = validate(spec); !valid) return tl::unexpected(valid.error());
  return spec;
}

std::string tuning_key(const TuneSpec& s) {
  const Options& o = s.options;
  std::string further;
  for (const Setting& setting : o.further) further += fmt::format("|{}={}", setting.name, setting.value);
  return fmt::format("{}|{}|{}|{} {} {}|{} {} {} {}{}", s.kernel, describe(s.problem),
                     fmt::join(s.problem.bias_shape, ","), s.gpu, s.arch, name_of(s.l2), o.threads, o.subtract_max,
                     static_cast<int>(o.key_order), name_of(o.accumulate), further);
}

SweepSpec sweep_with_tile(SweepSpec sweep, const Options& tile, bool gpu) {
  sweep.tuned = false;
  for (const Option* option : declared_options()) {
    const bool of_cpu = !gpu && option->is(Option::threads);
    if (option->tuned && !of_cpu && sweep.axis != Axis(option->name))
      choose(sweep.options, *option, chosen(tile, *option));
  }
  return sweep;
}

TuneMap tune_map(const State& state, const Model& model) {
  TuneMap scene;
  scene.kernel = tiles_kernel(state, model);
  const auto spec = tune_of(state, scene.kernel);
  if (!spec) {
    scene.empty = spec.error().message;
    return scene;
  }
  const KernelRow& row = **find_kernel(spec->kernel);
  scene.gpu = row.processor == Processor::gpu;
  const bool its = model.tuning.of == tuning_key(*spec);
  TuningView view = its ? model.tuning : TuningView{};
  scene.running = view.running;
  if (view.result == nullptr) {
    const auto device = device_for(row, state, model);
    auto planned = device ? tune_plan(*spec, *device) : Result<TuneResult>(tl::unexpected(device.error()));
    if (!planned) {
      scene.empty = planned.error().message;
      return scene;
    }
    view.result = std::make_shared<const TuneResult>(*std::move(planned));
  }
  put_cells(row, *view.result, scene);
  put_turns(row, *view.result, scene);
  put_words(row, *view.result, view, scene);
  return scene;
}

std::string tiles_fingerprint(const State& state, const Model& model) {
  const auto spec = tune_of(state, tiles_kernel(state, model));
  const TuningView& v = model.tuning;
  return fmt::format("{}|{}|{}|{}|{}|{}", spec ? tuning_key(*spec) : spec.error().message, v.of,
                     static_cast<const void*>(v.result.get()), v.none, v.running, model.gpu.gpus.size());
}

}  // namespace attn
