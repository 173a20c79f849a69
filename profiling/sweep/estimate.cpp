#include "profiling/sweep/estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/model/fits.h"
#include "kernels/model/problem/costs.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/sweep/points.h"
#include "profiling/sweep/time_left.h"

namespace attn {
namespace {

// Bytes of one point: the plan's where there is one, else those of its tensors.
std::uint64_t bytes_of(const SweepSpec& s, const SweepPoint& point, const Device& device) {
  const Problem p = problem_at(s, point.value);
  const Options o = options_at(s, point.value);
  if (!point.row->supports(*point.row, p, o, device)) return 0;  // refused: takes nothing
  const auto plan = point.row->plan(*point.row, p, o, device);
  return plan ? bytes_needed(*plan) : tensor_bytes(p);
}

std::string memory_words(const SweepEstimate& e) {
  if (e.max_gpu_bytes == 0) return format_bytes(e.max_bytes);
  if (e.max_bytes == 0) return phrase("{} on the GPU", format_bytes(e.max_gpu_bytes));
  return phrase("{} here and {} on the GPU", format_bytes(e.max_bytes), format_bytes(e.max_gpu_bytes));
}

// `most`: no less is said than it may be; 12.5 s are up to 13 s.
std::string seconds_words(double seconds, bool most) {
  const double number = seconds < 90 ? std::max(1.0, seconds) : seconds / 60;
  return fmt::format("{:.0f} {}", most ? std::ceil(number) : number, seconds < 90 ? "s" : "min");
}

}  // namespace

SweepEstimate estimate(const SweepSpec& s, std::span<const Measurement> known) {
  const auto rows = kernels_of(s);
  if (rows) return estimate(s, *rows, known);
  SweepEstimate e;
  e.words = rows.error().message;
  return e;
}

SweepEstimate estimate(const SweepSpec& s, std::span<const KernelRow* const> rows, std::span<const Measurement> known) {
  SweepEstimate e;
  if (auto valid = validate(s, rows); !valid) {
    e.words = valid.error().message;
    return e;
  }
  const std::vector<SweepPoint> points = points_of(s, rows);
  TimeLeft time(s.seconds_per_point, s.min_repeats);
  for (const Measurement& m : known)
    if (m.time.n > 0) time.knows(m.key.kernel, flops_of(m.key.problem) / (m.time.median * 1e-6));
  std::vector<PointCost> costs;
  const Device cpu = cpu_device();
  const auto gpu = gpu::device_for(s.arch);
  for (const SweepPoint& point : points) {
    costs.push_back(cost_of(s, point));
    if (point.row->processor == Processor::cpu)
      e.max_bytes = std::max(e.max_bytes, bytes_of(s, point, cpu));
    else if (gpu)
      e.max_gpu_bytes = std::max(e.max_gpu_bytes, bytes_of(s, point, *gpu));
  }
  const std::string count = plural(points.size(), "{} point", "{} points");
  e.from_rates = time.knows_all(costs);
  e.seconds = e.from_rates ? time.seconds(costs) : static_cast<double>(points.size()) * s.seconds_per_point;
  e.words = e.from_rates
                ? phrase("{}, at most {} at a time, about {}", count, memory_words(e), seconds_words(e.seconds, false))
                : phrase("{}, at most {} at a time, up to {} of measuring ({} s per point, but at least {} repeats)",
                         count, memory_words(e), seconds_words(e.seconds, true), s.seconds_per_point, s.min_repeats);
  return e;
}

}  // namespace attn
