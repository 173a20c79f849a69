// The program's side of the GPU worker: starts it when it is first needed, stops it at its time limit, starts a new one
// after it ended, whatever the reason; each failure is one error in words, and the next request works.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/system/child_process.h"
#include "app/worker/lasting_thread.h"
#include "app/worker/requests.h"
#include "kernels/gpu/rungs/stamps/stamps.h"
#include "kernels/ladder.h"
#include "kernels/recording/timeline.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/measurement.h"
#include "profiling/figures/samples.h"
#include "profiling/measure/turn.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

// Where and with what a GPU's figures are taken: provenance_here() with the GPU in the CPU's place. The peaks are those
// of its measurements (Measurement::peaks).
Provenance provenance_on(const GpuHello& hello, std::int32_t gpu);

class GpuClient {
 public:
  using Starter = std::function<Result<Child>()>;
  using Progress = std::function<void(const std::string& now)>;
  // `attnscope worker`; tests start their own.
  static Result<Child> start_program();
  explicit GpuClient(Starter start = start_program);
  ~GpuClient();
  GpuClient(const GpuClient&) = delete;
  GpuClient& operator=(const GpuClient&) = delete;

  // Kernels of the user's own: from now on their ids can be asked for.
  void bring(gpu::OwnKernels own) { own_ = std::move(own); }
  const gpu::OwnKernels& own() const { return own_; }

  // Starts the worker where none runs; every request does so by itself. For those that begin threads beside one: a
  // child made while a thread is being made may stand still for ever (its allocator's lock is that thread's).
  Result<void> start();
  // `counters` false: CUPTI is not touched, as another profiler wants it.
  Result<GpuHello> hello(const Deadline& deadline, bool counters = true);
  // `deadline.seconds`: from the request to the answer, compilation included.
  Result<GpuRunAnswer> run(const GpuRunRequest& r, const Deadline& deadline, const Progress& progress = {});
  // A plain run and one that records itself; `r.inputs` are needed. Refused in words where the kernel cannot.
  Result<GpuRecordAnswer> record(const GpuRunRequest& r, const Deadline& deadline, const Progress& progress = {});
  // One point: inputs, check, time and counters are the worker's. A row that was refused or failed is a measurement
  // with its reason; an error is a worker that was lost, too late or cancelled.
  Result<Measurement> measure(const Point& p, const Deadline& deadline, const Progress& progress = {});
  // What the compiler says of the point's kernel for its architecture; needs no GPU and no driver. A kernel that does
  // not compile is a measurement with its reason.
  Result<Measurement> compile(const Point& p, const Deadline& deadline, const Progress& progress = {});
  // Repeats of a point by CUDA events; between turns the worker keeps its tensors on the GPU, until let_go().
  Result<std::vector<double>> turn(const Point& p, const Turn& turn, const Deadline& deadline);
  Result<void> let_go(const Deadline& deadline);
  // Where the warps of the point's kernel wait, by address; put_lines() adds lines and phases. An error is a refusal.
  Result<KernelSamples> sample(const Point& p, const Deadline& deadline, const Progress& progress = {});
  // Counters over the time of one run of the point.
  Result<Heartbeat> heartbeat(const Point& p, const Deadline& deadline, const Progress& progress = {});
  // Who did what when in one launch of the point; event by event in the blocks of the request.
  Result<Timeline> timeline(const Point& p, const gpu::StampRequest& request, const Deadline& deadline,
                            const Progress& progress = {});
  // What the instructions of the point's kernel do in one run, by address; put_lines() adds lines and phases.
  Result<KernelCounts> count_instructions(const Point& p, const Deadline& deadline, const Progress& progress = {});
  // Process id of the worker; -1 where none runs.
  int worker_id() const { return child_ ? child_->id() : -1; }

 private:
  struct Reply;
  nlohmann::json with_own(nlohmann::json request) const;
  Result<Reply> ask(const std::string& request, std::span<const std::span<const std::byte>> bytes,
                    const std::string& what, const Deadline& deadline, const Progress& progress);
  // The worker said that its GPU is lost to it: it ends by itself, and the next request gets a new one.
  void detach();
  // Ends the worker; `why` in words for the user.
  Error lost(const NoMessage& why, const std::string& what);

  Starter start_;
  std::unique_ptr<LastingThread> starter_;  // a worker outlives the task that asked for it first
  std::optional<Child> child_;
  gpu::OwnKernels own_;
};

}  // namespace attn
