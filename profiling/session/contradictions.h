// What a file says of its rows, held against what follows from them: figures that are derived are computed again, and
// a row passes only with an error that is allowed. What was said otherwise is told, not shown.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "profiling/figures/measurement.h"

namespace attn {

class Contradictions {
 public:
  // A row as it was read, the number `number` of its file: does it pass?
  void judge(Measurement& m, std::size_t number);
  // Once all rows of its run are judged: derived figures, speed-ups too, are those that this program computes from
  // times, shapes, counters and verdicts. Where it does not know a kernel, what the file predicts for it stays.
  void compute(Measurement& m, std::span<const Measurement> rows, std::size_t number);
  // One note a kind, with the first place.
  void add_notes(std::vector<std::string>& notes) const;

 private:
  std::size_t figures_ = 0, verdicts_ = 0;
  std::string first_figure_, first_verdict_;
};

}  // namespace attn
