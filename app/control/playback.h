// Play: the cursor goes on by itself.
#pragma once

#include "app/control/job_context.h"

namespace attn {

class Playback {
 public:
  explicit Playback(const JobContext& context) : context_(context) {}
  // Play was switched on or off: the first step lasts as long as any other.
  void restart() { debt_ = 0; }
  // `seconds` since the last frame.
  void advance(double seconds);

 private:
  JobContext context_;
  double debt_ = 0;  // steps that play owes
};

}  // namespace attn
