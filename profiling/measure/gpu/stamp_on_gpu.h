// A point's kernel with the flight recorder of its pipeline: who did what when in one launch, and what recording costs.
#pragma once

#include "kernels/base/result.h"
#include "kernels/gpu/rungs/stamps/stamps.h"
#include "kernels/recording/timeline.h"
#include "profiling/measure/gpu/on_gpu.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

// Plain and recorded runs take turns, in the point's L2 state: their medians are plain_us and traced_us. The timeline
// is of the last recorded run; launch_us is that launch by its time stamps, 0 where there is no profiler. Refused as
// plan_on_gpu() and gpu::plan_stamps() do.
Result<Timeline> stamp_on_gpu(const Point& p, const gpu::StampRequest& request, GpuTools& tools);

}  // namespace attn
