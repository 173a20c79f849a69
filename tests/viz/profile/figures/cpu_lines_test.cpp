// Rows of the CPU in Profile: what they have, and no list of what a GPU would have.
#include "viz/profile/figures/cpu_lines.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/viz/bench/rows.h"
#include "viz/profile/figures/bytes_and_pipes.h"

namespace attn {
namespace {

TEST(CpuLines, EveryCpuKernelSaysWhatItHasAndNothingThatItHasNot) {
  const std::vector<CacheLevel> caches{{1, 32 << 10, false}, {2, 1 << 20, false}, {3, 32 << 20, true}};
  State state = bench_test::sweep_state();
  for (const KernelRow& row : cpu_kernel_table()) {
    Measurement m = bench_test::timed_row(state.document.sweep, row.id, 512, 1000);
    m.key.options.threads = 8;
    m.peaks.copy_gb_per_s = 10;
    fill_figures(m);
    const BytesScene scene = bytes_scene(m, 0, caches);
    EXPECT_TRUE(scene.missing.empty()) << row.id << ": " << scene.missing.front().titles;
    const auto text = [&](const std::string& title) {
      const auto at = std::ranges::find(scene.lines, title, &BytesLine::title);
      return at == scene.lines.end() ? std::string("none") : at->text;
    };
    EXPECT_EQ(text("Threads"), "8");
    EXPECT_EQ(text("L1 cache"), "32.0 KiB");
    EXPECT_EQ(text("L2 cache"), "1.00 MiB");
    EXPECT_NE(text("Minimum rate"), "none");
    EXPECT_NE(text("Tiles per thread"), "none");
    for (const BytesLine& line : scene.lines) {
      EXPECT_TRUE(line.available);
      EXPECT_EQ(line.words.find("has no"), std::string::npos) << line.words;
    }
  }
}

// 64 x 64 in fp32 at D = 64: Q, K, V, S and O of 16 KiB each.
TEST(CpuLines, TilesAreSetAgainstEachCache) {
  Measurement m = bench_test::timed_row(bench_test::sweep_state().document.sweep, "cpu_flash", 512, 1000);
  const auto lines = cpu_lines(m, std::vector<CacheLevel>{{1, 32 << 10, false}, {2, 160 << 10, true}});
  const auto words = [&](const char* title) { return std::ranges::find(lines, title, &BytesLine::title)->words; };
  EXPECT_EQ(words("L1 cache"), "Private to a core: a thread's tiles need 2.5 times the size of this cache.");
  EXPECT_EQ(words("L2 cache"), "Shared by cores: a thread's tiles fill 50.0 % of this cache.");
}

}  // namespace
}  // namespace attn
