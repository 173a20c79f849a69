// What Bench keeps between frames.
#include "viz/bench/scene/bench_cache.h"

#include <gtest/gtest.h>

#include "tests/viz/bench/rows.h"

namespace attn {
namespace {

using namespace bench_test;

TEST(BenchCache, ARunIsCountedAnewOnlyWhenItHasGrown) {
  const SweepSpec sweep = sweep_state().document.sweep;
  ListedRun run = listed_run(kRun, {timed_row(sweep, "cpu_flash", 512, 10)});
  BenchCache cache;
  EXPECT_EQ(held(run, cache).kernels, 1U);
  run.run.rows[0].key.kernel = "cpu_tiled";  // nothing that a run does
  EXPECT_TRUE(held(run, cache).timed.contains("cpu_flash")) << "as it was counted";
  run.run.rows.push_back(refused_row(sweep, "cpu_flash1", 512, "why"));
  EXPECT_EQ(held(run, cache).kernels, 2U);
  EXPECT_EQ(held(run, cache).timed, std::set<std::string>{"cpu_tiled"});
}

}  // namespace
}  // namespace attn
