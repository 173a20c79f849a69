// Medians, quartiles and how sure we are of them. Times are microseconds, but nothing here depends on the unit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profiling/figures/measurement.h"

namespace attn {

// The q-quantile (0 <= q <= 1) of `sorted` (ascending, not empty): linear interpolation between the order statistics
// around (n - 1) q. This is definition R-7 of Hyndman and Fan 1996, the default of NumPy, R and spreadsheets.
double quantile(std::span<const double> sorted, double q);

// Which order statistics enclose the median with a probability of at least 95 %, whatever the distribution:
// [x_low, x_high], indices from 0. The number of repeats below the median is binomial (n, 1/2), so `low` is the
// largest k with P(fewer than k + 1 of n below the median) <= 2.5 %. Up to n = 5 there is none: the whole range
// is given, and `enough` is false (n = 5 encloses with 93.75 %).
struct MedianInterval {
  std::int32_t low = 0, high = 0;
  bool enough = false;
};
MedianInterval median_interval(std::int32_t n);

// Median, quartiles, interval and drift of the repeats, in the order in which they were taken. `settled` is set by
// the rule below: the interval is under `settled_share` of the median, and the repeats are of one kind. All zero for no
// repeats.
TimeStatistics statistics_of(std::span<const double> samples, double settled_share = 0.01);

// Clock or temperature moved: the 95 % intervals of the first and of the last third do not meet, and their medians
// are more than 1 % apart. Fewer than 18 repeats cannot tell (a third would have no interval): false.
bool has_drifted(std::span<const double> samples);

// Two kinds of repeats: over a tenth of them lie beyond a gap that is wider than three interquartile ranges of the
// others and 5 % of the median. A median of one kind alone says too little of the other, however narrow its interval.
// `sorted` ascends.
bool is_split(std::span<const double> sorted);

// What a stopping criterion looks at.
struct RepeatsSoFar {
  std::span<const double> samples_us;
  double elapsed_s = 0;  // since the first timed repeat began
};

// Stopping criteria: small named objects, each answers `met`.

struct MinRepeats {
  std::int32_t count = 5;
  bool met(const RepeatsSoFar& r) const;
};

// Keeps the list of samples, and the file, small: the interval of 2000 repeats is +-2 % of the ranks.
struct MaxRepeats {
  std::int32_t count = 2000;
  bool met(const RepeatsSoFar& r) const;
};

struct TimeLimit {
  double seconds = 1.0;
  bool met(const RepeatsSoFar& r) const;
};

// The median's 95 % interval is under `share` of the median, and the repeats are of one kind.
struct Settled {
  double share = 0.01;
  bool met(const RepeatsSoFar& r) const;
};

// Repeat until settled or the time limit, but at least `min` times; `give_up` bounds even those where one repeat
// takes longer than the limit. Sorting costs more than a short repeat, so Settled is asked at growing counts only.
class StopRule {
 public:
  StopRule(MinRepeats min, Settled settled, TimeLimit limit);
  bool stop(const RepeatsSoFar& r);

 private:
  MinRepeats min_;
  MaxRepeats max_;
  Settled settled_;
  TimeLimit limit_;
  TimeLimit give_up_;  // four time limits
  std::size_t next_look_ = 6;
};

}  // namespace attn
