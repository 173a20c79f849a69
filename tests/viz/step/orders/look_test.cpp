// The table of looks and the table of orders speak of the same phases and slots.
#include "viz/step/orders/look.h"
#include "viz/step/orders/looks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/ladder.h"
#include "kernels/orders/split/names.h"
#include "tests/viz/step/fixture.h"
#include "viz/step/bars/strip.h"
#include "viz/step/facts/scales.h"
#include "viz/step/tiles/tiles_scene.h"

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

// The largest score of a row in the parts that a name like "part 3" or "parts 1–2" counts.
float largest_of(const Recording& rec, EventIndex e, std::int32_t row, const std::string& name) {
  const std::size_t digits = name.find_first_of("0123456789");
  EXPECT_NE(digits, std::string::npos) << name;
  if (digits == std::string::npos) return 0;
  const std::size_t dash = name.find("–");
  const int first = std::stoi(name.substr(digits)),
            last = dash == std::string::npos ? first : std::stoi(name.substr(dash + std::string_view("–").size()));
  float largest = -std::numeric_limits<float>::infinity();
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
    if (part_of(rec, j) + 1 < first || part_of(rec, j) + 1 > last) continue;
    const EventId& id = rec.events[e].id;
    for (const float s : row_of(rec, rec.tile_version(Slot::s, id.b, id.h, id.i, j, e), row))
      largest = std::max(largest, s);
  }
  return largest;
}

// Of more than two parts "the first" would be any: names, columns and words say which, and theirs are the numbers.
TEST(OrderLook, AMergeNamesThePartsWhoseNumbersItShows) {
  const StepTexts texts = shipped_texts();
  for (const std::int64_t count : {3, 4}) {
    for (const std::int64_t tree : {0, 1}) {
      Options options;
      choose(options, kSplits, count);
      choose(options, kMerge, tree);
      const auto rec = record_preset("late_outlier", "cpu_flash", options);
      const orders::SplitNames& names = orders::split_names();
      std::int64_t merges = 0;
      for (EventIndex e = 0; e < rec->events.size(); ++e) {
        const Phase phase = rec->events[e].id.phase;
        if (phase != names.merge_max && phase != names.load_part) continue;
        const auto parts = merged_parts(*rec, e);
        ASSERT_TRUE(parts && parts->numbered) << e;
        const StepPlace at = place_of(*rec, e, {});
        const TilesScene scene = tiles_scene(*rec, e, {}, OutputReading::as_summed, scales_of(*rec));
        const StripScene strip = strip_scene(*rec, at, step_values(*rec, at, {}, nullptr), texts);
        SCOPED_TRACE(strip.position + " " + plain_text(strip.headline) + " " + plain_text(strip.sentence));
        for (const auto& [slot, name] :
             {std::pair(Slot::m_old, parts->first), std::pair(names.m_part, parts->second)}) {
          const auto m = live_value(*rec, e, slot, at.row, 0);
          if (m) {
            EXPECT_EQ(*m, largest_of(*rec, e, at.row, name)) << name;
          }
          for (const ColumnLook& column : scene.look->columns) {
            if (column.slot != slot) continue;
            EXPECT_EQ(plain_text(scene.captions[static_cast<std::size_t>(column.column)].words), name);
          }
          if (phase != names.merge_max) continue;
          EXPECT_NE(strip.position.find(name), std::string::npos);
          EXPECT_NE(plain_text(strip.sentence).find(name), std::string::npos);
        }
        const std::string loaded = "art " + std::to_string(part_of(*rec, at.j) + 1);
        if (phase == names.load_part) {
          EXPECT_NE(plain_text(strip.headline).find(loaded), std::string::npos);
        }
        merges += phase == names.merge_max ? 1 : 0;
      }
      EXPECT_EQ(merges, (count - 1) * rec->query_tiles());
    }
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
