// Tiles in Bench: tuned on a task, and what was kept before is looked up when its page is shown.
#pragma once

#include <filesystem>
#include <memory>

#include "app/control/tasks/job_context.h"
#include "app/worker/bench.h"
#include "app/worker/tuner.h"

namespace attn {

class Tunings {
 public:
  // `gpu` null: GPU kernels cannot be tuned, and it says so. `folder`: where tiles are kept.
  Tunings(const JobContext& context, std::shared_ptr<GpuBench> gpu, std::filesystem::path folder);

  // As TuneTiles says. What cannot be tuned is said in the log.
  void tune();
  // Once a frame that shows the tiles: looks for what was kept where kernel or problem have changed.
  void follow();
  TaskId task() const { return task_; }

 private:
  JobContext context_;
  std::shared_ptr<GpuBench> gpu_;
  std::shared_ptr<Tuner> tuner_;
  TaskId task_ = 0, look_task_ = 0;
};

}  // namespace attn
