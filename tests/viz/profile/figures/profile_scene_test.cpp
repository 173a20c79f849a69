#include "viz/profile/figures/profile_scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "profiling/figures/samples.h"
#include "tests/viz/profile/heartbeat/beats.h"
#include "tests/viz/profile/profile_rows.h"
#include "tests/viz/profile/toy_kernel.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

using bench_test::kRun;
using profile_test::h100_row;

State state_of(const char* kernel) {
  State s = bench_test::sweep_state();
  s.document.sweep.base = profile_test::h100_problem();
  s.document.sweep.values = {16384};
  s.document.sweep.kernels = {"naive", "tiled", "flash_simt"};
  s.view.workspace = Workspace::profile;
  s.view.bench.kernel = kernel;
  return s;
}

Model h100_model() {
  Model model = bench_test::model_of({h100_row("naive", 2571000), h100_row("flash_simt", 59526)});
  model.runs[0].run.provenance.device_arch = "sm_90a";
  model.runs[0].run.provenance.cores = 132;
  return model;
}

const ProfileFigure* figure_of(const ProfileScene& scene, std::string_view id) {
  for (const ProfileGroup& g : scene.groups)
    for (const ProfileFigure& f : g.figures)
      if (f.id == id) return &f;
  return nullptr;
}

TEST(ProfileScene, SetsTheChosenKernelAgainstTheBaseline) {
  const ProfileScene scene = profile_scene(state_of("flash_simt"), h100_model(), {});
  EXPECT_EQ(scene.kernel, "flash_simt");
  EXPECT_EQ(scene.against, "naive");
  EXPECT_EQ(scene.headline, "flash_simt, L = 16384: 59.5 ms, 36.9 TFLOP/s.");
  const ProfileFigure* time = figure_of(scene, "time_us_median");
  ASSERT_NE(time, nullptr);
  EXPECT_EQ(time->change.text, "0.0232×");
  EXPECT_TRUE(time->change.better && !time->change.worse && !time->change.up);
  EXPECT_EQ(figure_of(scene, "dram_read_bytes")->change.text, "same");
}

// 41 degrees are not 0.89 times 46, and all warps are not "at least" all.
TEST(ProfileScene, DegreesDifferInKelvinAndAllIsNotAtLeastAll) {
  Model model = h100_model();
  auto& rows = model.runs[0].run.rows;
  const auto set = [](Measurement& m, std::string_view id, double value, bool min) {
    Figure& f = m.figures[find_metric(id).value()];
    f = {Origin::measured, value, "", ""};
    f.min_of_launches = min;
  };
  for (const double degrees : {46.0, 41.0}) {
    Measurement& m = rows[degrees == 46.0 ? 0 : 1];
    set(m, "gpu_temperature_c", degrees, false);
    set(m, "repeats_count", degrees, false);
    set(m, "occupancy_theoretical_pct", degrees == 46.0 ? 50 : 100, true);
  }
  const ProfileScene scene = profile_scene(state_of("flash_simt"), model, {});
  EXPECT_EQ(figure_of(scene, "gpu_temperature_c")->change.text, "−5 K");
  EXPECT_EQ(figure_of(scene, "repeats_count")->change.text, "");
  EXPECT_EQ(figure_of(scene, "occupancy_theoretical_pct")->text, "100 %");
}

// NVML reads between launches; the cycles say what the clock was within them.
TEST(ProfileScene, TheClockThatPassedStandsBesideTheOneThatWasRead) {
  Model model = h100_model();
  auto& rows = model.runs[0].run.rows;
  for (Measurement& m : rows) profile_test::put(m, "sm_clock_mhz", 1980);
  EXPECT_EQ(figure_of(profile_scene(state_of("flash_simt"), model, {}), "heard_clock_mhz"), nullptr);
  rows[1].heartbeat = std::make_shared<const Heartbeat>(profile_test::made_beats());
  const ProfileScene scene = profile_scene(state_of("flash_simt"), model, {});
  ASSERT_NE(figure_of(scene, "heard_clock_mhz"), nullptr);
  EXPECT_EQ(figure_of(scene, "heard_clock_mhz")->text, "1700 MHz");
  EXPECT_EQ(figure_of(scene, "sm_clock_mhz")->label, "SM clock, NVML");
}

// The toy's MUFU, at 0x50, waits to enter the queue.
TEST(ProfileScene, TheMachineCodeNamesWhatTheSamplesWaitForWhenItIsThere) {
  Model model = h100_model();
  KernelSamples s;
  s.arch = "sm_90a";
  s.text_hash = profile_test::toy_listing().text_hash;
  s.reasons = {"mio_throttle"};
  s.files = {"kernels/gpu/toy.cu"};
  s.functions = {{"toy", {{0x50, gpu::CodePhase::p, {{0, 7}}, {{0, 10, 10}}}}}};
  model.runs[0].run.rows[1].samples = std::make_shared<const KernelSamples>(s);
  const State state = state_of("flash_simt");
  const ProfileScene bare = profile_scene(state, model, {});
  EXPECT_NE(plain_text(bare.mosaic.headline).find("the queue of memory and special functions"), std::string::npos);
  ASSERT_TRUE(bare.subject);
  model.listing = profile_test::listed(profile_test::toy_listing(), gpu::key_of(*bare.subject));
  const ProfileScene named = profile_scene(state, model, {}, &bare);
  EXPECT_NE(plain_text(named.mosaic.headline).find("exponentials and conversions"), std::string::npos);
  EXPECT_EQ(profile_scene(state, model, {}, &named).samples.settled, named.samples.settled) << "found once";
  model.listing.of = "another kernel";
  EXPECT_NE(plain_text(profile_scene(state, model, {}, &named).mosaic.headline).find("the queue of memory"),
            std::string::npos);
}

// Two runs are shown and the last that was ticked has not the kernel: the other is looked at.
TEST(ProfileScene, TheRunThatTimedTheChosenKernelIsLookedAt) {
  Model model = h100_model();
  model.runs.push_back(bench_test::listed_run("00000000000000bb", {h100_row("tiled", 90000)}));
  State s = state_of("flash_simt");
  s.document.runs.shown = {kRun, "00000000000000bb"};
  EXPECT_EQ(profile_scene(s, model, {}).kernel, "flash_simt");
  s.view.bench.kernel = "tiled";
  EXPECT_EQ(profile_scene(s, model, {}).kernel, "tiled");
  EXPECT_EQ(profile_scene(s, model, {}).kernels.size(), 1U);
}

TEST(ProfileScene, TheBaselineItselfIsSetAgainstTheFastestOther) {
  const ProfileScene scene = profile_scene(state_of("naive"), h100_model(), {});
  EXPECT_EQ(scene.kernel, "naive");
  EXPECT_EQ(scene.against, "flash_simt");
  EXPECT_TRUE(figure_of(scene, "time_us_median")->change.worse);
}

// Of the same run by its kernel, of another run by that as well; what is not there gives way to the usual one.
TEST(ProfileScene, AnyOtherMeasurementThatIsShownCanBeTheOneThatChangesAreOver) {
  State state = state_of("flash_simt");
  Model model = h100_model();
  ListedRun second = model.runs[0];
  second.run.id = "00000000000000ab";
  second.run.rows[1].time.median = 70000;
  fill_figures(second.run.rows[1]);
  model.runs.push_back(second);
  show_run(state.document.runs, second.run.id);
  const ProfileScene usual = profile_scene(state, model, {});
  ASSERT_EQ(usual.against_choices.size(), 4U);
  EXPECT_TRUE(usual.against_choices[0].on);
  EXPECT_EQ(usual.against_choices[1].id, "naive");
  state.view.profile.against = usual.against_choices[3].id;
  const ProfileScene other = profile_scene(state, model, {});
  EXPECT_EQ(other.against_choices[3].id, fmt::format("{}/flash_simt", kRun));
  EXPECT_TRUE(other.against_choices[3].on);
  EXPECT_EQ(other.against,
            "flash_simt A, " + listed_choices(state.document.runs, model.runs[0].run, model.runs).back());
  EXPECT_EQ(figure_of(other, "time_us_median")->change.text, "1.18×");
  state.view.profile.against = "no such row";
  EXPECT_EQ(profile_scene(state, model, {}).against, "naive B");
}

// By the letter that the run has in Bench, with when it was: in the headline, beside it, in the lists, and in the tip.
TEST(ProfileScene, OfSeveralRunsItNamesTheOneThatIsShown) {
  State state = state_of("flash_simt");
  Model model = h100_model();
  const ProfileScene alone = profile_scene(state, model, {});
  EXPECT_EQ(alone.label, "flash_simt");
  EXPECT_EQ(alone.run, "");
  EXPECT_TRUE(alone.headline.starts_with("flash_simt, ")) << alone.headline;
  ListedRun second = model.runs[0];
  second.run.id = "00000000000000ab";
  second.run.name = "after lunch";
  model.runs.push_back(second);
  show_run(state.document.runs, second.run.id);
  const ProfileScene scene = profile_scene(state, model, {});
  EXPECT_EQ(scene.label, "flash_simt B");
  EXPECT_EQ(scene.run, "Run B of 2: after lunch");
  EXPECT_TRUE(scene.headline.starts_with("Run B, flash_simt, ")) << scene.headline;
  EXPECT_TRUE(scene.notes.front().starts_with("after lunch, ")) << scene.notes.front();
  EXPECT_TRUE(where_words(scene).starts_with("Run B of 2: after lunch\n")) << where_words(scene);
  for (const ProfileChoice& choice : scene.kernels) EXPECT_TRUE(choice.name.ends_with(" B")) << choice.name;
  // Against: the letter at each, and which run it is where it is another one.
  ASSERT_EQ(scene.against_choices.size(), 4U);
  EXPECT_EQ(scene.against_choices[0].words, "default: naive B");
  EXPECT_EQ(scene.against_choices[1].words, "naive B");
  EXPECT_TRUE(scene.against_choices[2].words.starts_with("naive A, ")) << scene.against_choices[2].words;
}

TEST(ProfileScene, AKernelWithoutARowGivesWayToTheFastestAndTheListShowsIt) {
  const ProfileScene scene = profile_scene(state_of("tiled"), h100_model(), {});
  EXPECT_EQ(scene.kernel, "flash_simt");
  ASSERT_EQ(scene.kernels.size(), 2U);
  EXPECT_TRUE(std::ranges::find(scene.kernels, "flash_simt", &ProfileChoice::kernel)->on);
}

TEST(ProfileScene, SaysWhatChangesAreOverWhereThereIsNothingToChooseFrom) {
  std::vector<Measurement> rows{h100_row("naive", 1), h100_row("flash_simt", 1)};
  for (Measurement& m : rows) {
    m.time = {};
    fill_figures(m);
  }
  const ProfileScene planned = profile_scene(state_of("flash_simt"), Model{}, rows);
  EXPECT_EQ(planned.against_choices.size(), 1U);
  EXPECT_EQ(against_words(planned), "Against naive");
  const ProfileScene alone = profile_scene(state_of("flash_simt"), Model{}, std::span(rows).subspan(1));
  EXPECT_EQ(against_words(alone), "");
}

TEST(ProfileScene, HasTheProblemAndTheDeviceInShort) {
  const ProfileScene scene = profile_scene(state_of("flash_simt"), h100_model(), {});
  EXPECT_EQ(scene.notes, (std::vector<std::string>{"B=1 H=16 L=16384 D=128 f32, H100", "D 128, f32, H100"}))
      << "the headline has L";
  EXPECT_EQ(short_device("NVIDIA H100 80GB HBM3"), "H100");
  EXPECT_EQ(short_device("NVIDIA A100-SXM4-80GB"), "A100");
  EXPECT_EQ(short_device("NVIDIA GeForce RTX 4090"), "RTX 4090");
  EXPECT_EQ(short_device(""), "");
}

// A clock of 2619 MHz is not 2.56 KiB because its id begins as those of memory's bytes do.
TEST(ProfileScene, BytesAreFiguresInBytesAlone) {
  Model model = h100_model();
  for (const MetricRow& metric : metric_table())
    if (metric.compute == nullptr) profile_test::put(model.runs[0].run.rows[1], metric.id, 2619);
  const ProfileScene scene = profile_scene(state_of("flash_simt"), model, {});
  for (const MetricRow& metric : metric_table()) {
    const ProfileFigure* shown = figure_of(scene, metric.id);
    if (shown == nullptr) continue;
    const bool in_bytes = shown->text.ends_with("B");
    EXPECT_EQ(in_bytes, metric.unit == "B" && shown->text != "–") << metric.id << ": " << shown->text;
  }
  ASSERT_NE(figure_of(scene, "memory_clock_mhz"), nullptr);
  EXPECT_EQ(figure_of(scene, "memory_clock_mhz")->text, "2619 MHz");
}

TEST(ProfileScene, EveryFigureOfTheRowIsThereOrHasNone) {
  const Model model = h100_model();
  const ProfileScene scene = profile_scene(state_of("flash_simt"), model, {});
  const Measurement& row = model.runs[0].run.rows[1];
  for (const MetricRow& metric : metric_table()) {
    const bool shown = figure_of(scene, metric.id) != nullptr;
    EXPECT_EQ(shown, figure(row, metric.id).available()) << metric.id;
  }
}

TEST(ProfileScene, WhereNothingIsMeasuredTheRunWithTheMostIsOfferedFirst) {
  const auto run = [](const char* id, bool samples, bool beats) {
    Measurement m = h100_row("flash_simt", 59526);
    if (samples) m.samples = std::make_shared<KernelSamples>();
    if (beats) m.heartbeat = std::make_shared<Heartbeat>(profile_test::made_beats());
    return bench_test::listed_run(id, {m});
  };
  Model model;
  model.runs = {run("plain", false, false), run("heard", false, true), run("sampled", true, false),
                run("both", true, true)};
  Measurement planned = h100_row("flash_simt", 1);
  planned.time = {};
  fill_figures(planned);
  const std::vector<Measurement> rows{planned};
  std::vector<std::string> ids;
  for (const SampledOffer& offer : profile_scene(state_of("flash_simt"), model, rows).offers) ids.push_back(offer.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"both", "heard", "sampled"}));
}

TEST(ProfileScene, WithNothingMeasuredItShowsWhatIsPlannedAndSaysSo) {
  Measurement planned = h100_row("flash_simt", 1);
  planned.time = {};
  fill_figures(planned);
  const std::vector<Measurement> rows{planned};
  const ProfileScene scene = profile_scene(state_of("flash_simt"), Model{}, rows);
  EXPECT_TRUE(scene.predicted);
  EXPECT_EQ(scene.headline, "flash_simt, L = 16384: what is known before it runs.");
  EXPECT_NE(scene.to_do.find("run the sweep in Bench"), std::string::npos);
  EXPECT_EQ(profile_scene(state_of("flash_simt"), h100_model(), {}).to_do, "");
  EXPECT_NE(profile_scene(state_of("flash_simt"), Model{}, {}).empty, "");
}

TEST(ProfileScene, AWrongAnswerIsSaidBeforeItsTime) {
  Model model = h100_model();
  Measurement& m = model.runs[0].run.rows[1];
  m.verdict = Verdict{};
  m.verdict->at(Tensor::o).error = std::numeric_limits<double>::quiet_NaN();
  m.verdict->reason = "O (b 0, h 0, row 0) column 0 is nan, the reference 1";
  ProfileScene scene = profile_scene(state_of("flash_simt"), model, {});
  EXPECT_EQ(scene.headline, "flash_simt, L = 16384: wrong output in 59.5 ms.");
  EXPECT_TRUE(scene.reasons.starts_with("O (b 0, h 0, row 0) column 0 is nan, the reference 1.")) << scene.reasons;
  m.verdict->not_judged = true;
  m.verdict->reason = "not judged: nothing was";
  scene = profile_scene(state_of("flash_simt"), model, {});
  EXPECT_TRUE(scene.reasons.starts_with("Not judged: nothing was.")) << scene.reasons;
}

// Profile has little of kernels of the CPU: who has nothing else yet looks at a run that is bundled.
TEST(ProfileScene, ABundledRunStandsInUntilThereAreRowsOfTheUsersOwn) {
  State s = bench_test::sweep_state();
  s.document.runs.shown.clear();
  s.view.workspace = Workspace::profile;
  Model model = h100_model();
  EXPECT_EQ(profile_stand_in(s, model), nullptr) << "nothing was collected of it";
  model.runs[0].from = RunFrom::bundled;
  model.runs[0].run.rows[1].samples = std::make_shared<KernelSamples>();
  ASSERT_EQ(profile_stand_in(s, model), &model.runs[0]);
  ProfileScene scene = profile_scene(s, model, {});
  EXPECT_EQ(scene.stand_in, kRun);
  EXPECT_EQ(scene.kernel, "flash_simt");
  EXPECT_TRUE(scene.headline.starts_with("flash_simt, L = 16384: 59.5 ms")) << scene.headline;
  EXPECT_NE(scene.to_do.find("is bundled"), std::string::npos);
  s.view.bench.kernel = "naive";
  EXPECT_EQ(profile_scene(s, model, {}).kernel, "naive") << "its kernels can be chosen";
  EXPECT_TRUE(profiled_problem(s, model, "naive"));
  State chosen = s;
  chosen.view.bench.kernel = "cpu_flash";
  EXPECT_EQ(profile_stand_in(chosen, model), nullptr) << "a kernel of the sweep was chosen";
  State gpu = s;
  gpu.document.sweep.kernels = {"tiled"};
  EXPECT_EQ(profile_stand_in(gpu, model), nullptr) << "what is predicted of GPU kernels is shown";
  s.document.runs.removed.insert(kRun);
  EXPECT_EQ(profile_stand_in(s, model), nullptr);
  s.document.runs.removed.clear();
  model.runs.push_back(bench_test::listed_run("own", {h100_row("tiled", 1000)}));
  s.document.runs.shown = {"own"};
  EXPECT_EQ(profile_stand_in(s, model), nullptr);
}

}  // namespace
}  // namespace attn
