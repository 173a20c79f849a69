#include "viz/step/facts/values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "kernels/orders/backward/options.h"
#include "kernels/recording/lanes.h"
#include "viz/step/facts/conditions.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void choose_key(const Recording& rec, const StepPlace& at, const Selection& selection, StepValues& out) {
  const Problem& p = rec.problem;
  out.key = at.first_key;
  const bool pinned = selection.slot == Slot::s || selection.slot == Slot::p;
  const std::int32_t wanted = selection.col;
  if (pinned && wanted >= at.first_key && wanted < at.first_key + at.keys && p.visible(at.b, at.row, wanted)) {
    out.key = wanted;
  } else {
    const auto s = row_of(rec, rec.after(at.event, Slot::s), at.row);
    float best = -std::numeric_limits<float>::infinity();
    bool any = false;
    for (std::size_t c = 0; c < s.size(); ++c) {
      const std::int32_t key = at.first_key + static_cast<std::int32_t>(c);
      if (!p.visible(at.b, at.row, key) || (any && !(s[c] > best) && !std::isnan(s[c]))) continue;
      best = s[c];
      out.key = key;
      any = true;
      if (std::isnan(best)) break;  // what a NaN does to its row is the story of that row
    }
  }
  const bool column = selection.slot == Slot::o_new || selection.slot == Slot::o_old;
  if (column && selection.col >= 0 && selection.col < p.Dv) out.col = selection.col;
}

// Which rank it is, whose keys it has, and what it sends of them.
void add_ring(const StepWork& c) {
  const Ring ring = ring_of(c.rec.options, c.rec.query_tiles(), c.rec.key_tiles());
  // After the last turn keys are at home.
  const std::int64_t rank = c.rec.lane_of(c.at.event).value_or(0), now = turn_of(c.rec, c.rec.events[c.at.event].id),
                     turn = c.at.i < 0 ? now : std::min(now, ring.ranks - 1);
  c.put("rank", rank);
  c.put("turn", turn);
  c.put("share", ring.share(rank, turn));
  c.put("next_rank", ring.right_of(rank));
  c.put("sent", share_bytes(c.rec.problem, c.rec.options, ring.share(rank, turn)));
  if (c.rec.problem.pass == Pass::forward) return;
  // The sums are one turn behind.
  const std::int64_t last = c.at.i < 0 ? rank : ring.share(rank, turn + ring.ranks - 1);
  c.put("left_rank", ring.left_of(rank));
  c.put("last_share", last);
  c.put("sums_sent", sums_bytes(c.rec.problem, c.rec.options, last));
}

void add_places(const StepWork& c) {
  const StepPlace& at = c.at;
  const Problem& p = c.rec.problem;
  c.put("row", at.row);
  c.put("i", std::max(at.i, 0));
  c.put("j", std::max(at.j, 0));
  c.put("rows", at.rows);
  const bool all = takes_all_keys(c.rec, at.event);
  const std::int64_t first_key = all ? 0 : at.first_key, keys = all ? p.Lk : at.keys;
  c.put("keys", keys);
  c.put("first_row", at.first_row);
  c.put("last_row", at.first_row + at.rows - 1);
  c.put("first_key", first_key);
  c.put("last_key", first_key + keys - 1);
  if (p.storage.kind() == Storage::paged) {
    c.put("b", at.b);
    c.put("page", p.storage.page);
    c.put("pages", pages_of_tile_words(c.rec, at));
  }
  c.put("D", p.D);
  c.put("Dv", p.Dv);
  c.put("Lq", p.Lq);
  c.put("Lk", p.Lk);
  c.put("accumulate", std::string(name_of(c.rec.options.accumulate)));
  c.put("lse_type", std::string(name_of(orders::backward::lse_type(c.rec.options))));
  std::int64_t visible = 0;
  for (std::int64_t n = 0; n < keys; ++n) visible += p.visible(at.b, at.row, first_key + n) ? 1 : 0;
  c.put("visible", visible);
  // A mask that hides none of them from the row is not worth a word.
  c.put("kept_words",
        visible == keys ? std::string() : " " + phrase("Row {} keeps {} of {} keys.", at.row, visible, keys));
  c.put("element_bytes", static_cast<std::int64_t>(size_of(p.dtype)));
  c.put("bytes", static_cast<std::int64_t>(event_bytes(c.rec, at.event)));
  c.put("key", c.out.key);
  c.put("col", c.out.col);
  if (order_row(c.rec.order).abreast == Abreast::ranks) add_ring(c);
  if (const auto merged = merged_parts(c.rec, at.event)) {
    c.put("first_part", merged->first, Token::dim);
    c.put("second_part", merged->second, Token::dim);
    c.put("loaded_part", part_of(c.rec, std::max(at.j, 0)) + 1);
  }
  c.put_value("scale", scale_words(p), Token::text);
}

// What an order's own slots hold in the followed row, under their names.
void add_own(const StepWork& c) {
  for (const Slot slot : order_row(c.rec.order).own_slots) {
    const bool by_key = slot_row(slot).columns == SlotColumns::keys, one = slot_row(slot).columns == SlotColumns::one;
    const std::int32_t col = one ? 0 : by_key ? c.out.key : c.out.col;
    // Of what is summed by keys the row of the followed key.
    StepPlace at = c.at;
    if (slot_row(slot).rows == SlotRows::keys) at.row = c.out.key;
    const StepWork of_slot{c.rec, at, c.exact, c.out};
    if (const auto x = of_slot.live(slot, col))
      c.put_number(std::string(name_of(slot)), *x, tensor_of(slot), of_slot.bound(slot, col));
  }
}

}  // namespace

std::uint64_t event_bytes(const Recording& rec, EventIndex e) {
  std::uint64_t bytes = 0;
  for (std::size_t part = 0; part < rec.events[e].hbm_bytes.size(); ++part) {
    bytes += rec.events[e].hbm_bytes[part] - (e > 0 ? rec.events[e - 1].hbm_bytes[part] : 0);
  }
  return bytes;
}

StepValues step_values(const Recording& rec, const StepPlace& at, const Selection& selection, const ExactTile* exact) {
  using enum TensorColour;
  StepValues out;
  StepWork c{rec, at, exact, out};
  const OrderLook& look = order_look(rec.order);
  const PhaseLook& phase = look.phase(rec.events[at.event].id.phase);
  choose_key(rec, at, selection, out);
  add_places(c);
  c.m_old = c.live(Slot::m_old).value_or(-kInfinity);
  c.m_new = c.live(Slot::m_new).value_or(c.m_old);
  c.l_old = c.live(Slot::l_old).value_or(0);
  c.o_old = c.live(Slot::o_old, out.col).value_or(0);
  if (phase.divides_output && at.event > 0) {
    // Of its own lane: beside it others may have gone on.
    const VersionId fresh = rec.before(at.event, Slot::o_new);
    const auto before = row_of(rec, fresh != kNoVersion ? fresh : rec.before(at.event, Slot::o_old), at.row);
    if (static_cast<std::size_t>(out.col) < before.size()) c.o_old = before[static_cast<std::size_t>(out.col)];
  }
  out.conditions = step_conditions(rec, at, {out.key, out.col, c.m_old, c.m_new, c.l_old, c.o_old});
  if (look.shows(Slot::m_old)) c.put_number("m_old", c.m_old, m);
  if (look.shows(Slot::m_new)) c.put_number("m_new", c.m_new, m, c.bound(Slot::m_new));
  if (look.shows(Slot::l_old)) c.put_number("l_old", c.l_old, l, c.bound(Slot::l_old));
  if (look.shows(Slot::o_old)) c.put_number("o_old", c.o_old, o, c.bound(Slot::o_old, out.col));
  const auto put_live = [&](const char* name, Slot slot, std::int32_t col, Ink ink) {
    if (const auto x = c.live(slot, col)) c.put_number(name, *x, ink, c.bound(slot, col));
  };
  put_live("s", Slot::s, out.key, s);
  put_live("p", Slot::p, out.key, p);
  put_live("alpha", Slot::alpha, 0, alpha);
  put_live("l_new", c.live(Slot::l_new) ? Slot::l_new : Slot::l_old, 0, l);
  put_live("o_new", Slot::o_new, out.col, o);
  put_live("lse", Slot::lse, 0, l);
  if (const auto r = c.row_max()) c.put_number("rowmax", *r, s);
  add_own(c);
  if (phase.work != nullptr) phase.work(c);
  return out;
}

}  // namespace attn
