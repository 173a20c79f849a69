// Where the warps of one point's kernel wait, by CUPTI's samples of its instructions. For the worker.
#pragma once

#include <cstdint>

#include "kernels/base/result.h"
#include "profiling/figures/samples.h"
#include "profiling/measure/gpu/on_gpu.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

constexpr std::uint64_t kEnoughSamples = 20000;

// How a kernel of `us` microseconds is sampled: often enough for many samples, seldom enough that none is dropped, and
// run several times where one run cannot give them.
struct SamplingPlan {
  std::int32_t period_log2 = 0, launches = 1;
  bool operator==(const SamplingPlan&) const = default;
};
SamplingPlan sampling_plan(double us, double clock_khz, std::int32_t sms);
// The same after it gave `samples` and lost `dropped`; equal to `now` where it is good, or where nothing would do.
SamplingPlan next_plan(SamplingPlan now, std::uint64_t samples, std::uint64_t dropped);

// Samples of the kernel's instructions by address; lines and phases are put beside them by put_lines(). They are taken
// of a second copy of the kernel, in tools.sampling_queue, which was loaded and first launched under the sampler. That
// queue has to live as long as the process samples: what is loaded where an unloaded module lay is taken for that
// module (on an H100 the second sampling of a kernel lost three quarters of its samples, the fourth all). An error says
// what refused.
Result<KernelSamples> sample_on_gpu(const Point& p, GpuTools& tools);

}  // namespace attn
