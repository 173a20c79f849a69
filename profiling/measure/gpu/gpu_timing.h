// How long a plan takes on the GPU: repeated until a rule says stop, each repeat in the L2 state that was asked for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/gpu/launch/device_run.h"
#include "profiling/cupti/profiler.h"
#include "profiling/figures/measurement.h"
#include "profiling/measure/gpu/gpu_peaks.h"
#include "profiling/measure/gpu/gpu_sensors.h"
#include "profiling/measure/stages.h"
#include "profiling/measure/turn.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

// Microseconds of repeats.
struct RepeatTimes {
  std::vector<double> busy;   // of each, in which at least one of its launches ran: their sum where none overlap
  std::vector<double> spans;  // of each, from its first launch's start to its last one's end; empty: as below
  // Of each launch its own in every repeat, parallel to the plan's; empty: the clock cannot tell them apart.
  std::vector<std::vector<double>> launches;
};

struct GpuTimes {
  std::vector<double> samples_us;
  std::vector<double> launch_us;        // median of each launch of the plan; empty: the clock cannot tell them apart
  std::optional<double> span_us;        // median from first start to last end; none: as launch_us
  std::string clock;                    // "CUPTI kernel time stamps", or "CUDA events" and why
  std::vector<SensorReading> readings;  // while it ran; empty: none could be had
  std::string no_readings;              // why not
};

// What it is timed with. A profiler or sensors that are not there: null, and why.
struct GpuClocks {
  gpu::Driver* driver = nullptr;
  gpu::StreamHandle stream = nullptr;
  GpuPeaks* peaks = nullptr;
  Profiler* profiler = nullptr;
  std::string no_profiler;
  GpuSensors* sensors = nullptr;
  std::string no_sensors;
  Stages* stages = nullptr;  // told when warming up begins and ends; null: nobody asks
};

// Within the seconds and least repeats of `spec`, in its L2 state. By kernel time stamps, the time in which a launch of
// the repeat ran; where they cannot be had by CUDA events around the launches.
Result<GpuTimes> time_on_gpu(gpu::DeviceRun& run, const MeasureSpec& spec, const GpuClocks& clocks);

// A turn's repeats in microseconds, by CUDA events around its launches, in that L2 state.
Result<std::vector<double>> time_turn(gpu::DeviceRun& run, const Turn& turn, L2State l2, const GpuClocks& clocks);

// Microseconds of each of `repeats` runs of these launches, from the records of their kernels and of the kernel that
// fills the L2 cache. An error where the records are not exactly those.
Result<RepeatTimes> repeats_of(std::span<const KernelTime> records, std::span<const Launch> launches,
                               std::size_t repeats);

// Brings the L2 cache into the state: cold by reading other data, warm by a run. Enqueues only.
Result<void> prepare_l2(gpu::DeviceRun& run, L2State l2, GpuPeaks& peaks);

}  // namespace attn
