#include "profiling/sweep.h"

#include <fmt/format.h>

#include "profiling/repeat.h"
#include "profiling/sweep_points.h"
#include "profiling/time_left.h"

namespace attn {
namespace {

constexpr double kPeakSeconds = 0.3;

class Sweep {
 public:
  Sweep(const SweepSpec& s, std::span<const KernelRow* const> rows, const SweepCallbacks& callbacks)
      : spec_(s), callbacks_(callbacks), points_(points_of(s, rows)), time_(s.seconds_per_point, s.least_repeats) {
    for (const SweepPoint& p : points_) costs_.push_back(cost_of(s, p));
  }

  std::vector<Measurement> run(const std::stop_token& stop) {
    for (std::size_t i = 0; i < points_.size() && !stop.stop_requested(); ++i) {
      tell(i, fmt::format("{}, {} = {}", points_[i].row->id, name_of(spec_.axis), points_[i].value));
      take(i, stop);
    }
    tell(rows_.size(), "");
    return std::move(rows_);
  }

 private:
  void tell(std::size_t done, std::string now) const {
    if (!callbacks_.progress) return;
    const std::span<const PointCost> left = std::span(costs_).subspan(done);
    callbacks_.progress({done, points_.size(), std::move(now), time_.seconds(left)});
  }

  void take(std::size_t i, const std::stop_token& stop) {
    const SweepPoint& point = points_[i];
    const double begin = steady_seconds();
    Measurement m =
        measure_on_cpu(*point.row, problem_at(spec_, point.value), options_at(spec_, point.value), spec_, stop);
    if (m.state == RowState::done) time_.finished(costs_[i], m.time.median * 1e-6, steady_seconds() - begin);
    rows_.push_back(std::move(m));
    relate_to_baseline(rows_.back(), rows_);
    if (callbacks_.row) callbacks_.row(rows_.back());
  }

  const SweepSpec& spec_;
  const SweepCallbacks& callbacks_;
  std::vector<SweepPoint> points_;
  std::vector<PointCost> costs_;
  TimeLeft time_;
  std::vector<Measurement> rows_;
};

}  // namespace

Result<std::vector<Measurement>> run_sweep(const SweepSpec& s, std::span<const KernelRow* const> rows,
                                           const SweepCallbacks& callbacks, std::stop_token stop) {
  if (auto valid = validate_points(s, rows); !valid) return tl::unexpected(valid.error());
  SweepSpec with_peak = s;
  if (with_peak.peak.gflops <= 0 && callbacks.progress)
    callbacks.progress({0, points_of(s, rows).size(), "the peak of this CPU", -1});
  if (with_peak.peak.gflops <= 0) with_peak.peak = measure_cpu_peak(cpu_device().cores, kPeakSeconds);
  return Sweep(with_peak, rows, callbacks).run(stop);
}

Result<std::vector<Measurement>> run_sweep(const SweepSpec& s, const SweepCallbacks& callbacks, std::stop_token stop) {
  const auto rows = kernels_of(s);
  if (!rows) return tl::unexpected(rows.error());
  return run_sweep(s, *rows, callbacks, stop);
}

}  // namespace attn
