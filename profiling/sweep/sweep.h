// A sweep (profiling/spec/sweep_spec.h), measured one point after the other, with progress, time left and cancel.
// A point that fails is a row with its reason; the sweep goes on.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "profiling/spec/measure_spec.h"
#include "profiling/spec/sweep_spec.h"

namespace attn {

struct SweepProgress {
  std::size_t done = 0, total = 0;
  std::string now;           // "cpu_flash, L = 512"
  double seconds_left = -1;  // -1 = not known yet
};

// Measures one point; what went wrong is the row's state and reason. `now` says what is being done.
using PointRunner = std::function<Measurement(const Point& p, const std::function<void(const std::string&)>& now,
                                              std::stop_token stop)>;

// The program supplies it, since a GPU's driver lives in a process of its own.
struct GpuRunner {
  Device device;  // what its rows are taken on
  PointRunner measure;
};

// Kernels of ours and the peers that are timed in turns with them, on one problem.
struct PeerRound {
  Point point;  // how it is measured; the kernel is left empty
  Processor processor = Processor::gpu;
  std::vector<std::string> peers;     // ids; a file's own where the program was given one
  std::span<const Measurement> ours;  // finished rows of this problem
};
// A row for each peer of the round; what went wrong is its state and reason.
using PeerRunner = std::function<std::vector<Measurement>(
    const PeerRound& round, const std::function<void(const std::string&)>& now, std::stop_token stop)>;

// The program supplies it, since attention of others runs in a process of its own.
struct PeerSource {
  std::vector<std::string> files;  // ids of the user's own beside SweepSpec::peers
  PeerRunner measure;
};

// The options with the tile that tuning kept for this problem on this device in them (profiling/tune/store.h), or why
// there is none. The program supplies it, since they lie in the user's cache.
using TunedOptions =
    std::function<Result<Options>(const KernelRow& row, const Problem& p, const Options& o, const Device& device)>;

struct SweepCallbacks {
  std::function<void(const SweepProgress&)> progress;
  std::function<void(const Measurement&)> row;  // called once a point, in the sweeping thread
  // Measures CPU kernels, whose rows the sweep sets against the CPU's peak; empty: they are timed in this process.
  PointRunner cpu;
  std::optional<GpuRunner> gpu;     // none: GPU kernels are rows that say so
  std::optional<PeerSource> peers;  // none: no peers are measured
  TunedOptions tuned;               // empty: points of a sweep that asks for tuned tiles are refused
  // Rows of an earlier run: a point that is finished among them is handed on and not measured again.
  std::span<const Measurement> kept;
};

// Runs in the calling thread: for each value every kernel, the baseline first where it is among them, so that each row
// comes with its speed-up. Along an option a kernel that does not read the option gives one row.
// Every finished row has been handed to `row` when it returns, cancelled or not. Cancelled: the rows so far, where the
// point that was interrupted is a row of state `cancelled`. The only error is that of validate().
Result<std::vector<Measurement>> run_sweep(const SweepSpec& s, const SweepCallbacks& callbacks, std::stop_token stop);

// The same with rows of the caller's own in place of spec.kernels.
Result<std::vector<Measurement>> run_sweep(const SweepSpec& s, std::span<const KernelRow* const> rows,
                                           const SweepCallbacks& callbacks, std::stop_token stop);

}  // namespace attn
