// What a tile is said to be: to come, gone, made in this step or held on chip. Each against the recording, at every
// step of every order.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/orders/backward/names.h"
#include "kernels/orders/backward/options.h"
#include "tests/environment/asked.h"
#include "tests/viz/step/fixture.h"
#include "viz/step/beside/chip.h"
#include "viz/step/beside/legend.h"
#include "viz/step/facts/abreast.h"
#include "viz/step/ring/ring_scene.h"
#include "viz/step/tiles/pointed.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {
namespace {

struct Case {
  std::string name;
  std::shared_ptr<const Recording> rec;
};

Case backward_case(const char* name, bool queries_outside, std::int64_t heads, bool causal, std::int64_t length) {
  Preset preset = **find_preset("random");
  preset.br = preset.bc = 4;
  Problem p = preset.problem;
  p.pass = Pass::backward;
  p.Hq = heads, p.Hkv = 1;
  p.Lq = p.Lk = length;
  p.D = p.Dv = 4;
  p.mask.causal = causal;
  Options o;
  choose(o, orders::backward::kOutside,
         queries_outside ? orders::backward::kQueriesOutside : orders::backward::kKeysOutside);
  return {name, record_problem(preset, p, "cpu_flash_bwd", o)};
}

std::vector<Case> backward_cases() {
  return {backward_case("key tile outside", false, 1, false, 12),
          backward_case("query tile outside", true, 1, false, 12),
          backward_case("key tile outside, heads share keys", false, 2, true, 10),
          backward_case("query tile outside, heads share keys", true, 2, true, 10)};
}

std::vector<const TileScene*> drawn(const TilesScene& scene) {
  std::vector<const TileScene*> tiles{&scene.k, &scene.v};
  for (const Column c : scene.columns) tiles.push_back(&scene.tiles[static_cast<std::size_t>(c)]);
  for (const SideTile& side : scene.sides) tiles.push_back(&side.tile);
  std::erase_if(tiles, [](const TileScene* tile) { return tile->cells.empty(); });
  return tiles;
}

bool has(const TileScene& tile, CellLook look) {
  return std::ranges::find(tile.cells, look, &Cell::look) != tile.cells.end();
}

// Whether any step up to e held the very rows and columns that are drawn.
bool stood_by(const Recording& rec, EventIndex e, const StepPlace& at, const TileScene& tile) {
  const CellRef first = tile.ref(0, 0);
  for (EventIndex n = 0; n <= e; ++n) {
    const EventId& id = rec.events[n].id;
    const bool shared = tile.by_key && rec.problem.kv_head(id.h) == rec.problem.kv_head(at.h);
    if (id.b != at.b || (id.h != at.h && !shared)) continue;
    const VersionId v = rec.after(n, tile.slot);
    if (v != kNoVersion && rec.version(v).first_row == first.row && rec.version(v).first_col == first.col) return true;
  }
  return false;
}

TEST(TileStates, WhatABackwardWroteIsNeverToComeAndWhatItDidNotIsNeverGone) {
  for (const auto& [name, rec] : backward_cases()) {
    const TensorScales scales = scales_of(*rec);
    bool gone = false, to_come = false;
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const TilesScene scene = tiles_scene(*rec, e, pinned_row(5), OutputReading::as_summed, scales);
      for (const TileScene* tile : drawn(scene)) {
        const bool stood = stood_by(*rec, e, scene.at, *tile);
        gone = gone || has(*tile, CellLook::dropped), to_come = to_come || has(*tile, CellLook::empty);
        // An input is loaded again with each tile of the other kind: it may be to come once more.
        if (!slot_row(tile->slot).input) {
          EXPECT_FALSE(has(*tile, CellLook::empty) && stood)
              << name << ", step " << e + 1 << " " << name_of(tile->slot);
        }
        EXPECT_FALSE(has(*tile, CellLook::dropped) && !stood)
            << name << ", step " << e + 1 << " " << name_of(tile->slot);
      }
    }
    EXPECT_TRUE(gone && to_come) << name;
  }
}

// Of S and P, and of dP and dS, one takes the other's place. What a step adds to a sum in memory passes through.
TEST(TileStates, BytesHeldAreThoseOfTheTilesThatAreDrawnAsOnChip) {
  const orders::BackwardNames& n = orders::backward_names();
  for (const auto& [name, rec] : backward_cases()) {
    const TensorScales scales = scales_of(*rec);
    const bool keys_outside = order_row(rec->order).keys_outside;
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const TilesScene scene = tiles_scene(*rec, e, pinned_row(5), OutputReading::as_summed, scales);
      const auto bytes = [&](Slot slot) -> std::size_t {
        for (const TileScene* tile : drawn(scene))
          if (tile->slot == slot && tile->live)
            return sizeof(float) * static_cast<std::size_t>(std::ranges::count_if(tile->cells, [](const Cell& c) {
                     return c.look == CellLook::value || c.look == CellLook::masked;
                   }));
        return 0;
      };
      const std::int32_t pass = rec->events[e].pass;
      const bool adds_dq = keys_outside && pass == 1, adds_dkv = !keys_outside && pass == 0;
      std::size_t sum = std::max(bytes(Slot::s), bytes(Slot::p)) + std::max(bytes(n.dp), bytes(n.ds));
      for (const Slot slot : {Slot::q, Slot::k, Slot::v, Slot::lse, n.o, n.d_o, n.delta}) sum += bytes(slot);
      if (!adds_dq) sum += bytes(n.dq);
      if (!adds_dkv) sum += bytes(n.dk) + bytes(n.dv);
      EXPECT_EQ(chip_scene(*rec, e, "sm_90a").now, sum) << name << ", step " << e + 1;
    }
  }
}

// What a pass over a stored S does not need is not on chip, though the recording keeps it to be checked by.
TEST(TileStates, APassOverStoredScoresShowsOnlyWhatItHolds) {
  for (const char* kernel : {"cpu_sequential", "cpu_tiled"}) {
    const auto rec = record_preset("late_outlier", kernel);
    const TensorScales scales = scales_of(*rec);
    bool gone[3] = {};
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const TilesScene scene = tiles_scene(*rec, e, pinned_row(5), OutputReading::as_summed, scales);
      const std::int32_t pass = rec->events[e].pass;
      const bool ends = order_row(rec->order).phase(rec->events[e].id.phase)->key_tile == false && pass == 2;
      for (const TileScene* tile : drawn(scene)) {
        const bool q = tile->slot == Slot::q, statistic = tile->statistic;
        if (!q && !statistic) continue;
        EXPECT_FALSE(tile->live && q && pass > 0) << kernel << ", step " << e + 1;
        // LSE is made of m and ℓ.
        EXPECT_FALSE(tile->live && statistic && pass == 2 && !ends) << kernel << ", step " << e + 1;
        EXPECT_FALSE(has(*tile, CellLook::dropped) && has(*tile, CellLook::value));
        gone[pass] = gone[pass] || has(*tile, CellLook::dropped);
      }
    }
    EXPECT_TRUE(!gone[0] && gone[1] && gone[2]) << kernel;
  }
}

std::vector<Case> all_orders() {
  std::vector<Case> cases = backward_cases();
  for (const char* kernel : kRecordingKernels) cases.push_back({kernel, record_preset("causal", kernel)});
  for (const std::int64_t parts : {2, 4}) {
    Options options;
    choose(options, kSplits, parts);
    cases.push_back({"parts", record_preset("late_outlier", "cpu_flash", options)});
  }
  return cases;
}

// Of all parts, as each stands when the run has come to a step.
TEST(TileStates, AnOutlineIsOnlyRoundWhatThisStepMadeOrBrought) {
  for (const auto& [name, rec] : all_orders()) {
    const TensorScales scales = scales_of(*rec);
    for (EventIndex now = 0; now < rec->events.size(); ++now) {
      const std::int64_t lanes = std::max<std::int64_t>(abreast(*rec), 1);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const EventIndex e = rec->lane_of(now) ? last_abreast(*rec, now, lane).value_or(now) : now;
        const TilesScene scene = tiles_scene(*rec, e, now, {}, scales);
        for (const TileScene* tile : drawn(scene)) {
          if (!tile->made) continue;
          const VersionId v = rec->after(now, tile->slot);
          ASSERT_NE(v, kNoVersion) << name << ", step " << now + 1 << ", part " << lane << " " << name_of(tile->slot);
          EXPECT_TRUE(e == now && (rec->version(v).made_by == now || rec->before(now, tile->slot) != v))
              << name << ", step " << now + 1 << ", part " << lane << " " << name_of(tile->slot);
        }
      }
    }
  }
}

// ---- the legend

LegendMarks marks_in(const Cell& cell, const TileScene& tile) {
  LegendMarks in;
  const auto put = [&](LegendMark mark) { in.set(static_cast<std::size_t>(mark)); };
  switch (cell.look) {
    case CellLook::empty:
      put(LegendMark::empty);
      break;
    case CellLook::dropped:
      put(LegendMark::dropped);
      break;
    case CellLook::masked:
      put(LegendMark::masked);
      break;
    case CellLook::past_end:
      put(LegendMark::past_end);
      break;
    case CellLook::flight:
      put(LegendMark::flight);
      break;
    case CellLook::value:
      if (tile.gauge) put(LegendMark::gauge);
      if (tile.gradient) put(LegendMark::gradient);
      if (cell.largest) put(LegendMark::largest);
      if (!std::isfinite(cell.value))
        put(cell.value == -HUGE_VALF ? LegendMark::minus_infinity : LegendMark::not_finite);
  }
  return in;
}

std::vector<Case> runs_of_all_presets() {
  std::vector<Case> cases = all_orders();
  for (const Preset& preset : presets()) {
    for (const char* kernel : kRecordingKernels)
      if (takes_preset(kernel, preset)) cases.push_back({std::string(preset.id), record_preset(preset.id, kernel)});
    Options parts;
    choose(parts, kSplits, 2);
    if (takes_preset("cpu_flash", preset))
      cases.push_back({std::string(preset.id) + " in parts", record_preset(preset.id, "cpu_flash", parts)});
  }
  return cases;
}

TEST(TileStates, EveryMarkThatIsDrawnIsInTheLegendOfTheRun) {
  LegendMarks seen;
  for (const auto& [name, rec] : runs_of_all_presets()) {
    const TensorScales scales = scales_of(*rec);
    const LegendMarks said = legend_marks(*rec, scales);
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const TilesScene scene = tiles_scene(*rec, e, {}, OutputReading::as_summed, scales);
      for (const TileScene* tile : drawn(scene)) {
        LegendMarks in;
        in.set(static_cast<std::size_t>(LegendMark::made), tile->made);
        for (const Cell& cell : tile->cells) in |= marks_in(cell, *tile);
        seen |= in;
        EXPECT_TRUE((in & ~said).none()) << name << ", step " << e + 1 << " " << name_of(tile->slot) << " " << in << " "
                                         << said;
      }
    }
  }
  for (const LegendMark mark : {LegendMark::empty, LegendMark::dropped, LegendMark::masked, LegendMark::made,
                                LegendMark::gradient, LegendMark::largest, LegendMark::gauge, LegendMark::past_end,
                                LegendMark::minus_infinity, LegendMark::not_finite})
    EXPECT_TRUE(seen.test(static_cast<std::size_t>(mark))) << static_cast<int>(mark);
}

// ---- rings

std::vector<Case> rings() {
  std::vector<Case> cases;
  for (const bool backward : {false, true}) {
    for (const auto& [ranks, zigzag, causal] :
         {std::tuple{2, false, false}, {2, true, true}, {4, true, true}, {4, false, false}}) {
      Preset preset = **find_preset("random");
      preset.br = preset.bc = 2;
      Problem p = preset.problem;
      p.pass = backward ? Pass::backward : Pass::forward;
      p.Lq = p.Lk = 16;
      p.D = p.Dv = 4;
      p.mask.causal = causal;
      Options o;
      choose(o, kRanks, ranks);
      choose(o, kDeal, zigzag ? 1 : 0);
      if (test::left_to_release(cases.size(), 3)) {
        cases.push_back({});
        continue;
      }
      cases.push_back({(backward ? "backward round " : "forward round ") + std::to_string(ranks),
                       record_problem(preset, p, backward ? "cpu_flash_bwd" : "cpu_flash", o)});
    }
  }
  std::erase_if(cases, [](const Case& c) { return c.rec == nullptr; });
  return cases;
}

std::vector<const RingGrid*> grids_of(const RingRankRow& row) {
  return {&row.q,      &row.k,        &row.v,        &row.scores,   &row.turn.m, &row.turn.l,
          &row.turn.o, &row.so_far.m, &row.so_far.l, &row.so_far.o, &row.delta,  &row.d_o,
          &row.dq,     &row.part.dk,  &row.part.dv,  &row.sums.dk,  &row.sums.dv};
}

TEST(TileStates, EveryMarkOfARingIsInItsLegend) {
  for (const auto& [name, rec] : rings()) {
    const TensorScales scales = scales_of(*rec);
    const LegendMarks said = legend_marks(*rec, scales);
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const RingScene scene = ring_scene(*rec, place_of(*rec, e, {}), scales, {});
      LegendMarks in;
      const auto put = [&](LegendMark mark, bool there) { in.set(static_cast<std::size_t>(mark), there); };
      put(LegendMark::flight, !scene.backward && scene.ranks.front().next);
      for (const RingSquare& square : scene.squares) {
        if (square.look == RingSquareLook::hidden) put(LegendMark::masked, true);
        if (square.cut) put(LegendMark::partly, true);
        if (square.look == RingSquareLook::now) put(LegendMark::turn, true);
        if (square.look == RingSquareLook::done) put(LegendMark::earlier, true);
      }
      for (const RingRankRow& row : scene.ranks) {
        for (const RingGrid* grid : grids_of(row)) {
          TileScene tile;
          tile.gradient = slot_row(grid->slot).gradient;
          if (grid->made.any()) put(LegendMark::made, true);
          for (const Cell& cell : grid->cells) in |= marks_in(cell, tile);
        }
      }
      EXPECT_TRUE((in & ~said).none()) << name << ", step " << e + 1 << " " << in << " " << said;
    }
  }
}

TEST(TileStates, ARingsOutlineIsOnlyRoundTheTileThatThisStepWrote) {
  for (const auto& [name, rec] : rings()) {
    const TensorScales scales = scales_of(*rec);
    std::set<Slot> outlined;
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const RingScene scene = ring_scene(*rec, place_of(*rec, e, {}), scales, {});
      const std::string_view phase = phase_name(rec->events[e].id.phase).name;
      const bool moves = phase == "store_state" || phase == "sums_home";
      for (const RingRankRow& row : scene.ranks) {
        for (const RingGrid* grid : grids_of(row)) {
          if (!grid->made.any()) continue;
          const std::string where = name + ", step " + std::to_string(e + 1) + " " + std::string(name_of(grid->slot));
          outlined.insert(grid->slot);
          EXPECT_TRUE(row.live) << where;
          bool wrote = moves;
          const bool keys = slot_row(grid->slot).rows == SlotRows::keys;
          const auto first = (keys ? row.sum_keys : row.rows)[static_cast<std::size_t>(grid->made.row)];
          for (const Version& v : rec->versions)
            wrote = wrote || (v.made_by == e && v.first_row == first && v.rows == grid->made.rows);
          EXPECT_TRUE(wrote) << where;
          for (std::int32_t r = grid->made.row; r < grid->made.row + grid->made.rows; ++r)
            for (std::int32_t c = grid->made.col; c < grid->made.col + grid->made.cols; ++c)
              EXPECT_TRUE(grid->cell(r, c).look == CellLook::value || grid->cell(r, c).look == CellLook::masked)
                  << where;
        }
      }
    }
    EXPECT_GE(outlined.size(), 5U) << name;
  }
}

TEST(TileStates, WhatARankMadeIsNeverToComeAndWhatItDidNotIsNeverGone) {
  const orders::BackwardNames& n = orders::backward_names();
  for (const auto& [name, rec] : rings()) {
    const TensorScales scales = scales_of(*rec);
    bool gone = false;
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const RingScene scene = ring_scene(*rec, place_of(*rec, e, {}), scales, {});
      const auto made = [&](Slot slot, const RingRankRow& row, std::int32_t of, std::int32_t key) {
        return std::ranges::any_of(rec->versions, [&](const Version& v) {
          // The sums with what came are no part of it.
          const bool sums = slot_row(slot).rows == SlotRows::keys;
          const auto phase = static_cast<std::size_t>(rec->events[v.made_by].id.phase);
          const bool ranks_own = v.made_by <= e && rec->lane_of(v.made_by) == row.rank && v.slot == slot &&
                                 (!sums || order_row(rec->order).in_lane[phase]);
          return ranks_own && of >= v.first_row && of < v.first_row + v.rows &&
                 (key < 0 || (key >= v.first_col && key < v.first_col + v.cols));
        });
      };
      const auto check = [&](const RingRankRow& row, const RingGrid& grid, Slot slot, bool by_key) {
        const bool keys = slot_row(slot).rows == SlotRows::keys;
        for (std::int32_t r = 0; r < grid.rows; ++r) {
          for (std::int32_t c = 0; c < (by_key ? grid.cols : 1); ++c) {
            const CellLook look = grid.cell(r, c).look;
            if (look != CellLook::empty && look != CellLook::dropped) continue;
            gone = gone || look == CellLook::dropped;
            EXPECT_EQ(look == CellLook::dropped,
                      made(slot, row, (keys ? row.sum_keys : row.rows)[static_cast<std::size_t>(r)],
                           by_key ? row.keys[static_cast<std::size_t>(c)] : -1))
                << name << ", step " << e + 1 << " " << name_of(slot) << ", row " << r;
          }
        }
      };
      for (const RingRankRow& row : scene.ranks) {
        check(row, row.scores, Slot::s, true);
        if (scene.backward) {
          check(row, row.delta, n.delta, false), check(row, row.dq, n.dq, false);
          check(row, row.part.dk, n.dk, false), check(row, row.part.dv, n.dv, false);
        } else if (scene.dividing) {
          EXPECT_EQ(row.turn.o.cell(0, 0).look, CellLook::dropped) << name << ", step " << e + 1;
        }
      }
    }
    EXPECT_TRUE(gone) << name;
  }
}

}  // namespace
}  // namespace attn
