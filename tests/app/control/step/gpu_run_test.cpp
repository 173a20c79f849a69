// Whose run Step shows where a GPU kernel is chosen: its own, where it can be had.
#include <gtest/gtest.h>

#include <string>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "kernels/ladder.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/replay.h"
#include "tests/environment/paths.h"
#include "tests/kernels/temp_folder.h"
#include "viz/step/bars/strip.h"
#include "viz/step/facts/gpu_run.h"

namespace attn {
namespace {

ControllerOptions options_in(const TempFolder& folder) {
  ControllerOptions o;
  o.state = initial_state();
  o.save_folder = folder.path();
  o.runs.runs = folder / "runs";
  o.runs.recent = folder / "recent";
  return o;
}

TEST(GpuRun, ThatCameWithTheProgramIsShownWithoutAGpu) {
  const TempFolder folder;
  Controller c(options_in(folder));
  c.update({ChoosePreset{std::string(kRecordedPreset)}});
  ASSERT_TRUE(c.model().recording);
  EXPECT_FALSE(c.model().recording->gpu);
  c.update({ChooseKernel{"flash_simt"}});
  c.wait();
  c.update({});
  ASSERT_TRUE(c.model().recording);
  ASSERT_TRUE(c.model().recording->gpu);
  EXPECT_EQ(c.model().recording->kernel, "flash_simt");
  EXPECT_TRUE(c.state().document.kernel.starts_with("cpu_")) << "the document stays one that every machine can record";
  // The same problem with the same numbers, which a GPU held.
  EXPECT_EQ(c.model().recording->problem, c.state().document.problem);
  EXPECT_FALSE(replay(*c.model().recording));
  const auto sum = c.model().recording->find({0, 0, 2, 3, Phase::sum});
  ASSERT_TRUE(sum);
  EXPECT_EQ(recorded_words(*c.model().recording, *sum),
            "recorded on NVIDIA H100 80GB HBM3, flash_simt, block 1, warp 0");
  c.update({ChooseKernel{"cpu_flash"}});
  c.wait();
  c.update({});
  ASSERT_TRUE(c.model().recording);
  EXPECT_FALSE(c.model().recording->gpu);
}

TEST(GpuRun, ThatCannotBeHadIsStoodInForByTheCpus) {
  const TempFolder folder;
  Controller c(options_in(folder));
  c.update({ChoosePreset{"random"}, ChooseKernel{"flash_simt"}});
  ASSERT_TRUE(c.model().recording);
  EXPECT_FALSE(c.model().recording->gpu);
  EXPECT_FALSE(stand_in_words(c.state()).empty());
  EXPECT_TRUE(recorded_words(*c.model().recording, 0).empty());
}

TEST(GpuRun, ReadAsHeldIsPartOfTheStateString) {
  const auto held = apply(initial_state(), StateCommand{StepCommand{ShowRaw{true}}}, nullptr);
  ASSERT_TRUE(held);
  const auto text = state_string(*held);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("raw=1"), std::string::npos) << *text;
  const auto read = parse_state_string(*text);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->state.view.step.raw);
}

// What came with the program is the run of the preset, tile and numbers and all.
TEST(GpuRun, ThatCameWithTheProgramIsOfItsPreset) {
  const TempFolder folder;
  Controller c(options_in(folder));
  c.update({ChoosePreset{std::string(kRecordedPreset)}});
  for (const char* kernel : {"naive", "tiled", "flash_simt", "flash_tf32x3", "flash_wmma", "flash_mma"}) {
    Problem p = c.state().document.problem;
    const bool halves = std::string(kernel) == "flash_wmma" || std::string(kernel) == "flash_mma";
    p.dtype = halves ? DType::f16 : DType::f32;
    c.update({SetProblem{p}});
    const Recording& cpu = *c.model().recording;
    const auto rec = read_recording(test::source_folder() + "/assets/" + recorded_asset(kernel));
    ASSERT_TRUE(rec) << rec.error().message;
    EXPECT_EQ(rec->kernel, kernel);
    EXPECT_TRUE(rec->gpu);
    EXPECT_EQ(rec->problem, cpu.problem);
    EXPECT_EQ(rec->inputs.q, cpu.inputs.q);
    EXPECT_EQ(rec->inputs.k, cpu.inputs.k);
    EXPECT_EQ(rec->inputs.v, cpu.inputs.v);
    EXPECT_EQ(rec->options.br, cpu.options.br);
    EXPECT_EQ(rec->options.bc, cpu.options.bc);
    const auto difference = replay(*rec);
    EXPECT_FALSE(difference) << difference->words;
    EXPECT_TRUE(has_gpu_run(**find_kernel(kernel), c.state().document, c.model())) << kernel;
    // The other dtype's run did not come along.
    p.dtype = halves ? DType::f32 : DType::f16;
    c.update({SetProblem{p}});
    EXPECT_FALSE(has_gpu_run(**find_kernel(kernel), c.state().document, c.model())) << kernel;
  }
}

}  // namespace
}  // namespace attn
