// What each instruction of one point's kernel does in a run, by CUPTI's SASS metrics. For the worker.
#pragma once

#include "kernels/base/result.h"
#include "profiling/figures/counts.h"
#include "profiling/measure/gpu/on_gpu.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

// Counts of one run, all its launches, by address; lines and phases are put beside them by put_lines(). The run is that
// of a copy of the kernel of its own, in tools.counting_queue, so that patches touch none that is timed. The state of
// the L2 cache changes none of these counts and is not prepared. An error says what refused.
Result<KernelCounts> count_on_gpu(const Point& p, GpuTools& tools);

}  // namespace attn
