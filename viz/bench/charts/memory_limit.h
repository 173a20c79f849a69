// The memory of a GPU as a line across a chart of bytes, and the length at which a kernel that stores S no longer fits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/model/kernel.h"
#include "viz/bench/runs/slice.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct GpuMemory {
  Device device;
  std::uint64_t bytes = 0;
  std::string name;  // "this GPU's memory", "memory of NVIDIA H100 80GB HBM3"
};
bool asks_memory_limit(std::string_view metric);
// Of the GPU that the sweep asks for; where it is not here, of the GPU whose rows are shown, if its name says how much.
std::optional<GpuMemory> gpu_memory(const State& state, const Model& model, std::span<const BenchSlice> slices);
// Where a line crosses it, the kernel cannot run.
BenchLine memory_line(const GpuMemory& memory, const BenchSlice& slice, const BenchUnit& unit);
// "naive no longer fits from L = 72 705 on", of the first kernel that stores S; empty where L is not the axis.
std::string no_longer_fits(const GpuMemory& memory, const BenchSlice& slice);

}  // namespace attn
