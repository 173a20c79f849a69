#include "viz/profile/timeline/scene/shown_part.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "viz/profile/timeline/scene/followed.h"

namespace attn {
namespace {

constexpr std::int64_t kTilesShown = 6;
constexpr std::ptrdiff_t kMostStretches = 120;  // of the path: more are a net

void set_ticks(PipelineScene& s) {
  s.ticks.clear();
  const double first_ns = static_cast<double>(s.from) * s.ns_a_clock,
               last_ns = static_cast<double>(s.to) * s.ns_a_clock;
  const double span = last_ns - first_ns;
  double step = std::pow(10, std::floor(std::log10(std::max(span, 1.0) / 6)));
  for (const double more : {2.0, 2.5, 2.0})
    if (span / step > 9) step *= more;
  const int digits = step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
  // Of whole steps, so that nothing is left of their sum; + 0.0: zero has no sign.
  for (double n = std::ceil(first_ns / step); n * step <= last_ns && s.ticks.size() < 20; ++n)
    s.ticks.push_back({static_cast<std::int64_t>(std::llround(n * step / s.ns_a_clock)),
                       fmt::format("{:.{}f}", n * step * 1e-3 + 0.0, digits)});
}

bool path_is_seen(const PipelineScene& s) {
  return std::ranges::count_if(s.path, [&](const PathStretch& p) { return p.to > s.from && p.from < s.to; }) <=
         kMostStretches;
}

// The second's window: as many nanoseconds, so placed that the first consumer hands over the same product at the same
// place of the axis.
void align(const PipelineScene& s, PipelineScene& beside) {
  const double ratio = s.ns_a_clock / beside.ns_a_clock;
  const auto other = [&](std::int64_t clocks) { return std::llround(static_cast<double>(clocks) * ratio); };
  const auto nth = aligned_product(s, beside);
  beside.from = nth ? beside.issues[*nth] - other(s.issues[*nth] - s.from) : other(s.from);
  beside.to = beside.from + std::max<std::int64_t>(1, other(s.to - s.from));
  beside.follow = s.follow;
  beside.with_path = s.path_wanted && path_is_seen(beside);
  set_ticks(beside);
}

// From the first of its products S to the last: of one query tile, whose key tiles follow one another, and how many of
// the consumers have at least as many products as key tiles lie between. 0: not of one.
std::size_t at_work_in_one(const PipelineScene& s, std::int64_t from, std::int64_t to, std::size_t tiles) {
  const auto first = static_cast<std::size_t>(std::ranges::lower_bound(s.issues, from) - s.issues.begin());
  const std::int32_t by = s.issue_tiles[first + 1] - s.issue_tiles[first];
  for (std::size_t n = first; n < first + tiles; ++n)
    if (s.issue_tiles[n + 1] - s.issue_tiles[n] != by) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(s.rows, [&](const TimelineRow& row) {
    const auto products = std::ranges::count_if(row.stretches, [&](const TimelineStretch& p) {
      return p.ink == Ink(TensorColour::s) && p.from >= from && p.from < to;
    });
    // Consumers stand at different places of their loops.
    return row.kind == RowKind::products && products + 1 >= static_cast<std::ptrdiff_t>(tiles);
  }));
}

// Both are seen in a query tile with as many consumers at work.
bool at_equal_work(const PipelineScene& s) {
  constexpr std::size_t kLeast = 3;  // key tiles
  const auto a = ahead_of(s);
  if (!a || a->tiles < kLeast) return false;
  const std::size_t above = at_work_in_one(s, a->from_above, a->above, a->tiles),
                    below = at_work_in_one(*s.beside, a->from_below, a->below, a->tiles);
  return above > 0 && above == below &&
         computing_consumers(s, a->from_above, a->above) == computing_consumers(*s.beside, a->from_below, a->below);
}

// The window nearest to the chosen one where two are at the same work: a query tile may leave a consumer without rows.
void seek_equal_work(PipelineScene& s) {
  constexpr std::size_t kMost = 200;  // windows
  if (computing_consumers(s, 0, s.length) != computing_consumers(*s.beside, 0, s.beside->length)) return;
  const std::int64_t from = s.from, part = s.to - s.from;
  const auto put = [&](std::int64_t at) {
    s.from = std::clamp<std::int64_t>(at, 0, s.length - part);
    s.to = s.from + part;
    align(s, *s.beside);
    return at_equal_work(s);
  };
  if (put(from)) return;
  std::vector<std::int64_t> starts;
  starts.reserve(s.issues.size());
  for (const std::int64_t issue : s.issues) starts.push_back(issue - s.tile_clocks / 4);
  std::ranges::stable_sort(starts, {}, [&](std::int64_t at) { return std::abs(at - from); });
  if (starts.size() > kMost) starts.resize(kMost);
  for (const std::int64_t at : starts)
    if (put(at)) return;
  put(from);
}

}  // namespace

std::size_t computing_consumers(const PipelineScene& scene, std::int64_t from, std::int64_t to) {
  return static_cast<std::size_t>(std::ranges::count_if(scene.rows, [&](const TimelineRow& row) {
    return row.kind == RowKind::products && std::ranges::any_of(row.stretches, [&](const TimelineStretch& x) {
             return x.ink == Ink(TensorColour::s) && x.to > from && x.from < to;
           });
  }));
}

void show_part(PipelineScene& s, const ProfileView& view) {
  if (!s.there) return;
  const auto clocks = [&](double ns) { return static_cast<std::int64_t>(std::llround(ns / s.ns_a_clock)); };
  // Nothing chosen: some key tiles in the middle, so that single states are seen.
  const std::int64_t part = std::min(s.length, kTilesShown * s.tile_clocks);
  s.from = (s.length - part) / 2;
  s.to = s.from + part;
  if (view.time_to_ns > view.time_from_ns) {
    s.from = std::clamp<std::int64_t>(clocks(static_cast<double>(view.time_from_ns)), 0, s.length - 1);
    s.to = std::clamp<std::int64_t>(clocks(static_cast<double>(view.time_to_ns)), s.from + 1, s.length);
  }
  s.sms_shown = view.time_sms;
  s.follow = view.key_tile;
  const bool chosen = view.time_to_ns > view.time_from_ns;
  if (!chosen && s.beside != nullptr) seek_equal_work(s);
  if (!chosen)
    if (const auto elsewhere = followed_elsewhere(s)) std::tie(s.from, s.to) = window_about(s, *elsewhere);
  s.whole = s.from == 0 && s.to == s.length;
  s.path_wanted = view.time_path;
  s.with_path = view.time_path && path_is_seen(s);
  set_ticks(s);
  if (s.beside != nullptr) align(s, *s.beside);
}

}  // namespace attn
