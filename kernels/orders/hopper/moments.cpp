#include "kernels/orders/hopper/moments.h"

#include <algorithm>
#include <array>

#include "kernels/base/text.h"
#include "kernels/orders/hopper/derived.h"
#include "kernels/orders/hopper/names.h"

namespace attn::orders::hopper {
namespace {

std::int64_t tiles_of(std::int64_t length, std::int64_t tile) {
  return tile > 0 ? (length - 1) / tile + 1 : 1;
}

// The events of a head one after the other.
class Walk {
 public:
  Walk(const Problem& p, const Options& o, std::int64_t b)
      : p_(p), o_(o), block_(followed_block(o)), b_(b), tiles_(tiles_of(p.Lk, o.bc)) {}

  std::vector<Moment> walk() {
    for (const Stamp& s : block_.stamps) follow(s);
    return std::move(moments_);
  }

 private:
  // Keys of the visit in the order that the options ask for.
  std::int32_t tile_of(std::int32_t visit) const {
    const bool backwards = o_.key_order == KeyOrder::right_to_left;
    return static_cast<std::int32_t>(backwards ? tiles_ - 1 - visit : visit);
  }
  void add(const Stamp& s, Phase phase, std::int32_t visit, bool of_ring = false) {
    const std::int32_t j = visit < 0 ? -1 : tile_of(visit);
    const EventId id{static_cast<std::int32_t>(b_), 0, s.consumer, j, phase};
    moments_.push_back({id, s.at, of_ring ? s.slot : -1});
  }
  bool masked(const Stamp& s, std::int32_t visit) const {
    const std::int64_t j = tile_of(visit), r0 = s.consumer * std::int64_t{o_.br}, c0 = j * o_.bc;
    return p_.changes_scores() ||
           p_.cover(b_, r0, std::min(p_.Lq, r0 + o_.br), c0, std::min(p_.Lk, c0 + o_.bc)) != TileCover::full;
  }
  // S or O of a visit has come, if that was not told yet; with it K or V is let go.
  void comes(Stamp s, Phase phase, std::int32_t visit) {
    std::int32_t& told = (phase == Phase::output ? outputs_ : scores_).at(static_cast<std::size_t>(s.consumer));
    if (visit != told || visit >= tiles_) return;
    ++told;
    s.slot = -1;
    add(s, phase, visit);
    if (phase == Phase::scores && masked(s, visit)) add(s, Phase::mask, visit);
  }
  // A consumer's stamp is of what it does next. Where the slot that it let go was asked for again before that, it had
  // let go by then.
  void let_go_before(const Stamp& s) {
    const bool of_v = s.state == State::ask_v;
    if (!of_v && s.state != State::ask_k) return;
    Stamp released = s;
    for (std::int8_t c = 0; c < block_.consumers; ++c) {
      released.consumer = c;
      const std::int32_t before = s.visit - block_.slots / 2;
      if (before >= 0) comes(released, of_v ? Phase::output : Phase::scores, before);
    }
  }
  // What a consumer's state before this one ended with.
  void end_before(const Stamp& s) {
    if (s.state == State::wait_k && s.visit == 0) add(s, Phase::load_q, -1);
    if (s.state == State::wait_k && s.visit > 0) comes(s, Phase::output, s.visit - 1);
    if (s.state == State::store) comes(s, Phase::output, block_.key_tiles - 1);
    if (s.state == State::maximum) comes(s, Phase::scores, s.visit);
    if (s.state == State::weights) add(s, Phase::max, s.visit), add(s, Phase::rescale, s.visit);
    if (s.state == State::wait_v) add(s, Phase::weights, s.visit), add(s, Phase::sum, s.visit);
  }
  void follow(const Stamp& s) {
    let_go_before(s);
    // The tile before may be one of those that are followed.
    const bool beyond = s.visit >= tiles_;
    if (beyond && (s.state != State::wait_k || s.visit > tiles_)) return;
    end_before(s);
    if (beyond) return;
    const HopperNames& n = hopper_names();
    switch (s.state) {
      case State::ask_q:
        return add(s, n.ask_q, -1);
      case State::wait_slot_k:
        return add(s, n.wait_slot_k, s.visit, true);
      case State::ask_k:
        return add(s, n.ask_k, s.visit, true);
      case State::wait_slot_v:
        return add(s, n.wait_slot_v, s.visit, true);
      case State::ask_v:
        return add(s, n.ask_v, s.visit, true);
      case State::take_rows:
        return add(s, n.take_rows, -1);
      case State::wait_q:
        return add(s, n.wait_q, -1);
      case State::wait_k:
        return add(s, n.wait_k, s.visit, true);
      case State::wait_turn:
        return add(s, n.wait_turn, s.visit);
      case State::issue_s:
        return add(s, n.issue_s, s.visit, true);
      case State::wait_s:
        return add(s, n.wait_s, s.visit, true);
      case State::maximum:
      case State::weights:
        return;
      case State::wait_v:
        return add(s, n.wait_v, s.visit, true);
      case State::issue_o:
        return add(s, n.issue_o, s.visit, true);
      case State::wait_o:
        return add(s, n.wait_o, s.visit, true);
      case State::store:
        return add(s, Phase::normalise, -1);
      case State::done:
        return add(s, Phase::store_o, -1);
    }
  }

  const Problem& p_;
  const Options& o_;
  const RecordedBlock& block_;
  std::int64_t b_, tiles_;
  std::array<std::int32_t, 2> scores_{}, outputs_{};  // of each consumer: visits whose S, O has come
  std::vector<Moment> moments_;
};

// The first step of the head of step e.
EventIndex head_begins(const Recording& rec, EventIndex e) {
  const EventId& id = rec.events[e].id;
  while (e > 0 && rec.events[e - 1].id.b == id.b && rec.events[e - 1].id.h == id.h) --e;
  return e;
}

}  // namespace

Result<void> check_followable(const Problem& p, const Options& o) {
  const RecordedBlock& block = followed_block(o);
  const std::int64_t rows = tiles_of(p.Lq, o.br), keys = tiles_of(p.Lk, o.bc);
  if (rows != block.consumers)
    return bad_input(
        phrase("pipeline=hopper: the recorded block has {} consumers with one query tile each, but {} rows in tiles "
               "of {} make {}. Use Br = {}.",
               block.consumers, p.Lq, o.br, rows, std::max<std::int64_t>(1, (p.Lq + 1) / 2)));
  if (keys > block.key_tiles)
    return bad_input(
        phrase("pipeline=hopper: the recorded block has {} key tiles, but {} keys in tiles of {} make {}. Use Bc = {}.",
               block.key_tiles, p.Lk, o.bc, keys, tiles_of(p.Lk, block.key_tiles)));
  for (std::int64_t b = 0; b < p.B; ++b)
    for (std::int64_t r0 = 0; r0 < p.Lq; r0 += o.br)
      for (std::int64_t c0 = 0; c0 < p.Lk; c0 += o.bc)
        if (p.cover(b, r0, std::min(p.Lq, r0 + o.br), c0, std::min(p.Lk, c0 + o.bc)) == TileCover::skipped)
          return bad_input(
              phrase("pipeline=hopper: the recorded block skipped no tiles, but the mask of {} hides whole tiles. Use "
                     "a problem without a mask.",
                     describe(p)));
  return ok();
}

std::vector<Moment> moments_of(const Problem& p, const Options& resolved, std::int64_t b) {
  return Walk(p, resolved, b).walk();
}

Moment moment_of(const Recording& rec, EventIndex e) {
  const std::vector<Moment> all = moments_of(rec.problem, rec.options, rec.events[e].id.b);
  const std::size_t at = e - head_begins(rec, e);
  return at < all.size() ? all[at] : Moment{rec.events[e].id, 0, -1};
}

namespace {

// The ring of one head, step by step.
class RingWalk {
 public:
  RingWalk(const Recording& rec, EventIndex e)
      : block_(followed_block(rec.options)),
        moments_(moments_of(rec.problem, rec.options, rec.events[e].id.b)),
        first_(head_begins(rec, e)),
        ring_(static_cast<std::size_t>(block_.slots)) {
    // A lesson's recording may end early.
    moments_.resize(std::min<std::size_t>(moments_.size(), rec.events.size() - first_));
  }

  EventIndex first() const { return first_; }
  EventIndex end() const { return first_ + static_cast<EventIndex>(moments_.size()); }
  const std::vector<RingSlot>& ring() const { return ring_; }

  // In sequence.
  void take(EventIndex e) {
    const HopperNames& n = hopper_names();
    const auto& [id, at, slot] = moments_[e - first_];
    const bool of_v = id.phase == n.ask_v;
    now_ = e;
    if (id.phase == n.ask_k || of_v)
      ring_.at(static_cast<std::size_t>(slot)) = {SlotState::asked, of_v, id.j, 0, now_, std::nullopt};
    if (id.phase == n.wait_turn) becomes(false, id.j, SlotState::landed);
    if (id.phase == n.issue_s) becomes(false, id.j, SlotState::read);
    if (id.phase == n.issue_o) becomes(true, id.j, SlotState::read);
    if (id.phase == Phase::scores) let_go(false, id.j);
    if (id.phase == Phase::output) let_go(true, id.j);
  }

 private:
  std::vector<RingSlot>::iterator slot_of(bool of_v, std::int32_t j) {
    return std::ranges::find_if(ring_, [&](const RingSlot& s) { return s.of_v == of_v && s.j == j; });
  }
  void let_go(bool of_v, std::int32_t j) {
    const auto slot = slot_of(of_v, j);
    if (slot == ring_.end() || ++slot->let_go < block_.consumers) return;
    *slot = {};
    slot->since = now_;
  }
  void becomes(bool of_v, std::int32_t j, SlotState state) {
    const auto slot = slot_of(of_v, j);
    if (slot == ring_.end() || slot->state >= state) return;
    slot->state = state;
    slot->since = now_;
    if (!slot->filled) slot->filled = now_;
  }

  const RecordedBlock& block_;
  std::vector<Moment> moments_;
  EventIndex first_, now_ = 0;
  std::vector<RingSlot> ring_;
};

}  // namespace

std::vector<RingSlot> ring_after(const Recording& rec, EventIndex e) {
  RingWalk walk(rec, e);
  for (EventIndex k = walk.first(); k <= e && k < walk.end(); ++k) walk.take(k);
  return walk.ring();
}

std::optional<EventIndex> slot_becomes(const Recording& rec, EventIndex e, SlotState state) {
  RingWalk walk(rec, e);
  std::optional<EventIndex> first;
  for (EventIndex k = walk.first(); k < walk.end(); ++k) {
    walk.take(k);
    if (!std::ranges::any_of(walk.ring(), [&](const RingSlot& s) { return s.state == state && s.since == k; }))
      continue;
    if (k > e) return k;
    if (!first) first = k;
  }
  return first;
}

std::optional<EventIndex> last_of_lane(const Recording& rec, EventIndex e, std::int64_t lane) {
  const EventId& id = rec.events[e].id;
  for (EventIndex k = e + 1; k-- > 0;) {
    const EventId& other = rec.events[k].id;
    if (other.b != id.b || other.h != id.h) break;
    if (rec.lane_of(k).value_or(-1) == lane) return k;
  }
  return std::nullopt;
}

}  // namespace attn::orders::hopper
