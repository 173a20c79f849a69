// The inputs of the problem at hand and what its answer should be, for all who measure it one after the other: making
// them takes longer than most kernels run.
#pragma once

#include <optional>
#include <stop_token>

#include "kernels/base/result.h"
#include "kernels/judge/verdict.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

// What a verdict is made with.
struct JudgedBy {
  RowSample sample;
  ReferenceRows reference;
};

class ProblemCache {
 public:
  // Of this problem, generator and seed: made anew where those kept are of others, which then go. The address holds
  // until another problem is asked for.
  Result<const Inputs*> inputs(const Point& p);
  // The rows that `p` asks to be judged by; on all processors.
  Result<const JudgedBy*> judged_by(const Point& p, const std::stop_token& stop);
  void clear();

 private:
  bool holds(const Point& p) const;

  Point point_;  // whose inputs these are
  std::optional<Inputs> inputs_;
  std::optional<JudgedBy> judged_by_;
  bool full_ = false;
};

}  // namespace attn
