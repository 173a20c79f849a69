// Two sources side by side: what differs is marked, and nothing is lost.
#include "viz/bench/sources/source_pair.h"
#include "kernels/gpu/rungs/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "kernels/gpu/compile/sources.h"
#include "tests/viz/profile/profile_rows.h"

namespace attn::bench_test {
namespace {

std::string side_of(const std::vector<PairRow>& rows, std::size_t side) {
  std::string text;
  std::int32_t line = 0;
  for (const PairRow& row : rows) {
    if (row.line.at(side) == 0) continue;
    EXPECT_EQ(row.line.at(side), ++line);
    text += row.text.at(side) + "\n";
  }
  return text;
}

std::size_t same(const std::vector<PairRow>& rows) {
  return static_cast<std::size_t>(std::ranges::count_if(rows, &PairRow::same));
}

TEST(SourcePair, LinesThatBothHaveStandSideBySide) {
  const auto rows = paired_lines("a\nb\nc\nd\n", "a\nx\nc\nd\ne\n");
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_TRUE(rows[0].same);
  EXPECT_FALSE(rows[1].same);
  EXPECT_EQ(rows[1].text[0], "b");
  EXPECT_EQ(rows[1].text[1], "x");
  EXPECT_TRUE(rows[2].same && rows[3].same);
  EXPECT_EQ(rows[4].line[0], 0);
  EXPECT_EQ(rows[4].text[1], "e");
}

TEST(SourcePair, OfAChangedLineTheWordsThatDifferAreMarked) {
  const auto rows = paired_lines("  float m = max(a, b);\n", "  float m = fmaxf(a, b);\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].text[0].substr(rows[0].differs[0].from, rows[0].differs[0].size), "max");
  EXPECT_EQ(rows[0].text[1].substr(rows[0].differs[1].from, rows[0].differs[1].size), "fmaxf");
  const auto other = paired_lines("x = a − b;\n", "x = a × b;\n")[0];
  EXPECT_EQ(other.text[0].substr(other.differs[0].from, other.differs[0].size), "−");
  EXPECT_EQ(other.text[1].substr(other.differs[1].from, other.differs[1].size), "×");
}

// Against the length of the longest common subsequence, by its definition.
TEST(SourcePair, AsManyLinesAsCanBeSharedAreSharedAndNoneIsLost) {
  std::mt19937 random(3);
  for (int n = 0; n < 200; ++n) {
    std::string a, b;
    std::vector<char> x, y;
    for (auto& [text, lines] : {std::pair{&a, &x}, std::pair{&b, &y}})
      for (unsigned k = random() % 7; k > 0; --k) {
        lines->push_back(static_cast<char>('p' + random() % 3));
        *text += std::string(1, lines->back()) + "\n";
      }
    std::size_t longest = 0;
    for (unsigned mask = 0; mask < 1U << x.size(); ++mask) {
      std::size_t at = 0, count = 0;
      bool fits = true;
      for (std::size_t i = 0; i < x.size() && fits; ++i) {
        if ((mask >> i & 1U) == 0) continue;
        while (at < y.size() && y[at] != x[i]) ++at;
        fits = at < y.size();
        ++at, ++count;
      }
      if (fits) longest = std::max(longest, count);
    }
    const auto rows = paired_lines(a, b);
    EXPECT_EQ(same(rows), longest) << a << "|" << b;
    EXPECT_EQ(side_of(rows, 0), a);
    EXPECT_EQ(side_of(rows, 1), b);
  }
}

TEST(SourcePair, EmptyTextsArePairedToo) {
  EXPECT_TRUE(paired_lines("", "").empty());
  EXPECT_EQ(paired_lines("a\n", "").size(), 1U);
}

State state_with(std::string kernel) {
  State s = sweep_state();
  s.view.bench.kernel = std::move(kernel);
  return s;
}

TEST(SourcePair, IsOfTheChosenKernelAndTheRungBeforeItUnlessNamed) {
  State s = state_with("flash_mma");
  SourcePairScene scene = source_pair_scene(s, Model(), "");
  EXPECT_EQ(scene.kernels[0], "flash_wmma");
  EXPECT_EQ(scene.kernels[1], "flash_mma");
  ASSERT_TRUE(scene.empty.empty()) << scene.empty;
  EXPECT_GT(scene.stretches.size(), 3U);
  EXPECT_NE(scene.notes[1].find("mma_layout.h"), std::string::npos);
  s.view.bench.sources = {"naive", "flash_tf32x3"};
  scene = source_pair_scene(s, Model(), "");
  EXPECT_EQ(scene.kernels[0], "naive");
  EXPECT_NE(scene.headline.find("naive and flash_tf32x3: "), std::string::npos) << scene.headline;
}

// Heads are comments; a reader wants what a compiler makes something of.
TEST(SourcePair, BeginsWhereCodeDiffers) {
  const auto rows = gpu::gpu_kernel_table();
  for (std::size_t n = 1; n < rows.size(); ++n) {
    State s = state_with(std::string(rows[n].id));
    s.view.bench.sources = {std::string(rows[n - 1].id), std::string(rows[n].id)};
    const SourcePairScene scene = source_pair_scene(s, Model(), "");
    ASSERT_TRUE(scene.empty.empty()) << scene.empty;
    ASSERT_TRUE(std::ranges::find(scene.stretches, scene.first_code) != scene.stretches.end()) << rows[n].id;
    EXPECT_GT(scene.first_code, scene.stretches.front()) << rows[n].id << ": its head differs, and is not code";
    std::string code;
    for (std::size_t r = scene.first_code; r < scene.rows.size() && !scene.rows[r].same; ++r)
      for (const std::string& text : scene.rows[r].text)
        if (const std::size_t at = text.find_first_not_of(' ');
            at != std::string::npos && text.compare(at, 2, "//") != 0 && text.compare(at, 8, "#include") != 0)
          code += text + "\n";
    EXPECT_FALSE(code.empty()) << rows[n].id;
  }
}

TEST(SourcePair, OfACpuKernelIsThatOfTheGpuInTheSameOrderAndSaysSo) {
  for (const auto& [cpu, left, right] :
       {std::array{"cpu_flash", "tiled", "flash_simt"}, std::array{"cpu_flash1", "tiled", "flash_simt"},
        std::array{"cpu_tiled", "naive", "tiled"}, std::array{"cpu_multicore", "tiled", "naive"}}) {
    const SourcePairScene scene = source_pair_scene(state_with(cpu), Model(), "");
    EXPECT_EQ(scene.empty, "") << cpu;
    EXPECT_EQ(scene.kernels, (std::array<std::string, 2>{left, right})) << cpu;
    EXPECT_GT(scene.stretches.size(), 3U) << cpu;
    EXPECT_NE(scene.headline.find(std::string(cpu) + ", which is selected, runs on the CPU."), std::string::npos)
        << scene.headline;
  }
}

// The kernel that is chosen has no row in the run that is shown: charts speak of another one, and so do the sources.
TEST(SourcePair, IsOfTheKernelThatTheChartsSpeakOf) {
  const SourcePairScene scene = source_pair_scene(state_with("cpu_flash"), Model(), "flash_mma");
  EXPECT_EQ(scene.kernels, (std::array<std::string, 2>{"flash_wmma", "flash_mma"}));
  EXPECT_EQ(scene.headline.find("cpu_flash"), std::string::npos) << scene.headline;
  const SourcePairScene cpu = source_pair_scene(state_with("naive"), Model(), "cpu_flash");
  EXPECT_NE(cpu.headline.find("cpu_flash, which is shown in the charts, runs on the CPU."), std::string::npos)
      << cpu.headline;
}

TEST(SourcePair, NamesTheHeadersThatTheTextIncludesAndNoOthers) {
  State s = state_with("");
  s.view.bench.sources = {"tiled", "flash_simt"};
  const SourcePairScene scene = source_pair_scene(s, Model(), "");
  EXPECT_EQ(scene.notes[0].find("flash_simt_layout.h"), std::string::npos) << scene.notes[0];
  EXPECT_NE(scene.notes[0].find("device.cuh"), std::string::npos) << scene.notes[0];
  EXPECT_NE(scene.notes[1].find("flash_simt_layout.h"), std::string::npos) << scene.notes[1];
}

TEST(SourcePair, OfACpuKernelThatIsNamedSaysThatThereIsNone) {
  State s = state_with("");
  s.view.bench.sources[1] = "cpu_flash";
  const SourcePairScene scene = source_pair_scene(s, Model(), "");
  EXPECT_NE(scene.empty.find("cpu_flash runs on the CPU"), std::string::npos) << scene.empty;
  EXPECT_TRUE(scene.rows.empty());
}

TEST(SourcePair, SaysWhereTheRowWasMeasuredFromAnotherText) {
  State s = state_with("flash_simt");
  s.document.sweep.base = profile_test::h100_problem();
  s.document.sweep.values = {16384};
  Measurement m = profile_test::h100_row("flash_simt", 59526);
  m.key.source_hash = "0123456789abcdef";
  EXPECT_NE(source_pair_scene(s, model_of({m}), "").notes[1].find("a different source, 01234567"), std::string::npos);
  for (const gpu::SourceText& source : gpu::embedded_sources()) {
    if (source.name == "kernels/gpu/flash_simt.cu")
      m.key.source_hash = gpu::source_hash("flash_simt", source.text, gpu::embedded_sources());
  }
  EXPECT_EQ(source_pair_scene(s, model_of({m}), "").notes[1].find("another source"), std::string::npos);
}

TEST(SourcePair, DifferencesAreWalkedRoundBothWays) {
  SourcePairScene scene;
  scene.stretches = {4, 9, 20};
  EXPECT_EQ(next_stretch(scene, 0, 1), 4U);
  EXPECT_EQ(next_stretch(scene, 4, 1), 9U);
  EXPECT_EQ(next_stretch(scene, 20, 1), 4U);
  EXPECT_EQ(next_stretch(scene, 9, -1), 4U);
  EXPECT_EQ(next_stretch(scene, 4, -1), 20U);
  EXPECT_EQ(next_stretch(SourcePairScene(), 7, 1), 7U);
}

}  // namespace
}  // namespace attn::bench_test
