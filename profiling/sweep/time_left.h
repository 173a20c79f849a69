// How long a sweep will still take: from the FLOPs to do and the rate that each kernel reached so far.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace attn {

// One point that is still to be done.
struct PointCost {
  std::string kernel;
  double flops = 0;
};

class TimeLeft {
 public:
  // Time limit and least repeats of one point, as in SweepSpec.
  TimeLeft(double limit_s, std::int32_t min_repeats);

  // A kernel reached this rate (from an earlier session, say).
  void knows(const std::string& kernel, double flops_per_s);
  // A point was done: its median, and how long the whole point took (inputs, check, warm-up, repeats).
  void finished(const PointCost& point, double median_s, double point_s);

  // Has every kernel of the points a known rate?
  bool knows_all(std::span<const PointCost> points) const;
  // Seconds for these points; -1 while no rate is known. A kernel without a rate of its own is taken to be as fast
  // as the mean of the others.
  double seconds(std::span<const PointCost> points) const;

 private:
  double expected(const PointCost& point) const;

  double limit_s_;
  std::int32_t min_;
  std::map<std::string, double> flops_per_s_;  // of the last point of each kernel
  double expected_sum_ = 0, actual_sum_ = 0;   // over finished points: how far `expected` is off on this machine
};

}  // namespace attn
