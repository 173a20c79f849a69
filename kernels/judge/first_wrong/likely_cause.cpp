#include "kernels/judge/first_wrong/likely_cause.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/base/dtype.h"
#include "kernels/base/text.h"
#include "kernels/judge/first_wrong/causes.h"
#include "kernels/model/order_row.h"

namespace attn {
namespace causes {
namespace {

bool fits(double recorded, const Value& v) {
  if (std::isnan(recorded) || std::isnan(v.x)) return std::isnan(recorded) && std::isnan(v.x);
  if (!std::isfinite(recorded) || !std::isfinite(v.x)) return recorded == v.x;
  return std::fabs(recorded - v.x) <= 1e-5 * std::max(v.size, std::fabs(v.x)) + 1e-30;
}

}  // namespace

std::string first_that_fits(const std::vector<Cause>& causes, Elements elements) {
  for (const Cause& cause : causes) {
    const bool all = std::ranges::all_of(
        elements, [&](const WrongElement& x) { return fits(x.recorded, cause.formula(x.row, x.col)); });
    if (all) return cause.words;
  }
  return {};
}

bool all_nan(Elements elements) {
  return std::ranges::all_of(elements, [](const WrongElement& x) { return std::isnan(x.recorded); });
}

std::optional<double> common_factor(Elements elements) {
  double factor = 0;
  for (const WrongElement& x : elements) {
    if (!std::isfinite(x.recorded) || std::fabs(x.right) < 1e-6) return std::nullopt;
    const double now = x.recorded / x.right;
    if (factor != 0 && std::fabs(now - factor) > 1e-4 * std::fabs(factor)) return std::nullopt;
    factor = now;
  }
  return factor == 0 ? std::nullopt : std::optional(factor);
}

std::string narrow_cause(std::string_view letter, Elements elements, double steps) {
  for (const DType t : {DType::bf16, DType::f16}) {
    const bool all = std::ranges::all_of(elements, [t, steps](const WrongElement& x) {
      const auto recorded = static_cast<float>(x.recorded);
      const double room = steps * epsilon_of(t) / 2 * std::fabs(x.right);
      return round_to(t, recorded) == recorded && std::fabs(x.recorded - x.right) <= room;
    });
    if (all) {
      return phrase("{} is kept in {}: each number is rounded to the nearest value of that type.", letter, name_of(t));
    }
  }
  return {};
}

std::string part_of_columns(std::string_view verb, std::int32_t cols, Elements elements,
                            const std::function<Value(std::int32_t row, const Columns& takes)>& of) {
  std::vector<Cause> causes;
  // As lanes of a warp and their exchanges divide them: the halves of 2, 4, 8, ... columns.
  for (std::int32_t width = 2; width / 2 < cols; width *= 2) {
    for (const bool low : {true, false}) {
      const Columns takes = [=](std::int32_t c) { return (c % width < width / 2) == low; };
      causes.push_back({phrase("{} only the columns whose index modulo {} is {} {}. Part of the reduction is missing, "
                               "such as an exchange between lanes.",
                               verb, width, low ? "below" : "at least", width / 2),
                        [&of, takes](std::int32_t row, std::int32_t) { return of(row, takes); }});
    }
  }
  return first_that_fits(causes, elements);
}

}  // namespace causes

std::string likely_cause(const Recording& wrong, const Recording& right, const FirstWrong& at, EventIndex right_event,
                         std::span<const WrongElement> elements) {
  if (at.written) return tr("The last step is correct, but something else was stored; look at the write to memory.");
  const OrderPhase* phase = order_row(wrong.order).phase(wrong.events[at.event].id.phase);
  if (phase == nullptr || phase->cause == nullptr) return {};
  return phase->cause({wrong, right, at, right_event, elements});
}

}  // namespace attn
