#include "profiling/spec/sweep_point.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/ragged.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/validate.h"
#include "kernels/model/ring.h"
#include "profiling/spec/ring_point.h"

namespace attn {
namespace {

constexpr std::size_t kMaxValues = 1000;

Result<void> validate_limits(const SweepSpec& s) {
  if (!(s.seconds_per_point > 0 && s.seconds_per_point <= 3600))
    return bad_input(
        phrase("Invalid time limit of {} s per point; use a value above 0 and at most 3600.", s.seconds_per_point));
  if (s.min_repeats < 1 || s.min_repeats > 1000)
    return bad_input(phrase("Invalid minimum of {} repeats; use 1 to 1000.", s.min_repeats));
  if (s.ragged != Ragged::none && !s.base.mask.key_lengths.empty())
    return bad_input(phrase("Key lengths are given, but {} lengths would also be generated; omit one of the two.",
                            name_of(s.ragged)));
  if (s.tokens < 0) return bad_input(phrase("tokens is {}; it must be 0 (off) or more.", s.tokens));
  return ok();
}

Result<void> validate_values(const SweepSpec& s) {
  if (s.values.empty()) return bad_input(phrase("The sweep has no values for {}.", name_of(s.axis)));
  if (s.values.size() > kMaxValues)
    return bad_input(phrase("The sweep has {} values; the limit is {}.", s.values.size(), kMaxValues));
  const std::set<std::int64_t> distinct(s.values.begin(), s.values.end());
  if (distinct.size() != s.values.size())
    return bad_input(phrase("The sweep lists the same value of {} twice.", name_of(s.axis)));
  const AxisKind axis = kind_of(s.axis);
  if (axis.problem == nullptr && axis.option == nullptr) return tl::unexpected(axis_from_name(name_of(s.axis)).error());
  // 0 of an option that kernels share leaves it to them; of one that a kernel declares it is a value.
  const std::int64_t least = axis.option != nullptr && axis.option->get == nullptr ? 0 : 1;
  for (const std::int64_t value : s.values) {
    if (value < least || value > std::numeric_limits<std::int32_t>::max())
      return bad_input(phrase("{} = {} is out of range; use {} to {}.", name_of(s.axis), value, least,
                              std::numeric_limits<std::int32_t>::max()));
    if (axis.problem != nullptr && axis.problem->check != nullptr)
      if (auto good = axis.problem->check(s.base, value); !good) return good;
    if (auto valid = validate(problem_at(s, value)); !valid)
      return bad_input(fmt::format("{} = {}: {}", name_of(s.axis), value, valid.error().message));
  }
  return ok();
}

}  // namespace

Problem problem_at(const SweepSpec& s, std::int64_t value) {
  Problem p = s.base;
  const ProblemAxis* axis = kind_of(s.axis).problem;
  if (axis != nullptr) {
    axis->put(p, value);
    if (axis->keeps_tokens && s.tokens > 0 && value > 0) {
      p.B = std::max<std::int64_t>(1, s.tokens / value);
      let_bias_follow(p, 0, s.base.B, p.B);
    }
  }
  // The pool holds what the point has.
  if (p.storage.kind() == Storage::paged) p = paged_anew(std::move(p));
  if (s.ragged != Ragged::none) p.mask.key_lengths = ragged_lengths(s.ragged, p.B, p.Lk);
  return p;
}

Options options_at(const SweepSpec& s, std::int64_t value) {
  Options o = s.options;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (const Option* option = kind_of(s.axis).option) choose(o, *option, std::clamp<std::int64_t>(value, 0, kMost));
  return o;
}

Result<void> validate(const SweepSpec& s, std::span<const KernelRow* const> rows) {
  if (rows.empty()) return bad_input(tr("The sweep has no kernel; choose at least one."));
  std::set<std::string_view> seen;
  for (const KernelRow* row : rows) {
    if (!seen.insert(row->id).second) return bad_input(phrase("The sweep lists {} twice.", row->id));
    if (row->processor == Processor::cpu) continue;
    if (s.gpu < 0) return bad_input(phrase("Invalid GPU {}: GPU numbers start at 0.", s.gpu));
    if (auto arch = gpu::device_for(s.arch); !arch) return tl::unexpected(arch.error());
  }
  if (std::none_of(rows.begin(), rows.end(), [&](const KernelRow* row) { return reads_axis(*row, s.axis); }))
    return bad_input(phrase("{} does not affect these kernels; choose another axis, or cpu_flash.", name_of(s.axis)));
  const bool of_option = kind_of(s.axis).option != nullptr;
  if (s.tuned && (of_option || s.options.br != 0 || s.options.bc != 0))
    return bad_input(phrase("A tuned tile determines all options, so you cannot also set {}.",
                            of_option ? name_of(s.axis) : tr("a tile given in numbers")));
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

Point point_at(const SweepSpec& s, const KernelRow& row, std::int64_t value) {
  Point p{s, std::string(row.id), problem_at(s, value), options_at(s, value)};
  if (runs_as_ring(row, p.options) && p.options.threads == 0) {
    const bool along = kind_of(s.axis).option != nullptr && kind_of(s.axis).option->is(kRanks);
    const std::int64_t most = along && !s.values.empty() ? std::ranges::max(s.values) : ranks_of(p.options);
    p.options.threads = threads_of_rank(cpu_device().cores, most);
  }
  return p;
}

}  // namespace attn
