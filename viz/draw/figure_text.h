// Numbers and units of Bench as text, and labels set apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiling/figures/metrics.h"

namespace attn {

// A unit that suits a range of numbers: shown = value * factor.
struct BenchUnit {
  double factor = 1;
  std::string name;
};
BenchUnit time_unit(double min_us, double max_us);
BenchUnit rate_unit(double max_tflops);   // below 1 TFLOP/s: GFLOP/s
BenchUnit bytes_unit(double max_bytes);   // kB, MB, GB, TB: powers of 1000
BenchUnit memory_unit(double max_bytes);  // MiB as long as they have six digits, else GiB: what a memory holds
BenchUnit unit_of(const MetricRow& metric, double min, double max);
std::string figure_text(double value);                             // three digits: "262", "33.1", "2.99"
std::string tick_text(double value);                               // of an axis: all the digits it has, "1.5e8"
std::string value_with_unit(double value, const BenchUnit& unit);  // "12.1 ms"
std::string percent_text(double percent);                          // "12.1 %", "< 0.01 %"
// "1.571 – 1.574 ms": as many digits as tell the ends apart; where six do not, it is one number.
std::string range_text(double low, double high, const BenchUnit& unit);
// Ends in one full stop.
std::string sentence(const std::string& words);
std::string grouped_count(std::int64_t n);  // "36 352", with gaps at which no line is broken
std::string bytes_text(double bytes);       // "273 MB"
// "4.1", "12", "1.06": how many times, in two or three digits.
std::string times_text(double ratio);

// Moves labels of `height` apart so that none overlaps, in order of their wishes, within [top, bottom]; as close to
// the wishes as that allows. Returns their centres.
std::vector<double> spread_labels(std::vector<double> wishes, double height, double top, double bottom);

}  // namespace attn
