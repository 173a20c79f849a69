#include "viz/step/orders/looks.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace attn {
namespace {

// The look of an order that has no row in viz/step/orders/table.cpp: as the row of the table that works alike, as far
// as it has the same phases and slots; the rest from its row in kernels/orders. Each slot of its own is a column under
// its letter, to the right of its nearest relative; each phase of its own lights the column of what it makes.
class DerivedLook {
 public:
  explicit DerivedLook(const OrderRow& row);
  DerivedLook(const DerivedLook&) = delete;
  DerivedLook& operator=(const DerivedLook&) = delete;

  OrderLook look;  // points into the rest

 private:
  void add_slots(const OrderRow& row);
  void add_columns(const OrderRow& row);
  void add_phases(const OrderRow& row);
  void add_lists(const OrderRow& row);
  bool has(Slot slot) const;

  const OrderLook* base_;
  std::vector<PhaseLook> phases_;
  std::vector<SlotLook> slots_;
  std::vector<ColumnLook> columns_;
  std::vector<std::string> ids_;
  std::vector<Slot> computed_;
  std::vector<ComparedLook> compared_;
  std::vector<LetterWords> letters_;
  std::vector<SheetLook> sheet_;
};

// The last row of the table that works alike, as an order without texts has the texts of such a one; null: none does.
const OrderLook* alike(const OrderRow& row) {
  for (const OrderLook* look : order_look_table() | std::views::reverse) {
    const OrderRow& other = order_row(look->order);
    if (other.pass == row.pass && row.works_like(other)) return look;
  }
  return nullptr;
}

DerivedLook::DerivedLook(const OrderRow& row) : base_(alike(row)) {
  if (base_ != nullptr) look = *base_;
  // What is said of that order alone.
  look.order = row.id;
  look.traffic = nullptr;
  look.yardstick = look.row_by_row = look.outlook = look.beats = false;
  look.undivided = row.ends_with_lse;
  add_slots(row);
  add_columns(row);
  add_phases(row);
  add_lists(row);
  look.phases = phases_;
  look.slots = slots_;
  look.columns = columns_;
  look = placed(look);
}

bool DerivedLook::has(Slot slot) const {
  return std::ranges::find(slots_, slot, &SlotLook::slot) != slots_.end();
}

// In the order in which the walk meets them.
void DerivedLook::add_slots(const OrderRow& row) {
  const auto add = [&](Slot slot) {
    if (has(slot)) return;
    if (base_ != nullptr && base_->shows(slot)) return slots_.push_back(base_->slot(slot));
    slots_.push_back(
        {.slot = slot,
         .never_if_skipped = true,
         .explain = slot_row(slot).input ? Explain::input : Explain::nothing,
         .stood = {row.makers[static_cast<std::size_t>(slot)].empty() ? Stood::before : Stood::as_version}});
  };
  for (const OrderPhase& phase : row.phases) {
    for (const auto* slots : {&phase.before, &phase.brings, &phase.after}) std::ranges::for_each(*slots, add);
    for (const auto* slots : {&phase.newest_before, &phase.newest_after})
      for (const Newest& newest : *slots) add(newest.old), add(newest.fresh);
  }
  for (const WalkStep& step : row.walk) std::ranges::for_each(step.creates, add);
}

// Those of the order that works alike, and each that is left to the right of its nearest relative.
void DerivedLook::add_columns(const OrderRow& row) {
  for (const ColumnLook& known : look.columns) {
    if (!has(known.slot) && !(known.other && has(*known.other))) continue;
    columns_.push_back(known);
    if (known.above && !has(*known.above)) columns_.back().above.reset();
  }
  const auto column_of = [&](Slot slot) {
    return std::ranges::find_if(
        columns_, [slot](const ColumnLook& c) { return c.slot == slot || c.other == slot || c.above == slot; });
  };
  std::size_t next = kNamedColumns;
  ids_.reserve(slots_.size());  // the columns point into it
  for (const SlotLook& left : slots_) {
    const bool named = base_ != nullptr && base_->shows(left.slot) && !row.own(left.slot);
    // LSE has no column anywhere.
    if (column_of(left.slot) != columns_.end() || (named && left.slot == Slot::lse)) continue;
    ids_.push_back(fmt::format("##tile_{}", name_of(left.slot)));
    const auto relative = column_of(slot_row(left.slot).like);
    columns_.insert(relative == columns_.end() ? relative : relative + 1,
                    {.column = static_cast<Column>(next++), .id = ids_.back(), .slot = left.slot});
  }
  for (std::optional<Column>* followed : {&look.scores, &look.maximum, &look.output})
    if (*followed && std::ranges::find(columns_, **followed, &ColumnLook::column) == columns_.end()) followed->reset();
}

void DerivedLook::add_phases(const OrderRow& row) {
  for (const OrderPhase& phase : row.phases) {
    if (base_ != nullptr && !row.own(phase.phase)) {
      phases_.push_back(base_->phase(phase.phase));
      phases_.back().phase = phase.phase;
      continue;
    }
    PhaseLook out{.phase = phase.phase};
    for (const WalkStep& step : row.walk) {
      if (step.phase != phase.phase || step.creates.empty()) continue;
      const auto column = std::ranges::find_if(columns_, [&](const ColumnLook& c) {
        return c.slot == step.creates.front() || c.other == step.creates.front();
      });
      if (column == columns_.end()) continue;
      out.lights = column->column;
      out.fills = step.once == Once::tile;
    }
    phases_.push_back(out);
  }
}

void DerivedLook::add_lists(const OrderRow& row) {
  for (const ComparedLook& known : look.compared)
    if (row.has(known.phase) && has(known.slot)) compared_.push_back(known);
  for (const LetterWords& known : look.letters)
    if (std::ranges::any_of(slots_, [&](const SlotLook& s) { return slot_row(s.slot).letter == known.letter; }))
      letters_.push_back(known);
  for (const SheetLook& known : look.sheet)
    if (has(known.slot)) sheet_.push_back(known);
  for (const WalkStep& step : row.walk) {
    for (const Slot slot : step.creates) {
      if (slot_row(slot).input || std::ranges::find(computed_, slot) != computed_.end()) continue;
      computed_.push_back(slot);
      if (!row.own(slot)) continue;
      compared_.push_back({step.phase, slot, slot_row(slot).letter});
      letters_.push_back({slot_row(slot).letter, tensor_of(slot), name_of(slot)});
      sheet_.push_back({slot, slot});
    }
  }
  look.computed = computed_;
  look.compared = compared_;
  look.letters = letters_;
  look.sheet = sheet_;
}

// By order: its row in the table, or one that is derived.
struct Looks {
  std::vector<const OrderLook*> by_order;
  std::vector<std::unique_ptr<const DerivedLook>> derived;
};

Looks make_looks() {
  Looks looks;
  for (const OrderRow& row : all_orders()) {
    const auto table = order_look_table();
    const auto at = std::ranges::find(table, row.id, [](const OrderLook* look) { return look->order; });
    if (at != table.end()) {
      looks.by_order.push_back(*at);
    } else {
      looks.derived.push_back(std::make_unique<DerivedLook>(row));
      looks.by_order.push_back(&looks.derived.back()->look);
    }
  }
  return looks;
}

}  // namespace

const OrderLook& order_look(Order order) {
  static const Looks kLooks = make_looks();
  return *kLooks.by_order[static_cast<std::size_t>(order)];
}

const OrderLook& look_at(const Recording& rec, EventIndex e) {
  const OrderLook& look = order_look(rec.order);
  const Phase phase = rec.events[e].id.phase;
  if (look.merge == nullptr || order_row(rec.order).in_lane[static_cast<std::size_t>(phase)]) return look;
  return look.merged != nullptr && look.phase(phase).ends_row ? *look.merged : *look.merge;
}

}  // namespace attn
