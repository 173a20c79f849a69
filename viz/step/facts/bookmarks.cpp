#include "viz/step/facts/bookmarks.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/base/text.h"
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
  return fmt::format("{}{}{}", words, words.empty() ? "" : ": ", letter_of(id.phase));
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
