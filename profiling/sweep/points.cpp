// What a sweep asks for: axis, points, and whether it can be asked at all.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "kernels/base/bytes.h"
#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/model/fits.h"
#include "kernels/own_kernels.h"
#include "profiling/figures/metrics.h"
#include "profiling/sweep/of_rows.h"
#include "profiling/sweep/points.h"
#include "profiling/sweep/sweep.h"
#include "profiling/sweep/time_left.h"

namespace attn {
namespace {

constexpr std::array<std::pair<Axis, std::string_view>, 7> kAxes{{{Axis::L, "L"},
                                                                  {Axis::B, "B"},
                                                                  {Axis::H, "H"},
                                                                  {Axis::D, "D"},
                                                                  {Axis::br, "br"},
                                                                  {Axis::bc, "bc"},
                                                                  {Axis::threads, "threads"}}};

constexpr std::size_t kMaxValues = 1000;

// Sets the L extents of a bias that spans them; extents of 1 are broadcast and stay.
void follow_extent(Problem& p, std::size_t axis, std::int64_t from, std::int64_t to) {
  if (p.bias_shape.size() == 4 && p.bias_shape[axis] == from && from != 1) p.bias_shape[axis] = to;
}

Result<void> validate_limits(const SweepSpec& s) {
  if (!(s.seconds_per_point > 0 && s.seconds_per_point <= 3600))
    return bad_input(
        fmt::format("The time limit of a point is {} s; it must be above 0 and at most 3600.", s.seconds_per_point));
  if (s.min_repeats < 1 || s.min_repeats > 1000)
    return bad_input(fmt::format("{} repeats at least are asked for; 1 to 1000 can be.", s.min_repeats));
  if (s.tokens < 0) return bad_input(fmt::format("tokens = {}; it must be 0 (off) or more.", s.tokens));
  return ok();
}

Result<void> validate_values(const SweepSpec& s) {
  if (s.values.empty()) return bad_input(fmt::format("The sweep has no value of {}.", name_of(s.axis)));
  if (s.values.size() > kMaxValues)
    return bad_input(fmt::format("The sweep has {} values; at most {} can be taken.", s.values.size(), kMaxValues));
  const std::set<std::int64_t> distinct(s.values.begin(), s.values.end());
  if (distinct.size() != s.values.size())
    return bad_input(fmt::format("A value of {} stands twice in the sweep.", name_of(s.axis)));
  const std::int64_t group = s.base.Hkv > 0 ? s.base.Hq / s.base.Hkv : 1;
  for (const std::int64_t value : s.values) {
    if (value < 1 || value > std::numeric_limits<std::int32_t>::max())
      return bad_input(fmt::format("{} = {} is out of range; 1 to {} would do.", name_of(s.axis), value,
                                   std::numeric_limits<std::int32_t>::max()));
    if (s.axis == Axis::H && group > 0 && value % group != 0)
      return bad_input(fmt::format("H = {} cannot keep {} query heads to a key head; multiples of {} would do.", value,
                                   group, group));
    if (auto valid = validate(problem_at(s, value)); !valid)
      return bad_input(fmt::format("{} = {}: {}", name_of(s.axis), value, valid.error().message));
  }
  return ok();
}

std::optional<Option> option_of(Axis a) {
  switch (a) {
    case Axis::br:
      return Option::br;
    case Axis::bc:
      return Option::bc;
    case Axis::threads:
      return Option::threads;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string_view name_of(Axis a) {
  for (const auto& [axis, name] : kAxes)
    if (axis == a) return name;
  return "?";
}

Result<Axis> axis_from_name(std::string_view name) {
  for (const auto& [axis, n] : kAxes)
    if (n == name) return axis;
  return bad_input(fmt::format("'{}' is no axis of a sweep; there are L, B, H, D, br, bc and threads.", name));
}

Problem problem_at(const SweepSpec& s, std::int64_t value) {
  Problem p = s.base;
  switch (s.axis) {
    case Axis::L:
      p.Lq = p.Lk = value;
      follow_extent(p, 2, s.base.Lq, p.Lq);
      follow_extent(p, 3, s.base.Lk, p.Lk);
      if (s.tokens > 0 && value > 0) {
        p.B = std::max<std::int64_t>(1, s.tokens / value);
        follow_extent(p, 0, s.base.B, p.B);
      }
      break;
    case Axis::B:
      p.B = value;
      follow_extent(p, 0, s.base.B, p.B);
      break;
    case Axis::H: {
      const std::int64_t group = s.base.Hkv > 0 ? std::max<std::int64_t>(1, s.base.Hq / s.base.Hkv) : 1;
      p.Hq = value;
      p.Hkv = std::max<std::int64_t>(1, value / group);
      follow_extent(p, 1, s.base.Hq, p.Hq);
      break;
    }
    case Axis::D:
      p.D = value;
      if (s.base.Dv == s.base.D) p.Dv = value;
      break;
    case Axis::br:
    case Axis::bc:
    case Axis::threads:
      break;
  }
  return p;
}

Options options_at(const SweepSpec& s, std::int64_t value) {
  Options o = s.options;
  const auto chosen =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::int32_t>::max()));
  if (s.axis == Axis::br) o.br = chosen;
  if (s.axis == Axis::bc) o.bc = chosen;
  if (s.axis == Axis::threads) o.threads = chosen;
  return o;
}

Point point_at(const SweepSpec& s, const KernelRow& row, std::int64_t value) {
  return {s, std::string(row.id), problem_at(s, value), options_at(s, value)};
}

bool reads_axis(const KernelRow& row, Axis a) {
  const auto option = option_of(a);
  return !option || std::any_of(row.options.begin(), row.options.end(),
                                [&](const OptionSpec& spec) { return spec.option == *option && spec.min < spec.max; });
}

Result<void> validate_points(const SweepSpec& s, std::span<const KernelRow* const> rows) {
  if (rows.empty()) return bad_input("The sweep has no kernel.");
  std::set<std::string_view> seen;
  for (const KernelRow* row : rows) {
    if (!seen.insert(row->id).second) return bad_input(fmt::format("{} stands twice in the sweep.", row->id));
    if (row->processor == Processor::cpu) continue;
    if (s.gpu < 0) return bad_input(fmt::format("GPU {} cannot be: the first is 0.", s.gpu));
    if (auto arch = gpu::device_for(s.arch); !arch) return tl::unexpected(arch.error());
  }
  if (std::none_of(rows.begin(), rows.end(), [&](const KernelRow* row) { return reads_axis(*row, s.axis); }))
    return bad_input(
        fmt::format("{} changes nothing in these kernels: choose another axis, or cpu_flash.", name_of(s.axis)));
  if (s.tuned && (option_of(s.axis) || s.options.br != 0 || s.options.bc != 0))
    return bad_input(fmt::format("A tuned tile leaves nothing to choose of it: {} cannot be asked for besides.",
                                 option_of(s.axis) ? name_of(s.axis) : "a tile of numbers"));
  if (auto limits = validate_limits(s); !limits) return limits;
  return validate_values(s);
}

Result<std::vector<const KernelRow*>> kernels_of(const SweepSpec& s) {
  std::vector<const KernelRow*> rows;
  for (const std::string& id : s.kernels) {
    const auto row = find_kernel(id, s.own);
    if (!row) return tl::unexpected(row.error());
    rows.push_back(*row);
  }
  return rows;
}

Result<void> validate(const SweepSpec& s) {
  const auto rows = kernels_of(s);
  if (!rows) return tl::unexpected(rows.error());
  return validate_points(s, *rows);
}

Result<void> validate(const SweepSpec& s, std::span<const KernelRow* const> rows) {
  return validate_points(s, rows);
}

std::vector<SweepPoint> points_of(const SweepSpec& s, std::span<const KernelRow* const> rows) {
  std::vector<const KernelRow*> ordered(rows.begin(), rows.end());
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const KernelRow* row) { return row->id == baseline_of(row->processor); });
  std::vector<SweepPoint> points;
  for (const std::int64_t value : s.values)
    for (const KernelRow* row : ordered)
      if (reads_axis(*row, s.axis) || value == s.values.front()) points.push_back({row, value});
  return points;
}

PointCost cost_of(const SweepSpec& s, const SweepPoint& point) {
  return {std::string(point.row->id), problem_at(s, point.value).flops()};
}

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
  if (e.max_bytes == 0) return format_bytes(e.max_gpu_bytes) + " on the GPU";
  return fmt::format("{} here and {} on the GPU", format_bytes(e.max_bytes), format_bytes(e.max_gpu_bytes));
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
  if (auto valid = validate_points(s, rows); !valid) {
    e.words = valid.error().message;
    return e;
  }
  const std::vector<SweepPoint> points = points_of(s, rows);
  TimeLeft time(s.seconds_per_point, s.min_repeats);
  for (const Measurement& m : known)
    if (m.time.n > 0) time.knows(m.key.kernel, m.key.problem.flops() / (m.time.median * 1e-6));
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
  const std::string count = points.size() == 1 ? "1 point" : fmt::format("{} points", points.size());
  e.from_rates = time.knows_all(costs);
  e.seconds = e.from_rates ? time.seconds(costs) : static_cast<double>(points.size()) * s.seconds_per_point;
  e.words = fmt::format("{}, at most {} at a time, ", count, memory_words(e));
  e.words += e.from_rates ? "about " + seconds_words(e.seconds, false)
                          : fmt::format("up to {} of repeats ({} s a point, or {} runs)",
                                        seconds_words(e.seconds, true), s.seconds_per_point, s.min_repeats);
  return e;
}

}  // namespace attn
