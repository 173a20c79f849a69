// The rows of Bench: which GPUs can be measured, sweeps whose rows grow and are autosaved, rows of a file in their
// place.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "app/control/job_context.h"
#include "app/control/row_keeper.h"
#include "app/worker/bench.h"
#include "profiling/figures/measurement.h"
#include "profiling/session/session.h"
#include "profiling/sweep/sweep.h"

namespace attn {

struct SweepSources {
  std::shared_ptr<GpuBench> gpu;           // measures GPU kernels; null = no GPU is looked for
  std::filesystem::path autosave_file;     // the rows of a running sweep; empty = not kept
  std::filesystem::path bundled_sessions;  // the folder of those that Bench offers; empty = none
};

class Sweeps {
 public:
  Sweeps(const JobContext& context, SweepSources sources) : context_(context), sources_(std::move(sources)) {}

  // Which GPUs there are and which sessions can be offered, on tasks.
  void look_around();
  // Goes on from the rows there are, or measures all again.
  void run(bool restart);
  // Rows of a file in place of those there are, with the sweep that they came from.
  void show_rows(Session& session);
  TaskId task() const { return task_; }

 private:
  void look_for_gpus();
  void look_for_sessions();
  Result<void> measure(TaskHandle& task, const SweepSpec& spec, const std::vector<Measurement>& kept, GpuBench* gpu,
                       RowKeeper& keeper);

  JobContext context_;
  SweepSources sources_;
  TaskId task_ = 0;
};

}  // namespace attn
