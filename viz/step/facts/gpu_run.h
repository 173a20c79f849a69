// Whose run Step shows where a GPU kernel is chosen: its own, where a GPU can record it or a recording came with the
// program; else that of a CPU kernel in the same order (stand_in_words).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/model/kernel.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// The preset whose GPU runs came with the program, as recordings/PRESET_KERNEL.attn of the assets; those of kernels
// that take 16 bits alone are of the preset in f16.
constexpr std::string_view kRecordedPreset = "late_outlier_64";
std::string recorded_asset(std::string_view kernel);
struct RecordedRun {
  std::string_view kernel;
  DType dtype = DType::f32;
};
std::span<const RecordedRun> recorded_runs();

// `kernel` is one of a GPU, and its own run of this document can be had.
bool has_gpu_run(const KernelRow& kernel, const Document& document, const Model& model);
// The chosen GPU kernel, where that holds of it; else null.
const KernelRow* gpu_run_of(const State& state, const Model& model);
// "recorded on NVIDIA H100, flash_simt, block 3, warp 1", of what this step made; empty for a CPU's run.
std::string recorded_words(const Recording& rec, EventIndex e);

}  // namespace attn
