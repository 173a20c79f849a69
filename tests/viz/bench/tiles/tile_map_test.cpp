// The map of tiles: what each cell says, before, while and after a tuning.
#include "viz/bench/tiles/tile_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "profiling/figures/statistics.h"
#include "tests/viz/bench/rows.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/tiles/tile_occupancy_words.h"

namespace attn {
namespace {

State state_of(const std::string& kernel, std::int64_t D = 64) {
  State s = bench_test::sweep_state();
  s.view.workspace = Workspace::bench;
  s.view.bench.page = BenchPage::tiles;
  s.view.bench.kernel = kernel;
  SweepSpec& sweep = s.document.sweep;
  sweep.kernels = {kernel};
  sweep.axis = Axis::L;
  sweep.values = {512, 4096};
  sweep.base.D = sweep.base.Dv = D;
  sweep.base.dtype = (*find_kernel(kernel))->dtypes.front();
  sweep.base.pass = (*find_kernel(kernel))->passes.front();
  sweep.arch = "sm_90a";
  return s;
}

// Every tile timed: the larger the slower, but `best`.
Model tuned(const State& s, TuneDecision decision, Options best) {
  const TuneSpec spec = *tune_of(s, tiles_kernel(s, {}));
  Device d;
  d.processor = Processor::gpu;
  d.arch = "sm_90a";
  d.name = "a GPU";
  d.cores = 132;
  TuneResult r = *tune_plan(spec, d);
  for (std::size_t n = 0; n < r.tiles.size(); ++n) {
    TriedTile& t = r.tiles[n];
    if (t.fate == TileFate::refused) continue;
    t.fate = TileFate::timed;
    t.verdict = "pass";
    const bool is_best = t.tile.options.br == best.br && t.tile.options.bc == best.bc &&
                         t.tile.options.threads == best.threads && t.tile.options.stages == best.stages;
    t.time = statistics_of(std::vector<double>(8, is_best ? 100.0 : 200.0));
    if (is_best && decision == TuneDecision::faster) r.chosen = n;
    if (is_best || n == r.usual) t.turns = t.time;
    put_compiled(t.tile, {200, t.tile.options.br == 256 ? 64 : 0, 0}, d);
  }
  r.decision = decision;
  r.words = "the sentence of the decision";
  r.date = "2026-11-22T12:00:00Z";
  Model m;
  m.tuning.of = tuning_key(spec);
  m.tuning.result = std::make_shared<const TuneResult>(r);
  return m;
}

const TileCell& cell(const TuneMap& scene, std::int32_t br, std::int32_t bc) {
  const auto row = std::ranges::find(scene.rows, br) - scene.rows.begin();
  const auto column = std::ranges::find(scene.columns, bc) - scene.columns.begin();
  return scene.at(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
}

Options tile(std::int32_t br, std::int32_t bc, std::int32_t threads, std::int32_t stages) {
  Options o;
  o.br = br;
  o.bc = bc;
  o.threads = threads;
  o.stages = stages;
  return o;
}

TEST(Tiles, OfATypeThatTheKernelDoesNotTakeSaysWhichItTakesAndWhereToChoose) {
  State s = state_of("flash_mma");
  s.document.sweep.base.dtype = DType::f32;
  EXPECT_EQ(
      tune_map(s, Model()).empty,
      "flash_mma supports f16 or bf16, not f32; choose another pass or type on the left, or another kernel above.");
}

// Nobody has chosen a kernel: the page is of the one that the strip over the charts speaks of, not of Step's.
TEST(Tiles, AreOfTheKernelThatTheStripSpeaksOf) {
  State s = state_of("flash_mma");
  s.view.bench.kernel.clear();
  ASSERT_EQ(s.document.kernel, "cpu_flash");
  std::vector<Measurement> rows;
  for (const auto& [kernel, us] : {std::pair{"naive", 2571000.0}, {"tiled", 81600.0}, {"flash_mma", 9000.0}}) {
    Measurement m = bench_test::timed_row(s.document.sweep, kernel, 4096, us);
    m.processor = Processor::gpu;
    m.key.device = "NVIDIA H100 80GB HBM3";
    rows.push_back(std::move(m));
  }
  const Model shown = bench_test::model_of(rows);
  ASSERT_EQ(bench_scene(s, shown, {}, "").verdict.kernel, "flash_mma");
  EXPECT_EQ(tiles_kernel(s, shown), "flash_mma");
  EXPECT_EQ(tune_map(s, shown).kernel, "flash_mma");
  s.view.bench.kernel = "tiled";
  EXPECT_EQ(tiles_kernel(s, shown), "tiled");
  s.view.bench.kernel.clear();
  EXPECT_EQ(tiles_kernel(s, {}), "flash_mma") << "without rows one that the sweep would run";
  s.document.sweep.kernels.emplace_back("cpu_flash");
  EXPECT_EQ(tiles_kernel(s, {}), "cpu_flash");
}

TEST(Tiles, SayWhatTheTileTakesAndWhatTheNextLargerWould) {
  State s = state_of("flash_mma", 256);
  s.document.sweep.arch = "sm_86";
  std::string words = tune_map(s, {}).tile;
  EXPECT_TRUE(words.starts_with("64 x 32, 128 threads, 2 stages: ")) << words;
  for (const char* part :
       {"of shared memory", "limited by shared memory", "; 96 x 32, ", "; 64 x 48, ", " would need "})
    EXPECT_NE(words.find(part), std::string::npos) << part << ": " << words;
  // A cell's tile in the sweep: what is larger does not fit, or there is none.
  s = state_of("flash_simt");
  words = tune_map(s, {}).tile;
  EXPECT_NE(words.find("the kernel has no larger Bc"), std::string::npos) << words;
}

TEST(Tiles, BeforeAnythingRanACellSaysWhatOccupancyItWouldHave) {
  const TuneMap scene = tune_map(state_of("flash_mma"), {});
  ASSERT_TRUE(scene.empty.empty()) << scene.empty;
  EXPECT_FALSE(scene.measured);
  const TileCell& usual = cell(scene, 128, 128);
  EXPECT_TRUE(usual.usual);
  EXPECT_EQ(usual.state, TileCellState::waiting);
  EXPECT_EQ(usual.text.substr(0, 4), "≤ ");
  EXPECT_EQ(usual.small, "128 thr · 2 st");
  EXPECT_NE(usual.tip.find("of shared memory, at most"), std::string::npos) << usual.tip;
  EXPECT_NE(scene.headline.find("combinations of tile, threads and stages fit"), std::string::npos) << scene.headline;
}

TEST(Tiles, WhatDoesNotFitSaysWhy) {
  State s = state_of("flash_mma", 256);
  s.document.sweep.arch = "sm_86";
  const TuneMap map = tune_map(s, {});
  const TileCell& large = cell(map, 256, 128);
  EXPECT_EQ(large.state, TileCellState::refused);
  EXPECT_NE(large.tip.find("sm_86 has 101376"), std::string::npos) << large.tip;
}

TEST(Tiles, ACellIsTheFastestOfItsThreadsAndStages) {
  const State s = state_of("flash_mma");
  const TuneMap scene = tune_map(s, tuned(s, TuneDecision::faster, tile(64, 64, 128, 3)));
  const TileCell& best = cell(scene, 64, 64);
  EXPECT_EQ(best.text, "100");
  EXPECT_EQ(scene.unit, "µs");
  EXPECT_EQ(best.small, "128 thr · 3 st");
  EXPECT_EQ(best.options, tile(64, 64, 128, 3));
  EXPECT_DOUBLE_EQ(best.share, 1);
  EXPECT_TRUE(best.chosen);
  EXPECT_DOUBLE_EQ(cell(scene, 128, 128).share, 0.5);
  EXPECT_FALSE(cell(scene, 128, 128).chosen);
  EXPECT_TRUE(cell(scene, 256, 16).spills);
  EXPECT_FALSE(best.spills);
  EXPECT_NE(scene.headline.find("64 x 64, 128 threads, 3 stages is faster than the usual tile"), std::string::npos)
      << scene.headline;
  EXPECT_EQ(scene.reason, "the sentence of the decision");
  ASSERT_EQ(scene.table.size(), 2U);
  EXPECT_EQ(scene.table[0].back(), "chosen");
  EXPECT_EQ(scene.table[0][4], "2.000×");
  EXPECT_EQ(scene.table[1].back(), "usual");
  EXPECT_NE(scene.note.find("kept 2026-11-22"), std::string::npos) << scene.note;
  // Every mark of a cell has its word.
  for (const char* mark : {"Hatched: ", "Dashed: ", "Framed: ", "Corner: "})
    EXPECT_NE(scene.note.find(mark), std::string::npos) << mark << scene.note;
}

TEST(Tiles, TheTableOfTurnsHasOneUnit) {
  const State s = state_of("flash_mma");
  Model m = tuned(s, TuneDecision::faster, tile(64, 64, 128, 3));
  TuneResult r = *m.tuning.result;
  r.tiles[r.chosen].turns = statistics_of(std::vector<double>(8, 990.0));
  r.tiles[r.usual].turns = statistics_of(std::vector<double>(8, 1010.0));
  m.tuning.result = std::make_shared<const TuneResult>(r);
  const TuneMap scene = tune_map(s, m);
  ASSERT_EQ(scene.table.size(), 2U);
  EXPECT_EQ(scene.table[0][1], "0.990 ms");
  EXPECT_EQ(scene.table[0][2], "0.990 ms");
  EXPECT_EQ(scene.table[1][1], "1.01 ms");
}

TEST(Tiles, WhereOneCannotTellTheHeadlineSaysSo) {
  const State s = state_of("flash_mma");
  const TuneMap scene = tune_map(s, tuned(s, TuneDecision::cannot_tell, tile(64, 64, 128, 3)));
  EXPECT_NE(scene.headline.find("because the 95 % intervals overlap"), std::string::npos) << scene.headline;
  EXPECT_TRUE(cell(scene, 128, 128).chosen);
}

TEST(Tiles, ASurfaceOfAnotherProblemIsNotShown) {
  State s = state_of("flash_mma");
  const Model m = tuned(s, TuneDecision::faster, tile(64, 64, 128, 3));
  s.view.bench.value = 512;
  EXPECT_FALSE(tune_map(s, m).measured);
  s.view.bench.value = 4096;
  EXPECT_TRUE(tune_map(s, m).measured);
}

TEST(Tiles, AKernelWithoutTilesSaysWhatToDo) {
  const TuneMap scene = tune_map(state_of("naive"), {});
  EXPECT_EQ(scene.empty, "naive has no tile; choose another kernel.");
}

TEST(Tiles, ACellPutsItsNumbersIntoTheSweep) {
  SweepSpec sweep = state_of("flash_mma").document.sweep;
  sweep.tuned = true;
  const SweepSpec gpu = sweep_with_tile(sweep, tile(64, 32, 128, 3), true);
  EXPECT_FALSE(gpu.tuned);
  EXPECT_EQ(gpu.options, tile(64, 32, 128, 3));
  EXPECT_EQ(sweep_with_tile(sweep, tile(64, 32, 128, 0), false).options, tile(64, 32, 0, 0));  // a CPU's threads stay
}

TEST(Tiles, TheFieldOfTheTileTakesTunedAndTheFieldOfStagesANumber) {
  const SweepSpec sweep = state_of("flash_mma").document.sweep;
  const auto text_of = [](const SweepSpec& s, SweepField field) {
    for (const SweepFieldText& f : sweep_fields(s))
      if (f.field == field) return f.text;
    return std::string("none");
  };
  EXPECT_EQ(text_of(sweep, SweepField::tile), "usual");
  const auto tuned = with_field(sweep, SweepField::tile, "tuned");
  ASSERT_TRUE(tuned);
  EXPECT_TRUE(tuned->tuned);
  EXPECT_EQ(text_of(*tuned, SweepField::tile), "tuned");
  const auto back = with_field(*tuned, SweepField::tile, "64 x 32");
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->tuned);
  EXPECT_NE(sweep_key(*tuned), sweep_key(sweep));
  EXPECT_EQ(text_of(sweep, SweepField::stages), "usual");
  const auto stages = with_field(sweep, SweepField::stages, "3");
  ASSERT_TRUE(stages);
  EXPECT_EQ(stages->options.stages, 3);
  EXPECT_EQ(with_field(*stages, SweepField::stages, "usual")->options.stages, 0);
  EXPECT_EQ(text_of(state_of("cpu_flash").document.sweep, SweepField::stages), "none");
}

// Of every kernel with tiles, in every cell.
TEST(Tiles, NothingIsSaidTwiceOfOneTile) {
  std::size_t tiles = 0;
  std::vector<KernelRow> rows(gpu::gpu_kernel_table().begin(), gpu::gpu_kernel_table().end());
  rows.insert(rows.end(), cpu_kernel_table().begin(), cpu_kernel_table().end());
  for (const KernelRow& row : rows) {
    if (!has_tiles(row)) continue;
    const std::string kernel(row.id);
    const State s = state_of(kernel);
    const TuneSpec spec = *tune_of(s, kernel);
    Device d;
    d.processor = row.processor;
    d.arch = "sm_90a";
    d.cores = 132;
    const auto plan = tune_plan(spec, d);
    ASSERT_TRUE(plan) << kernel << ": " << plan.error().message;
    for (std::size_t n = 0; n < plan->tiles.size(); ++n, ++tiles) {
      std::string words = why_tile(row, *plan, n);
      words.pop_back();
      std::set<std::string> said;
      for (std::size_t from = 0; from < words.size();) {
        const std::size_t end = std::min(words.find("; ", from), words.size());
        EXPECT_TRUE(said.insert(words.substr(from, end - from)).second) << kernel << ": " << words;
        from = end + 2;
      }
      EXPECT_EQ(words.find("no larger"), words.rfind("no larger")) << words;
    }
  }
  EXPECT_GT(tiles, 50U);
}

}  // namespace
}  // namespace attn
