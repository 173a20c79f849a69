#include "viz/bench/charts/memory_limit.h"

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "kernels/model/fits.h"

namespace attn {

bool asks_memory_limit(std::string_view metric) {
  return metric == "memory_peak_bytes" || metric == "memory_overhead_bytes";
}

std::optional<GpuMemory> gpu_memory(const State& state, const Model& model, std::span<const BenchSlice> slices) {
  const Device here = gpu_device(state.document.sweep, model.gpu);
  if (here.memory_bytes > 0) return GpuMemory{here, here.memory_bytes, tr("this GPU's memory")};
  for (const BenchSlice& slice : slices) {
    for (const Measurement* m : slice.rows) {
      const std::uint64_t bytes = m->processor == Processor::gpu ? memory_in_name(m->key.device) : 0;
      const auto device = gpu::device_for(state.document.sweep.arch);
      if (bytes > 0 && device) return GpuMemory{*device, bytes, phrase("memory of {}", m->key.device)};
    }
  }
  return std::nullopt;
}

BenchLine memory_line(const GpuMemory& memory, const BenchSlice& slice, const BenchUnit& unit) {
  BenchLine line;
  line.label = line.id = memory.name;
  line.bound = true;
  const auto value = static_cast<double>(memory.bytes);
  const double shown = value * unit.factor;
  for (const std::int64_t x : slice.values)
    line.points.push_back({x, shown, shown, shown, value_with_unit(value, unit)});
  return line;
}

std::string no_longer_fits(const GpuMemory& memory, const BenchSlice& slice) {
  if (!(slice.axis == Axis::L)) return {};
  // Of the longest: where tokens are kept, its batch is the smallest, and further ones have no larger one.
  const Measurement* longest = nullptr;
  std::optional<Plan> plan;
  for (const Measurement* m : slice.rows) {
    const auto row = find_kernel(m->key.kernel);
    if (!row || (*row)->processor != Processor::gpu || !(*row)->stores_scores) continue;
    if (longest != nullptr && m->key.problem.Lk <= longest->key.problem.Lk) continue;
    if (auto made = (*row)->plan(**row, m->key.problem, m->key.options, memory.device); made)
      longest = m, plan = *std::move(made);
  }
  if (longest == nullptr) return {};
  const KernelRow& row = **find_kernel(longest->key.kernel);
  const Problem& p = longest->key.problem;
  const std::string from = grouped_count(longest_that_fits(*plan, memory.device, memory.bytes) + 1);
  return slice.rule.empty() ? phrase("{} no longer fits from L = {} upwards", row.id, from)
                            : phrase("with B = {}, {} no longer fits from L = {} upwards", p.B, row.id, from);
}

}  // namespace attn
