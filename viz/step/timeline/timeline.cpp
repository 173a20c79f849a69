#include "viz/step/timeline/timeline.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
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

// What is made once a query tile after the last key tile, with the key tile outside: "O, LSE".
std::string made_last(const OrderRow& order) {
  std::string letters;
  const auto add = [&](Slot slot) { letters += (letters.empty() ? "" : ", ") + std::string(letter_of_slot(slot)); };
  for (const WalkStep& step : order.walk) {
    if (step.once != Once::query_tile) continue;
    if (step.rounds) add(*step.rounds);
    std::ranges::for_each(step.creates, add);
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
  if (order.keys_outside && e.id.j < 0)
    words = phrase("after: {}", made_last(order));
  else if (order.keys_outside)
    words = phrase("key tile {}", e.id.j);
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
  chip.letter = brief_letter_of_step(rec, e);
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
  if (takes_all_keys(rec, e)) return {};
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
    const bool folds = inner.tile >= 0 && !inner.merges;
    if (start)
      scene.groups.push_back(
          {inner.tile < 0 ? "" : title, n, 0, false, folds ? std::to_string(inner.tile) : std::string()});
    ++scene.groups.back().count;
    scene.groups.back().live |= scene.chips[n].live;
  }
}

// What the groups need at the least, neighbours that are folded as one.
float least_width(const TimelineScene& scene, const TrackRoom& room, const std::vector<bool>& folded) {
  float width = -room.gap;
  for (std::size_t g = 0; g < scene.groups.size(); ++g) {
    if (folded[g] && g > 0 && folded[g - 1]) continue;
    const auto first = room.least.begin() + static_cast<std::ptrdiff_t>(scene.groups[g].first);
    const auto count = static_cast<std::ptrdiff_t>(scene.groups[g].count);
    width += room.gap + (folded[g] ? room.fold : std::accumulate(first, first + count, 0.0F));
  }
  return width;
}

// Which groups are folded: none where all fit, else as few of those around the live one as possible. What is no tile,
// such as Q before the first, only where the live tile does not fit beside it.
std::vector<bool> folded_groups(const TimelineScene& scene, const TrackRoom& room) {
  const std::size_t count = scene.groups.size();
  std::vector<bool> folded(count, false);
  const auto fit = [&] { return least_width(scene, room, folded) <= room.width; };
  if (fit()) return folded;
  std::size_t live = 0;
  for (std::size_t g = 0; g < count; ++g) {
    if (scene.groups[g].live) live = g;
    folded[g] = !scene.groups[g].live && !scene.groups[g].tile.empty();
  }
  for (std::size_t g = 0; g < count && !fit(); ++g) {
    if (scene.groups[g].live || folded[g]) continue;
    const float before = least_width(scene, room, folded);
    folded[g] = true;
    folded[g] = least_width(scene, room, folded) < before;
  }
  const auto unfolds = [&](std::size_t g) {
    if (g >= count || !folded[g]) return true;
    folded[g] = false;
    folded[g] = !fit();
    return !folded[g];
  };
  // Before the first group live - by wraps around, and is none.
  for (std::size_t by = 1; by < count; ++by)
    if (!unfolds(live + by) || !unfolds(live - by)) break;
  return folded;
}

// A chip, or a fold in the place of its chips.
struct TrackPart {
  std::size_t chips = 1;
  float least = 0, weight = 1;
  bool starts = false;  // behind a gap
  float width = 0;
};
constexpr float kTwo = 1.25F;  // weight of a chip of two letters

// Shares `room` by weight, but gives no part less than it needs; where that is not to be had, each the same share of
// what it needs.
void share_out(std::vector<TrackPart>& parts, float room) {
  float least = 0, weight = 0;
  for (const TrackPart& p : parts) least += p.least;
  const float squeeze = std::min(1.0F, room / std::max(least, 1.0F));
  for (TrackPart& p : parts) {
    p.least *= squeeze;
    p.width = 0;
    weight += p.weight;
  }
  for (bool again = true; again && weight > 0;) {
    again = false;
    const float unit = room / weight;
    for (TrackPart& p : parts) {
      if (p.width > 0 || p.least <= unit * p.weight) continue;
      p.width = p.least;
      room -= p.width;
      weight -= p.weight;
      again = true;
    }
  }
  for (TrackPart& p : parts)
    if (p.width <= 0) p.width = room / weight * p.weight;
}

// "1–7", or what it ends in where it holds no tile: "out".
std::string tiles_of(const TimelineScene& scene, const TrackFold& fold) {
  std::string first, last;
  for (std::size_t g = fold.first; g < fold.first + fold.count; ++g) {
    const std::string& tile = scene.groups[g].tile;
    if (first.empty()) first = tile;
    if (!tile.empty()) last = tile;
  }
  const TrackGroup& end = scene.groups[fold.first + fold.count - 1];
  if (first.empty()) return std::string(scene.chips[end.first + end.count - 1].letter);
  return first == last ? first : first + "–" + last;
}

}  // namespace

Track lay_out_track(const TimelineScene& scene, const TrackRoom& room) {
  const std::vector<bool> folded = folded_groups(scene, room);
  Track track;
  std::vector<TrackPart> parts;
  float gaps = -room.gap;
  for (std::size_t g = 0; g < scene.groups.size(); ++g) {
    const TrackGroup& group = scene.groups[g];
    if (folded[g] && g > 0 && folded[g - 1]) {
      ++track.folds.back().count;
      parts.back().chips += group.count;
      continue;
    }
    gaps += room.gap;
    if (folded[g]) {
      track.folds.push_back({g, 1, {}, {}, scene.chips[group.first].past});
      parts.push_back({group.count, room.fold, kTwo, true});
      continue;
    }
    for (std::size_t c = group.first; c < group.first + group.count; ++c)
      parts.push_back({1, room.least[c], scene.chips[c].two ? kTwo : 1.0F, c == group.first});
  }
  track.tight = least_width(scene, room, folded) > room.width;
  share_out(parts, room.width - std::max(gaps, 0.0F));
  float x = -room.gap;
  for (const TrackPart& p : parts) {
    x += p.starts ? room.gap : 0;
    track.chips.insert(track.chips.end(), p.chips, {x, x + p.width});
    x += p.width;
  }
  for (TrackFold& fold : track.folds) {
    fold.at = track.chips[scene.groups[fold.first].first];
    fold.tiles = tiles_of(scene, fold);
  }
  return track;
}

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
