// The table of looks and the table of orders speak of the same phases and slots.
#include "viz/step/orders/look.h"
#include "viz/step/orders/looks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "kernels/ladder.h"
#include "tests/viz/step/fixture.h"

namespace attn {
namespace {

// Of the others there is nothing to draw.
bool is_recorded(const OrderRow& order) {
  const auto rows = ladder();
  return std::ranges::any_of(
      rows, [&](const KernelRow* row) { return row->record != nullptr && options_for(*row, order.id); });
}

TEST(OrderLook, EveryOrderThatIsRecordedHasARowOfItsOwn) {
  for (const OrderRow& row : all_orders()) {
    EXPECT_EQ(order_look(row.id).order, row.id);
    if (!is_recorded(row)) continue;
    const auto table = order_look_table();
    EXPECT_EQ(std::ranges::count(table, row.id, [](const OrderLook* look) { return look->order; }), 1) << row.name;
  }
}

TEST(OrderLook, RowKnowsEachPhaseAndSlotThatItsOrderHas) {
  for (const OrderLook* look : order_look_table()) {
    const OrderRow& row = order_row(look->order);
    for (const OrderPhase& phase : row.phases) {
      EXPECT_EQ(look->phase(phase.phase).phase, phase.phase) << row.name << " " << name_of(phase.phase);
      for (const auto* slots : {&phase.before, &phase.after, &phase.brings})
        for (const Slot slot : *slots) EXPECT_TRUE(look->shows(slot)) << row.name << " " << name_of(slot);
    }
  }
}

TEST(OrderLook, ColumnsStandOnceAndShowSlotsOfTheOrder) {
  for (const OrderLook* look : order_look_table()) {
    const OrderRow& row = order_row(look->order);
    std::set<std::string> ids;
    for (const ColumnLook& column : look->columns) {
      EXPECT_TRUE(ids.insert(std::string(column.id)).second) << column.id;
      EXPECT_TRUE(look->shows(column.slot)) << column.id;
      EXPECT_EQ(look->column(column.column), &column);
      EXPECT_FALSE(column.caption.empty() && column.slot != Slot::m_old && column.slot != Slot::l_old) << column.id;
    }
    for (const PhaseLook& phase : look->phases) {
      if (!phase.lights) continue;
      EXPECT_NE(look->column(*phase.lights), nullptr) << name_of(phase.phase);
    }
    EXPECT_TRUE(look->scores && look->output);
    EXPECT_EQ(look->maximum.has_value(), row.pass == Pass::forward) << "LSE holds it";
  }
}

// After the last merge there is one state, that of all keys: under m, ℓ and O, and not under the first part's name.
TEST(OrderLook, OnceAllPartsAreMergedNoPartHasAStateOfItsOwn) {
  for (const std::int64_t parts : {2, 3}) {
    Options options;
    choose(options, kSplits, parts);
    const auto rec = record_preset("late_outlier", "cpu_flash", options);
    int ends = 0;
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const OrderLook& look = look_at(*rec, e);
      if (&look != order_look(rec->order).merged) continue;
      ++ends;
      for (const ColumnLook& column : look.columns) {
        const bool of_part = column.title == TitleKind::first || column.title == TitleKind::second;
        if (of_part) {
          EXPECT_EQ(rec->after(e, column.slot), kNoVersion) << column.id;
        }
      }
      for (const Column column : {Column::m_new, Column::l_new})
        EXPECT_NE(rec->after(e, look.column(column)->slot), kNoVersion) << look.column(column)->id;
    }
    EXPECT_EQ(ends, 2 * rec->query_tiles() * rec->problem.B * rec->problem.Hq) << "the division and the way out";
  }
}

}  // namespace
}  // namespace attn
