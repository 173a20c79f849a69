#include "profiling/spec/sweep_spec.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "kernels/gpu/rungs/rows.h"

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

Result<void> validate(const SweepSpec& s, std::span<const KernelRow* const> rows) {
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
  return validate(s, *rows);
}

}  // namespace attn
