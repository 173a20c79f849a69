#include "app/worker/tuner.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/worker/compile_ahead.h"
#include "kernels/cpu/device.h"
#include "kernels/ladder.h"
#include "profiling/measure/cpu/on_cpu.h"
#include "profiling/measure/gpu/compiled_figures.h"
#include "profiling/measure/problem_cache.h"
#include "profiling/measure/source_now.h"

namespace attn {
namespace {

// Of all launches what takes most, as the figures of a row.
CompiledTile most_of(const gpu::PlanReport& report) {
  CompiledTile most;
  for (const gpu::EntryReport& e : report.entries) {
    most.registers = std::max(most.registers, e.figures.registers);
    most.spill_bytes =
        std::max<std::int64_t>(most.spill_bytes, e.figures.spill_store_bytes + e.figures.spill_load_bytes);
    most.static_bytes = std::max<std::int64_t>(most.static_bytes, e.figures.shared_bytes);
  }
  return most;
}

// The CPU's side: the inputs are made once.
TuneCallbacks on_cpu(const KernelRow& row, const std::shared_ptr<ProblemCache>& inputs, CpuBench* cpu) {
  TuneCallbacks c;
  c.device = cpu_device();
  if (cpu != nullptr) {
    c.measure = [cpu](const Point& p, std::stop_token stop) { return cpu->measure(p, std::move(stop)); };
    c.turn = [cpu](const Point& p, const Turn& turn, const std::stop_token& stop) { return cpu->turn(p, turn, stop); };
    c.let_go = [cpu] { cpu->let_go(); };
    return c;
  }
  c.measure = [&row](const Point& p, std::stop_token stop) { return measure_on_cpu(row, p, CpuPeak{}, stop); };
  c.turn = [&row, inputs](const Point& p, const Turn& turn, std::stop_token stop) -> Result<std::vector<double>> {
    const auto made = inputs->inputs(p);
    if (!made) return tl::unexpected(made.error());
    return turn_on_cpu(row, p, **made, turn, stop);
  };
  return c;
}

}  // namespace

Result<TunedOn> Tuner::place(const KernelRow& row, std::int32_t gpu, const std::stop_token& stop) {
  if (row.processor == Processor::cpu) return TunedOn{cpu_device(), ""};
  if (gpu_ == nullptr)
    return fail(ErrorKind::cannot_run, fmt::format("{} runs on a GPU, but this run does not use one.", row.id));
  const auto hello = gpu_->look(stop, false);
  if (!hello) return tl::unexpected(hello.error());
  const auto at = std::ranges::find(hello->gpus, gpu, &gpu::GpuProperties::index);
  if (at == hello->gpus.end())
    return fail(ErrorKind::cannot_run, fmt::format("there is no GPU {}: this machine has {}", gpu, hello->gpus.size()));
  return TunedOn{gpu::device_of(*at), hello->compiler};
}

TunedKey Tuner::key_of(const KernelRow& row, const Problem& p, const TunedOn& on) const {
  return tuned_key(row, p, on.device, source_hash_now(row, p), on.compiler);
}

Result<TuneResult> Tuner::kept(const KernelRow& row, const Problem& p, const TunedOn& on) const {
  return read_tuned(folder_, key_of(row, p, on));
}

TunedOptions Tuner::options(std::int32_t gpu) {
  return [this, gpu](const KernelRow& row, const Problem& p, const Options& o, const Device&) -> Result<Options> {
    const auto on = place(row, gpu);
    if (!on) return tl::unexpected(on.error());
    return tuned_options(folder_, key_of(row, p, *on), row, p, o, on->device);
  };
}

Result<TuneResult> Tuner::tune(const TuneSpec& spec, const Said& said, const std::stop_token& stop) {
  if (auto valid = validate(spec); !valid) return tl::unexpected(valid.error());
  const auto row = find_kernel(spec.kernel);
  const auto on = place(**row, spec.gpu, stop);
  if (!on) return tl::unexpected(on.error());
  TuneCallbacks callbacks;
  std::unique_ptr<CompileAhead> ahead;
  std::vector<Point> announced;
  if ((*row)->processor == Processor::cpu) {
    callbacks = on_cpu(**row, std::make_shared<ProblemCache>(), cpu_);
  } else {
    SweepSpec sweep;
    static_cast<MeasureSpec&>(sweep) = spec;
    sweep.kernels = {spec.kernel};
    const GpuRunner runner = gpu_->runner(sweep, stop);
    callbacks.measure = [runner, &ahead, &announced](const Point& p, std::stop_token stopping) {
      // What is being compiled is not compiled once more by the worker. Its errors are the worker's to tell.
      const auto at = std::ranges::find(announced, p);
      if (at != announced.end()) (void)ahead->report(static_cast<std::size_t>(at - announced.begin()), stopping);
      return runner.measure(
          p, [](const std::string&) {}, std::move(stopping));
    };
    callbacks.turn = [this](const Point& p, const Turn& turn, const std::stop_token& stopping) {
      return gpu_->turn(p, turn, stopping);
    };
    callbacks.let_go = [this] { gpu_->let_go(); };
    callbacks.announce = [&](std::span<const Point> points) {
      ahead.reset();
      announced.assign(points.begin(), points.end());
      ahead = gpu_->compile_ahead(announced, on->device);
    };
    callbacks.device = on->device;
  }
  callbacks.progress = said.progress;
  callbacks.changed = said.changed;
  auto result = attn::tune(spec, callbacks, stop);
  if (!result || !result->decision) return result;
  const TunedKey key = key_of(**row, spec.problem, *on);
  if (auto kept = keep_tuned(folder_, key, *result); !kept) {
    result->words += " It is not kept: " + kept.error().message;
    return result;
  }
  return read_tuned(folder_, key);
}

Result<TuneResult> Tuner::plan(const TuneSpec& spec, const Device& device, bool compile,
                               const std::function<void(const TuneProgress&)>& progress, const std::stop_token& stop) {
  auto result = tune_plan(spec, device);
  if (!result || !compile || gpu_ == nullptr || device.processor == Processor::cpu) return result;
  std::vector<Point> points;
  std::vector<TriedTile*> tiles;
  for (TriedTile& t : result->tiles) {
    if (t.fate == TileFate::refused) continue;
    points.push_back(point_of(spec, t.tile.options));
    tiles.push_back(&t);
  }
  const auto ahead = gpu_->compile_ahead(std::move(points), device);
  const auto row = find_kernel(spec.kernel);
  for (std::size_t n = 0; n < tiles.size(); ++n) {
    const auto part = static_cast<double>(n) / static_cast<double>(tiles.size());
    if (progress) progress({n, tiles.size(), "compiling " + tile_words(**row, tiles[n]->tile.options), part, -1});
    const auto report = ahead->report(n, stop);
    if (!report) return tl::unexpected(report.error());
    put_compiled(tiles[n]->tile, most_of(*report), device);
    if (tiles[n]->tile.why_not.empty()) continue;
    tiles[n]->fate = TileFate::refused;
    tiles[n]->why = tiles[n]->tile.why_not;
  }
  return result;
}

}  // namespace attn
