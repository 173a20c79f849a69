// The rows of Bench: which GPUs can be measured, sweeps whose rows grow and are on disk before the next point starts,
// what the compiler says before anything runs.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/control/bench/run_list.h"
#include "app/control/tasks/job_context.h"
#include "app/peers/bench.h"
#include "app/ring/ring_bench.h"
#include "app/worker/bench.h"
#include "app/worker/cpu_bench.h"
#include "profiling/session/session.h"
#include "profiling/spec/sweep_spec.h"

namespace attn {

struct SweepSources {
  std::optional<PeerSetup> peers = {};    // runs attention of others; none = no peers are measured
  std::shared_ptr<GpuBench> gpu;          // measures GPU kernels; null = no GPU is looked for
  std::shared_ptr<CpuBench> cpu = {};     // times CPU kernels; null = in this process
  std::shared_ptr<RingBench> rings = {};  // runs rings, a process per rank; null = as one process walks them
  std::filesystem::path tiles = {};       // where tuned tiles are kept; empty = none are
};

class Sweeps {
 public:
  Sweeps(const JobContext& context, SweepSources sources, RunList& runs)
      : context_(context), sources_(std::move(sources)), runs_(runs) {}

  // Which GPUs there are and which runs and files can be opened, on tasks. In a page, where a task holds up the frames,
  // the runs are looked for by look_ahead().
  void look_around();
  // As LookForPeers says.
  void look_for_peers();
  // As RunSweep says.
  void run(bool restart);
  // The runs of a file beside those there are, with the sweep that they came from.
  void show_runs(Session& session);
  // Once a frame that shows Bench or Profile: where the sweep has changed, looks for the tiles that it takes, where it
  // asks for tuned ones, and asks the compiler of its GPU kernels, so that both are known before anything runs.
  void look_ahead();
  TaskId task() const { return task_; }

 private:
  void look_for_gpus();
  void notice_new_tiles();
  Result<void> measure(TaskHandle& task, const SweepSpec& spec, const RunList::Begun& begun, GpuBench* gpu);

  JobContext context_;
  SweepSources sources_;
  RunList& runs_;
  TaskId task_ = 0, ahead_task_ = 0;
  bool asked_for_peers_ = false, asked_for_runs_ = false;
  std::chrono::steady_clock::time_point tiles_looked_;  // when their folder was looked at
  std::filesystem::file_time_type tiles_seen_;          // when it had changed then
};

}  // namespace attn
