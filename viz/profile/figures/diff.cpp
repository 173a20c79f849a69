#include "viz/profile/figures/diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/traffic.h"
#include "profiling/figures/statistics.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

// Closer than this two figures read alike.
constexpr double kSame = 0.01;

// Computed from the median time: they move as it does.
constexpr std::array<std::string_view, 6> kFromTime{
    "tflops", "peak_share_pct", "speedup_ratio", "against_run_ratio", "dram_gb_per_s", "dram_peak_share_pct"};

bool hangs_on_time(const MetricRow& metric) {
  return metric.group == MetricGroup::time || std::ranges::find(kFromTime, metric.id) != kFromTime.end();
}

bool has_interval(const TimeStatistics& t) {
  return median_interval(t.n).enough && t.ci_high > 0;
}

void judge_time(const Measurement& mine, const Measurement& other, FigureChange& change) {
  const TimeStatistics &a = mine.time, &b = other.time;
  if (!has_interval(a) || !has_interval(b)) {
    change.noise_words = phrase("with {} and {} repeats, a difference cannot be distinguished from noise", a.n, b.n);
    return;
  }
  const bool apart = a.ci_low > b.ci_high || b.ci_low > a.ci_high;
  change.noise = apart ? Noise::beyond : Noise::within;
  change.noise_words = apart ? tr("more than the noise: the 95 % intervals of the two medians do not overlap")
                             : tr("within the noise: the 95 % intervals of the two medians overlap");
}

void judge_noise(const MetricRow& metric, const Figure& a, const Figure& b, const Measurement& mine,
                 const Measurement& other, FigureChange& change) {
  if (hangs_on_time(metric)) return judge_time(mine, other, change);
  if (metric.compute == nullptr && a.origin == Origin::measured && b.origin == Origin::measured) {
    change.noise_words = tr("counted once, so the noise is unknown");
    return;
  }
  const bool counted = a.origin == Origin::measured || b.origin == Origin::measured ||
                       metric.id.starts_with("dram_over") || metric.id.ends_with("_abs");
  if (counted) {
    change.noise_words = tr("one run each, so the noise is unknown");
    return;
  }
  change.noise = Noise::exact;
  change.noise_words = tr("exact: the same in every run");
}

// No more was written than O and LSE: what is not in DRAM yet is still in the L2.
bool results_alone(double written, const Measurement& m) {
  const Traffic once = compulsory(Order::flash, m.key.problem);
  return written <= static_cast<double>(once.of(TrafficPart::o) + once.of(TrafficPart::stats));
}

// The least of several launches, unless it is all that there can be.
bool is_bound(const MetricRow& metric, const Figure& f) {
  constexpr double kAll = 99.95;
  return f.min_of_launches && !(metric.unit == "%" && f.value >= kAll);
}

// How far apart the two are is not known, only on which side of this ratio it lies.
FigureChange bounded_change(const Figure& a, const Figure& b, bool a_is_bound, bool b_is_bound) {
  FigureChange change;
  if (a_is_bound && b_is_bound) {
    change.noise_words = tr("unknown: both values are minimums over several launches");
    return change;
  }
  change.noise_words = a_is_bound ? tr("at least: this value is a minimum over several launches")
                                  : tr("at most: the reference value is a minimum over several launches");
  if (b.value != 0 && a.value / b.value > 0)
    change.text = fmt::format("{} {}×", a_is_bound ? "≥" : "≤", figure_text(a.value / b.value));
  return change;
}

}  // namespace

FigureChange change_of(const MetricRow& metric, const Measurement& mine, const Measurement& other) {
  FigureChange change;
  const Figure &a = figure(mine, metric.id), &b = figure(other, metric.id);
  if (!a.available() || !b.available()) return change;
  if (is_bound(metric, a) || is_bound(metric, b)) return bounded_change(a, b, is_bound(metric, a), is_bound(metric, b));
  judge_noise(metric, a, b, mine, other, change);
  if (a.value == b.value || (b.value != 0 && std::abs(a.value / b.value - 1) < kSame)) {
    change.text = tr("same");
    return change;
  }
  // Zero degrees Celsius is no nothing, and how often was measured is no figure of the kernel.
  if (metric.id == "repeats_count") return change;
  if (metric.unit == "C") {
    change.text = fmt::format("{}{:.0f} K", a.value > b.value ? "+" : "−", std::abs(a.value - b.value));
    return change;
  }
  if (b.value == 0 || a.value / b.value <= 0) return change;
  change.text = fmt::format("{}×", figure_text(a.value / b.value));
  change.up = a.value > b.value;
  if (change.noise == Noise::within) return change;
  if (metric.id == "dram_write_bytes" && results_alone(a.value, mine) && results_alone(b.value, other)) {
    change.noise_words =
        phrase("{}; the kernel does not control how much of O and LSE leaves the L2 cache before the run ends",
               change.noise_words);
    return change;
  }
  change.better = metric.better == (change.up ? Better::up : Better::down);
  change.worse = metric.better == (change.up ? Better::down : Better::up);
  return change;
}

}  // namespace attn
