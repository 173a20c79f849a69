#include "viz/step/orders/shared.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace attn::looks {
namespace {

using Values = std::span<const double>;

}  // namespace

void work_scores(const StepWork& c) {
  using enum TensorColour;
  const std::int32_t key = c.out.key;
  const auto score = c.live(Slot::s, key);
  if (!score) return;
  c.work({{"dot", c.dot(), Token::text}, {"scale_value", c.rec.problem.effective_scale(), Token::text}}, "s", *score, s,
         c.bound(Slot::s, key), [](Values x) { return x[0] * x[1]; });
}

void work_shape(const StepWork& c) {
  using enum TensorColour;
  const Problem& problem = c.rec.problem;
  const auto score = c.live(Slot::s, c.out.key);
  if (!problem.changes_scores() || !score || !c.out.conditions.contains("kept")) return;
  const double slope = problem.alibi ? static_cast<double>(problem.slope(c.at.b, c.at.h)) : 0;
  const auto distance = static_cast<double>(std::abs(c.at.row + problem.Lk - problem.Lq - c.out.key));
  const bool caps = problem.softcap.has_value();
  c.work({{"s_in", c.score_before(), s},
          {"cap", problem.softcap.value_or(1), Token::text},
          {"added", c.bias(), Token::text},
          {"slope", slope, Token::text},
          {"distance", distance, Token::text}},
         "s", *score, s, c.bound(Slot::s, c.out.key),
         [caps](Values x) { return (caps ? x[1] * std::tanh(x[0] / x[1]) : x[0]) + x[2] - x[3] * x[4]; });
  // As they were typed: no zeros behind them.
  if (caps) c.put_value("cap", fmt::format("{}", *problem.softcap), Token::text);
  c.put_value("distance", fmt::format("{}", distance), Token::text);
}

void work_maximum(const StepWork& c) {
  using enum TensorColour;
  const auto largest = c.row_max();
  if (!largest) return;
  c.work(
      {{"m_old", c.m_old, m}, {"rowmax", *largest, s}}, "m_new", c.m_new, m, c.bound(Slot::m_new),
      [&](Values x) {
        const bool stays = !c.rec.options.subtract_max || c.out.conditions.contains("below");
        return stays ? c.m_new : std::max(x[0], x[1]);
      },
      StepWork::kResultDigits);
}

void work_division(const StepWork& c) {
  using enum TensorColour;
  const auto l_new = c.newest_sum(), o_new = c.live(Slot::o_new, c.out.col);
  if (!o_new || !l_new) return;
  c.work({{"o_old", c.o_old, o}, {"l_new", *l_new, l}}, "o_new", *o_new, o, c.bound(Slot::o_new, c.out.col),
         [](Values x) { return x[1] == 0 ? 0 : x[0] / x[1]; });
}

void work_lse(const StepWork& c) {
  using enum TensorColour;
  const auto lse = c.live(Slot::lse), l_new = c.newest_sum();
  if (!lse || !l_new) return;
  // Of the sum that stands there, however far from fp64 that was rounded.
  c.work({{"m_new", c.m_new, m}, {"l_new", *l_new, l}}, "lse", *lse, l, 0,
         [](Values x) { return x[1] == 0 ? -std::numeric_limits<double>::infinity() : x[0] + std::log(x[1]); });
}

}  // namespace attn::looks
