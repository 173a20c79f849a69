#include "profiling/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/clock.h"
#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "profiling/figures/baseline.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/peers.h"
#include "profiling/figures/row_state.h"
#include "profiling/measure/cpu/cpu_peak.h"
#include "profiling/measure/cpu/on_cpu.h"
#include "profiling/measure/point.h"
#include "profiling/measure/repeat.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/sweep/finished.h"
#include "profiling/sweep/points.h"
#include "profiling/sweep/time_left.h"
#include "profiling/tune/store.h"

namespace attn {
namespace {

constexpr double kPeakSeconds = 0.3;

Measurement without_gpu(const Point& p) {
  Measurement m = empty_row(p, Processor::gpu);
  m.state = RowState::refused;
  m.reason = fmt::format("{} runs on a GPU, but this run does not use a GPU.", p.kernel);
  fill_figures(m);
  return m;
}

class Sweep {
 public:
  Sweep(const SweepSpec& s, std::span<const KernelRow* const> rows, const SweepCallbacks& callbacks)
      : spec_(s), callbacks_(callbacks), points_(points_of(s, rows)), time_(s.seconds_per_point, s.min_repeats) {
    for (const SweepPoint& p : points_) costs_.push_back(cost_of(s, p));
  }

  std::vector<Measurement> run(const std::stop_token& stop) {
    for (std::size_t i = 0; i < points_.size() && !stop.stop_requested(); ++i) {
      tell(i, words_of(points_[i]));
      take(i, stop);
      if (callbacks_.peers && is_last_of_problem(i)) take_peers(i, stop);
    }
    tell(points_.size(), "");
    return std::move(rows_);
  }

 private:
  void tell(std::size_t done, std::string now) const {
    if (!callbacks_.progress) return;
    const std::span<const PointCost> left = std::span(costs_).subspan(done);
    callbacks_.progress({done, points_.size(), std::move(now), time_.seconds(left)});
  }

  std::string words_of(const SweepPoint& point) const {
    return fmt::format("{}, {} = {}", point.row->id, name_of(spec_.axis), point.value);
  }

  const Measurement* kept(const SweepPoint& point) const {
    const bool gpu = point.row->processor == Processor::gpu;
    if (gpu && !callbacks_.gpu) return nullptr;
    const auto asked = asked_of(point);
    if (!asked) return nullptr;
    const Point& p = *asked;
    const auto found = std::find_if(callbacks_.kept.begin(), callbacks_.kept.end(), [&](const Measurement& m) {
      return is_finished_point(m, *point.row, p, gpu ? callbacks_.gpu->device : cpu_);
    });
    return found == callbacks_.kept.end() ? nullptr : &*found;
  }

  // The point with its tuned tile in it, where that is asked for.
  Result<Point> asked_of(const SweepPoint& point) const {
    Point p = point_at(spec_, *point.row, point.value);
    if (!spec_.tuned || !has_tiles(*point.row)) return p;
    const bool gpu = point.row->processor == Processor::gpu;
    if (!callbacks_.tuned || (gpu && !callbacks_.gpu))
      return fail(ErrorKind::cannot_run, "the tile is set to tuned, but tuned tiles are not searched for here");
    const auto tuned = callbacks_.tuned(*point.row, p.problem, p.options, gpu ? callbacks_.gpu->device : cpu_);
    if (!tuned) return tl::unexpected(tuned.error());
    p.options = *tuned;
    return p;
  }

  Measurement measure(std::size_t i, const std::stop_token& stop) const {
    const InEnglish recorded;
    const SweepPoint& point = points_[i];
    const auto asked = asked_of(point);
    if (!asked) {
      Measurement m = empty_row(point_at(spec_, *point.row, point.value), point.row->processor);
      give_up(m, asked.error());
      fill_figures(m);
      return m;
    }
    const Point& p = *asked;
    const auto now = [&](const std::string& words) { tell(i, words_of(point) + ": " + words); };
    if (point.row->processor == Processor::cpu)
      return callbacks_.cpu ? against_peak(callbacks_.cpu(p, now, stop))
                            : measure_on_cpu(*point.row, p, spec_.peak, stop);
    if (!callbacks_.gpu) return without_gpu(p);
    return callbacks_.gpu->measure(p, now, stop);
  }

  // Whoever measures in a process of its own does not know this CPU's peak, which is measured as the sweep begins.
  Measurement against_peak(Measurement m) const {
    m.peaks.peak_gflops = spec_.peak.gflops;
    m.peaks.copy_gb_per_s = spec_.peak.copy_gb_per_s;
    fill_figures(m);
    return m;
  }

  void take(std::size_t i, const std::stop_token& stop) {
    const SweepPoint& point = points_[i];
    const double begin = steady_seconds();
    if (const Measurement* finished = kept(point)) {
      time_.knows(costs_[i].kernel, costs_[i].flops / (finished->time.median * 1e-6));
      rows_.push_back(*finished);
    } else {
      Measurement m = measure(i, stop);
      m.tile_from = tile_from(*point.row, options_at(spec_, point.value), spec_.tuned);
      if (m.state == RowState::done) time_.finished(costs_[i], m.time.median * 1e-6, steady_seconds() - begin);
      rows_.push_back(std::move(m));
    }
    relate_to_baseline(rows_.back(), rows_);
    if (callbacks_.row) callbacks_.row(rows_.back());
  }

  bool is_last_of_problem(std::size_t i) const {
    return i + 1 == points_.size() || !(problem_at(spec_, points_[i].value) == problem_at(spec_, points_[i + 1].value));
  }

  // Peers of the processors that this problem was measured on, in turns with those rows.
  void take_peers(std::size_t i, const std::stop_token& stop) {
    const Problem problem = problem_at(spec_, points_[i].value);
    for (const Processor processor : {Processor::cpu, Processor::gpu}) {
      const bool here =
          std::ranges::any_of(points_, [&](const SweepPoint& p) { return p.row->processor == processor; });
      if (!here || stop.stop_requested()) continue;
      PeerRound round;
      round.point = point_at(spec_, *points_[i].row, points_[i].value);
      round.point.kernel.clear();
      round.point.options = spec_.options;
      round.processor = processor;
      for (const std::string& id : spec_.peers)
        if (const PeerRow* peer = find_peer(id); peer != nullptr && peer->processor == processor)
          round.peers.push_back(id);
      round.peers.insert(round.peers.end(), callbacks_.peers->files.begin(), callbacks_.peers->files.end());
      std::vector<Measurement> ours;
      for (const Measurement& m : rows_)
        if (!m.peer && !m.ranks && m.processor == processor && m.state == RowState::done && m.time.n > 0 &&
            m.key.problem == problem)
          ours.push_back(m);
      round.ours = ours;
      keep_peers(round);
      if (round.peers.empty()) continue;
      const auto now = [&](const std::string& words) {
        tell(i + 1, fmt::format("peers, {} = {}: {}", name_of(spec_.axis), points_[i].value, words));
      };
      for (Measurement& m : callbacks_.peers->measure(round, now, stop)) add_peer(std::move(m));
    }
  }

  // Rows of an earlier run in whose turns all of ours were.
  void keep_peers(PeerRound& round) {
    std::erase_if(round.peers, [&](const std::string& id) {
      const auto found = std::ranges::find_if(callbacks_.kept, [&](const Measurement& m) {
        return m.peer && m.key.kernel == id && m.state == RowState::done && m.processor == round.processor &&
               m.key.problem == round.point.problem && !round.ours.empty() &&
               std::ranges::all_of(round.ours, [&](const Measurement& our) { return beside(m, our) != nullptr; });
      });
      if (found == callbacks_.kept.end()) return false;
      add_peer(*found);
      return true;
    });
  }

  void add_peer(Measurement m) {
    rows_.push_back(std::move(m));
    relate_to_baseline(rows_.back(), rows_);
    if (callbacks_.row) callbacks_.row(rows_.back());
  }

  const SweepSpec& spec_;
  const SweepCallbacks& callbacks_;
  std::vector<SweepPoint> points_;
  std::vector<PointCost> costs_;
  TimeLeft time_;
  Device cpu_ = cpu_device();
  std::vector<Measurement> rows_;
};

}  // namespace

Result<std::vector<Measurement>> run_sweep(const SweepSpec& s, std::span<const KernelRow* const> rows,
                                           const SweepCallbacks& callbacks, std::stop_token stop) {
  if (auto valid = validate(s, rows); !valid) return tl::unexpected(valid.error());
  SweepSpec with_peak = s;
  const bool on_cpu =
      std::any_of(rows.begin(), rows.end(), [](const auto* row) { return row->processor == Processor::cpu; });
  if (!on_cpu) return Sweep(with_peak, rows, callbacks).run(stop);
  if (with_peak.peak.gflops <= 0 && callbacks.progress)
    callbacks.progress({0, points_of(s, rows).size(), "the peak of this CPU", -1});
  if (with_peak.peak.gflops <= 0) with_peak.peak = measure_cpu_peak(cpu_device().cores, kPeakSeconds, s.memory_limit);
  return Sweep(with_peak, rows, callbacks).run(stop);
}

Result<std::vector<Measurement>> run_sweep(const SweepSpec& s, const SweepCallbacks& callbacks, std::stop_token stop) {
  const auto rows = kernels_of(s);
  if (!rows) return tl::unexpected(rows.error());
  return run_sweep(s, *rows, callbacks, stop);
}

}  // namespace attn
