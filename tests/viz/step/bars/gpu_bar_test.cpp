// A GPU's run beside the CPU's, and what its numbers are.
#include "viz/step/bars/gpu_bar.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/reading.h"
#include "tests/environment/paths.h"
#include "tests/viz/step/fixture.h"
#include "viz/step/bars/cpu_comparison.h"
#include "viz/step/bars/strip.h"
#include "viz/step/facts/gpu_run.h"
#include "viz/step/facts/scales.h"
#include "viz/step/facts/values.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {
namespace {

Recording bundled(const char* kernel) {
  auto rec = read_recording(test::source_folder() + "/assets/" + recorded_asset(kernel));
  EXPECT_TRUE(rec) << (rec ? "" : rec.error().message);
  return *std::move(rec);
}

const PhaseDifference& of(const CpuComparison& comparison, std::string_view letter) {
  const auto at = std::ranges::find(comparison.phases, letter, &PhaseDifference::letter);
  EXPECT_NE(at, comparison.phases.end()) << letter;
  return *at;
}

TEST(CpuComparison, IsTheCpusRunOfTheSameTiles) {
  for (const char* kernel : {"flash_simt", "naive", "tiled"}) {
    const Recording gpu = formula_reading(bundled(kernel));
    std::string why;
    const auto cpu = record_on_cpu(gpu, why);
    ASSERT_TRUE(cpu) << kernel << ": " << why;
    EXPECT_EQ(cpu->order, gpu.order);
    EXPECT_EQ(cpu->options.br, gpu.options.br);
    const CpuComparison comparison = compare_with_cpu(gpu, *cpu);
    for (const char* letter : {"S", "m", "P", "ℓ"}) {
      const PhaseDifference& d = of(comparison, letter);
      EXPECT_GT(d.compared, 0) << kernel << " " << letter;
      EXPECT_LT(d.difference, 1e-3) << kernel << " " << letter;
      EXPECT_EQ(d.difference, std::fabs(static_cast<double>(d.gpu) - static_cast<double>(d.cpu)));
    }
    // flash_simt alone sums in another order than the CPU, in base 2.
    if (std::string(kernel) == "flash_simt") {
      EXPECT_GT(of(comparison, "S").difference, 0);
    }
  }
}

TEST(CpuComparison, NamesTheElementThatIsFurthest) {
  Recording gpu = formula_reading(bundled("flash_simt"));
  std::string why;
  const auto cpu = record_on_cpu(gpu, why);
  ASSERT_TRUE(cpu) << why;
  const auto e = gpu.find({0, 0, 2, 1, Phase::weights});
  ASSERT_TRUE(e);
  const Version& p = gpu.version(gpu.after(*e, Slot::p));
  gpu.arena[p.offset + 5 * static_cast<std::size_t>(p.cols) + 7] += 3;
  const PhaseDifference d = of(compare_with_cpu(gpu, *cpu), "P");
  EXPECT_NEAR(d.difference, 3, 1e-3);
  EXPECT_EQ(d.event, *e);
  EXPECT_EQ(d.row, 32 + 5);
  EXPECT_EQ(d.col, 16 + 7);
}

TEST(GpuBar, SaysWhatTheKernelHoldsAndLeadsToTheFurthestElement) {
  const Recording held = bundled("flash_simt");
  std::string why;
  const Recording gpu = formula_reading(held);
  const CpuComparison comparison = compare_with_cpu(gpu, *record_on_cpu(gpu, why));
  State state;
  GpuBarScene scene = gpu_bar_scene(state, held, comparison);
  EXPECT_TRUE(scene.shown);
  EXPECT_TRUE(scene.can_be_raw);
  EXPECT_FALSE(scene.raw);
  EXPECT_EQ(held_words(held), "S in base 2, m in base 2, ℓ in parts from 16 lanes");
  EXPECT_NE(scene.numbers.find("as in the formulas"), std::string::npos);
  ASSERT_EQ(scene.differences.size(), comparison.phases.size());
  const auto* go = command_as<GoToEvent>(scene.differences.front().go_there.front());
  ASSERT_NE(go, nullptr);
  EXPECT_EQ(go->event, comparison.phases.front().event);
  state.view.step.raw = true;
  scene = gpu_bar_scene(state, held, comparison);
  EXPECT_TRUE(scene.raw);
  EXPECT_EQ(scene.numbers, held_words(held));
}

// m begins at -3e38 there: that is no number to measure shades by. One column a lane is l's.
TEST(GpuBar, TilesAreDrawnAsHeld) {
  const Recording held = bundled("flash_mma");
  EXPECT_EQ(held_words(held),
            "S without its scale, m in base 2, up to 8 below the maximum, ℓ in parts from 4 lanes, P enters the "
            "product in f16");
  const TensorScales scales = scales_of(held);
  EXPECT_GT(scales[static_cast<std::size_t>(TensorColour::m)].min, -1000);
  const auto e = held.find({0, 0, 1, 2, Phase::sum});
  ASSERT_TRUE(e);
  const TilesScene scene = tiles_scene(held, *e, {}, OutputReading::as_summed, scales);
  const auto tile = [&](Column c) -> const TileScene& { return scene.tiles[static_cast<std::size_t>(c)]; };
  EXPECT_EQ(tile(Column::l_new).cols, 4);
  EXPECT_EQ(tile(Column::m_new).cols, 1);
  const Recording read = formula_reading(held);
  const TilesScene usual = tiles_scene(read, *e, {}, OutputReading::as_summed, scales_of(read));
  float sum = 0;
  for (int lane = 0; lane < 4; ++lane) sum += tile(Column::l_new).cell(3, lane).value;
  EXPECT_NEAR(sum, usual.tiles[static_cast<std::size_t>(Column::l_new)].cell(3, 0).value, 1e-5 * sum);
  const auto s = [&](const TilesScene& of) { return of.tiles[static_cast<std::size_t>(Column::s)].cell(3, 5).value; };
  EXPECT_NEAR(s(scene) / 8, s(usual), 1e-5) << "1/√64 comes with the exponential";
}

// Where m stays below a score, the sentence says so, and the formula holds.
TEST(GpuBar, AMaximumThatStaysIsToldAsThat) {
  const Recording rec = formula_reading(bundled("flash_mma"));
  const StepTexts texts = shipped_texts();
  int told = 0;
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    if (rec.events[e].id.phase != Phase::max) continue;
    for (std::int32_t r = 0; r < 16; ++r) {
      const StepPlace at = place_of(rec, e, pinned_row(r));
      const StepValues values = step_values(rec, at, pinned_row(r), nullptr);
      EXPECT_FALSE(values.numbers.at("m_new").differs) << e << " " << r;
      const StripScene strip = strip_scene(rec, at, values, texts);
      told += plain_text(strip.headline) == "The old maximum is close enough" ? 1 : 0;
    }
  }
  EXPECT_GT(told, 5);
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
