#include "viz/learn/card/number_bar.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "viz/draw/number_text.h"

namespace attn {
namespace {

constexpr int kPlaces = 100;        // of an even line
constexpr int kPlacesADecade = 20;  // that arrow keys step over
constexpr int kQuarters = 4;

}  // namespace

double NumberScale::share_of(double value) const {
  if (decades && !(value > 0)) return 0;
  const double at = decades ? std::log(value / from) / std::log(to / from) : (value - from) / (to - from);
  return std::clamp(at, 0.0, 1.0);
}

double NumberScale::value_at(double share) const {
  share = std::clamp(share, 0.0, 1.0);
  if (decades) return std::clamp(value_of(significant_text(from * std::pow(to / from, share), 2)), from, to);
  return from + (to - from) * std::round(share * kPlaces) / kPlaces;
}

double NumberScale::stepped(double value, int steps) const {
  if (!decades) return value_at(share_of(value) + static_cast<double>(steps) / kPlaces);
  const double share = steps / (kPlacesADecade * std::log10(to / from));
  const double next = value_at(share_of(value) + share);
  // Two digits can round a step away.
  return next == value && steps != 0 ? value_at(share_of(value) + 2 * share) : next;
}

std::vector<NumberTick> ticks_of(const NumberScale& scale) {
  std::vector<NumberTick> ticks;
  if (!scale.decades) {
    for (int n = 0; n <= kQuarters; ++n) {
      const double share = static_cast<double>(n) / kQuarters;
      ticks.push_back({share, fmt::format("{:.3g}", scale.from + (scale.to - scale.from) * share)});
    }
    return ticks;
  }
  const int first = static_cast<int>(std::ceil(std::log10(scale.from) - 1e-9)),
            last = static_cast<int>(std::floor(std::log10(scale.to) + 1e-9));
  for (int n = first; n <= last; ++n) {
    const double value = std::pow(10.0, n);
    ticks.push_back({scale.share_of(value), fmt::format("{:g}", value)});
  }
  return ticks;
}

std::string dragged_text(double value) {
  return fmt::format("{:.6g}", value);
}

}  // namespace attn
