#include "viz/step/facts/m_changes.h"

#include <algorithm>
#include <cmath>

namespace attn {

std::vector<EventIndex> steps_where_m_changes(const Recording& rec, const StepPlace& place, std::int32_t row) {
  std::vector<EventIndex> steps;
  if (row < 0 || row >= rec.problem.Lq || !rec.options.subtract_max) return steps;
  const std::int32_t i = row / std::max(place.br, 1);
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
    const auto e = rec.find({place.b, place.h, i, j, Phase::max});
    if (!e) continue;
    const auto before = live_value(rec, *e, Slot::m_old, row, 0), after = live_value(rec, *e, Slot::m_new, row, 0);
    if (!before || !after) continue;
    const bool both_nan = std::isnan(*before) && std::isnan(*after);
    if (*before != *after && !both_nan) steps.push_back(*e);
  }
  // Keys may be visited from right to left.
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace attn
