// m, α and P.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/base/dtype.h"
#include "kernels/base/text.h"
#include "kernels/judge/first_wrong/causes.h"
#include "kernels/model/traffic.h"

namespace attn::causes {
std::string max_cause(const Operands& in, Elements elements) {
  const auto tile_max = [&in](std::int32_t r, std::int32_t) { return Value{in.row_max(r), 0}; };
  const auto all_rows = [&in](std::int32_t, std::int32_t) {
    double best = -kInf;
    for (std::int32_t r = 0; r < in.rows(Slot::s); ++r) best = std::max({best, in.row_max(r), in.at(Slot::m_old, r)});
    return Value{best, 0};
  };
  const bool all_zero = in.all_are(Slot::m_new, 0);
  std::string words = first_that_fits(
      {{tr("The old maximum is not carried over: m covers only this tile, so it can fall."), tile_max},
       {tr("m was not raised: it kept its old value although this tile has a larger score."),
        [&in](std::int32_t r, std::int32_t) {
          return Value{in.at(Slot::m_old, r), 0};
        }},
       {tr("No maximum is taken, so m stays 0, and exp can overflow."),
        [all_zero](std::int32_t, std::int32_t) {
          return all_zero ? Value{0, 0} : Value{};
        }},
       {in.first_tile_of_row()
            ? tr("m starts at 0 instead of −∞, or positions past the last key are counted with a score of 0.")
            : tr("Positions past the last key are counted with a score of 0."),
        [&in](std::int32_t r, std::int32_t) {
          return Value{std::max({0.0, in.row_max(r), in.at(Slot::m_old, r)}), 0};
        }},
       {tr("Rows share one maximum: m is the largest score of all rows in the tile."), all_rows}},
      elements);
  if (!words.empty()) return words;
  return part_of_columns(tr("m is the largest of"), in.cols(Slot::s), elements,
                         [&in](std::int32_t r, const Columns& takes) {
                           double best = in.at(Slot::m_old, r);
                           for (std::int32_t c = 0; c < in.cols(Slot::s); ++c)
                             if (takes(c)) best = std::max(best, in.at(Slot::s, r, c));
                           return Value{best, 0};
                         });
}

std::string rescale_cause(const Operands& in, Elements elements) {
  const auto old = [&in](std::int32_t r) { return in.at(Slot::m_old, r); };
  const auto now = [&in](std::int32_t r) { return in.at(Slot::m_new, r); };
  const bool guard = std::ranges::all_of(elements, [&](const WrongElement& x) {
    return std::isnan(x.recorded) && old(x.row) == -kInf && now(x.row) == -kInf;
  });
  if (guard)
    return tr(
        "−∞ − (−∞): no key has been seen yet, so m is −∞ before and after, and α lacks the guard that makes it 1.");
  return first_that_fits(
      {{tr("α was forgotten: it is 1 although m rose."),
        [](std::int32_t, std::int32_t) {
          return Value{1, 0};
        }},
       {tr("α is 0 although something was summed before: the old maximum was read as −∞, so nothing was "
           "carried over."),
        [](std::int32_t, std::int32_t) {
          return Value{0, 0};
        }},
       {tr("α is inverted: exp(m_old − m_new) became exp(m_new − m_old)."),
        [&](std::int32_t r, std::int32_t) {
          return Value{std::exp(now(r) - old(r)), 0};
        }},
       {tr("α is computed as 2^x although the maxima are in base e."),
        [&](std::int32_t r, std::int32_t) {
          return Value{std::exp2(old(r) - now(r)), 0};
        }},
       {tr("α is the ratio of the maxima; it should be e to the power of their difference."),
        [&](std::int32_t r, std::int32_t) {
          return Value{old(r) / now(r), 0};
        }}},
      elements);
}

std::string weights_cause(const Operands& in, Elements elements) {
  const auto s = [&in](std::int32_t r, std::int32_t c) { return in.at(Slot::s, r, c); };
  const auto m = [&in](std::int32_t r) { return in.at(Slot::m_new, r); };
  const bool guard =
      std::ranges::all_of(elements, [&](const WrongElement& x) { return std::isnan(x.recorded) && m(x.row) == -kInf; });
  if (guard)
    return tr(
        "−∞ − (−∞): the row has seen no key yet, so its m is −∞, and exp(S − m) lacks the guard that uses 0 for m.");
  constexpr double kLargestExponent = 88.7;  // ln of the largest fp32
  if (all_nan(elements) && std::ranges::all_of(elements, [&](const WrongElement& x) {
        return s(x.row, x.col) > kLargestExponent && std::isfinite(m(x.row));
      }))
    return tr("exp(S) is ∞, and ∞ · exp(−m) = ∞ · 0 is NaN; subtract m before taking the exponential.");
  std::vector<Cause> causes{{tr("The maximum is not subtracted: P is exp(S)."),
                             [&](std::int32_t r, std::int32_t c) {
                               return Value{std::exp(s(r, c)), 0};
                             }},
                            {tr("The old maximum was subtracted instead of the new one."),
                             [&](std::int32_t r, std::int32_t c) {
                               return Value{std::exp(s(r, c) - in.at(Slot::m_old, r)), 0};
                             }},
                            {tr("P is computed as 2^x although S and m are in base e."),
                             [&](std::int32_t r, std::int32_t c) {
                               return Value{std::exp2(s(r, c) - m(r)), 0};
                             }},
                            {tr("The exponential is missing: P is S − m."), [&](std::int32_t r, std::int32_t c) {
                               return Value{s(r, c) - m(r), std::fabs(s(r, c)) + std::fabs(m(r))};
                             }}};
  if (stores_scores(in.recording().order)) {
    causes.push_back({tr("P is not divided by ℓ."), [&](std::int32_t r, std::int32_t c) {
                        return Value{std::exp(s(r, c) - m(r)), 0};
                      }});
  }
  return first_that_fits(causes, elements);
}

}  // namespace attn::causes
