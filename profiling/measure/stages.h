// How long each stage of a point takes, so that a sweep can be seen as a timeline.
#pragma once

#include <string>

#include "kernels/base/clock.h"
#include "profiling/figures/measurement.h"

namespace attn {

// Writes into a row, which outlives it. The stage that is going on when it ends is written too: of a point that failed
// that is the one that failed.
class Stages {
 public:
  explicit Stages(Measurement& m, Clock clock = steady_seconds);
  ~Stages();
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  // Ends the stage before.
  void enter(std::string name);
  void end();

 private:
  Measurement& m_;
  Clock clock_;
  double origin_ = 0;  // of the first stage, by the clock
  bool going_on_ = false;
};

}  // namespace attn
