#include "viz/bench/charts/ideal_scaling.h"

#include <algorithm>

#include "kernels/base/text.h"
#include "kernels/model/ring.h"

namespace attn {
namespace {

constexpr std::string_view kTime = "time_us_median", kScaling = "ring_scaling_ratio";

// Of one rank with the whole problem: its own row, else the time that a ring was set against; 0: neither is known.
double one_rank_us(const BenchSlice& slice) {
  double us = 0;
  for (const Measurement* m : slice.rows) {
    if (!m->ranks || m->time.median <= 0) continue;
    if (m->ranks->devices.size() == 1) return m->time.median;
    if (us <= 0) us = m->ranks->one_rank_us;
  }
  return us;
}

}  // namespace

std::optional<BenchLine> ideal_line(const BenchSlice& slice, std::string_view metric, const BenchUnit& unit) {
  if (slice.axis.name() != kRanks.name || (metric != kTime && metric != kScaling)) return std::nullopt;
  const double one = one_rank_us(slice);
  if (one <= 0) return std::nullopt;
  BenchLine line;
  line.label = line.id = tr("ideal");
  line.ideal = true;
  for (const std::int64_t ranks : slice.values) {
    const double n = static_cast<double>(std::max<std::int64_t>(1, ranks)), value = metric == kTime ? one / n : n;
    const double shown = value * unit.factor;
    line.points.push_back({ranks, shown, shown, shown, value_with_unit(value, unit)});
  }
  return line;
}

std::string_view ideal_words(std::string_view metric) {
  return metric == kTime ? tr("dashed: one rank's time / number of ranks") : tr("dashed: speed-up = number of ranks");
}

}  // namespace attn
