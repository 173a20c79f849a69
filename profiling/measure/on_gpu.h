// One point on a GPU: refuse what does not fit, check the answer, time it, count what it did. For the worker, the only
// process that opens the driver.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "kernels/gpu/device/driver.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/model/inputs.h"
#include "kernels/model/kernel.h"
#include "profiling/cupti/profiler.h"
#include "profiling/figures/measurement.h"
#include "profiling/measure/gpu_peaks.h"
#include "profiling/measure/gpu_sensors.h"

namespace attn {

struct GpuMeasureRequest {
  std::int32_t gpu = 0;
  std::string kernel;
  Problem problem;
  Options options;
  Generator generator = Generator::normal;
  std::uint64_t seed = 1;
  double seconds = 1;              // time limit of the repeats (StopRule in profiling/figures/statistics.h)
  std::int32_t min = 5;            // repeats kept up to four times the limit
  L2State l2 = L2State::cold;      // cold: the L2 cache is filled with other data before each repeat
  bool counters = true;            // false: CUPTI is never touched, so that another profiler can be used
  bool verify = true;              // sampled rows against the fp64 reference
  bool verify_full = false;        // all rows
  std::uint64_t memory_limit = 0;  // 0 = what the GPU has free
};

// What a measurement is taken with. A profiler or sensors that are not there: null, and why.
struct GpuTools {
  gpu::Queue* queue = nullptr;
  gpu::GpuProperties properties;
  GpuPeaks* peaks = nullptr;
  Profiler* profiler = nullptr;
  std::string no_profiler;
  GpuSensors* sensors = nullptr;
  std::string no_sensors;
  std::filesystem::path edited_kernels;
  std::function<void(const std::string& now)> progress;
};

// Never an error: what went wrong is the row's state and reason. After a sticky error the driver is lost.
Measurement measure_on_gpu(const GpuMeasureRequest& r, GpuTools& tools);

}  // namespace attn
