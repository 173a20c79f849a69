// What every profiler's side of a point begins with: its plan on this GPU, and how long one run of it takes.
#pragma once

#include "kernels/base/result.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/gpu/launch/device_run.h"
#include "profiling/measure/gpu/on_gpu.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

// Refuses what the kernel does not take, or has no room for.
Result<Plan> plan_on_gpu(const Point& p, const GpuTools& tools);

// Microseconds of one run, by CUDA events: near enough to choose an interval by.
Result<double> time_one_run(gpu::DeviceRun& run, gpu::Queue& queue);

}  // namespace attn
