#include "profiling/timeline/pipeline.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "profiling/timeline/releases.h"

namespace attn {
namespace {

class Builder {
 public:
  Builder(const Timeline& t, std::int32_t block) : t_(t) { p_.block = block; }

  Result<Pipeline> build() {
    if (p_.block < 0 || static_cast<std::size_t>(p_.block) >= t_.blocks.size())
      return bad_input(phrase("the timeline has no block {}.", p_.block));
    p_.lanes = lanes_of_block(t_, p_.block);
    const bool alone = t_.lanes.size() == 1 && t_.lanes[0].kind == LaneKind::warp;
    if (p_.lanes.size() < 2 && !alone) return bad_input(tr("This block was not recorded event by event."));
    std::ranges::stable_sort(p_.lanes, {}, [&](std::size_t n) { return t_.lanes[n].kind; });
    for (const std::size_t n : p_.lanes) p_.intervals.push_back(intervals_of(t_, n));
    p_.start = p_.intervals.front().front().from;
    p_.end = p_.intervals.front().back().to;
    find_asked();
    if (auto good = find_readers(); !good) return tl::unexpected(good.error());
    return std::move(p_);
  }

 private:
  std::string_view tag_of(const LaneInterval& i) const { return t_.tags[static_cast<std::size_t>(i.tag)]; }
  bool consumes(std::size_t place) const { return t_.lanes[p_.lanes[place]].kind == LaneKind::consumer; }

  void find_asked() {
    for (std::size_t l = 0; l < p_.lanes.size(); ++l) {
      if (consumes(l)) continue;
      for (const LaneInterval& i : p_.intervals[l]) {
        const LaneState& state = lane_state(tag_of(i));
        if (state.kind != StateKind::flight || state.of == StateOf::q) continue;
        SlotUse use;
        use.slot = i.slot;
        use.tile = i.tile;
        use.of_v = state.of == StateOf::v;
        use.asked = i.from;
        use.landed = use.freed = p_.end;
        p_.slots.push_back(use);
      }
    }
    std::ranges::stable_sort(p_.slots, {}, &SlotUse::asked);
    for (std::size_t n = 0; n < p_.slots.size(); ++n) uses_[p_.slots[n].slot].push_back(n);
  }

  // Each consumer comes to every use of a slot once, in its order.
  Result<void> find_readers() {
    for (std::size_t l = 0; l < p_.lanes.size(); ++l) {
      if (!consumes(l)) continue;
      std::map<std::int32_t, std::size_t> next;  // of each slot the use that it comes to next
      const std::vector<LaneInterval>& all = p_.intervals[l];
      for (std::size_t n = 0; n < all.size(); ++n) {
        const LaneState& state = lane_state(tag_of(all[n]));
        if (state.kind == StateKind::flight) add_product(l, n);
        if (state.kind != StateKind::wait || (state.of != StateOf::k && state.of != StateOf::v)) continue;
        SlotUse* use = use_of(next[all[n].slot], all[n].slot);
        if (use == nullptr || use->tile != all[n].tile || use->of_v != (state.of == StateOf::v))
          return bad_input(phrase("lane {} reads tile {} in slot {}, which no lane requested.", p_.lanes[l],
                                  all[n].tile, all[n].slot));
        ++next[all[n].slot];
        use->landed = std::min(use->landed, all[n].to);
        use->readers.push_back(reader(l, n, use->of_v));
        const SlotReader& r = use->readers.back();
        behind_p_[{use - p_.slots.data(), r.lane}] = std::max(r.earliest, end_of_p(all, n));
      }
    }
    hold_k_until_p();
    let_go_before_next();
    for (SlotUse& use : p_.slots) {
      use.freed = use.asked;
      for (const SlotReader& r : use.readers) use.freed = std::max(use.freed, r.to);
      if (use.readers.empty()) use.freed = use.landed = p_.end;
    }
    return ok();
  }

  SlotUse* use_of(std::size_t nth, std::int32_t slot) {
    const std::vector<std::size_t>& uses = uses_[slot];
    return nth < uses.size() ? &p_.slots[uses[nth]] : nullptr;
  }

  // A consumer lets K go right behind the stamp at which S has come; V between that at which it waits for O and the
  // next, so that the copying lane may go on before the next; a tile that its rows do not see while it hands it on,
  // before it waits for its turn.
  SlotReader reader(std::size_t l, std::size_t from, bool of_v) const {
    const std::vector<LaneInterval>& all = p_.intervals[l];
    SlotReader r{p_.lanes[l], all[from].to, all.back().to, all.back().to};
    for (std::size_t n = from + 1; n < all.size(); ++n) {
      const std::string_view tag = tag_of(all[n]);
      const bool handed_on = tag == "hand on";
      if (all[n].tile != all[from].tile || (!handed_on && tag != (of_v ? "wait O" : "wait S"))) continue;
      r.to = all[n].to;
      r.earliest = handed_on || of_v ? all[n].from : all[n].to;
      return r;
    }
    return r;
  }

  // Nobody asks for a slot before all have let it go.
  void let_go_before_next() {
    std::map<std::int32_t, std::int64_t> asked;  // when each slot was asked for next
    for (auto use = p_.slots.rbegin(); use != p_.slots.rend(); ++use) {
      if (const auto next = asked.find(use->slot); next != asked.end())
        for (SlotReader& r : use->readers)
          if (r.earliest <= next->second) r.to = std::min(r.to, next->second);
      asked[use->slot] = use->asked;
    }
  }

  static constexpr int kLeastReuses = 4;

  std::int64_t end_of_p(const std::vector<LaneInterval>& all, std::size_t from) const {
    for (std::size_t n = from + 1; n < all.size(); ++n) {
      const StateOf of = lane_state(tag_of(all[n])).of;
      if (of == StateOf::v || all[n].tile != all[from].tile) return all[n].from;
    }
    return all.back().to;
  }

  // A kernel that may have to multiply S once more keeps K until P is there. No event says so, but the copying lane
  // never asks for such a slot before; where K goes with S it nearly always does, since it runs ahead.
  void hold_k_until_p() {
    int reuses = 0;
    std::map<std::int32_t, std::ptrdiff_t> before;  // the use of each slot before
    for (std::ptrdiff_t n = 0; n < std::ssize(p_.slots); ++n) {
      const SlotUse& use = p_.slots[static_cast<std::size_t>(n)];
      if (const auto last = before.find(use.slot); last != before.end()) {
        const SlotUse& k = p_.slots[static_cast<std::size_t>(last->second)];
        if (!k.of_v && !k.readers.empty()) ++reuses;
        for (const SlotReader& r : k.readers)
          if (!k.of_v && use.asked < behind_p_.at({last->second, r.lane})) return;
      }
      before[use.slot] = n;
    }
    if (reuses < kLeastReuses) return;
    p_.k_until_p = true;
    for (std::ptrdiff_t n = 0; n < std::ssize(p_.slots); ++n) {
      SlotUse& use = p_.slots[static_cast<std::size_t>(n)];
      for (SlotReader& r : use.readers)
        if (!use.of_v && r.earliest == r.to) r.to = r.earliest = behind_p_.at({n, r.lane});
    }
  }

  void add_product(std::size_t l, std::size_t n) {
    const std::vector<LaneInterval>& all = p_.intervals[l];
    Product x;
    x.lane = p_.lanes[l];
    x.of_o = lane_state(tag_of(all[n])).of == StateOf::o;
    x.tile = all[n].tile;
    x.issued = all[n].from;
    x.committed = all[n].to;
    x.returned = p_.end;
    for (std::size_t m = n + 1; m < all.size(); ++m) {
      if (tag_of(all[m]) != (x.of_o ? "wait O" : "wait S") || all[m].tile != x.tile) continue;
      x.returned = all[m].to;
      break;
    }
    p_.products.push_back(x);
  }

  const Timeline& t_;
  Pipeline p_;
  std::map<std::int32_t, std::vector<std::size_t>> uses_;                    // of each slot, in their order
  std::map<std::pair<std::ptrdiff_t, std::size_t>, std::int64_t> behind_p_;  // by use and lane: when P is there
};

// Each lane's products in the order in which they were issued, so that what was open at a moment is found from there
// back: a recording has thousands, and a walk over a block asks at each of its steps.
class ProductsByLane {
 public:
  explicit ProductsByLane(std::span<const Product> products) : all_(products) {
    std::int64_t latest = 0;
    for (std::size_t n = 0; n < all_.size(); ++n) {
      if (n == 0 || all_[n].lane != all_[n - 1].lane) lanes_.push_back({all_[n].lane, n, n});
      latest = lanes_.back().from == n ? all_[n].returned : std::max(latest, all_[n].returned);
      latest_.push_back(latest);
      lanes_.back().to = n + 1;
    }
  }

  // The last that the lane issued before `at` and that had not returned by then; nullptr where there is none.
  const Product* open_at(std::size_t lane, std::int64_t at) const {
    const auto l = std::ranges::find(lanes_, lane, &Lane::lane);
    if (l == lanes_.end()) return nullptr;
    for (std::size_t n = issued_before(*l, at); n > l->from && latest_[n - 1] >= at; --n)
      if (all_[n - 1].returned >= at) return &all_[n - 1];
    return nullptr;
  }

  // Of the other lanes' products that were open at `from` the one that returned last before `at`; of equals the first.
  const Product* ended_between(std::size_t lane, std::int64_t from, std::int64_t at) const {
    const Product* best = nullptr;
    for (const Lane& l : lanes_) {
      if (l.lane == lane) continue;
      const Product* of_lane = nullptr;
      for (std::size_t n = issued_before(l, from); n > l.from && latest_[n - 1] > from; --n) {
        const Product& x = all_[n - 1];
        if (x.returned > from && x.returned < at && (of_lane == nullptr || x.returned >= of_lane->returned))
          of_lane = &x;
      }
      if (of_lane != nullptr && (best == nullptr || of_lane->returned > best->returned)) best = of_lane;
    }
    return best;
  }

 private:
  struct Lane {
    std::size_t lane = 0, from = 0, to = 0;  // its products are [from, to) of all
  };

  std::size_t issued_before(const Lane& l, std::int64_t at) const {
    const auto own = all_.subspan(l.from, l.to - l.from);
    const auto first = std::ranges::lower_bound(own, at, {}, &Product::issued);
    return l.from + static_cast<std::size_t>(first - own.begin());
  }

  std::span<const Product> all_;
  std::vector<Lane> lanes_;
  std::vector<std::int64_t> latest_;  // of each product: when the last of its lane up to it has returned
};

// Walks back from the block's end: through what a lane did, and where it waited to who let it go.
class PathFinder {
 public:
  PathFinder(const Timeline& t, Pipeline& p) : t_(t), p_(p), open_(p), products_(p.products) {}

  void find() {
    std::size_t lane = last_lane();
    std::int64_t at = p_.end;
    const std::size_t most = 8 * t_.events.size() + 64;
    for (std::size_t n = 0; at > p_.start && n < most; ++n) lane = step(lane, at);
    if (at > p_.start) add(at, p_.start, PathOf::hand_over, lane, {});
    std::ranges::reverse(p_.path);
  }

 private:
  std::string_view tag_of(const LaneInterval& i) const { return t_.tags[static_cast<std::size_t>(i.tag)]; }

  // The one that was done last.
  std::size_t last_lane() const {
    std::size_t best = p_.lanes.front();
    std::int64_t latest = p_.start;
    for (std::size_t l = 0; l < p_.lanes.size(); ++l) {
      const std::int64_t done = p_.intervals[l].back().from;
      if (done >= latest) best = p_.lanes[l], latest = done;
    }
    return best;
  }

  void add(std::int64_t& at, std::int64_t from, PathOf what, std::size_t lane, const LaneInterval& i) {
    from = std::max(from, p_.start);
    if (from >= at) return;
    if (what == PathOf::work && t_.lanes[lane].kind == LaneKind::producer) what = PathOf::producer_work;
    p_.path.push_back({from, at, what, lane, i.tag, i.tile});
    at = from;
  }

  // The state in which the lane came to `at`.
  const LaneInterval& before(std::size_t lane, std::int64_t at) const {
    const std::vector<LaneInterval>& all = intervals_of_lane(p_, lane);
    auto i = std::ranges::lower_bound(all, at, {}, &LaneInterval::from);
    return i == all.begin() ? *i : *std::prev(i);
  }

  std::size_t step(std::size_t lane, std::int64_t& at) {
    const LaneInterval i = before(lane, at);
    const LaneState& state = lane_state(tag_of(i));
    const bool producer = t_.lanes[lane].kind == LaneKind::producer;
    const bool slot = state.of == StateOf::k || state.of == StateOf::v;
    const bool product = state.of == StateOf::s || state.of == StateOf::o;
    if (state.kind == StateKind::wait && producer && slot) return to_reader(lane, i, at);
    if (!producer && product && (state.kind == StateKind::wait || state.kind == StateKind::flight))
      return to_product(lane, i, at);
    if (state.kind != StateKind::wait || i.length() <= open_.of(lane, i.tag)) {
      add(at, i.from, PathOf::work, lane, i);
      return lane;
    }
    if (slot) return to_copy(lane, i, state.of == StateOf::v, at);
    return to_other(lane, i, state.of == StateOf::q, at);
  }

  // The copy that it waited for, from when that was asked; its asker goes on from there.
  std::size_t to_copy(std::size_t lane, const LaneInterval& i, bool of_v, std::int64_t& at) {
    const SlotUse* use = use_waited_for(p_, lane, i, of_v);
    // One that was there before was not waited for.
    if (use != nullptr && use->asked < at && use->landed > i.from) {
      const std::int64_t landed = use->landed, asked = use->asked;
      add(at, landed, PathOf::hand_over, lane, i);  // another found it first, and this one woke up later
      add(at, asked, of_v ? PathOf::copy_v : PathOf::copy_k, lane, i);
      return p_.lanes.front();
    }
    add(at, i.from, PathOf::work, lane, i);
    return lane;
  }

  // Who let the slot go last.
  std::size_t to_reader(std::size_t lane, const LaneInterval& i, std::int64_t& at) {
    const SlotReader* last = last_reader(p_, i.slot, at);
    if (last == nullptr || last->to <= i.from) {
      add(at, i.from, PathOf::work, lane, i);
      return lane;
    }
    const std::size_t reader = last->lane;
    add(at, last->to, PathOf::hand_over, lane, i);
    return reader;
  }

  // Its own product from when it was handed over, or, where one that was handed over before returned later than that,
  // from then on: until then the tensor cores were at that one. An inference from the order of both.
  std::size_t to_product(std::size_t lane, const LaneInterval& i, std::int64_t& at) {
    const Product* own = products_.open_at(lane, at);
    const std::int64_t from = own == nullptr ? i.from : own->issued;
    const Product* other = products_.ended_between(lane, from, at);
    const std::size_t next = other == nullptr ? lane : other->lane;
    add(at, other == nullptr ? from : other->returned, PathOf::tensor_cores, lane, i);
    return next;
  }

  // Turn, query tile, Q: whoever ended a state of that kind last before.
  std::size_t to_other(std::size_t lane, const LaneInterval& i, bool of_q, std::int64_t& at) {
    const auto [who, when] = giver_of(t_, p_, lane, i, at).value_or(std::pair(lane, i.from));
    add(at, when, of_q ? PathOf::copy_q : PathOf::hand_over, lane, i);
    return who;
  }

  const Timeline& t_;
  Pipeline& p_;
  OpenTimes open_;
  ProductsByLane products_;
};

}  // namespace

std::int64_t Pipeline::on_path(PathOf of) const {
  std::int64_t sum = 0;
  for (const PathStretch& s : path)
    if (s.of == of) sum += s.to - s.from;
  return sum;
}

Result<Pipeline> pipeline_of(const Timeline& t, std::int32_t block) {
  auto p = Builder(t, block).build();
  if (!p) return p;
  const auto consumes = [&](std::size_t n) { return t.lanes[n].kind == LaneKind::consumer; };
  if (std::ranges::any_of(p->lanes, consumes)) PathFinder(t, *p).find();
  return p;
}

}  // namespace attn
