// The backward on show: which tiles stand where, what they and the sentences say, and how far what is printed is from
// fp64.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/model/order_row.h"
#include "kernels/model/traffic.h"
#include "kernels/orders/backward/options.h"
#include "kernels/recording/replay/exact.h"
#include "tests/environment/asked.h"
#include "tests/viz/step/fixture.h"
#include "viz/draw/number_text.h"
#include "viz/step/beside/chip.h"
#include "viz/step/charts/row.h"
#include "viz/step/charts/traffic.h"
#include "viz/step/facts/scales.h"
#include "viz/step/orders/looks.h"
#include "viz/step/tiles/pointed.h"
#include "viz/step/tiles/tiles_scene.h"
#include "viz/step/timeline/map.h"
#include "viz/step/timeline/timeline.h"

namespace attn {
namespace {

Problem problem() {
  Problem p;
  p.pass = Pass::backward;
  p.Lq = p.Lk = 16;
  p.D = p.Dv = 4;
  return p;
}

std::shared_ptr<const Recording> recorded(const Problem& p, std::int32_t br = 4, std::int32_t bc = 4,
                                          std::uint64_t seed = 61, bool queries_outside = false) {
  Preset random;
  random.generator = Generator::normal;
  random.seed = seed;
  random.br = br;
  random.bc = bc;
  Options o;
  choose(o, orders::backward::kOutside,
         queries_outside ? orders::backward::kQueriesOutside : orders::backward::kKeysOutside);
  return record_problem(random, p, "cpu_flash_bwd", o);
}

EventIndex step(const Recording& rec, std::int32_t i, std::int32_t j, const char* phase) {
  const auto e = rec.find({0, 0, i, j, *phase_named(phase)});
  EXPECT_TRUE(e) << phase;
  return e.value_or(0);
}

const TileScene& tile(const TilesScene& scene, const char* slot) {
  const TileScene* found = tile_of(scene, *slot_named(slot));
  EXPECT_NE(found, nullptr) << slot;
  return *found;
}

TilesScene scene_of(const Recording& rec, EventIndex e) {
  return tiles_scene(rec, e, pinned_row(8), OutputReading::as_summed, scales_of(rec));
}

TEST(BackwardLook, TilesStandAsTheyAreMadeAndTheSumsOfKeysUnderThem) {
  const auto rec = recorded(problem());
  const TilesScene scene = scene_of(*rec, step(*rec, 2, 1, "query_gradient"));
  std::string letters;
  for (const Column c : scene.columns)
    letters += std::string(letter_of_slot(scene.tiles[static_cast<std::size_t>(c)].slot)) + " ";
  EXPECT_EQ(letters, "Q S LSE P dO dP δ dS dQ ");
  EXPECT_TRUE(scene.k.transposed && scene.v.transposed) << "keys stand over the columns of S and dP";
  ASSERT_EQ(scene.sides.size(), 3U);
  EXPECT_EQ(name_of(scene.sides[0].tile.slot), "dv");
  EXPECT_EQ(name_of(scene.sides[1].tile.slot), "dk");
  EXPECT_TRUE(scene.sides[0].below && scene.sides[1].below);
  EXPECT_EQ(scene.sides[2].tile.slot, Slot::k) << "once more, over dQ";
  EXPECT_TRUE(tile(scene, "dq").made && tile(scene, "dq").gradient);
  EXPECT_FALSE(tile(scene, "p").gradient);
  EXPECT_EQ(plain_text(tile(scene, "dq").title), "dQ2 2 of 4");
  EXPECT_EQ(plain_text(tile(scene, "dv").title), "dV1 3 of 4");
}

TEST(BackwardLook, OStandsOnlyWhileDeltaIsMade) {
  const auto rec = recorded(problem());
  const TilesScene first = scene_of(*rec, step(*rec, 0, -1, "row_dots"));
  EXPECT_TRUE(tile(first, "o").live && tile(first, "delta").made);
  EXPECT_EQ(tile_of(scene_of(*rec, step(*rec, 0, 0, "load_rows")), *slot_named("o")), nullptr);
}

TEST(BackwardLook, DQThatWaitsInMemoryIsGoneFromChipAndSaysWhere) {
  const auto rec = recorded(problem());
  const TilesScene scene = scene_of(*rec, step(*rec, 2, 1, "scores"));
  EXPECT_EQ(tile(scene, "dq").cell(0, 0).look, CellLook::dropped);
  const PointedScene said = pointed_scene(*rec, scene, {{*slot_named("dq"), 8, 0}, PointedBy::pointer}, nullptr);
  EXPECT_NE(plain_text(said.words).find("waiting in HBM"), std::string::npos) << plain_text(said.words);
  EXPECT_EQ(tile(scene_of(*rec, step(*rec, 2, 0, "scores")), "dq").cell(0, 0).look, CellLook::empty);
}

TEST(BackwardLook, WhatIsPointedAtIsSpelledTermByTerm) {
  const auto rec = recorded(problem());
  const EventIndex e = step(*rec, 2, 1, "query_gradient");
  const TilesScene scene = scene_of(*rec, e);
  struct Asked {
    const char* slot;
    std::int32_t row, col;
    std::size_t terms;
  };
  for (const Asked& asked : {Asked{"dp", 8, 5, 4}, {"dv", 6, 1, 4}, {"dk", 6, 1, 4}, {"dq", 8, 1, 4}}) {
    const PointedScene said =
        pointed_scene(*rec, scene, {{*slot_named(asked.slot), asked.row, asked.col}, PointedBy::pointer}, nullptr);
    EXPECT_EQ(said.terms.size(), asked.terms) << asked.slot;
    EXPECT_NE(plain_text(said.sum).find("sum "), std::string::npos);
  }
  const PointedScene dp = pointed_scene(*rec, scene, {{*slot_named("dp"), 8, 5}, PointedBy::pointer}, nullptr);
  double sum = 0;
  for (const double x : dp.products) sum += x;
  EXPECT_NEAR(sum, *live_value(*rec, e, *slot_named("dp"), 8, 5), 1e-5);
  const PointedScene ds = pointed_scene(*rec, scene, {{*slot_named("ds"), 8, 5}, PointedBy::pointer}, nullptr);
  EXPECT_NE(plain_text(ds.words).find(" × ("), std::string::npos) << plain_text(ds.words);
}

TEST(BackwardLook, AGradientHasAScaleOfItsOwn) {
  const auto rec = recorded(problem());
  const TensorScales scales = scales_of(*rec);
  EXPECT_NE(scale_of(scales, *slot_named("dq")).max, scale_of(scales, Slot::q).max);
  EXPECT_TRUE(scale_of(scales, *slot_named("dp")).diverges);
  EXPECT_FALSE(scale_of(scales, Slot::p).diverges);
  EXPECT_GT(scale_of(scales, Slot::lse).max, scale_of(scales, Slot::lse).min);
}

TEST(BackwardLook, BytesSayThatDQComesAndGoesAndWhatAStoredPWouldBe) {
  const auto rec = recorded(problem());
  const TrafficTotals totals = traffic_totals(*rec);
  ASSERT_FALSE(totals.words.empty());
  // 16 rows x 4 in fp32, read and written with each of 4 key tiles, read once more and written.
  EXPECT_NE(plain_text(totals.words[0]).find("2560 B"), std::string::npos) << plain_text(totals.words[0]);
  EXPECT_NE(plain_text(totals.words[0]).find("1024 B"), std::string::npos) << plain_text(totals.words[0]);
  ASSERT_EQ(totals.others.size(), 3U);
  EXPECT_EQ(totals.others[0].name, "query tile outside");
  EXPECT_EQ(totals.others[1].name, "P stored");
  EXPECT_EQ(totals.others[1].total, tile_loads(rec->order, 0, rec->problem, rec->options).total() + 1024);
  EXPECT_EQ(totals.others[2].name, "naive-backward");
  // All of P, once; what the pointer asks of the piece.
  EXPECT_NE(piece_words(*rec, totals.others[1], TrafficPart::p, 0).find("1024 B"), std::string::npos);
  EXPECT_EQ(plain_text(totals.marks).find("triangle"), std::string::npos) << "naive's forward is no yardstick";
}

TEST(BackwardLook, WithTheQueryTileOutsideDQStaysAndTheSumsOfKeysWait) {
  const auto rec = recorded(problem(), 4, 4, 61, true);
  const TilesScene scene = scene_of(*rec, step(*rec, 2, 1, "scores"));
  EXPECT_TRUE(tile(scene, "dq").live && !tile(scene, "dq").made);
  EXPECT_EQ(plain_text(tile(scene, "dq").title), "dQ2 1 of 4");
  EXPECT_EQ(tile(scene, "dv").cell(0, 0).look, CellLook::dropped);
  EXPECT_EQ(plain_text(tile(scene, "dv").title), "dV1 2 of 4");
  const PointedScene said = pointed_scene(*rec, scene, {{*slot_named("dv"), 4, 0}, PointedBy::pointer}, nullptr);
  EXPECT_NE(plain_text(said.words).find("waiting in HBM until the next query tile"), std::string::npos);
  // Of key tile 1 nothing was summed yet when the first query tile is at tile 0.
  const TilesScene first = scene_of(*rec, step(*rec, 0, 1, "scores"));
  EXPECT_EQ(tile(first, "dv").cell(0, 0).look, CellLook::empty);
  const TrafficTotals totals = traffic_totals(*rec);
  // 16 rows x 4 x 2 sums in fp32, read and written with each of 4 query tiles, read once more and written.
  EXPECT_NE(plain_text(totals.words[0]).find("5120 B"), std::string::npos) << plain_text(totals.words[0]);
  EXPECT_EQ(totals.others[0].name, "key tile outside");
  EXPECT_EQ(scrubber_marks(*rec).front().title, "query tile 0");
  EXPECT_EQ(scrubber_marks(*rec).back().title, "after: dK, dV");
  const MapScene map = map_scene(*rec, place_of(*rec, step(*rec, 2, 1, "scores"), {}));
  EXPECT_EQ(map.words.front(), "tile 10 of 16");
}

TEST(BackwardLook, WhatIsOnChipNeverPassesWhatWasSaid) {
  Problem p = problem();
  p.dtype = DType::f16;
  for (const bool queries_outside : {false, true}) {
    const auto rec = recorded(p, 4, 4, 61, queries_outside);
    bool full = false;
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const ChipScene chip = chip_scene(*rec, e, "sm_90a");
      EXPECT_LE(chip.now, chip.total) << e;
      full = full || chip.now == chip.total;
    }
    EXPECT_TRUE(full) << queries_outside;
  }
}

TEST(BackwardLook, RowChartHasFinalWeightsThatSumToOne) {
  const auto rec = recorded(problem());
  const auto last = static_cast<EventIndex>(rec->events.size() - 1);
  const RowChartScene scene = row_chart_scene(*rec, place_of(*rec, last, pinned_row(8)));
  double sum = 0;
  for (const RowChartKey& key : scene.keys) sum += key.share;
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_FALSE(scene.statistics);
}

TEST(BackwardLook, TrackHasEachProductUnderItsLetterAndThePassOfTheRowsNoKeyTile) {
  const auto rec = recorded(problem());
  const EventIndex e = step(*rec, 0, 1, "scores");
  const TimelineScene scene = timeline_scene(*rec, place_of(*rec, e, {}), scrubber_marks(*rec), {});
  std::string letters;
  for (const TrackChip& chip : scene.chips) letters += std::string(chip.letter) + " ";
  const std::string tile = "in S P dV dP dS dK dQ ";
  EXPECT_EQ(letters, "K V " + tile + tile + tile + tile + "out ");
  EXPECT_EQ(scrubber_marks(*rec).front().title, "before: δ");
  EXPECT_EQ(scrubber_marks(*rec)[2].title, "key tile 1");
  EXPECT_EQ(scrubber_marks(*rec).back().title, "after: dQ");
  EXPECT_FALSE(timeline_scene(*rec, place_of(*rec, 0, {}), scrubber_marks(*rec), {}).chips.front().two);
}

// One of the last digit that is printed.
double unit_of(std::string_view text) {
  const std::size_t e = text.find('e');
  const std::string_view mantissa = text.substr(0, e);
  const std::size_t point = mantissa.find('.');
  const double decimals = point == std::string_view::npos ? 0 : static_cast<double>(mantissa.size() - point - 1);
  const double power = e == std::string_view::npos ? 0 : value_of(text.substr(e + 1));
  return std::pow(10.0, power - decimals);
}

// What is printed in every cell at every step, digits and all, lies within its bound of fp64.
void expect_printed_truth(const Recording& rec) {
  const TensorScales scales = scales_of(rec);
  std::size_t checked = 0;
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const EventId& id = rec.events[e].id;
    const ExactTile exact(rec, id.b, id.h, std::max(id.i, 0));
    TilesScene scene = tiles_scene(rec, e, {}, OutputReading::as_summed, scales);
    const auto check = [&](TileScene& shown) {
      write_numbers(rec, scene, shown, 9, &exact);
      const VersionId id_of = rec.after(e, shown.slot);
      if (id_of == kNoVersion || slot_row(shown.slot).input) return;
      const Version& v = rec.version(id_of);
      for (std::int32_t r = 0; r < shown.rows; ++r) {
        for (std::int32_t c = 0; c < shown.cols; ++c) {
          const Cell& cell = shown.cell(r, c);
          if (cell.look != CellLook::value || !std::isfinite(cell.value)) continue;
          const CellRef ref = shown.ref(r, c);
          const std::size_t n = static_cast<std::size_t>(ref.row - v.first_row) * static_cast<std::size_t>(v.cols) +
                                static_cast<std::size_t>(ref.col - v.first_col);
          const auto known = exact.at(id_of, n);
          ASSERT_TRUE(known) << describe(rec.problem) << ", step " << e + 1 << " " << name_of(shown.slot);
          if (!std::isfinite(known->exact)) continue;
          // Half a unit of the last digit that is printed, and what fp32 may have lost before.
          const double printed = value_of(cell.text), unit = unit_of(cell.text);
          ++checked;
          ASSERT_LE(std::fabs(printed - known->exact), unit / 2 * 1.0001 + known->bound)
              << describe(rec.problem) << ", step " << e + 1 << " " << name_of(shown.slot) << ": " << cell.text
              << " for " << known->exact;
        }
      }
    };
    for (const Column c : scene.columns) check(scene.tiles[static_cast<std::size_t>(c)]);
    for (SideTile& side : scene.sides) check(side.tile);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(checked, 0U);
}

TEST(BackwardLook, EveryPrintedNumberOfRandomProblemsIsTrueAtEveryStep) {
  const std::uint64_t count = test::asked("ATTNSCOPE_LONG_TESTS") ? 200 : 12;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    std::uint64_t x = seed * 2654435761U + 7;
    const auto next = [&x](std::int64_t most) {
      x = x * 6364136223846793005ULL + 1442695040888963407ULL;
      return 1 + static_cast<std::int64_t>((x >> 33U) % static_cast<std::uint64_t>(most));
    };
    Problem p;
    p.pass = Pass::backward;
    p.Hkv = next(2);
    p.Hq = p.Hkv * next(2);
    p.Lq = next(12), p.Lk = next(12), p.D = next(6), p.Dv = next(6);
    p.dtype = static_cast<DType>(next(3) - 1);
    p.mask.causal = next(2) == 1;
    if (next(3) == 1) p.softcap = 2;
    if (next(3) == 1) p.alibi.emplace();
    const auto br = static_cast<std::int32_t>(next(5)), bc = static_cast<std::int32_t>(next(5));
    for (const bool queries_outside : {false, true}) {
      expect_printed_truth(*recorded(p, br, bc, seed, queries_outside));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace attn
