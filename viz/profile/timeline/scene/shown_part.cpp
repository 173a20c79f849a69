#include "viz/profile/timeline/scene/shown_part.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "viz/profile/timeline/scene/common_part.h"
#include "viz/profile/timeline/scene/comparison.h"
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

}  // namespace

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
  if (!chosen && s.beside != nullptr) {
    s.from = common_part(s);
    s.to = s.from + part;
  }
  if (!chosen)
    if (const auto elsewhere = followed_elsewhere(s)) std::tie(s.from, s.to) = window_about(s, *elsewhere);
  s.whole = s.from == 0 && s.to == s.length;
  s.path_wanted = view.time_path;
  s.with_path = view.time_path && path_is_seen(s);
  set_ticks(s);
  if (s.beside == nullptr) return;
  align(s, *s.beside);
  tell_comparison(s);
}

}  // namespace attn
