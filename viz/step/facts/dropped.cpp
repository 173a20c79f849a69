#include "viz/step/facts/dropped.h"

#include <algorithm>
#include <optional>

#include "kernels/model/traffic.h"

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
  bool was_live(Slot slot) const {
    switch (slot) {
      case Slot::q:
        return live_in_any(Phase::scores, slot);
      case Slot::k:
        return live_in(Phase::scores, j, slot);
      case Slot::v:
        return live_in(Phase::scores, j, slot) || live_in(Phase::output, j, slot);
      case Slot::s:
      case Slot::p:
      case Slot::alpha:
      case Slot::m_new:
      case Slot::l_new:
        return rec.tile_version(slot, at.b, at.h, i, j, at.event) != kNoVersion;
      case Slot::m_old:
      case Slot::l_old:
        return live_in_any(slot == Slot::m_old ? Phase::max : Phase::sum, slot);
      case Slot::o_old:
      case Slot::o_new:
        return live_in_any(Phase::output, Slot::o_new);
      case Slot::lse:
        return false;
    }
    return false;
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
  const bool stored = stores_scores(rec.order);
  const auto live = [&](Slot other) { return rec.after(at.event, other) != kNoVersion; };
  if (slot == Slot::m_new && live(Slot::m_old)) return "Computed; it stands under old now.";
  if (slot == Slot::l_new && live(Slot::l_old)) return "Computed; it stands under old now.";
  if (is_input(slot)) return "It was on chip, and is in HBM alone now.";
  if (stored && (slot == Slot::s || slot == Slot::p)) return "Computed; it waits in HBM.";
  if (rec.order == Order::flash1 && slot != Slot::s && slot != Slot::p && slot != Slot::alpha)
    return "Computed; it waits in HBM until its query tile comes back.";
  return "Computed and used; it is on chip no longer.";
}

}  // namespace attn
