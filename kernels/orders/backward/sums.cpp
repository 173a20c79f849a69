#include "kernels/orders/backward/sums.h"

#include "kernels/orders/backward/names.h"

namespace attn::orders::backward {

VersionId key_sum_before(const Recording& rec, EventIndex e, Slot sum) {
  const EventId& id = rec.events[e].id;
  const BackwardNames& n = backward_names();
  const Phase adds = sum == n.dv ? n.value_gradient : n.key_gradient;
  const auto group = static_cast<std::int32_t>(rec.problem.Hq / rec.problem.Hkv);
  const std::int32_t first = id.h / group * group;
  // The step that ends the tile has no query tile, and stands for the whole group.
  const bool ends = id.i < 0;
  for (std::int32_t h = ends ? first + group - 1 : id.h; h >= first; --h) {
    for (std::int32_t i = !ends && h == id.h ? id.i - 1 : rec.query_tiles() - 1; i >= 0; --i) {
      if (const auto at = rec.find({id.b, h, i, id.j, adds})) return rec.after(*at, sum);
    }
  }
  return kNoVersion;
}

VersionId query_sum_before(const Recording& rec, EventIndex e, Slot sum) {
  const EventId& id = rec.events[e].id;
  for (std::int32_t j = id.j < 0 ? rec.key_tiles() - 1 : id.j - 1; j >= 0; --j) {
    if (const auto at = rec.find({id.b, id.h, id.i, j, backward_names().query_gradient})) return rec.after(*at, sum);
  }
  return kNoVersion;
}

VersionId scores_before_mask(const Recording& rec, EventIndex e) {
  EventId id = rec.events[e].id;
  id.phase = Phase::scores;
  const auto at = rec.find(id);
  return at ? rec.after(*at, Slot::s) : kNoVersion;
}

}  // namespace attn::orders::backward
