// A GPU's run beside the CPU's, and what its numbers are.
#include "viz/step/gpu_bar.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/recording/file.h"
#include "kernels/recording/reading.h"
#include "tests/paths.h"
#include "tests/viz/step/fixture.h"
#include "viz/step/beside.h"
#include "viz/step/facts/gpu_run.h"

namespace attn {
namespace {

Recording bundled(const char* kernel) {
  auto rec = read_recording(test::source_folder() + "/assets/" + recorded_asset(kernel));
  EXPECT_TRUE(rec) << (rec ? "" : rec.error().message);
  return *std::move(rec);
}

const BesideDifference& of(const Beside& beside, std::string_view letter) {
  const auto at = std::ranges::find(beside.phases, letter, &BesideDifference::letter);
  EXPECT_NE(at, beside.phases.end()) << letter;
  return *at;
}

TEST(Beside, IsTheCpusRunOfTheSameTiles) {
  for (const char* kernel : {"flash_simt", "naive", "tiled"}) {
    const Recording gpu = formula_reading(bundled(kernel));
    std::string why;
    const auto cpu = record_beside(gpu, why);
    ASSERT_TRUE(cpu) << kernel << ": " << why;
    EXPECT_EQ(cpu->order, gpu.order);
    EXPECT_EQ(cpu->options.br, gpu.options.br);
    const Beside beside = compare_beside(gpu, *cpu);
    for (const char* letter : {"S", "m", "P", "ℓ"}) {
      const BesideDifference& d = of(beside, letter);
      EXPECT_GT(d.compared, 0) << kernel << " " << letter;
      EXPECT_LT(d.difference, 1e-3) << kernel << " " << letter;
      EXPECT_EQ(d.difference, std::fabs(static_cast<double>(d.gpu) - static_cast<double>(d.cpu)));
    }
    EXPECT_GT(of(beside, "S").difference, 0) << "another order of the sum";
  }
}

TEST(Beside, NamesTheElementThatIsFurthest) {
  Recording gpu = formula_reading(bundled("flash_simt"));
  std::string why;
  const auto cpu = record_beside(gpu, why);
  ASSERT_TRUE(cpu) << why;
  const auto e = gpu.find({0, 0, 2, 1, Phase::weights});
  ASSERT_TRUE(e);
  const Version& p = gpu.version(gpu.after(*e, Slot::p));
  gpu.arena[p.offset + 5 * static_cast<std::size_t>(p.cols) + 7] += 3;
  const BesideDifference d = of(compare_beside(gpu, *cpu), "P");
  EXPECT_NEAR(d.difference, 3, 1e-3);
  EXPECT_EQ(d.event, *e);
  EXPECT_EQ(d.row, 32 + 5);
  EXPECT_EQ(d.col, 16 + 7);
}

TEST(GpuBar, SaysWhatTheKernelHoldsAndLeadsToTheFurthestElement) {
  const Recording held = bundled("flash_simt");
  std::string why;
  const Recording gpu = formula_reading(held);
  const Beside beside = compare_beside(gpu, *record_beside(gpu, why));
  State state;
  GpuBarScene scene = gpu_bar_scene(state, held, beside);
  EXPECT_TRUE(scene.shown);
  EXPECT_TRUE(scene.can_be_raw);
  EXPECT_FALSE(scene.raw);
  EXPECT_EQ(held_words(held), "S in base 2, m in base 2, ℓ in 16 lanes' parts");
  EXPECT_NE(scene.numbers.find("As the formulas have them"), std::string::npos);
  ASSERT_EQ(scene.differences.size(), beside.phases.size());
  const auto* go = command_as<GoToEvent>(scene.differences.front().go_there.front());
  ASSERT_NE(go, nullptr);
  EXPECT_EQ(go->event, beside.phases.front().event);
  state.view.step.raw = true;
  scene = gpu_bar_scene(state, held, beside);
  EXPECT_TRUE(scene.raw);
  EXPECT_EQ(scene.numbers, held_words(held));
}

// naive's numbers are the formulas' own: nothing to switch. A CPU's run has no bar.
TEST(GpuBar, HasNoSwitchWhereBothReadingsAreOne) {
  State state;
  state.view.step.raw = true;
  const GpuBarScene scene = gpu_bar_scene(state, bundled("naive"), {});
  EXPECT_TRUE(scene.shown);
  EXPECT_FALSE(scene.can_be_raw);
  EXPECT_FALSE(scene.raw);
  EXPECT_FALSE(gpu_bar_scene(state, *record_preset("late_outlier", "cpu_flash"), {}).shown);
}

}  // namespace
}  // namespace attn
