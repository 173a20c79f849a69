#include "viz/step/facts/landmarks.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/step/facts/letters.h"

namespace attn {

Bookmark bookmark_of(const Recording& rec, EventIndex e) {
  return {rec.events[e].id, rec.events[e].pass};
}

std::vector<EventIndex> bookmarked_steps(const Recording& rec, const std::vector<Bookmark>& bookmarks) {
  std::vector<EventIndex> steps;
  for (const Bookmark& b : bookmarks) {
    const auto e = rec.find(b.id, b.pass);
    // find() reads the pass of skipped tiles alone; another order's pass is another place.
    if (e && rec.events[*e].pass == b.pass) steps.push_back(*e);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

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

std::optional<EventIndex> merge_factors(const Recording& rec) {
  const OrderRow& row = order_row(rec.order);
  if (row.abreast != Abreast::parts) return std::nullopt;
  const auto merges = [&](const Event& e) {
    return !row.in_lane[static_cast<std::size_t>(e.id.phase)] && letter_of(e.id.phase) == "α";
  };
  const auto first = std::find_if(rec.events.begin(), rec.events.end(), merges);
  if (first == rec.events.end()) return std::nullopt;
  return static_cast<EventIndex>(std::find_if_not(first, rec.events.end(), merges) - rec.events.begin()) - 1;
}

std::string step_words(const Recording& rec, EventIndex e) {
  const EventId& id = rec.events[e].id;
  std::string words;
  const auto add = [&](const char* what, std::int32_t n) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", what, n);
  };
  if (rec.problem.B > 1) add(tr("batch"), id.b);
  if (rec.problem.Hq > 1) add(tr("head"), id.h);
  if (id.i >= 0) add(tr("query tile"), id.i);
  if (id.j >= 0) add(tr("key tile"), id.j);
  return fmt::format("{}{}{}", words, words.empty() ? "" : ": ", letter_of_step(rec, e));
}

EventIndex next_of(const std::vector<EventIndex>& steps, EventIndex from, int direction) {
  if (direction > 0) {
    const auto after = std::upper_bound(steps.begin(), steps.end(), from);
    return after == steps.end() ? kNoEvent : *after;
  }
  const auto at = std::lower_bound(steps.begin(), steps.end(), from);
  return at == steps.begin() ? kNoEvent : *(at - 1);
}

}  // namespace attn
