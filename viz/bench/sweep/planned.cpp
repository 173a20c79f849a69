#include "viz/bench/sweep/planned.h"

#include <algorithm>
#include <string_view>

#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/fits.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/metrics.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/tune/candidates.h"
#include "profiling/tune/store.h"
#include "viz/bench/runs/slice.h"
#include "viz/bench/sweep/sweep_fields.h"

namespace attn {
namespace {

// What only the compiler knows: add_compiled() puts it in once it has answered.
void wait_for_compiler(Measurement& m) {
  for (const std::string_view id :
       {"registers_count", "spill_bytes", "shared_static_bytes", "shared_dynamic_bytes", "occupancy_theoretical_pct"}) {
    const auto at = find_metric(id);
    if (!at || *at >= m.figures.size() || m.figures[*at].available()) continue;
    m.figures[*at].reason = tr("the compiler has not finished yet, and a picture does not wait for it");
  }
}

bool is_looked_up(const SweepSpec& sweep, const KeptTilesView& kept) {
  return !sweep.tuned || kept.of == sweep_key(sweep);
}

// With the kept tile in them, where the sweep asks for it.
Result<Options> options_of(const KernelRow& row, const SweepSpec& sweep, std::int64_t value,
                           const KeptTilesView& kept) {
  if (!sweep.tuned || !has_tiles(row)) return point_at(sweep, row, value).options;
  if (!is_looked_up(sweep, kept)) return fail(ErrorKind::cannot_run, tr("searching for the tuned tile"));
  const auto at = std::ranges::find_if(
      kept.tiles, [&](const KeptTile& tile) { return tile.kernel == row.id && tile.value == value; });
  if (at == kept.tiles.end())
    return fail(ErrorKind::cannot_run, tr("the tile is set to tuned, but no tuned tile was found"));
  return at->tile;
}

Measurement planned_row(const KernelRow& row, const SweepSpec& sweep, std::int64_t value, const Device& device,
                        const KeptTilesView& kept) {
  Measurement m;
  m.key.kernel = row.id;
  m.key.problem = problem_at(sweep, value);
  m.key.options = options_at(sweep, value);
  m.key.device = device.name;
  m.tile_from = tile_from(row, m.key.options, sweep.tuned);
  if (row.processor == Processor::gpu) m.key.l2 = sweep.l2;
  m.processor = row.processor;
  const auto options = options_of(row, sweep, value, kept);
  if (options) m.key.options = *options;
  if (!options) {
    m.state = RowState::refused;
    m.reason = options.error().message;
  } else if (auto can = row.supports(row, m.key.problem, m.key.options, device); !can) {
    m.state = RowState::refused;
    m.reason = can.error().message;
  } else if (auto plan = row.plan(row, m.key.problem, m.key.options, device); !plan) {
    m.state = RowState::refused;
    m.reason = plan.error().message;
  } else {
    m.key.options = plan->options;
    m.workspace_bytes = plan->workspace_bytes;
    m.launches = plan->launches;
  }
  fill_figures(m);
  if (row.processor == Processor::gpu && m.state == RowState::done) wait_for_compiler(m);
  return m;
}

// `gpu`: where the plans of its kernels are for; without one they have none.
std::vector<Measurement> rows_on(const SweepSpec& sweep, const KeptTilesView& kept, const Device& cpu,
                                 const Device* gpu) {
  std::vector<Measurement> rows;
  if (!validate(sweep)) return rows;
  for (const std::int64_t value : sweep.values) {
    for (const std::string& id : sweep.kernels) {
      const auto row = find_kernel(id, sweep.own);
      if (!row) continue;
      const Device* device = (*row)->processor == Processor::cpu ? &cpu : gpu;
      if (device != nullptr) rows.push_back(planned_row(**row, sweep, value, *device, kept));
    }
  }
  return rows;
}

// Of what no device of this size can hold; how much of it is free is known to the run alone.
std::string too_large(const SweepSpec& sweep, const Measurement& m, const Device& device) {
  const auto row = find_kernel(m.key.kernel, sweep.own);
  const std::uint64_t limit = sweep.memory_limit != 0 ? sweep.memory_limit : device.memory_bytes;
  if (!row || limit == 0) return {};
  BytesBeside check;
  if (sweep.verify && device.processor == Processor::cpu)
    check = [&](const Problem& p) { return reference_bytes(p, sweep.verify_full, device.cores); };
  const Plan plan{*row, m.key.problem, m.key.options, m.workspace_bytes, m.launches};
  const auto fits = check_memory(plan, device, limit, check);
  return fits ? std::string() : fits.error().message;
}

}  // namespace

std::vector<Measurement> planned_rows(const SweepSpec& sweep, const KeptTilesView& kept) {
  const auto gpu = gpu::device_for(sweep.arch);  // the plan hangs on the architecture alone
  return rows_on(sweep, kept, cpu_device(), gpu ? &*gpu : nullptr);
}

void add_compiled(std::vector<Measurement>& planned, std::span<const Measurement> compiled) {
  const auto table = metric_table();
  for (Measurement& m : planned) {
    const auto same = std::find_if(compiled.begin(), compiled.end(), [&](const Measurement& c) {
      return c.key.kernel == m.key.kernel && c.key.problem == m.key.problem && c.key.options == m.key.options;
    });
    if (same == compiled.end() || m.state != RowState::done) continue;
    for (std::size_t i = 0; i < table.size() && i < same->figures.size() && i < m.figures.size(); ++i)
      if (table[i].compute == nullptr) m.figures[i] = same->figures[i];
  }
}

std::string why_nothing_runs(const SweepSpec& sweep, const GpuView& gpus, std::span<const Measurement> planned,
                             const KeptTilesView& kept) {
  if (!gpus.why_nothing.empty()) return gpus.why_nothing;
  if (const auto valid = validate(sweep); !valid) return valid.error().message;
  if (!is_looked_up(sweep, kept)) return {};
  const Device cpu = cpu_device(), gpu = gpu_device(sweep, gpus);
  // What one architecture lacks another may have: what is compiled for is not what the kernels run on.
  std::vector<Measurement> here;
  if (!gpu.arch.empty() && gpu.arch != sweep.arch) {
    here = rows_on(sweep, kept, cpu, &gpu);
    planned = here;
  }
  std::string why;
  for (const Measurement& m : planned) {
    const bool on_gpu = m.processor == Processor::gpu;
    std::string refused;
    if (on_gpu && gpus.looked && gpus.gpus.empty())
      refused = phrase("no GPU here: {}", gpus.why_none);
    else
      refused = m.state == RowState::refused ? m.reason : too_large(sweep, m, on_gpu ? gpu : cpu);
    if (refused.empty()) return {};
    if (why.empty()) why = m.key.kernel + ": " + refused;
  }
  return why;
}

}  // namespace attn
