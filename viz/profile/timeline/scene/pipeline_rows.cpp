// Rows of a timeline's scene that follow from its pipeline: the ring's slots, who released whom, the critical path.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "profiling/timeline/releases.h"
#include "profiling/timeline/timeline_text.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

constexpr float kSlotGap = 2, kAboveSlots = 10;
constexpr float kPathOfSlot = 0.06F;  // above its letters

std::string words_of(const Timeline& t, const Release& r) {
  const std::string by = r.slot < 0 ? lane_words(t, r.by) : phrase("the copy into slot {}", r.slot);
  if (r.or_by)
    return phrase("Released by {} or {}, which the recording does not tell; at most {} clocks before it continued", by,
                  lane_words(t, *r.or_by), r.to - r.earliest);
  if (r.earliest < r.at) return phrase("Released by {}, at most {} clocks before it continued", by, r.to - r.earliest);
  return phrase("Released by {}, {} clocks before it continued", by, r.to - r.at);
}

void add_use(TimelineRow& row, const Timeline& t, const Pipeline& p, const SlotUse& use) {
  const Ink ink = use.of_v ? Ink(TensorColour::v) : Ink(TensorColour::k);
  const std::string name = use.of_v ? "V" : "K";
  const auto add = [&](std::int64_t from, std::int64_t to, StretchLook look, float top, float bottom,
                       std::string what) {
    if (to > from)
      row.stretches.push_back({from - p.start, to - p.start, look, ink, name, use.tile, top, bottom, std::move(what)});
  };
  add(use.asked, use.landed, StretchLook::flight, 0, 1,
      phrase("{} of key tile {}: in flight for at most this long, from request to first reader", name, use.tile));
  add(use.landed, use.freed, StretchLook::landed, 0, 1, phrase("{} of key tile {}: landed", name, use.tile));
  const auto all = static_cast<float>(use.readers.size());
  for (std::size_t n = 0; n < use.readers.size(); ++n) {
    const SlotReader& r = use.readers[n];
    add(r.from, r.to, StretchLook::read, static_cast<float>(n) / all, static_cast<float>(n + 1) / all,
        phrase("{} of key tile {}: read by {}", name, use.tile, lane_words(t, r.lane)));
  }
}

Ink path_ink(PathOf of) {
  switch (of) {
    case PathOf::tensor_cores:
      return TensorColour::s;
    case PathOf::work:
      return TensorColour::p;
    case PathOf::copy_k:
      return TensorColour::k;
    case PathOf::copy_v:
      return TensorColour::v;
    case PathOf::copy_q:
      return TensorColour::q;
    case PathOf::hand_over:
    case PathOf::producer_work:
      return Token::dim;
  }
  return Token::dim;
}

std::string letter_of_copy(PathOf of) {
  return of == PathOf::copy_k ? "K" : of == PathOf::copy_v ? "V" : "Q";
}

std::size_t row_of(const Timeline& t, const Pipeline& p, const PathStretch& stretch, const RowPlaces& places) {
  if (stretch.of == PathOf::tensor_cores) {
    const bool of_o = lane_state(t.tags[static_cast<std::size_t>(stretch.tag)]).of == StateOf::o;
    const auto at = places.products.find({stretch.lane, of_o});
    if (at != places.products.end()) return at->second;
  }
  if (stretch.of == PathOf::copy_k || stretch.of == PathOf::copy_v)
    for (const SlotUse& use : p.slots)
      if (use.asked == stretch.from && use.of_v == (stretch.of == PathOf::copy_v)) return places.slots.at(use.slot);
  return places.lanes.at(stretch.lane);
}

}  // namespace

void add_slots(PipelineScene& s, const Pipeline& p, RowPlaces& places) {
  std::int32_t most = -1;
  for (const SlotUse& use : p.slots) most = std::max(most, use.slot);
  for (std::int32_t slot = 0; slot <= most; ++slot) {
    TimelineRow row;
    row.label = slot == 0 ? phrase("ring, slot {}", slot) : phrase("slot {}", slot);
    row.kind = RowKind::slot;
    row.path_at = kPathOfSlot;
    row.gap = slot == 0 ? kAboveSlots : kSlotGap;
    std::int64_t free = p.start;
    const auto add_free = [&](std::int64_t to) {
      if (to > free)
        row.stretches.push_back({free - p.start, to - p.start, StretchLook::nothing, Token::faint, "", -1, 0, 1,
                                 phrase("slot {}: free", slot)});
    };
    for (const SlotUse& use : p.slots) {
      if (use.slot != slot) continue;
      add_free(use.asked);
      add_use(row, *s.timeline, p, use);
      free = use.freed;
    }
    add_free(p.end);
    places.slots[slot] = s.rows.size();
    s.rows.push_back(std::move(row));
  }
}

void add_releases(PipelineScene& s, const Pipeline& p, const RowPlaces& places) {
  const Timeline& t = *s.timeline;
  for (const Release& r : releases_of(t, p)) {
    ReleaseArrow a{r.from - p.start, r.to - p.start, r.at - p.start, 0, places.lanes.at(r.lane), r.tile, {}};
    a.by_row = r.slot < 0 ? places.lanes.at(r.by) : places.slots.at(r.slot);
    a.words = words_of(t, r);
    s.releases.push_back(std::move(a));
  }
}

std::vector<PathPart> add_path(PipelineScene& s, const Pipeline& p, const RowPlaces& places) {
  for (const PathStretch& stretch : p.path) {
    PathStretch moved = stretch;
    moved.from -= p.start;
    moved.to -= p.start;
    s.path.push_back(moved);
    s.path_rows.push_back(row_of(*s.timeline, p, stretch, places));
    s.rows[s.path_rows.back()].on_path = true;
  }
  std::vector<PathPart> parts;
  if (p.path.empty()) return parts;
  std::array<std::int64_t, kPathKinds.size()> times{};
  std::ranges::transform(kPathKinds, times.begin(), [&](PathOf of) { return p.on_path(of); });
  const std::vector<std::int32_t> tenths = tenths_of(times);
  for (std::size_t n = 0; n < kPathKinds.size(); ++n) {
    const PathOf of = kPathKinds.at(n);
    if (times.at(n) == 0) continue;
    const double share = static_cast<double>(times.at(n)) / static_cast<double>(p.length());
    parts.push_back({of, share, tenths[n]});
    const bool copy = of == PathOf::copy_k || of == PathOf::copy_v || of == PathOf::copy_q;
    PathShare part{path_ink(of), copy || of == PathOf::tensor_cores, tr_of(words_of(of)), tenths_text(tenths[n]),
                   share};
    part.hollow = of == PathOf::hand_over;
    if (copy) part.brief = letter_of_copy(of);
    s.shares.push_back(std::move(part));
  }
  return parts;
}

}  // namespace attn
