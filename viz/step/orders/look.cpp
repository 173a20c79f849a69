#include "viz/step/orders/look.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "viz/step/orders/derived.h"

namespace attn {
namespace {

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

const PhaseLook& OrderLook::phase(Phase p) const {
  static constexpr PhaseLook kPlain{};
  const std::uint8_t at = phase_at.at(static_cast<std::size_t>(p));
  return at == kNone ? kPlain : phases[at];
}

const SlotLook& OrderLook::slot(Slot s) const {
  static constexpr SlotLook kPlain{};
  const std::uint8_t at = slot_at.at(static_cast<std::size_t>(s));
  return at == kNone ? kPlain : slots[at];
}

const ColumnLook* OrderLook::column(Column c) const {
  const auto at = std::ranges::find(columns, c, &ColumnLook::column);
  return at == columns.end() ? nullptr : &*at;
}

bool OrderLook::shows(Slot s) const {
  return slot_at.at(static_cast<std::size_t>(s)) != kNone;
}

std::size_t OrderLook::column_count() const {
  std::size_t count = kNamedColumns;
  for (const ColumnLook& c : columns) count = std::max(count, static_cast<std::size_t>(c.column) + 1);
  return count;
}

const OrderLook& order_look(Order order) {
  static const Looks kLooks = make_looks();
  return *kLooks.by_order[static_cast<std::size_t>(order)];
}

}  // namespace attn
