// One point on a GPU: refuse what does not fit, check the answer, time it, count what it did. For the worker, the only
// process that opens the driver.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "kernels/gpu/device/driver.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/ladder.h"
#include "profiling/cupti/profiler.h"
#include "profiling/figures/measurement.h"
#include "profiling/measure/gpu/gpu_peaks.h"
#include "profiling/measure/gpu/gpu_sensors.h"
#include "profiling/measure/problem_cache.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

// What a measurement is taken with. A profiler or sensors that are not there: null, and why.
struct GpuTools {
  gpu::Queue* queue = nullptr;
  gpu::Queue* sampling_queue = nullptr;  // its kernels were loaded for samples, and stay (sample_on_gpu.h)
  gpu::Queue* counting_queue = nullptr;  // its kernels alone are patched (count_on_gpu.h)
  gpu::GpuProperties properties;
  GpuPeaks* peaks = nullptr;
  Profiler* profiler = nullptr;
  std::string no_profiler;
  GpuSensors* sensors = nullptr;
  std::string no_sensors;
  ProblemCache* problem = nullptr;  // kept from point to point
  std::filesystem::path edited_kernels;
  gpu::OwnKernels own;  // the user's, beside the ladder's
  std::function<void(const std::string& now)> progress;
};

// Never an error: what went wrong is the row's state and reason. After a sticky error the driver is lost.
Measurement measure_on_gpu(const Point& p, GpuTools& tools);

// Whether these words of progress are said of a point that was compiled and ran once.
bool says_it_ran(std::string_view progress);

}  // namespace attn
