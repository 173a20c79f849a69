#include "viz/step/facts/abreast.h"

#include <algorithm>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "viz/step/facts/side_by_side.h"

namespace attn {

std::int64_t abreast(const Recording& rec) {
  return order_row(rec.order).abreast == Abreast::rows ? rec.query_tiles() : splits_of(rec.options);
}

std::optional<EventIndex> last_abreast(const Recording& rec, EventIndex now, std::int64_t lane) {
  const bool rows = order_row(rec.order).abreast == Abreast::rows;
  const EventId& id = rec.events[now].id;
  for (EventIndex e = now + 1; e-- > 0;) {
    const EventId& other = rec.events[e].id;
    if (other.b != id.b || other.h != id.h || (other.i != id.i && !rows)) break;
    if (rec.lane_of(e) == lane) return e;
  }
  return std::nullopt;
}

LaneTitle lane_title(const Recording& rec, std::int64_t lane, std::optional<EventIndex> e) {
  if (order_row(rec.order).abreast == Abreast::rows) {
    const std::int64_t br = std::min<std::int64_t>(rec.options.br, rec.problem.Lq), first = lane * br;
    LaneTitle out{phrase("Consumer {}", lane),
                  {word(phrase("rows {} to {}", first, std::min(first + br, rec.problem.Lq) - 1))}};
    const auto words = side_by_side_of(rec).lane_words;
    if (!e || words == nullptr) return out;
    out.words.push_back(word(", "));
    for (TextRun& run : words(rec, *e)) out.words.push_back(std::move(run));
    return out;
  }
  const KeyParts parts{rec.key_tiles(), splits_of(rec.options)};
  const std::int64_t bc = std::min<std::int64_t>(rec.options.bc, rec.problem.Lk);
  const std::int64_t first = parts.first(lane) * bc, end = std::min(parts.end(lane) * bc, rec.problem.Lk);
  return {phrase("Part {} of {}", lane + 1, parts.parts),
          {word(phrase("keys {} to {}, as if there were no others", first, end - 1))}};
}

}  // namespace attn
