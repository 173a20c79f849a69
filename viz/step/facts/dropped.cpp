#include "viz/step/facts/dropped.h"

#include <algorithm>
#include <array>
#include <optional>

#include "kernels/model/order_row.h"

namespace attn {
namespace {

// Where a slot that is not made by its tile is seen: in a phase of its own tile, or of any key tile of the row. The
// others are where tile_version() finds them.
struct Seen {
  Slot slot, as;
  bool of_row;
  std::array<Phase, 2> phases;
};
constexpr Seen kSeen[] = {
    {Slot::q, Slot::q, true, {Phase::scores, Phase::scores}},
    {Slot::k, Slot::k, false, {Phase::scores, Phase::scores}},
    {Slot::v, Slot::v, false, {Phase::scores, Phase::output}},
    {Slot::m_old, Slot::m_old, true, {Phase::max, Phase::max}},
    {Slot::l_old, Slot::l_old, true, {Phase::sum, Phase::sum}},
    {Slot::o_old, Slot::o_new, true, {Phase::output, Phase::output}},
    {Slot::o_new, Slot::o_new, true, {Phase::output, Phase::output}},
};

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
  bool was_live(Slot slot) const {
    for (const Seen& seen : kSeen) {
      if (seen.slot != slot) continue;
      return std::ranges::any_of(seen.phases, [&](Phase phase) {
        return seen.of_row ? live_in_any(phase, seen.as) : live_in(phase, j, seen.as);
      });
    }
    return rec.tile_version(slot, at.b, at.h, i, j, at.event) != kNoVersion;
  }
};

}  // namespace

bool is_dropped(const Recording& rec, const StepPlace& at, Slot slot) {
  if (rec.after(at.event, slot) != kNoVersion) return false;
  const std::int32_t i = at.i >= 0 ? at.i : at.first_row / std::max(at.br, 1);
  const std::int32_t j = at.j >= 0 ? at.j : at.first_key / std::max(at.bc, 1);
  return DroppedLooker{rec, at, i, j}.was_live(slot);
}

std::string dropped_words(const Recording& rec, const StepPlace& at, Slot slot) {
  const OrderRow& order = order_row(rec.order);
  const auto live = [&](Slot other) { return rec.after(at.event, other) != kNoVersion; };
  if (slot == Slot::m_new && live(Slot::m_old)) return "Computed; it stands under old now.";
  if (slot == Slot::l_new && live(Slot::l_old)) return "Computed; it stands under old now.";
  if (is_input(slot)) return "It was on chip, and is in HBM alone now.";
  if (order.stores_scores && (slot == Slot::s || slot == Slot::p)) return "Computed; it waits in HBM.";
  const bool state = std::ranges::any_of(order.starts, [slot](Slot s) { return made_as(s) == made_as(slot); });
  if (order.state_in_memory && state) return "Computed; it waits in HBM until its query tile comes back.";
  return "Computed and used; it is on chip no longer.";
}

}  // namespace attn
