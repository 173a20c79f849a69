#include "viz/step/orders/looks.h"

#include <algorithm>
#include <cstddef>
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

const OrderLook& order_look(Order order) {
  static const Looks kLooks = make_looks();
  return *kLooks.by_order[static_cast<std::size_t>(order)];
}

}  // namespace attn
