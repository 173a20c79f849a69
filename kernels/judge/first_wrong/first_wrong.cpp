#include "kernels/judge/first_wrong/first_wrong.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/judge/first_wrong/likely_cause.h"
#include "kernels/judge/verdict.h"
#include "kernels/model/order_row.h"
#include "kernels/recording/reading.h"
#include "kernels/recording/replay/exact.h"
#include "kernels/recording/replay/replay.h"

namespace attn {
namespace {

// What an event can have made, in the order of the computation.
std::vector<Slot> slots_in_turn(const OrderRow& order) {
  std::vector<Slot> slots{Slot::q,     Slot::k,     Slot::v, Slot::m_old, Slot::l_old, Slot::o_old, Slot::s,
                          Slot::m_new, Slot::alpha, Slot::p, Slot::l_new, Slot::o_new, Slot::lse};
  slots.insert(slots.end(), order.own_slots.begin(), order.own_slots.end());
  return slots;
}

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a != a && b != b);
}

// The reading of a version: what must agree before two numbers can be compared.
bool same_reading(const Version& a, const Version& b) {
  return a.holds.scaled == b.holds.scaled && a.holds.base2 == b.holds.base2 && a.holds.normalised == b.holds.normalised;
}

// The elements that differ, in the whole tensor.
void place(Slot slot, const Version& v, std::span<const WrongElement> elements, FirstWrong& found) {
  found.slot = slot;
  found.row = v.first_row + elements.front().row;
  found.col = v.first_col + elements.front().col;
  found.differing = static_cast<std::int64_t>(elements.size());
  found.of = static_cast<std::int64_t>(v.rows) * v.cols;
  for (const WrongElement& x : elements) {
    if (found.rows.empty() || found.rows.back() != v.first_row + x.row) found.rows.push_back(v.first_row + x.row);
  }
}

class Finder {
 public:
  Finder(const Recording& wrong, const Recording& right)
      : wrong_(wrong), right_(right), order_(order_row(right.order)), slots_(slots_in_turn(order_)) {}

  Result<std::optional<FirstWrong>> run(const Stop& stop) {
    if (wrong_.problem != right_.problem || wrong_.order != right_.order || wrong_.options.br != right_.options.br ||
        wrong_.options.bc != right_.options.bc) {
      return bad_input(tr("cannot compare: the two runs differ in problem, tile or order"));
    }
    for (e_ = 0; e_ < wrong_.events.size() && !found_; ++e_) {
      if (stop.stop_requested()) return fail(ErrorKind::cancelled, tr("the search was cancelled"));
      if (auto good = look_at_event(); !good) return tl::unexpected(good.error());
    }
    // What the right run does after all this.
    if (!found_ && !wrong_.events.empty()) {
      e_ = static_cast<EventIndex>(wrong_.events.size() - 1);
      missing_before(static_cast<EventIndex>(right_.events.size()));
    }
    return std::move(found_);
  }

 private:
  // What a phase brings from memory is compared whichever step made it.
  bool brings(Phase phase, Slot slot) const {
    const OrderPhase* as = order_.phase(phase);
    return as != nullptr && std::ranges::find(as->brings, slot) != as->brings.end();
  }
  bool visits_keys(Phase phase) const {
    const OrderPhase* as = order_.phase(phase);
    return as != nullptr && as->visits_keys;
  }

  void put(FirstWrong w) {
    w.event = e_;
    w.id = wrong_.events[e_].id;
    found_ = std::move(w);
  }

  Result<void> look_at_event() {
    const Event& event = wrong_.events[e_];
    const auto at = right_.find(event.id, event.pass);
    if (!at) return look_at_own_event();
    right_e_ = *at;
    missing_before(right_e_);
    if (found_) return ok();
    next_ = std::max(next_, right_e_ + 1);
    return compare_event();
  }

  // A step that the right run has not.
  Result<void> look_at_own_event() {
    const Event& event = wrong_.events[e_];
    const EventId& id = event.id;
    if (id.phase == Phase::skipped) {
      FirstWrong w;
      w.what = WrongStep::skipped;
      w.cause = phrase("A tile was skipped although a query sees one of the tile's keys{}.", seen_words(id));
      put(std::move(w));
      return ok();
    }
    const bool skipped = id.j >= 0 && right_.find({id.b, id.h, id.i, id.j, Phase::skipped}, event.pass).has_value();
    if (id.phase == Phase::mask && !skipped) {
      const auto scores = right_.find({id.b, id.h, id.i, id.j, Phase::scores});
      if (!scores) return ok();
      right_e_ = *scores;  // a tile that has nothing to hide: S stays what it is
      return compare_version(Slot::s, right_.after(right_e_, Slot::s));
    }
    if (!skipped) return ok();
    // Computed, it must be hidden all the same: by its mask, which is looked at there.
    if (id.phase == Phase::mask)
      all_hidden(Phase::mask);
    else if (!wrong_.find({id.b, id.h, id.i, id.j, Phase::mask}))
      all_hidden(Phase::scores);
    return ok();
  }

  // Of a tile that the right run skips nothing may be seen once `phase` is over.
  void all_hidden(Phase phase) {
    const EventId& id = wrong_.events[e_].id;
    const auto at = wrong_.find({id.b, id.h, id.i, id.j, phase});
    const VersionId s = at ? wrong_.after(*at, Slot::s) : kNoVersion;
    if (s == kNoVersion) return;
    const Version& v = wrong_.version(s);
    constexpr double kHidden = -std::numeric_limits<double>::infinity();
    elements_.clear();
    FirstWrong found;
    const auto values = wrong_.values(s);
    for (std::size_t n = 0; n < values.size(); ++n) {
      const auto x = static_cast<double>(values[n]);
      if (x != kHidden) add(static_cast<std::int32_t>(n), v.cols, x, kHidden, 0, found);
    }
    if (elements_.empty()) return;
    if (phase == Phase::scores) {
      found.what = WrongStep::extra;
      found.cause =
          tr("No query of this tile may see any of the tile's keys, yet the tile is neither skipped nor masked.");
    }
    finish(Slot::s, v, std::move(found));
  }

  // The right run does something before its event `until` that the other leaves out.
  void missing_before(EventIndex until) {
    for (EventIndex r = next_; r < until; ++r) {
      const Event& event = right_.events[r];
      const EventId& id = event.id;
      // A tile that is skipped is found where it is skipped; what stands elsewhere is compared there.
      if (id.phase == Phase::skipped || wrong_.find(id, event.pass)) continue;
      if (wrong_.find({id.b, id.h, id.i, id.j, Phase::skipped}, event.pass)) continue;
      FirstWrong w;
      w.what = WrongStep::missing;
      w.missing = name_of(id.phase);
      if (id.phase == Phase::mask) {
        if (!mask_is_missed(r, w)) continue;
      } else if (visits_keys(id.phase)) {
        w.cause = phrase("Key tile {} is never visited{}.", id.j, seen_words(id));
      } else {
        w.cause = phrase("The step '{}' is missing for this tile.", w.missing);
      }
      return put(std::move(w));
    }
  }

  // Whether S, unmasked, is another one.
  bool mask_is_missed(EventIndex r, FirstWrong& w) {
    const VersionId s = wrong_.before(e_, Slot::s), right = right_.after(r, Slot::s);
    if (s == kNoVersion || right == kNoVersion) return true;
    const Version& v = wrong_.version(s);
    if (v.rows != right_.version(right).rows || v.cols != right_.version(right).cols) return true;
    elements_.clear();
    compare_values(Slot::s, s, right, w);
    if (elements_.empty()) return false;
    place(Slot::s, v, elements_, w);
    w.cause = tr("The mask is not applied to a tile in which it should hide some keys.");
    return true;
  }

  // ": row 3 sees its key 24"; empty where no query does.
  std::string seen_words(const EventId& id) const {
    const Problem& p = right_.problem;
    const std::int64_t r0 = std::int64_t{id.i} * right_.options.br, c0 = std::int64_t{id.j} * right_.options.bc;
    if (id.i < 0 || id.j < 0) return {};
    for (std::int64_t r = r0; r < std::min(r0 + right_.options.br, p.Lq); ++r) {
      const KeyRange seen = p.visible_keys(id.b, r);
      const std::int64_t key = std::max(c0, seen.first);
      if (key < std::min({c0 + right_.options.bc, seen.last, p.Lk})) return phrase(": row {} sees its key {}", r, key);
    }
    return {};
  }

  Result<void> compare_event() {
    const Phase phase = right_.events[right_e_].id.phase;
    for (const Slot slot : slots_) {
      const VersionId id = right_.after(right_e_, slot);
      if (id == kNoVersion) continue;
      const bool made = right_.version(id).made_by == right_e_ && right_.version(id).slot == slot;
      if (!made && !brings(phase, slot)) continue;
      if (auto good = compare_version(slot, id); !good || found_) return good;
    }
    if (phase == Phase::store_o) compare_written();
    return ok();
  }

  Result<void> compare_version(Slot slot, VersionId right_id) {
    const VersionId id = wrong_.after(e_, slot);
    const Version& r = right_.version(right_id);
    if (id == kNoVersion) return bad_input(phrase("step {} has no {}", e_ + 1, letter_of_slot(slot)));
    const Version& w = wrong_.version(id);
    if (w.rows != r.rows || w.cols != r.cols || w.first_row != r.first_row || w.first_col != r.first_col) {
      return bad_input(phrase("step {}: its {} belongs to another tile", e_ + 1, letter_of_slot(slot)));
    }
    if (!same_reading(w, r)) {
      return bad_input(phrase("step {}: its {} has a different scale or base than in the correct run", e_ + 1,
                              letter_of_slot(slot)));
    }
    elements_.clear();
    FirstWrong found;
    compare_values(slot, id, right_id, found);
    if (elements_.empty()) return ok();
    finish(slot, w, std::move(found));
    return ok();
  }

  void compare_values(Slot slot, VersionId id, VersionId right_id, FirstWrong& found) {
    const auto recorded = wrong_.values(id), right = right_.values(right_id);
    for (std::size_t n = 0; n < recorded.size(); ++n) {
      if (!same(recorded[n], right[n])) look_at(slot, right_id, n, recorded[n], right[n], found);
    }
  }

  // A number that is not the right run's to the bit.
  void look_at(Slot slot, VersionId right_id, std::size_t n, float recorded, float right, FirstWrong& found) {
    const auto exact = exact_of(slot, right_id, n);
    const auto x = static_cast<double>(recorded), y = static_cast<double>(right);
    const bool rounding_alone = exact && std::isfinite(x) && std::isfinite(y);
    if (rounding_alone && !(std::fabs(x - exact->exact) > exact->bound)) return;
    add(static_cast<std::int32_t>(n), right_.version(right_id).cols, x, rounding_alone ? exact->exact : y,
        rounding_alone ? exact->bound : 0, found);
  }

  void add(std::int32_t n, std::int32_t cols, double recorded, double right, double bound, FirstWrong& found) {
    if (elements_.empty()) {
      found.recorded = recorded;
      found.right = right;
      found.bound = bound;
    }
    elements_.push_back({n / cols, n % cols, recorded, right});
  }

  std::optional<ExactNumber> exact_of(Slot slot, VersionId id, std::size_t n) {
    const EventId& made = right_.events[right_.version(id).made_by].id;
    // What is summed over queries is known by its keys, and asked of any query tile.
    const bool by_key = slot_row(slot).rows == SlotRows::keys;
    if (is_input(slot) || (made.i < 0 && !by_key)) return std::nullopt;
    if (b_ != made.b || h_ != made.h) exact_.clear();
    b_ = made.b;
    h_ = made.h;
    const std::int32_t i = std::max(made.i, 0);
    const auto [at, fresh] = exact_.try_emplace(i, right_, made.b, made.h, i, DType::f32);
    return at->second.at(id, n);
  }

  void finish(Slot slot, const Version& v, FirstWrong found) {
    place(slot, v, elements_, found);
    found.event = e_;
    found.id = wrong_.events[e_].id;
    if (found.cause.empty()) found.cause = likely_cause(wrong_, right_, found, right_e_, elements_);
    put(std::move(found));
  }

  // The last step is right, and what lies in memory must be what it holds.
  void compare_written() {
    const VersionId o_new = right_.after(right_e_, Slot::o_new);
    const VersionId o = o_new != kNoVersion ? o_new : right_.after(right_e_, Slot::o_old);
    const VersionId lse = right_.after(right_e_, Slot::lse);
    if (o == kNoVersion || lse == kNoVersion) return;
    const Version& v = right_.version(o);
    const EventId& id = right_.events[right_e_].id;
    const std::int64_t first = (id.b * right_.problem.Hq + id.h) * right_.problem.Lq + v.first_row;
    elements_.clear();
    FirstWrong found;
    found.written = true;
    for (std::int64_t n = 0; n < static_cast<std::int64_t>(v.rows) * v.cols; ++n) {
      const std::int64_t at = first * v.cols + n;
      const float x = wrong_.outputs.out.get(at), y = right_.outputs.out.get(at);
      if (!same(x, y)) look_at(Slot::o_new, o, static_cast<std::size_t>(n), x, y, found);
    }
    if (!elements_.empty()) return finish(Slot::o_new, v, found);
    for (std::int64_t r = 0; r < v.rows; ++r) {
      const float x = wrong_.outputs.lse.get(first + r), y = right_.outputs.lse.get(first + r);
      if (!same(x, y)) look_at(Slot::lse, lse, static_cast<std::size_t>(r), x, y, found);
    }
    if (!elements_.empty()) finish(Slot::lse, right_.version(lse), found);
  }

  const Recording& wrong_;
  const Recording& right_;
  const OrderRow& order_;
  const std::vector<Slot> slots_;
  EventIndex e_ = 0, right_e_ = 0;
  EventIndex next_ = 0;                 // of the right run: all before it was met
  std::vector<WrongElement> elements_;  // of the version that is looked at
  std::optional<FirstWrong> found_;
  std::int32_t b_ = -1, h_ = -1;
  std::map<std::int32_t, ExactTile> exact_;  // of that head, by query tile; made where something differs
};

}  // namespace

Result<std::optional<FirstWrong>> find_first_wrong_of_gpu(const Recording& rec, const Stop& stop) {
  const auto first = replay_of_gpu(rec, stop);
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, tr("the search was cancelled"));
  if (!first) return std::nullopt;
  FirstWrong w;
  w.event = first->event;
  w.id = rec.events[first->event].id;
  w.recorded = static_cast<double>(first->recorded);
  w.right = static_cast<double>(first->replayed);
  w.bound = first->bound;
  std::vector<WrongElement> elements = first->numbers;
  w.written = elements.empty();
  if (w.written) elements.push_back({first->row, first->col, w.recorded, w.right});
  place(first->slot, rec.version(rec.after(first->event, first->slot)), elements, w);
  // The formulas of causes are of what formulas name; a GPU's m, l and O may be another thing.
  if (w.written || !differs_from_formulas(rec)) w.cause = likely_cause(rec, rec, w, first->event, elements);
  return w;
}

Result<std::optional<FirstWrong>> find_first_wrong(const Recording& wrong, const Recording& right, const Stop& stop) {
  if (wrong.gpu) return find_first_wrong_of_gpu(wrong, stop);
  return Finder(wrong, right).run(stop);
}

}  // namespace attn
