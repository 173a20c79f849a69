#include "profiling/figures/metric_makers.h"

#include <string>

#include <fmt/format.h>

namespace attn::metric_rows {

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

}  // namespace attn::metric_rows
