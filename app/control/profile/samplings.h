// Profile's samples and heartbeats: taken on a task of a row that was measured on this machine, and kept in its run.
#pragma once

#include <memory>

#include "app/control/bench/run_list.h"
#include "app/control/tasks/job_context.h"
#include "app/worker/bench.h"
#include "viz/state/commands_profile.h"

namespace attn {

class Samplings {
 public:
  // `gpu` null: no GPU is looked for, and it says so.
  Samplings(const JobContext& context, std::shared_ptr<GpuBench> gpu, RunList& runs)
      : context_(context), gpu_(std::move(gpu)), runs_(runs) {}

  // What cannot be sampled is said in the log.
  void sample(const SampleRow& wanted);
  TaskId task() const { return task_; }

 private:
  JobContext context_;
  std::shared_ptr<GpuBench> gpu_;
  RunList& runs_;
  TaskId task_ = 0;
};

}  // namespace attn
