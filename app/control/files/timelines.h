// Recorded launches for Profile's timeline: those that came with the program, read when the page is first looked at,
// and those of sessions that are opened.
#pragma once

#include <memory>
#include <vector>

#include "app/control/tasks/job_context.h"
#include "kernels/recording/timeline.h"

namespace attn {

// To show and to save without a copy: a launch of many warps takes long to copy.
std::vector<std::shared_ptr<const Timeline>> shared_timelines(std::vector<Timeline> timelines);

class Timelines {
 public:
  explicit Timelines(const JobContext& context) : context_(context) {}
  void find();
  // In front of those that are known.
  void show(const std::vector<std::shared_ptr<const Timeline>>& opened);

 private:
  JobContext context_;
};

}  // namespace attn
