// The chart of pages: the pool and the table as they are, what the tile at hand gathers, and what it says of it.
#include "viz/step/charts/pages.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/viz/step/fixture.h"
#include "viz/step/charts/chart_card.h"
#include "viz/step/facts/values.h"

namespace attn {
namespace {

constexpr std::int64_t kLengths[] = {21, 10}, kPage = 4;

PagesScene scene_at(const Recording& rec, const StepPlace& at, std::int32_t key = 0) {
  return pages_scene(rec, at, key, scales_of(rec));
}

// The page of a key by the table's own numbers.
std::int32_t page_of(const Recording& rec, std::int64_t b, std::int64_t key) {
  const std::int64_t columns = (rec.problem.Lk + kPage - 1) / kPage;
  return rec.inputs.page_table.at(static_cast<std::size_t>(b * columns + key / kPage));
}

StepPlace at_keys(const Recording& rec, std::int32_t b, std::int32_t j) {
  const auto e = rec.find({b, 0, 0, j, Phase::load_kv});
  EXPECT_TRUE(e);
  return place_of(rec, e.value_or(0), {});
}

TEST(PagesChart, LightsThePagesAndRowsOfTheTileAtHandAndNoOther) {
  for (const std::int64_t parts : {1, 3}) {
    Options options;
    choose(options, kSplits, parts);
    const auto rec = record_preset("pages", "cpu_flash", options);
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const StepPlace at = place_of(*rec, e, {});
      const PagesScene scene = scene_at(*rec, at);
      std::set<std::int32_t> wanted, lit, named;
      std::int64_t rows = 0, keys = 0;
      const bool on_chip = at.j >= 0 && rec->after(e, Slot::k) != kNoVersion;
      const std::int64_t end = on_chip ? std::min<std::int64_t>(at.first_key + at.keys, kLengths[at.b]) : 0;
      for (std::int64_t key = at.first_key; key < end; ++key, ++keys) wanted.insert(page_of(*rec, at.b, key));
      for (const PoolPage& page : scene.pool) {
        if (page.look == PageLook::gathered) lit.insert(page.number);
        rows += std::ranges::count(page.rows, PageRowLook::gathered, &PageRow::look);
      }
      for (const TableEntry& entry : scene.table.at(static_cast<std::size_t>(at.b)).entries)
        if (entry.gathered) named.insert(entry.page);
      EXPECT_EQ(lit, wanted) << e;
      EXPECT_EQ(named, wanted) << e;
      EXPECT_EQ(rows, keys) << e;
    }
  }
}

TEST(PagesChart, ShowsThePoolAsItLies) {
  const auto rec = record_preset("pages", "cpu_flash");
  const PagesScene scene = scene_at(*rec, at_keys(*rec, 0, 0));
  ASSERT_EQ(scene.pool.size(), 14U);
  std::int64_t keys = 0, own = 0;
  for (const PoolPage& page : scene.pool) {
    for (std::size_t r = 0; r < page.rows.size(); ++r) {
      const PageRow& row = page.rows[r];
      const std::int64_t at = (static_cast<std::int64_t>(page.number) * kPage + static_cast<std::int64_t>(r)) * 4;
      EXPECT_EQ(std::isnan(rec->inputs.k.get(at)), row.look == PageRowLook::unwritten) << page.number << " " << r;
      if (row.look == PageRowLook::unwritten) continue;
      ++keys;
      EXPECT_EQ(page_of(*rec, page.b, row.key), page.number);
      if (page.b != 0) continue;
      ++own;
      ASSERT_EQ(row.k_shade.size(), 4U);
      EXPECT_EQ(row.k_shade[1], scale_of(scales_of(*rec), Slot::k).shade(rec->inputs.k.get(at + 1)));
    }
  }
  EXPECT_EQ(keys, 31);
  EXPECT_EQ(own, 21);
}

TEST(PagesChart, SaysWhereTheKeysLieAndWhyTheTailIsZero) {
  const auto rec = record_preset("pages", "cpu_flash");
  const StepPlace last = at_keys(*rec, 0, 2);
  const std::int32_t full = page_of(*rec, 0, 16), tail = page_of(*rec, 0, 20);
  PagesScene scene = scene_at(*rec, last, 17);
  EXPECT_EQ(plain_text(scene.gathered), fmt::format("Keys 16 to 20 lie in pages {}, {}.", full, tail));
  EXPECT_EQ(
      plain_text(scene.followed),
      fmt::format("Key 17: entry 17 / 4 = 4 of the table holds page {}, and the key's row is 17 mod 4 = 1.", full));
  EXPECT_EQ(plain_text(scene.tail), "The last 3 rows of the page were never written and are not read.");
  scene = scene_at(*rec, at_keys(*rec, 1, 1), 8);
  EXPECT_EQ(plain_text(scene.gathered), fmt::format("Keys 8 to 9 lie in page {}.", page_of(*rec, 1, 8)));
  EXPECT_EQ(plain_text(scene.tail),
            "Keys 10 to 15 are missing: K and V are 0 in their place. A weight of 0 is not enough: 0 × nan = nan, and "
            "the row of O would be lost.");
  // And so they are: 0 in the tile, though nothing was written in memory.
  const VersionId v = rec->after(*rec->find({1, 0, 0, 1, Phase::load_kv}), Slot::v);
  const auto values = rec->values(v);
  EXPECT_TRUE(std::all_of(values.begin() + 8, values.end(), [](float x) { return x == 0; }));
  EXPECT_TRUE(std::isnan(rec->inputs.v.get((std::int64_t{page_of(*rec, 1, 9)} * kPage + 2) * 4)));
}

TEST(PagesChart, IsThereForKeysInPagesAlone) {
  const auto paged = record_preset("pages", "cpu_flash"), dense = record_preset("padded", "cpu_flash");
  EXPECT_TRUE(has_chart(*paged, StepChart::pages));
  EXPECT_FALSE(has_chart(*dense, StepChart::pages));
  EXPECT_EQ(shown_chart(StepChart::pages, false, *dense), StepChart::row);
  EXPECT_FALSE(pages_scene(*dense, place_of(*dense, 1, {}), 0, scales_of(*dense)).nothing.empty());
}

TEST(PagesChart, AnEntryLeadsToWhereItsKeysAreLoaded) {
  const auto rec = record_preset("pages", "cpu_flash");
  const PagesScene scene = scene_at(*rec, at_keys(*rec, 0, 0));
  for (const TableLine& line : scene.table) {
    for (const TableEntry& entry : line.entries) {
      if (entry.page < 0) {
        EXPECT_GE(entry.first_key, kLengths[line.b]);
        continue;
      }
      ASSERT_TRUE(entry.event);
      const EventId id = rec->events[*entry.event].id;
      EXPECT_EQ(id.b, line.b);
      EXPECT_EQ(id.j, entry.first_key / 8);
    }
  }
}

// By hand: rows of 32 B, 21 and 10 keys.
TEST(PagesChart, CountsWhatWholePagesTakeByTheirSize) {
  const auto rec = record_preset("pages", "cpu_flash");
  EXPECT_EQ(scene_at(*rec, at_keys(*rec, 1, 1)).cost, "Whole pages: 128 B read (64 B unused), page table: 4 B");
  EXPECT_EQ(scene_at(*rec, at_keys(*rec, 0, 0)).cost, "Whole pages: 256 B read (0 B unused), page table: 8 B");
  const PagesScene scene = scene_at(*rec, place_of(*rec, 0, {}));
  EXPECT_EQ(scene.cost, "");  // no K or V yet
  std::vector<std::string> lines;
  for (const PageSizeLine& l : scene.sizes)
    lines.push_back(fmt::format("{}: {}, {}, {}{}", l.page, l.read, l.unused, l.table, l.now ? ", now" : ""));
  EXPECT_EQ(lines,
            (std::vector<std::string>{"1: 992 B, 0 B, 124 B", "2: 1024 B, 32 B, 64 B", "4: 1152 B, 160 B, 36 B, now",
                                      "8: 1280 B, 288 B, 20 B", "16: 1536 B, 544 B, 12 B"}));
}

TEST(PagesChart, ATailThatIsNotZeroedIsToldAndShown) {
  Options options;
  choose(options, kZeroTail, 0);
  const auto rec = record_preset("pages", "cpu_flash", options);
  const StepPlace at = at_keys(*rec, 1, 1);
  EXPECT_EQ(
      plain_text(scene_at(*rec, at).tail),
      "Keys 10 to 11 are missing, and K and V hold whatever is in the page. The mask hides the keys in S. A weight of "
      "0 is not enough: 0 × nan = nan.");
  EXPECT_TRUE(step_values(*rec, at, {}, nullptr).conditions.contains("raw_tail"));
  EXPECT_FALSE(step_values(*rec, at_keys(*rec, 1, 0), {}, nullptr).conditions.contains("raw_tail"));
  const auto values = rec->values(rec->after(at.event, Slot::v));
  EXPECT_TRUE(std::all_of(values.begin() + 8, values.begin() + 16, [](float x) { return std::isnan(x); }));
  EXPECT_TRUE(std::all_of(values.begin() + 16, values.end(), [](float x) { return x == 0; }));  // no page names them
}

// The sentence of a step that gathers.
TEST(PagesChart, TheSentenceNamesThePages) {
  const auto rec = record_preset("pages", "cpu_flash");
  const StepPlace at = at_keys(*rec, 1, 1);
  const StepValues values = step_values(*rec, at, {}, nullptr);
  EXPECT_TRUE(values.conditions.contains("paged"));
  EXPECT_TRUE(values.conditions.contains("absent"));
  EXPECT_FALSE(step_values(*rec, at_keys(*rec, 0, 2), {}, nullptr).conditions.contains("absent"));
  EXPECT_EQ(pages_of_tile_words(*rec, at), fmt::format("page {}", page_of(*rec, 1, 8)));
}

// Two entries side by side, whose pages stand in one column: the left entry's in an upper row, so its line passes the
// other page on one of its sides.
TEST(Pages, LinesFromTheTableTakeTheSideWhereTheyDoNotCross) {
  const PageWay upper{100, 130, 60}, below{160, 95, 95};
  EXPECT_EQ(on_the_left({upper, below}), (std::vector<bool>{true, false}));
  EXPECT_EQ(on_the_left({upper}), (std::vector<bool>{false}));
  // The other way round the right lane is free.
  EXPECT_EQ(on_the_left({{160, 130, 60}, {100, 95, 95}}), (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace attn
