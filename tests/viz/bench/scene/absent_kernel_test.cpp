// A kernel that was asked for and that the shown rows lack: what is said, and what one press does.
#include "viz/bench/scene/absent_kernel.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/viz/bench/scene_fixture.h"

namespace attn {
namespace {

using namespace bench_test;

class AbsentKernelSceneTest : public BenchSceneTest {
 protected:
  // What stands in the strip after the press.
  BenchScene pressed(const Model& model, const WayToKernel& way) {
    if (!way.run.empty()) show_run(state.document.runs, way.run);
    if (way.sweep) state.document.sweep = *way.sweep;
    if (way.value) state.view.bench.value = way.value;
    if (way.all_rows) state.view.bench.filter.clear();
    return scene(model);
  }
  // The three kernels of the fixture, and cpu_flash1 on a problem of its own.
  template <class Change>
  Model with_flash1(const Change& change) const {
    Model m = three_kernels();
    Measurement row = timed_row(sweep, "cpu_flash1", 2048, 100);
    change(row);
    rows_of(m).push_back(std::move(row));
    return m;
  }
  void expect_way(const Model& m, const std::string& words) {
    state.view.bench.kernel = "cpu_flash1";
    const BenchScene before = scene(m);
    EXPECT_NE(before.verdict.kernel, "cpu_flash1");
    EXPECT_EQ(before.way.words, words) << before.verdict.reason;
    const BenchScene after = pressed(m, before.way);
    EXPECT_EQ(after.verdict.kernel, "cpu_flash1") << after.verdict.headline;
    EXPECT_EQ(after.way.words, "");
  }
};

TEST_F(AbsentKernelSceneTest, RowsOfAnotherHeadDimensionAreOffered) {
  expect_way(with_flash1([](Measurement& m) { m.key.problem.D = m.key.problem.Dv = 128; }), "Show the D = 128 rows");
}

TEST_F(AbsentKernelSceneTest, RowsOfAnotherMaskAreOffered) {
  expect_way(with_flash1([](Measurement& m) { m.key.problem.mask.causal = true; }), "Show the causal rows");
}

TEST_F(AbsentKernelSceneTest, RowsThatDifferInTwoAreOfferedByBoth) {
  expect_way(with_flash1([](Measurement& m) {
               m.key.problem.dtype = DType::f16;
               m.key.problem.mask.causal = true;
             }),
             "Show the f16, causal rows");
}

// No field of the panel tells them apart by a word.
TEST_F(AbsentKernelSceneTest, RowsOfAnyOtherProblemAreOffered) {
  expect_way(with_flash1([](Measurement& m) { m.key.problem.Hq = m.key.problem.Hkv = 8; }), "Show its rows");
}

TEST_F(AbsentKernelSceneTest, AnotherValueIsOffered) {
  state.view.bench.value = 512;
  expect_way(with_flash1([](Measurement&) {}), "Show L = 2048");
}

TEST_F(AbsentKernelSceneTest, TheFilterIsOfferedToBeCleared) {
  state.view.bench.filter = "kernel != cpu_flash1";
  expect_way(with_flash1([](Measurement&) {}), "Clear the filter");
}

// A run that is not ticked: of two the one with more kernels.
TEST_F(AbsentKernelSceneTest, TheRunWithTheMostKernelsIsOffered) {
  Model m = three_kernels();
  for (const bool large : {false, true}) {
    std::vector<Measurement> rows{timed_row(sweep, "cpu_flash1", 512, 50), timed_row(sweep, "cpu_flash1", 2048, 100)};
    if (large) rows.push_back(timed_row(sweep, "cpu_tiled", 2048, 300));
    m.runs.push_back(listed_run(large ? "00000000000000cc" : "00000000000000bb", std::move(rows)));
    m.runs.back().run.name = large ? "the larger" : "the smaller";
  }
  state.view.bench.kernel = "cpu_flash1";
  const BenchScene before = scene(m);
  EXPECT_EQ(before.verdict.reason.substr(0, before.verdict.reason.find('\n')),
            "cpu_flash1 has no row in the ticked runs.");
  EXPECT_EQ(before.way.words, "Open the larger");
  EXPECT_EQ(pressed(m, before.way).verdict.kernel, "cpu_flash1");
}

// Nothing to press where no run has it, and a row that failed is no way.
TEST_F(AbsentKernelSceneTest, NothingIsOfferedWhereNoRunHasATimeOfIt) {
  state.view.bench.kernel = "cpu_flash1";
  EXPECT_EQ(scene(three_kernels()).way.words, "");
  const Model m = with_flash1([](Measurement& row) {
    row.key.problem.D = row.key.problem.Dv = 128;
    row.state = RowState::refused;
    row.time = {};
  });
  EXPECT_EQ(scene(m).way.words, "");
}

// The sentences are about the run that was ticked last, unless another has the kernel that was asked for.
TEST_F(AbsentKernelSceneTest, TheStripSpeaksOfTheRunThatHasTheKernel) {
  Model m = three_kernels();
  std::vector<Measurement> rows{timed_row(sweep, "cpu_multicore", 2048, 500), timed_row(sweep, "cpu_tiled", 2048, 90)};
  m.runs.push_back(listed_run("00000000000000bb", std::move(rows)));
  state.document.runs.shown.emplace_back("00000000000000bb");
  EXPECT_TRUE(scene(m).verdict.headline.starts_with("Run B: ")) << scene(m).verdict.headline;
  state.view.bench.kernel = "cpu_flash";
  EXPECT_TRUE(scene(m).verdict.headline.starts_with("Run A: At L = 2048, cpu_flash is ")) << scene(m).verdict.headline;
}

}  // namespace
}  // namespace attn
