// Whether the run that Step shows is right, where that is a question: an exhibit of the museum, or a recording out of a
// file. On a task; model.examination holds what was found. The first wrong step is looked for when the user asks.
#pragma once

#include <cstdint>
#include <memory>

#include "app/control/tasks/job_context.h"
#include "kernels/recording/recording.h"

namespace attn {

class Examinations {
 public:
  explicit Examinations(const JobContext& context) : context_(context) {}
  // Between frames: starts what the shown run and the state ask for. Whether a task was started.
  bool follow();

 private:
  bool asked_for(const Recording& rec) const;
  void check(std::shared_ptr<const Recording> recording);
  void seek(std::shared_ptr<const Recording> recording);

  JobContext context_;
  TaskId task_ = 0;
};

}  // namespace attn
