// What is known of a sweep of tuned tiles before it runs: the tiles that tuning kept, or why there are none.
#include "viz/bench/sweep/planned.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiling/figures/metrics.h"
#include "tests/viz/bench/rows.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/state/state.h"

namespace attn {
namespace {

SweepSpec tuned_sweep(std::vector<std::string> kernels) {
  SweepSpec sweep;
  sweep.kernels = std::move(kernels);
  sweep.values = {512, 1024};
  sweep.base.D = sweep.base.Dv = 64;
  sweep.tuned = true;
  sweep.arch = "sm_90a";
  return sweep;
}

Options tile(std::int32_t br, std::int32_t bc, std::int32_t threads) {
  Options o;
  o.br = br;
  o.bc = bc;
  o.threads = threads;
  return o;
}

TEST(PlannedTuned, BytesMemoryAndTileAreThoseOfTheKeptTile) {
  const SweepSpec sweep = tuned_sweep({"naive", "flash_simt"});
  const KeptTilesView kept{
      sweep_key(sweep), 1, {{"flash_simt", 512, tile(32, 64, 128)}, {"flash_simt", 1024, tile(64, 32, 128)}}};
  const std::vector<Measurement> rows = planned_rows(sweep, kept);
  ASSERT_EQ(rows.size(), 4U);
  for (const Measurement& m : rows) {
    ASSERT_EQ(m.state, RowState::done) << m.reason;
    if (m.key.kernel == "naive") {
      EXPECT_EQ(m.tile_from, "");  // it has no tile
      continue;
    }
    EXPECT_EQ(m.tile_from, "tuned");
    const bool first = m.key.problem.Lq == 512;
    EXPECT_EQ(m.key.options.br, first ? 32 : 64);
    EXPECT_EQ(m.key.options.bc, first ? 64 : 32);
    EXPECT_EQ(m.key.options.threads, 128);
    // By hand: Q is read and O and LSE written once, K and V are read by every query tile.
    const double L = static_cast<double>(m.key.problem.Lq), tiles = L / m.key.options.br;
    EXPECT_EQ(figure(m, "tile_load_bytes").value, 4 * (64 * (2 * L + tiles * 2 * L) + L));
  }
}

TEST(PlannedTuned, APointForWhichNoTileIsKeptSaysSoAndTheOthersStay) {
  const SweepSpec sweep = tuned_sweep({"flash_simt"});
  KeptTilesView kept{sweep_key(sweep), 1, {{"flash_simt", 512, tile(32, 64, 128)}}};
  kept.tiles.push_back(
      {"flash_simt", 1024,
       fail(ErrorKind::cannot_run, "the tile is set to tuned, but there is no tuned tile for this problem")});
  GpuView gpus;
  gpus.looked = true;
  gpus.gpus = {{0, "a GPU", "sm_90a"}};
  const std::vector<Measurement> rows = planned_rows(sweep, kept);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].state, RowState::done);
  EXPECT_EQ(rows[1].state, RowState::refused);
  EXPECT_EQ(rows[1].reason, "the tile is set to tuned, but there is no tuned tile for this problem");
  EXPECT_EQ(why_nothing_runs(sweep, gpus, rows, kept), "");
  kept.tiles.front().tile = kept.tiles.back().tile;
  EXPECT_EQ(why_nothing_runs(sweep, gpus, planned_rows(sweep, kept), kept),
            "flash_simt: the tile is set to tuned, but there is no tuned tile for this problem");
}

TEST(PlannedTuned, UntilTheyWereLookedUpForThisSweepNothingIsShownAndNothingIsRefused) {
  SweepSpec sweep = tuned_sweep({"cpu_flash"});
  const KeptTilesView kept{sweep_key(sweep), 1, {{"cpu_flash", 512, tile(32, 64, 0)}}};
  sweep.base.dtype = DType::f16;  // another problem: what was kept is not of it
  for (const Measurement& m : planned_rows(sweep, kept)) {
    EXPECT_EQ(m.state, RowState::refused);
    EXPECT_EQ(m.reason, "searching for the tuned tile");
  }
  EXPECT_EQ(why_nothing_runs(sweep, {}, planned_rows(sweep, kept), kept), "");
}

TEST(PlannedTuned, TheTableNamesTheTileAndWhereItCameFrom) {
  State state = bench_test::sweep_state();
  state.view.workspace = Workspace::bench;
  state.document.sweep = tuned_sweep({"flash_simt"});
  const std::string key = sweep_key(state.document.sweep);
  Model model;
  model.kept = {key, 1, {{"flash_simt", 512, tile(32, 64, 128)}, {"flash_simt", 1024, tile(32, 64, 128)}}};
  const BenchScene scene = bench_scene(state, model, {}, "", planned_rows(state.document.sweep, model.kept));
  EXPECT_NE(scene.table.note.find("the tuned tiles"), std::string::npos) << scene.table.note;
  ASSERT_FALSE(scene.table.rows.empty());
  std::string tips;
  for (const BenchCell& cell : scene.table.rows.front().cells) tips += cell.tip + "\n";
  EXPECT_NE(tips.find("tile 32 x 64, 128 threads (tuned)"), std::string::npos) << tips;
}

}  // namespace
}  // namespace attn
