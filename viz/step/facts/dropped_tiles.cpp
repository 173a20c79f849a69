#include "viz/step/facts/dropped_tiles.h"

#include <algorithm>
#include <optional>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

struct DroppedLooker {
  const Recording& rec;
  const StepPlace& at;
  std::int32_t i = 0, j = 0;  // tiles that are drawn, also where the phase has none

  // The slot was live in that phase of a tile, at or before this step.
  bool live_in(Phase phase, std::int32_t key_tile, Slot slot) const {
    const std::optional<EventIndex> e = rec.find({at.b, at.h, i, key_tile, phase});
    return e && *e <= at.event && rec.after(*e, slot) != kNoVersion;
  }
  bool live_in_any(Phase phase, Slot slot) const {
    for (std::int32_t tile = 0; tile < rec.key_tiles(); ++tile) {
      if (live_in(phase, tile, slot)) return true;
    }
    return false;
  }
  // Of the heads that share the keys.
  bool live_in_any_rows(Phase phase, Slot slot) const {
    const auto group = static_cast<std::int32_t>(rec.problem.Hq / rec.problem.Hkv), first = at.h / group * group;
    for (std::int32_t h = first; h < first + group; ++h) {
      for (std::int32_t tile = 0; tile < rec.query_tiles(); ++tile) {
        const std::optional<EventIndex> e = rec.find({at.b, h, tile, j, phase});
        if (e && *e <= at.event && rec.after(*e, slot) != kNoVersion) return true;
      }
    }
    return false;
  }
  // Of the rows or keys that are drawn: another tile's says nothing about this one's.
  bool in_any_before(Slot slot) const {
    const SlotRow& row = slot_row(slot);
    const bool by_key = row.rows == SlotRows::keys, shared = order_row(rec.order).heads_share_keys;
    const std::int32_t first = by_key ? at.first_key : at.first_row;
    for (EventIndex n = at.event; n-- > 0;) {
      const EventId& id = rec.events[n].id;
      const bool group = id.b == at.b && rec.problem.kv_head(id.h) == rec.problem.kv_head(at.h);
      if (shared ? !group : id.b != at.b || id.h != at.h) return false;
      if (!by_key && id.h != at.h) continue;
      const VersionId v = rec.after(n, slot);
      if (v != kNoVersion && rec.version(v).first_row == first) return true;
    }
    return false;
  }
  bool was_live(Slot slot) const {
    const StoodBefore& stood = look_at(rec, at.event).slot(slot).stood;
    const Slot sought = stood.slot.value_or(slot);
    switch (stood.how) {
      case Stood::never:
        return false;
      case Stood::in_key_tile:
        return live_in(stood.in[0], j, sought) || live_in(stood.in[1], j, sought);
      case Stood::in_any:
        return live_in_any(stood.in[0], sought);
      case Stood::of_keys:
        return live_in_any_rows(stood.in[0], sought);
      case Stood::in_merge:
        return at.j >= 0 ? live_in(stood.in[0], at.j, sought) : live_in_any(stood.in[0], sought);
      case Stood::as_version:
        return rec.tile_version(sought, at.b, at.h, i, j, at.event) != kNoVersion;
      case Stood::before:
        return in_any_before(sought);
    }
    return false;
  }
};

// Among what a step reads or makes.
bool used_by(const OrderPhase& phase, Slot slot) {
  const auto has = [&](const auto& slots) { return std::ranges::find(slots, slot) != slots.end(); };
  const auto newest = [&](const auto& pairs) {
    return std::ranges::any_of(pairs, [&](const Newest& n) { return n.fresh == slot || n.old == slot; });
  };
  return has(phase.before) || has(phase.after) || newest(phase.newest_before) || newest(phase.newest_after);
}

// No longer needed in this pass, as the bytes on chip are counted.
bool let_go(const Recording& rec, EventIndex e, Slot slot) {
  if (!stores_scores(rec.order) || rec.after(e, slot) == kNoVersion) return false;
  const auto pass = static_cast<unsigned>(std::clamp(rec.events[e].pass, 0, 2));
  const OrderPhase* phase = order_row(rec.order).phase(rec.events[e].id.phase);
  for (const ChipLook& part : order_look(rec.order).chip)
    for (const auto& [a, b] : part.slots)
      if (a == slot || b == slot)
        return (part.passes >> pass & 1U) == 0 && (phase == nullptr || !used_by(*phase, slot));
  return false;
}

}  // namespace

bool is_dropped(const Recording& rec, const StepPlace& at, Slot slot) {
  if (let_go(rec, at.event, slot)) return true;
  if (rec.after(at.event, slot) != kNoVersion) return false;
  const std::int32_t i = at.i >= 0 ? at.i : at.first_row / std::max(at.br, 1);
  const std::int32_t j = at.j >= 0 ? at.j : at.first_key / std::max(at.bc, 1);
  return DroppedLooker{rec, at, i, j}.was_live(slot);
}

std::string dropped_words(const Recording& rec, const StepPlace& at, Slot slot) {
  const SlotLook& look = look_at(rec, at.event).slot(slot);
  if (look.older && rec.after(at.event, *look.older) != kNoVersion && !is_dropped(rec, at, *look.older))
    return tr("Computed and now shown under \"old\".");
  return std::string(tr_of(look.gone));
}

}  // namespace attn
