// Tiles that tuning kept, and what a sweep of tuned tiles says of itself before it runs: on the CPU for true.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "app/worker/tuner.h"
#include "kernels/cpu/device.h"
#include "kernels/ladder.h"
#include "profiling/figures/statistics.h"
#include "profiling/measure/source_now.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/tune/store.h"
#include "tests/kernels/temp_folder.h"
#include "viz/bench/sweep/planned.h"
#include "viz/bench/sweep/sweep_fields.h"

namespace attn {
namespace {

class KeptTiles : public ::testing::Test {
 protected:
  Controller controller(std::vector<std::int64_t> values) const {
    ControllerOptions o;
    o.state = initial_state();
    o.state.view.workspace = Workspace::bench;
    SweepSpec& sweep = o.state.document.sweep;
    sweep.kernels = {"cpu_flash"};
    sweep.axis = Axis::L;
    sweep.values = std::move(values);
    sweep.base.D = sweep.base.Dv = 8;
    sweep.options.threads = 1;
    sweep.tuned = true;
    o.save_folder = folder_.path();
    o.sweeps.tiles = folder_ / "tiles";
    return Controller(std::move(o));
  }
  // As if a tuning of the sweep's point at L had chosen this tile.
  void keep(const SweepSpec& sweep, std::int64_t L, std::int32_t br, std::int32_t bc) const {
    const KernelRow& row = **find_kernel("cpu_flash");
    TuneSpec spec;
    spec.kernel = row.id;
    spec.problem = problem_at(sweep, L);
    spec.options.threads = 1;
    TuneResult r = *tune_plan(spec, cpu_device());
    for (std::size_t n = 0; n < r.tiles.size(); ++n) {
      TriedTile& t = r.tiles[n];
      if (t.fate == TileFate::refused) continue;
      t.fate = TileFate::timed;
      t.verdict = "pass";
      t.time = t.turns = statistics_of(std::vector<double>(8, 100.0));
      if (t.tile.options.br == br && t.tile.options.bc == bc) r.chosen = n;
    }
    r.decision = TuneDecision::faster;
    r.words = "kept by a test";
    const TunedKey key = tuned_key(row, spec.problem, cpu_device(), source_hash_now(row, spec.problem), "");
    const auto kept = keep_tuned(folder_ / "tiles", key, r);
    ASSERT_TRUE(kept) << kept.error().message;
  }
  static void settle(Controller& c) {
    c.update({});
    c.wait();
  }
  TempFolder folder_;
};

TEST_F(KeptTiles, AreLookedUpForEveryPointBeforeTheSweepRuns) {
  Controller c = controller({48, 96});
  const SweepSpec& sweep = c.state().document.sweep;
  keep(sweep, 48, 16, 32);
  settle(c);
  const auto rows = planned_rows(sweep, c.model().kept);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].state, RowState::done) << rows[0].reason;
  EXPECT_EQ(rows[0].tile_from, "tuned");
  EXPECT_EQ(rows[0].key.options.br, 16);
  EXPECT_EQ(rows[0].key.options.bc, 32);
  EXPECT_EQ(rows[1].state, RowState::refused);
  EXPECT_NE(rows[1].reason.find("there is no tuned tile for cpu_flash"), std::string::npos) << rows[1].reason;
  EXPECT_NE(rows[1].reason.find("attnscope tune cpu_flash"), std::string::npos) << rows[1].reason;
}

TEST_F(KeptTiles, AreLookedUpAgainWhenTheSweepChangesAndOnlyThen) {
  Controller c = controller({48, 96});
  settle(c);
  EXPECT_EQ(c.model().kept.times, 1U);
  settle(c);
  EXPECT_EQ(c.model().kept.times, 1U);
  SweepSpec other = c.state().document.sweep;
  other.values = {48};
  c.update({SetSweep{other}});
  c.wait();
  EXPECT_EQ(c.model().kept.times, 2U);
  EXPECT_EQ(c.model().kept.of, sweep_key(other));
  EXPECT_EQ(c.model().kept.tiles.size(), 1U);
}

TEST_F(KeptTiles, AreLookedUpAgainWhenATuningOfTheWindowHasEnded) {
  Controller c = controller({48, 96});
  const SweepSpec& sweep = c.state().document.sweep;
  settle(c);
  ASSERT_NE(planned_rows(sweep, c.model().kept).back().state, RowState::done);
  keep(sweep, 96, 32, 16);
  c.update({ChooseKernel{"cpu_flash"}, TuneTiles{}});
  c.update({CancelTask{}});  // what it had tried by then is no matter here
  c.wait();
  ASSERT_FALSE(c.model().tuning.running);
  settle(c);
  const auto rows = planned_rows(sweep, c.model().kept);
  ASSERT_EQ(rows.back().state, RowState::done) << rows.back().reason;
  EXPECT_EQ(rows.back().key.options.br, 32);
  EXPECT_EQ(rows.back().key.options.bc, 16);
}

}  // namespace
}  // namespace attn
