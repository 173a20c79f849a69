#include "viz/step/timeline/timeline.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "kernels/recording/lanes.h"
#include "viz/step/facts/landmarks.h"
#include "viz/step/facts/letters.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

// Which tile is outside: j in FlashAttention-1, else i. Naive and tiled come back to a tile in each pass.
bool same_track(const Recording& rec, const Event& a, const Event& b) {
  if (order_row(rec.order).abreast == Abreast::ranks) return same_turn(rec, a.id, b.id);
  if (a.id.b != b.id.b || a.id.h != b.id.h || a.pass != b.pass) return false;
  return order_row(rec.order).keys_outside ? a.id.j == b.id.j : a.id.i == b.id.i;
}

// What a pass over the rows or the keys alone makes: "δ", "dK, dV".
std::string made_in_pass(const OrderRow& order, std::int32_t pass) {
  std::string letters;
  for (const WalkStep& step : order.walk) {
    if (step.pass != pass || step.creates.empty()) continue;
    letters.clear();
    for (const Slot slot : step.creates) letters += (letters.empty() ? "" : ", ") + std::string(letter_of_slot(slot));
  }
  return letters;
}

std::string outer_words(const Recording& rec, const Event& e, bool one_row) {
  const OrderRow& order = order_row(rec.order);
  if (order.abreast == Abreast::ranks) {
    const std::int64_t turn = turn_of(rec, e.id);
    return turn < ranks_of(rec.options) ? phrase("turn {}", turn) : tr("after the last turn");
  }
  if (e.pass < order.first_tile_pass()) return phrase("before: {}", made_in_pass(order, e.pass));
  if (e.pass > order.last_tile_pass()) return phrase("after: {}", made_in_pass(order, e.pass));
  std::string words;
  if (order.keys_outside)
    words = phrase("key tile {}", std::max(e.id.j, 0));
  else
    words = phrase("query {} {}", one_row ? tr("row") : tr("tile"), std::max(e.id.i, 0));
  if (order.first_tile_pass() < order.last_tile_pass()) words = phrase("pass {}, {}", e.pass + 1, words);
  return words;
}

TrackChip chip_of(const Recording& rec, EventIndex e, EventIndex now) {
  const Phase phase = rec.events[e].id.phase;
  TrackChip chip;
  chip.event = e;
  chip.ink = chip.ink2 = ink_of(phase);
  chip.letter = letter_of(phase);
  chip.maths = phase_name(phase).maths;
  chip.past = e <= now;
  chip.live = e == now;
  chip.skipped = phase == Phase::skipped;
  const OrderPhase* of_order = order_row(rec.order).phase(phase);
  if (of_order != nullptr && of_order->loads == std::vector{Slot::k, Slot::v}) {
    chip.two = true;
    chip.ink2 = tensor_of(of_order->loads[1]);
  }
  return chip;
}

// Which inner tile an event is of, and what is said over its chips; -1: nothing.
struct Inner {
  std::int32_t tile = -1;
  bool merges = false;
  bool operator==(const Inner&) const = default;
};
Inner inner_of(const Recording& rec, EventIndex e) {
  const EventId& id = rec.events[e].id;
  const OrderRow& order = order_row(rec.order);
  if (order.abreast == Abreast::ranks && order.keys_outside)
    return {order.of_query_tile(id.phase) && id.j >= 0 ? id.i : -1, false};
  if (order.abreast == Abreast::ranks) {
    if (order.in_lane[static_cast<std::size_t>(id.phase)]) return {id.phase == Phase::load_q ? -1 : id.j, false};
    const bool merges = id.j >= 0 && id.phase != Phase::store_state && !order.sends(id.phase);
    return {merges ? 0 : -1, merges};
  }
  if (order.abreast != Abreast::parts) return {order.keys_outside ? id.i : id.j, false};
  // What begins and ends a part names its first key tile, a merge the part that goes into another.
  const bool of_part = id.phase == Phase::load_q || id.phase == Phase::store_state;
  const bool merges = id.j >= 0 && !rec.lane_of(e);
  return {of_part ? -1 : merges ? 0 : id.j, merges};
}

void add_groups(TimelineScene& scene, const Recording& rec) {
  const char* what = order_row(rec.order).keys_outside ? tr("query tile") : tr("key tile");
  for (std::size_t n = 0; n < scene.chips.size(); ++n) {
    const Inner inner = inner_of(rec, scene.chips[n].event);
    const bool start = n == 0 || inner != inner_of(rec, scene.chips[n - 1].event);
    const std::string title = inner.merges ? tr("merge") : fmt::format("{} {}", what, inner.tile);
    if (start) scene.groups.push_back({inner.tile < 0 ? "" : title, n, 0, false});
    ++scene.groups.back().count;
    scene.groups.back().live |= scene.chips[n].live;
  }
}

}  // namespace

std::vector<ScrubberMark> scrubber_marks(const Recording& rec) {
  std::vector<ScrubberMark> marks;
  const bool one_row = rec.options.br == 1 || (rec.options.br <= 0 && order_look(rec.order).row_by_row);
  // Heads that go round a ring together are marked by the first.
  const OrderRow& order = order_row(rec.order);
  const bool together = order.abreast == Abreast::ranks && order.heads_share_keys;
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const EventId& id = rec.events[e].id;
    if (rec.problem.B * rec.problem.Hq > 1) {
      // Several heads: the run is marked by head, and the track says which tile of it.
      const auto same_heads = [&](const EventId& before) {
        if (before.b != id.b) return false;
        return together ? rec.problem.kv_head(before.h) == rec.problem.kv_head(id.h) : before.h == id.h;
      };
      if (e > 0 && same_heads(rec.events[e - 1].id)) continue;
      marks.push_back({e, rec.problem.B > 1 ? phrase("batch {} head {}", id.b, id.h) : phrase("head {}", id.h), false});
      continue;
    }
    if (e > 0 && same_track(rec, rec.events[e - 1], rec.events[e])) continue;
    marks.push_back({e, outer_words(rec, rec.events[e], one_row), false});
  }
  return marks;
}

TimelineScene timeline_scene(const Recording& rec, const StepPlace& at, std::vector<ScrubberMark> marks,
                             const std::vector<Bookmark>& bookmarks) {
  TimelineScene scene;
  scene.bookmarks = bookmarked_steps(rec, bookmarks);
  scene.event = at.event;
  scene.events = static_cast<EventIndex>(rec.events.size());
  const Event& now = rec.events[at.event];
  scene.outer = outer_words(rec, now, at.br == 1);
  EventIndex first = at.event, last = at.event;
  while (first > 0 && same_track(rec, rec.events[first - 1], now)) --first;
  while (last + 1 < rec.events.size() && same_track(rec, rec.events[last + 1], now)) ++last;
  // Of parts that run side by side the one that is live, and what they end in.
  const auto lane = rec.lane_of(at.event);
  const bool ranks = order_row(rec.order).abreast == Abreast::ranks;
  const bool abreast = order_row(rec.order).abreast == Abreast::rows;
  scene.by_shift = ranks ? tr("turn") : tr("key tile");
  scene.by_ctrl = ranks ? tr("one rank") : abreast ? tr("same lane") : tr("query tile");
  const bool keys_outside = order_row(rec.order).keys_outside;
  if (ranks && keys_outside && lane)
    scene.outer +=
        now.id.i >= 0 && now.id.j >= 0 ? phrase(", rank {}, key tile {}", *lane, now.id.j) : phrase(", rank {}", *lane);
  else if (ranks && lane)
    scene.outer += phrase(", rank {}, query tile {}", *lane, now.id.i);
  else if (lane)
    scene.outer += phrase(", part {} of {}", *lane + 1, splits_of(rec.options));
  for (EventIndex e = first; e <= last; ++e) {
    const auto of = rec.lane_of(e);
    // Key tile outside, what a rank does of this one; of queries or keys alone all.
    const bool shown = !ranks         ? !of || of == lane
                       : keys_outside ? of == lane && (rec.events[e].id.j == now.id.j || now.id.i < 0 ||
                                                       (now.id.j < 0 && rec.events[e].id.i < 0))
                                      : rec.events[e].id.i == now.id.i;
    if (shown) scene.chips.push_back(chip_of(rec, e, at.event));
  }
  add_groups(scene, rec);
  scene.m_changes = steps_where_m_changes(rec, at, at.row);
  for (TrackChip& chip : scene.chips)
    chip.raises_m = std::binary_search(scene.m_changes.begin(), scene.m_changes.end(), chip.event);
  scene.marks = std::move(marks);
  const auto after = std::upper_bound(scene.marks.begin(), scene.marks.end(), at.event,
                                      [](EventIndex e, const ScrubberMark& m) { return e < m.event; });
  if (after != scene.marks.begin()) (after - 1)->live = true;
  return scene;
}

std::string brief_title(std::string title) {
  for (const auto& [words, letter] :
       {std::pair<std::string_view, char>(tr("query tile"), 'q'), {tr("query row"), 'q'}, {tr("key tile"), 'k'}})
    if (const std::size_t at = title.find(words); at != std::string::npos)
      title.replace(at, words.size(), std::string(1, letter));
  return title;
}

void hide_after(TimelineScene& scene, EventIndex horizon, bool tiles) {
  std::erase_if(scene.m_changes, [&](EventIndex e) { return e > horizon; });
  for (TrackChip& chip : scene.chips) chip.raises_m = chip.raises_m && chip.event <= horizon;
  if (!tiles) return;
  while (!scene.chips.empty() && scene.chips.back().event > horizon) scene.chips.pop_back();
  std::erase_if(scene.groups, [&](const TrackGroup& g) { return g.first >= scene.chips.size(); });
  for (TrackGroup& g : scene.groups) g.count = std::min(g.count, scene.chips.size() - g.first);
}

}  // namespace attn
