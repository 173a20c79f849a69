// What the pipes and memories did over the time of one run of a point's kernel, by CUPTI's PM sampling. For the worker.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/base/result.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/measure/gpu/on_gpu.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

// How a run of `us` microseconds is read: some two thousand times, every 1 to 20 microseconds; a run that this would
// fill too much memory with is read less often.
struct BeatPlan {
  std::int64_t interval = 0;     // nanoseconds
  std::size_t most_samples = 0;  // with what lies around the run
  bool operator==(const BeatPlan&) const = default;
};
// `l2` warm: another run goes before it, and is read as well.
BeatPlan beat_plan(double us, L2State l2 = L2State::cold);
// Half as often: after a run whose samples were lost.
BeatPlan slower(BeatPlan plan);

// One warm run in the point's L2 state, all its launches on one axis. Where samples are lost it is run again, read less
// often. An error says what refused.
Result<Heartbeat> beat_on_gpu(const Point& p, GpuTools& tools);

// The profiler's answer as a heartbeat; an error says what it lacks. The caller fills in method, interval and times.
Result<Heartbeat> heartbeat_of(const Beats& beats);

}  // namespace attn
