#include "profiling/timeline/releases.h"

#include <algorithm>
#include <string_view>

namespace attn {
namespace {

constexpr std::int64_t kOpen = 64, kLong = 320;  // clocks
constexpr std::int64_t kWakes = 256;             // clocks: no lane goes on later than that behind who let it go

const LaneState& state_of(const Timeline& t, const LaneInterval& i) {
  return lane_state(t.tags[static_cast<std::size_t>(i.tag)]);
}

// Whether the end of `x` lets a lane go that waits for `of`.
bool lets_go(const Timeline& t, const LaneInterval& x, StateOf of) {
  const LaneState& s = state_of(t, x);
  if (of == StateOf::turn) return s.kind == StateKind::flight && (s.of == StateOf::s || s.of == StateOf::o);
  if (of == StateOf::tile) return s.tag == "next tile";
  return s.kind == StateKind::flight && s.of == StateOf::q;
}

std::optional<Release> release_of(const Timeline& t, const Pipeline& p, std::size_t lane, const LaneInterval& i) {
  const LaneState& state = state_of(t, i);
  const bool slot = state.of == StateOf::k || state.of == StateOf::v;
  Release r{lane, lane, i.from, i.to, i.to, i.to, -1, i.tile};
  if (slot && t.lanes[lane].kind == LaneKind::producer) {
    const SlotReader* last = last_reader(p, i.slot, i.to);
    if (last == nullptr || last->to <= i.from) return {};
    r.by = last->lane;
    r.at = last->to;
    r.earliest = last->earliest;
    if (const SlotReader* other = as_late_a_reader(p, i.slot, *last, i.to)) r.or_by = other->lane;
    return r;
  }
  if (slot) {
    const SlotUse* use = use_waited_for(p, lane, i, state.of == StateOf::v);
    if (use == nullptr || use->landed <= i.from) return {};
    r.by = p.lanes.front();
    r.at = r.earliest = use->landed;
    r.slot = i.slot;
    return r;
  }
  if (state.of == StateOf::s || state.of == StateOf::o) return {};
  const auto giver = giver_of(t, p, lane, i, i.to);
  if (!giver) return {};
  r.by = giver->first;
  r.at = r.earliest = giver->second;
  return r;
}

}  // namespace

std::int64_t OpenTimes::of(std::size_t lane, std::int32_t tag) {
  const auto [at, fresh] = known_.try_emplace({lane, tag}, 0);
  if (!fresh) return at->second;
  std::vector<std::int64_t> lengths;
  for (const LaneInterval& x : intervals_of_lane(p_, lane))
    if (x.tag == tag) lengths.push_back(x.length());
  std::ranges::sort(lengths);
  at->second = std::clamp<std::int64_t>(2 * lengths[lengths.size() / 10], kOpen, kLong);
  return at->second;
}

const std::vector<LaneInterval>& intervals_of_lane(const Pipeline& p, std::size_t lane) {
  return p.intervals[static_cast<std::size_t>(std::ranges::find(p.lanes, lane) - p.lanes.begin())];
}

const SlotUse* use_waited_for(const Pipeline& p, std::size_t lane, const LaneInterval& wait, bool of_v) {
  for (const SlotUse& use : p.slots) {
    const auto reads = [&](const SlotReader& r) { return r.lane == lane && r.from == wait.to; };
    if (use.slot == wait.slot && use.of_v == of_v && std::ranges::any_of(use.readers, reads)) return &use;
  }
  return nullptr;
}

const SlotReader* last_reader(const Pipeline& p, std::int32_t slot, std::int64_t at) {
  const SlotReader* last = nullptr;
  for (const SlotUse& use : p.slots)
    for (const SlotReader& r : use.readers)
      if (use.slot == slot && r.to <= at && (last == nullptr || r.to > last->to)) last = &r;
  return last;
}

const SlotReader* as_late_a_reader(const Pipeline& p, std::int32_t slot, const SlotReader& last, std::int64_t at) {
  const SlotReader* other = nullptr;
  for (const SlotUse& use : p.slots) {
    const auto is_last = [&](const SlotReader& r) { return &r == &last; };
    if (use.slot != slot || std::ranges::none_of(use.readers, is_last)) continue;
    for (const SlotReader& r : use.readers)
      if (&r != &last && r.to > last.earliest && at - r.to <= kWakes && (other == nullptr || r.to > other->to))
        other = &r;
  }
  return other;
}

std::optional<std::pair<std::size_t, std::int64_t>> giver_of(const Timeline& t, const Pipeline& p, std::size_t lane,
                                                             const LaneInterval& wait, std::int64_t at) {
  std::optional<std::pair<std::size_t, std::int64_t>> last;
  const StateOf of = state_of(t, wait).of;
  for (std::size_t l = 0; l < p.lanes.size(); ++l) {
    if (p.lanes[l] == lane) continue;
    const std::vector<LaneInterval>& all = p.intervals[l];
    const std::int64_t after = last ? last->second : wait.from;
    for (auto x = std::ranges::upper_bound(all, after, {}, &LaneInterval::to); x != all.end() && x->to <= at; ++x)
      if (lets_go(t, *x, of)) last = {p.lanes[l], x->to};
  }
  return last;
}

std::vector<Release> releases_of(const Timeline& t, const Pipeline& p) {
  std::vector<Release> all;
  if (p.path.empty()) return all;  // its lanes do not say who waits for whom
  OpenTimes open(p);
  for (std::size_t l = 0; l < p.lanes.size(); ++l)
    for (const LaneInterval& i : p.intervals[l]) {
      if (state_of(t, i).kind != StateKind::wait || i.length() <= open.of(p.lanes[l], i.tag)) continue;
      if (const auto r = release_of(t, p, p.lanes[l], i)) all.push_back(*r);
    }
  return all;
}

}  // namespace attn
