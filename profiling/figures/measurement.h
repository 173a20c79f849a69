// One kernel with options on one problem: its figures, and where each came from.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/judge/verdict.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/ranks.h"

namespace attn::gpu {
struct MachineCode;  // kernels/gpu/compile/listing/machine_code.h
}

namespace attn {

struct Heartbeat;      // profiling/figures/heartbeat.h
struct KernelCounts;   // profiling/figures/counts.h
struct KernelSamples;  // profiling/figures/samples.h

// Where a figure comes from. `not_available` carries the reason instead of a number.
enum class Origin : std::uint8_t { measured, derived, compiled, data_sheet, not_available };
std::string_view name_of(Origin o);  // "measured", ..., "data sheet", "not available"
std::optional<Origin> origin_from_name(std::string_view name);

// One figure. `method` names the clock, counter or formula; `reason` says why there is none and what would change it.
struct Figure {
  Origin origin = Origin::not_available;
  double value = 0;  // meaningless when not_available
  std::string method;
  std::string reason;
  bool min_of_launches = false;  // the least of a kernel's several launches: the whole has this much or more
  std::string limiter = {};      // of an occupancy or of clocks: what holds it down ("registers"); empty = not known
  bool available() const { return origin != Origin::not_available; }
};

// Spread of repeated times, in microseconds (profiling/figures/statistics.h has the definitions).
struct TimeStatistics {
  std::int32_t n = 0;
  double median = 0, q1 = 0, q3 = 0, min = 0, max = 0;
  double ci_low = 0, ci_high = 0;  // 95 % interval of the median (binomial order statistics)
  bool settled = false;            // the interval came under 1 % of the median before the time limit
  bool drifted = false;            // first and last third differ by more than chance: the clock moved
};

// What was taken where and when: one a session, shared by its rows.
struct Provenance {
  std::string device, device_uuid, device_arch, driver, cuda, host, os, program_version, commit,
      date;  // date: ISO 8601, UTC
  std::int32_t cores = 0;
  double peak_gflops = 0;    // measured fp32 multiply-add peak of all cores; 0 = not measured
  double copy_gb_per_s = 0;  // measured copy, read + written; 0 = not measured
  bool loaded = false;       // from a file, not this machine and session
  std::string file;          // the file it was loaded from
};

enum class L2State : std::uint8_t { cold, warm };
std::string_view name_of(L2State s);
std::optional<L2State> l2_state_from_name(std::string_view name);

// Identity of a measurement: what must be equal for two rows to be the same point.
struct MeasurementKey {
  std::string kernel;
  std::string source_hash;  // hash of the kernel's source (CPU: of the program's commit)
  Options options;          // resolved
  Problem problem;
  L2State l2 = L2State::warm;
  std::string device;
  std::string device_uuid;  // empty = not known (a CPU, an older file)
  bool operator==(const MeasurementKey&) const = default;
};

// Two GPUs of one name are two devices; where either uuid is not known, the names are all there is.
bool same_device(const std::string& name_a, const std::string& uuid_a, const std::string& name_b,
                 const std::string& uuid_b);
bool same_device(const MeasurementKey& a, const MeasurementKey& b);

// refused: the kernel or this machine does not take the point; failed: it broke while it ran.
enum class RowState : std::uint8_t { done, refused, failed, cancelled };
std::string_view name_of(RowState s);
std::optional<RowState> row_state_from_name(std::string_view name);

// Why a peak could not be had, by its name here, which is its name in JSON.
inline constexpr const char *kMultiplyAddPeak = "peak_gflops", *kCopyPeak = "copy_gb_per_s",
                            *kReadPeak = "read_gb_per_s", *kL2Peak = "l2_gb_per_s", *kSharedPeak = "shared_gb_per_s",
                            *kTensorPeak = "tensor_gflops";
using PeakReasons = std::map<std::string, std::string>;

// What figures of one row are set against. Zeros and empty = not known.
struct Peaks {
  double peak_gflops = 0;                       // measured fp32 multiply-add peak of all cores of the device
  double copy_gb_per_s = 0;                     // measured copy of the device
  double read_gb_per_s = 0;                     // measured reading of a GPU's memory, nothing written
  double l2_gb_per_s = 0, shared_gb_per_s = 0;  // measured loads from the L2 cache, from the shared memory of all SMs
  // Measured peak of the tensor cores in the type of the kernel's products; 0 = not measured, or they run elsewhere.
  double tensor_gflops = 0;
  std::int32_t products_each = 1;  // products of that type for one of the formula
  PeakReasons why_not;             // of those that were tried in vain
  std::string baseline;            // kernel id of the row that speed-up is over
  double baseline_us = 0;          // its median on the same problem, device and L2 state
  std::string reference;           // the run that this row is set against, in words; empty = none was chosen
  double reference_us = 0;         // the median of the same kernel on the same problem there; 0 = it has none
};

// One stage of a point's way from what was asked for to its figures, in the order in which they came: "inputs",
// "compile", "time". Those of a row do not overlap.
struct Stage {
  std::string name;
  double start_us = 0;  // after the row's first stage began
  double duration_us = 0;
};

// A kernel of ours in the turns of a peer: ours, theirs, theirs, ours, by the same clock with the same flush and pause.
struct TimedBeside {
  std::string kernel;
  Options options;  // resolved
  TimeStatistics time;
};

// What the row of a peer has besides: attention of others (torch's, cuDNN's, a Python file of the user's). Its id
// stands in key.kernel ("torch-flash"; profiling/figures/peers.h has the table), its times are `time` and `samples_us`.
struct PeerFacts {
  std::string title;     // "FlashAttention-2"
  std::string software;  // "torch 2.11.0+cu130, CUDA 13.0, cuDNN 9.19.0"
  std::string how;       // what was done to its inputs or mask, in words; empty = nothing
  std::vector<TimedBeside> beside;
};

struct Measurement {
  MeasurementKey key;
  Processor processor = Processor::cpu;
  RowState state = RowState::done;
  std::string reason;  // why there are no figures (refused, failed, cancelled)
  TimeStatistics time;
  std::string clock;               // what took the time: "steady_clock"
  std::vector<double> samples_us;  // every repeat, in order
  std::vector<Figure> figures;     // parallel to metric_table()
  std::optional<Verdict> verdict;  // none: not verified, and shown as such
  std::vector<Launch> launches;
  std::vector<double> launch_us;      // median time of each launch; empty: the clock cannot tell them apart
  std::uint64_t workspace_bytes = 0;  // beside inputs and outputs
  Peaks peaks;
  std::int64_t begun_unix_us =
      0;  // when its first stage began, microseconds since 1970, UTC; 0 = not kept (older files)
  std::vector<Stage> stages;
  // Where Br, Bc, threads and stages in key.options came from: "default" (what ships), "tuned" (`attnscope tune` kept
  // them), "asked" (somebody named them). Empty: the kernel has no tile, or an older file.
  std::string tile_from;
  std::string compiled_with;                     // options beside the usual: "maxrregcount=64"; empty = none
  std::vector<std::string> warnings;             // of the compiler, as it says them
  std::optional<PeerFacts> peer;                 // none: a kernel of ours
  std::optional<Ranks> ranks;                    // none: it ran on one device
  std::shared_ptr<const KernelSamples> samples;  // null: there are none
  std::string no_samples;                        // why not, where they were asked for
  std::shared_ptr<const Heartbeat> heartbeat;    // null: there is none
  std::string no_heartbeat;                      // why not, where it was asked for
  std::shared_ptr<const KernelCounts> counts;    // of its instructions; null: there are none
  std::string no_counts;                         // why not, where they were asked for
  // What it was compiled to; rows of one cubin share it. Null: there was no nvdisasm, or an older file.
  std::shared_ptr<const gpu::MachineCode> code;
};

// Whether `m` takes the place of `old` where a point is measured again: the same kernel, problem, options, L2 state and
// device, whatever their sources. Rings of different sizes are different points, and so are a ring and one process. A
// row that was cancelled, refused or failed takes the place of no finished one.
bool replaces(const Measurement& m, const Measurement& old);

}  // namespace attn
