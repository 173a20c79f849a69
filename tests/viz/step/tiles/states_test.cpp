// What a tile is said to be: to come, gone, made in this step or held on chip. Each against the recording, at every
// step of every order.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/model/order_row.h"
#include "kernels/orders/backward/names.h"
#include "kernels/orders/backward/options.h"
#include "tests/viz/step/fixture.h"
#include "viz/step/beside/chip.h"
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

}  // namespace
}  // namespace attn
