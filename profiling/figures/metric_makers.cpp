#include "profiling/figures/metric_makers.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace attn::metric_rows {
namespace {

// Why a row has no figures of a ring; empty: it has.
std::string_view no_ring(const Measurement& m) {
  return m.ranks && !m.ranks->devices.empty() ? "" : marked("it did not run on a ring; use attnscope ring");
}

}  // namespace

Figure untimed(const Measurement& m) {
  if (m.state == RowState::done) return none(marked("not timed"));
  return none(fmt::format("{}: {}", name_of(m.state), m.reason));
}

Figure rate_in_span(double bytes, const Figure& span, double time_us) {
  const double us = span.available() ? span.value : time_us;
  if (us <= 0) return {Origin::not_available, 0, "", marked("not timed")};
  return {Origin::derived, bytes / us * 1e-3,
          span.available() ? marked("from the first start to the last end") : marked("from the median time"), ""};
}

Figure share_of_roof(const Figure& rate, double roof, std::string_view name, std::string_view missing) {
  if (!rate.available()) return rate;
  if (roof <= 0) return {Origin::not_available, 0, "", std::string(missing)};
  return {Origin::derived, 100 * rate.value / roof, fmt::format("{} {:.4g} GB/s measured", name, roof), ""};
}

Figure ring_scaling(const Measurement& m) {
  if (const std::string_view why = no_ring(m); !why.empty()) return none(std::string(why));
  if (m.time.n == 0 || m.time.median <= 0) return none(marked("not timed"));
  if (m.ranks->devices.size() == 1) return {Origin::derived, 1, marked("one rank is the baseline for rings"), ""};
  if (m.ranks->one_rank_us <= 0) return none(marked("one rank with the whole problem was not measured"));
  return {Origin::derived, m.ranks->one_rank_us / m.time.median,
          fmt::format("one rank {:.4g} µs measured", m.ranks->one_rank_us), ""};
}

Figure ring_efficiency(const Measurement& m) {
  Figure scaling = ring_scaling(m);
  if (scaling.available()) scaling.value *= 100 / static_cast<double>(m.ranks->devices.size());
  return scaling;
}

Figure ring_sent_bytes(const Measurement& m) {
  if (const std::string_view why = no_ring(m); !why.empty()) return none(std::string(why));
  if (m.time.n == 0) return none(marked("not timed"));
  double sum = 0;
  for (const Rank& r : m.ranks->devices) sum += static_cast<double>(r.sent_bytes);
  return {Origin::measured, sum, "counted", ""};
}

Figure ring_link_share(const Measurement& m) {
  if (const std::string_view why = no_ring(m); !why.empty()) return none(std::string(why));
  if (m.time.n == 0) return none(marked("not timed"));
  if (m.ranks->devices.size() == 1) return none(marked("one rank sends nothing"));
  Figure slowest = none(marked("the time spent sending was not recorded"));
  for (const Rank& r : m.ranks->devices) {
    if (r.send_us <= 0) continue;
    const double gb_per_s = static_cast<double>(r.sent_bytes) / r.send_us * 1e-3;
    if (!slowest.available() || gb_per_s < slowest.value) slowest = {Origin::derived, gb_per_s, "", ""};
  }
  return share_of_roof(slowest, m.ranks->link_gb_per_s, "link", marked("the rate of the link was not measured"));
}

}  // namespace attn::metric_rows
