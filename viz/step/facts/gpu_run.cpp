#include "viz/step/facts/gpu_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/trace/recorders.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/input_spec.h"

namespace attn {
namespace {

// The preset's numbers are fp32; a kernel that takes 16 bits alone ran on them as f16.
constexpr RecordedRun kRecorded[] = {{"naive", DType::f32},      {"tiled", DType::f32},
                                     {"flash_simt", DType::f32}, {"flash_wmma", DType::f16},
                                     {"flash_mma", DType::f16},  {"flash_tf32x3", DType::f32}};

bool came_with_the_program(const KernelRow& kernel, const Document& d) {
  const auto recorded = std::ranges::find(kRecorded, kernel.id, &RecordedRun::kernel);
  const auto preset = find_preset(kRecordedPreset);
  if (recorded == std::end(kRecorded) || !preset) return false;
  Problem p = (*preset)->problem;
  p.dtype = recorded->dtype;
  InputSpec inputs;
  inputs.generator = (*preset)->generator;
  inputs.seed = (*preset)->seed;
  return d.problem == p && d.inputs == inputs;
}

}  // namespace

std::span<const RecordedRun> recorded_runs() {
  return kRecorded;
}

std::string recorded_asset(std::string_view kernel) {
  return fmt::format("recordings/{}_{}.attn", kRecordedPreset, kernel);
}

bool has_gpu_run(const KernelRow& kernel, const Document& d, const Model& model) {
  if (kernel.processor != Processor::gpu) return false;
  if (came_with_the_program(kernel, d)) return true;
  const Options tile = gpu::smallest_tile(kernel);
  if (model.gpu.gpus.empty() || !gpu::has_recorder(kernel, d.problem, tile)) return false;
  const auto device = gpu::device_for(model.gpu.gpus.front().arch);
  return device && kernel.supports(kernel, d.problem, tile, *device).has_value();
}

const KernelRow* gpu_run_of(const State& state, const Model& model) {
  const auto row = find_kernel(state.view.bench.kernel);
  return row && has_gpu_run(**row, state.document, model) ? *row : nullptr;
}

std::string recorded_words(const Recording& rec, EventIndex e) {
  if (!rec.gpu) return {};
  std::string words = phrase("recorded on {}, {}", rec.device, rec.kernel);
  for (VersionId v = 0; v < rec.versions.size() && v < rec.gpu->makers.size(); ++v) {
    const Maker& maker = rec.gpu->makers[v];
    if (rec.versions[v].made_by != e || maker.block < 0) continue;
    words += phrase(", block {}", maker.block);
    if (maker.warp >= 0) words += phrase(", warp {}", maker.warp);
    break;
  }
  return words;
}

}  // namespace attn
