// What the lab says of an edit: what became of it, where the compiler says something, what is changed, beside what.
#include "viz/profile/lab/lab.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "tests/viz/bench/rows.h"
#include "tests/viz/profile/profile_rows.h"

namespace attn {
namespace {

constexpr const char* kText = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\n";

LabView lab() {
  LabView v;
  v.kernel = "flash_simt";
  v.arch = "sm_90a";
  v.problem = profile_test::h100_problem();
  v.original.text = kText;
  v.now = v.original;
  return v;
}

Measurement row(double us, double low, double high) {
  Measurement m = profile_test::h100_row("flash_simt", us);
  m.time.n = 9;
  m.time.ci_low = low;
  m.time.ci_high = high;
  m.verdict = Verdict{};
  m.verdict->pass = true;
  m.verdict->at(Tensor::o).judged = 10;
  m.verdict->sample = "all 10 rows";
  fill_figures(m);
  return m;
}

void build(LabView& v, Measurement m) {
  v.marks = gpu::marks_of(m.state == RowState::failed ? m.reason : "", m.warnings, v.now.text);
  v.tries.push_back({"flash_simt@1a2b3c4d", v.now, std::make_shared<const Measurement>(std::move(m))});
}

LabScene scene_of(const LabView& v) {
  GpuView gpu;
  gpu.looked = true;
  gpu.why_none = "no driver";
  return lab_scene(v, gpu);
}

// 8 warps over 128 query rows: what half_warps halves (docs/profile.md).
TEST(Lab, KnowsWhatIsLaunchedWhereNothingWasChosen) {
  const LabScene scene = scene_of(lab());
  EXPECT_EQ(scene.shipped.br, 128);
  EXPECT_EQ(scene.shipped.threads, 256);
  LabView own = lab();
  own.kernel = "mine@1a2b3c4d";
  EXPECT_EQ(scene_of(own).shipped.threads, 0) << "a kernel of the user's own has no plan of the ladder's";
}

TEST(Lab, TheOriginalsFiguresStandThereBeforeTheFirstBuild) {
  LabView v = lab();
  const Measurement shown = row(2000, 1990, 2010);
  GpuView gpu;
  const auto said = [&](const Measurement* m) {
    for (const std::string& words : lab_scene(v, gpu, m).words)
      if (words.find("The original takes 2.00 ms: 254 registers") == 0) return true;
    return false;
  };
  EXPECT_TRUE(said(&shown));
  EXPECT_FALSE(said(nullptr));
  Measurement other = shown;
  other.key.problem.D = 32;
  EXPECT_FALSE(said(&other)) << "another problem";
  build(v, row(1000, 990, 1010));
  EXPECT_FALSE(said(&shown)) << "now the headline compares the two";
}

TEST(Lab, SaysHowManyTimesAsFastTheEditIsOnlyBeyondTheNoise) {
  LabView v = lab();
  v.now.text += "more\n";
  v.before = std::make_shared<const Measurement>(row(2000, 1990, 2010));
  build(v, row(1000, 990, 1010));
  EXPECT_EQ(scene_of(v).headline, "2.0 times as fast as the original: 1.00 ms against 2.00 ms.")
      << scene_of(v).headline;
  v.tries.clear();
  build(v, row(4000, 3990, 4010));
  EXPECT_NE(scene_of(v).headline.find("2.0 times as long as the original"), std::string::npos) << scene_of(v).headline;
  v.tries.clear();
  build(v, row(1990, 1980, 2005));
  EXPECT_NE(scene_of(v).headline.find("within the noise"), std::string::npos) << scene_of(v).headline;
}

TEST(Lab, AWrongAnswerComesBeforeItsTime) {
  LabView v = lab();
  v.now.text += "more\n";
  Measurement m = row(1000, 990, 1010);
  m.verdict->pass = false;
  m.verdict->reason = "element 3 differs";
  build(v, m);
  const LabScene scene = scene_of(v);
  EXPECT_EQ(scene.headline, "The output is wrong.");
  EXPECT_EQ(scene.words.front(), "element 3 differs.");
  ASSERT_EQ(scene.tries.size(), 1U);
  EXPECT_FALSE(scene.tries.front().good);
}

TEST(Lab, AnErrorStandsAtItsLineAndAWarningToo) {
  LabView v = lab();
  v.now.text += "more\n";
  Measurement m = profile_test::h100_row("flash_simt", 0);
  m.state = RowState::failed;
  m.reason =
      "flash_simt.cu does not compile for --gpu-architecture=sm_90a:\nflash_simt.cu:7: identifier \"x\" is undefined\n"
      "kernels/gpu/device.cuh:3: not of this text";
  m.warnings = {"flash_simt.cu(2): warning #177-D: variable \"y\" was declared", "ptxas info : Overriding maximum"};
  build(v, m);
  const LabScene scene = scene_of(v);
  EXPECT_EQ(scene.headline, "It does not compile: line 7: identifier \"x\" is undefined.");
  ASSERT_EQ(scene.marks.size(), 2U) << "a header's line is none of this text";
  EXPECT_TRUE(scene.marks.at(7).error);
  EXPECT_FALSE(scene.marks.at(2).error);
  EXPECT_EQ(next_mark(scene, 0, 1), 2);
  EXPECT_EQ(next_mark(scene, 2, 1), 7);
  EXPECT_EQ(next_mark(scene, 7, 1), 2);
  EXPECT_EQ(next_mark(scene, 2, -1), 7);
  EXPECT_EQ(scene.tries.front().outcome, "does not compile");
  v.now.text += "typed since\n";
  EXPECT_TRUE(scene_of(v).marks.empty()) << "marks of another text";
  EXPECT_NE(scene_of(v).headline.find("not built yet"), std::string::npos);
}

// What ptxas calls information and can cost half the speed.
TEST(Lab, ALossStandsWhereItsFunctionBegins) {
  LabView v = lab();
  v.now.text = "one\ntwo\nvoid flash_simt(int x) {\n";
  Measurement m = row(2000, 1990, 2010);
  m.warnings = {"ptxas info    : (C7512) Potential Performance Loss: serialized in function 'flash_simt'"};
  build(v, m);
  const LabScene scene = scene_of(v);
  ASSERT_EQ(scene.marks.size(), 1U);
  EXPECT_FALSE(scene.marks.at(3).error);
  EXPECT_NE(scene.marks.at(3).words.find("Potential Performance Loss"), std::string::npos);
}

TEST(Lab, WithoutAGpuItSaysWhatTheCompilerSaidAndWhyThereIsNoTime) {
  LabView v = lab();
  v.now.build.max_registers = 64;
  Measurement m = profile_test::h100_row("flash_simt", 0);
  m.time = {};
  m.state = RowState::refused;
  m.reason = "no GPU: no driver";
  fill_figures(m);
  build(v, m);
  const LabScene scene = scene_of(v);
  EXPECT_NE(scene.headline.find("It compiles for sm_90a: 254 registers"), std::string::npos) << scene.headline;
  EXPECT_EQ(scene.words.front(), "Not checked and not timed: no GPU: no driver.");
  EXPECT_EQ(scene.tries.front().what, "maxrregcount=64");
  EXPECT_NE(scene.words[1].find("254 registers despite -maxrregcount=64"), std::string::npos) << scene.words[1];
  EXPECT_EQ(scene.tries.front().outcome, "compiled");
  EXPECT_FALSE(scene.groups.empty());
}

TEST(Lab, TheDifferenceHasWhatIsChangedAndThreeLinesAround) {
  LabView v = lab();
  v.now.text.replace(v.now.text.find("six"), 3, "6");
  const LabScene scene = scene_of(v);
  std::string signs;
  for (const LabDiffRow& r : scene.difference) signs += r.sign;
  EXPECT_EQ(signs, "   -+   ");
  EXPECT_EQ(scene.difference[3].text, "six");
  EXPECT_EQ(scene.difference[4].text, "6");
  EXPECT_EQ(scene.edited, std::set<std::int32_t>{6});
  EXPECT_EQ(scene.title, "flash_simt.cu: 1 line edited");
  EXPECT_TRUE(scene_of(lab()).difference.empty());
}

TEST(Lab, ADraftAndAnExperimentAreToldInWords) {
  LabView v = lab();
  v.draft = LabDraft{{std::string(kText) + "more\n", {}, {}}, "2026-11-23 12:05 UTC"};
  EXPECT_NE(scene_of(v).draft.find("1 line of flash_simt, 2026-11-23"), std::string::npos) << scene_of(v).draft;
  EXPECT_EQ(scene_of(v).experiments.size(), 7U);
  v.experiment = "expf";
  v.now.text += "more\n";
  EXPECT_NE(scene_of(v).question.find("base 2"), std::string::npos);
}

TEST(Lab, StandsOnTheChosenKernelAndAProblemThatItTakes) {
  State state;
  state.document.sweep.values = {64};
  Model model;
  EXPECT_EQ(lab_subject(state, model).kernel, "flash_simt") << "where none of a GPU is chosen";
  EXPECT_EQ(lab_subject(state, model).arch, "sm_90a");
  state.view.bench.kernel = "flash_mma";
  EXPECT_EQ(lab_subject(state, model).problem.dtype, DType::f16);
  const auto text = gpu::kernel_source("tiled", {})->text;
  const auto edit = *gpu::edit_of(**find_kernel("tiled", {}), text + "// x\n", {});
  state.document.sweep.own = {edit};
  state.view.bench.kernel = edit->name;
  EXPECT_EQ(lab_subject(state, model).kernel, edit->name);
  model.gpu.gpus.push_back({0, "a GPU", "sm_80", 1, 1});
  EXPECT_EQ(lab_subject(state, model).arch, "sm_80");
}

TEST(Lab, StandsOnTheProblemOfTheRowThatProfileShows) {
  State state;
  state.document.sweep.values = {64};
  state.view.bench.kernel = "flash_simt";
  Model model;
  model.runs.push_back(bench_test::listed_run("00000000000000aa", {profile_test::h100_row("flash_simt", 2086)}));
  state.document.runs.shown = {"00000000000000aa"};
  EXPECT_EQ(lab_subject(state, model).problem, profile_test::h100_problem());
  state.view.bench.kernel = "tiled";  // of which the run has no row
  EXPECT_EQ(lab_subject(state, model).problem.Lq, 64);
}

// `of`: line -> samples, all of phase S; what is of a header stands at no line of the text.
std::shared_ptr<const Measurement> sampled(Measurement m,
                                           const std::vector<std::pair<std::uint32_t, std::uint64_t>>& of) {
  KernelSamples s;
  s.reasons = {"selected"};
  s.files = {"kernels/gpu/rungs/cuda_cores/flash_simt.cu", "kernels/gpu/rungs/device.cuh"};
  s.functions.push_back({"flash_simt", {}});
  for (const auto& [line, samples] : of) {
    const std::uint32_t file = line == 0 ? 1 : 0;
    s.functions.back().instructions.push_back({16 * line,
                                               line == 0 ? gpu::CodePhase::none : gpu::CodePhase::s,
                                               {{file, std::max(line, 1U)}},
                                               {{0, samples, 0}}});
  }
  m.samples = std::make_shared<const KernelSamples>(std::move(s));
  return std::make_shared<const Measurement>(std::move(m));
}

TEST(Lab, ALinesShareOfTheWarpTimeStandsBesideTheSameLinesInTheOriginal) {
  LabView v = lab();
  v.before = sampled(row(2000, 1990, 2010), {{0, 10}, {2, 30}, {4, 60}});
  // Nothing is built: where the original's time goes is where one would begin.
  v.now.text = "new\n" + std::string(kText);
  LabScene scene = scene_of(v);
  ASSERT_EQ(scene.lines.by_line.size(), 2U);
  EXPECT_EQ(scene.lines.by_line.at(3).text, "30") << "line 2 is the third now";
  EXPECT_EQ(scene.lines.by_line.at(5).text, "60");
  EXPECT_EQ(hottest_line(scene), 5);
  EXPECT_FALSE(scene.lines.by_line.at(5).before);
  build(v, row(1000, 990, 1010));
  EXPECT_TRUE(scene_of(v).lines.by_line.empty()) << "an answer comes before its lines, and shows no other's";
  v.tries.back().row = sampled(row(1000, 990, 1010), {{0, 100}, {1, 20}, {5, 80}});
  scene = scene_of(v);
  ASSERT_EQ(scene.lines.by_line.size(), 2U);
  EXPECT_DOUBLE_EQ(scene.lines.by_line.at(1).share, 0.1) << "of all samples, the header's too";
  EXPECT_FALSE(scene.lines.by_line.at(1).before) << "the original has no such line";
  EXPECT_DOUBLE_EQ(scene.lines.by_line.at(5).share, 0.4);
  ASSERT_TRUE(scene.lines.by_line.at(5).before);
  EXPECT_DOUBLE_EQ(*scene.lines.by_line.at(5).before, 0.6);
  EXPECT_NE(scene.lines.by_line.at(5).tip.find("In the original: 60 % of all samples, 60"), std::string::npos)
      << scene.lines.by_line.at(5).tip;
  EXPECT_DOUBLE_EQ(scene.lines.most, 0.4);
  EXPECT_EQ(hottest_line(scene), 5);
  EXPECT_EQ(first_look(scene), 1) << "what is edited comes before what is hot";
  ASSERT_GE(scene.groups.size(), 2U);
  EXPECT_EQ(scene.groups[1].title, "Warp time by phase");
  const auto s = std::ranges::find(scene.groups[1].figures, "phase_S", &ProfileFigure::id);
  ASSERT_NE(s, scene.groups[1].figures.end());
  EXPECT_EQ(s->text, "50 %");
  EXPECT_EQ(s->other, "90 %");
  EXPECT_EQ(s->change.text, "−40.0");
}

TEST(Lab, SaysHowLongWasWaitedAndForWhatStill) {
  LabView v = lab();
  v.now.text += "more\n";
  build(v, row(1000, 990, 1010));
  v.tries.back().row_seconds = 0.94;
  const auto told = [&](const std::string& words) {
    const LabScene scene = scene_of(v);
    return std::ranges::find(scene.words, words) != scene.words.end();
  };
  EXPECT_TRUE(told("Done in 0.94 s."));
  v.sampling = "flash_simt@1a2b3c4d";
  EXPECT_TRUE(told("Done in 0.94 s; sampling its lines."));
  v.sampling.clear();
  v.tries.back().row = sampled(row(1000, 990, 1010), {{1, 20}});
  v.tries.back().lines_seconds = 1.41;
  EXPECT_TRUE(told("Done in 0.94 s, its lines sampled after 1.41 s."));
  Measurement refused = row(1000, 990, 1010);
  refused.no_samples = "counters are for the administrator";
  v.tries.back().row = std::make_shared<const Measurement>(refused);
  EXPECT_TRUE(told("Done in 0.94 s; its lines are not sampled: counters are for the administrator."));
}

TEST(Lab, TheLineOfAHeadersRefusalIsFound) {
  EXPECT_EQ(header_line("my.cu, line 3: \"grid\" cannot be read"), 3);
  EXPECT_EQ(header_line("my.cu has no header"), 0);
}

TEST(Lab, OpensAtTheLineThatProfileFoundTheHottest) {
  LabView v = lab();
  const auto shown = sampled(row(2000, 1990, 2010), {{2, 30}, {4, 60}});
  const LabScene scene = lab_scene(v, {}, shown.get());
  EXPECT_EQ(hottest_line(scene), 0) << "nothing was built here";
  EXPECT_EQ(first_look(scene), 4) << "the original's";
  v.now.text.replace(v.now.text.find("six"), 3, "6");
  EXPECT_EQ(first_look(lab_scene(v, {}, shown.get())), 6);
}

TEST(Lab, ItsKernelsExperimentsComeFirstAndOthersSayWhoseTheyAre) {
  const LabScene scene = scene_of(lab());
  EXPECT_EQ(scene.experiments.front().title.find(':'), std::string::npos) << scene.experiments.front().title;
  EXPECT_NE(scene.experiments.back().title.find(": "), std::string::npos) << scene.experiments.back().title;
  const auto one_stage =
      std::ranges::find(scene.experiments, std::string("flash_mma: One stage"), &LabExperimentRow::title);
  EXPECT_NE(one_stage, scene.experiments.end());
}

}  // namespace
}  // namespace attn
