// Play: the cursor goes on by itself.
#pragma once

#include "app/control/tasks/job_context.h"

namespace attn {

class Playback {
 public:
  explicit Playback(const JobContext& context) : context_(context) {}
  // Play was switched on or off: the first step lasts as long as any other.
  void restart() { debt_ = 0; }
  // `seconds` have passed since the last call. Whether the cursor moved.
  bool advance(double seconds);
  // Infinity while nothing plays.
  double seconds_to_step() const;

 private:
  JobContext context_;
  double debt_ = 0;  // steps that play owes
};

}  // namespace attn
