// Runs of sweeps in the whole program: how they begin, go on, are listed, kept and set against one another.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "profiling/session/session.h"
#include "profiling/spec/sweep_point.h"
#include "tests/app/control/headless.h"
#include "tests/environment/paths.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

class RunsTest : public control_test::Headless {};

TEST_F(RunsTest, ASweepFillsRowsExportsThemAndIsAutosaved) {
  Controller c(options(small_sweep()));
  c.update({ExportCsv{}});
  EXPECT_NE(last_words(c).find("no measurement"), std::string::npos);
  c.update({RunSweep{}});
  EXPECT_TRUE(c.tasks_run());
  c.wait();
  EXPECT_EQ(shown_rows(c).size(), 4U);
  EXPECT_EQ(read_session(run_file())->runs.at(0).rows.size(), 4U);
  c.update({ExportCsv{}});
  c.wait();
  c.update({ExportJson{}});
  c.wait();
  ASSERT_EQ(files(".csv").size(), 1U);
  EXPECT_EQ(files(".json").size(), 1U);
  std::ifstream csv(files(".csv")[0]);
  int lines = 0;
  for (std::string line; std::getline(csv, line);) ++lines;
  EXPECT_EQ(lines, 5);
  c.update({ExportTrace{}});
  c.wait();
  EXPECT_NE(last_words(c).find("4 rows written to"), std::string::npos) << last_words(c);
  EXPECT_NE(last_words(c).find(".trace.json"), std::string::npos) << last_words(c);
}

TEST_F(RunsTest, ASweepGoesOnFromTheRowsOfASavedSession) {
  Controller c(options(small_sweep()));
  c.update({RunSweep{}});
  c.wait();
  const auto first = shown_rows(c);
  ASSERT_EQ(first.size(), 4U);
  // Another window opens what was autosaved: the sweep comes with it.
  Controller d(options());
  d.update({OpenFile{run_file().string()}});
  d.wait();
  ASSERT_EQ(shown_rows(d).size(), 4U) << last_words(d);
  EXPECT_TRUE(d.model().runs.at(0).local);
  EXPECT_EQ(d.state().view.workspace, Workspace::bench);
  EXPECT_EQ(d.state().document.sweep.values, small_sweep().document.sweep.values);
  EXPECT_EQ(d.state().document.sweep.kernels, small_sweep().document.sweep.kernels);
  SweepSpec longer = d.state().document.sweep;
  longer.values.push_back(48);
  d.update({SetSweep{longer}, RunSweep{}});
  d.wait();
  ASSERT_EQ(shown_rows(d).size(), 6U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(shown_rows(d)[i].samples_us, first[i].samples_us) << i;
  d.update({RunSweep{true}});
  d.wait();
  EXPECT_NE(shown_rows(d)[0].samples_us, first[0].samples_us);  // measured anew
}

TEST_F(RunsTest, RunsThatCanBeShownAreListedAndBundledFilesCanBeOpened) {
  {
    Controller c(options(small_sweep()));
    c.update({RunSweep{}});
    c.wait();
  }
  ControllerOptions o = options();
  o.runs.bundled = folder_ / "bundled";
  fs::create_directories(o.runs.bundled);
  Session other = *read_session(run_file());
  other.runs[0].id = new_run_id();
  ASSERT_TRUE(write_session(o.runs.bundled / "gpu.attn", other));
  std::ofstream(o.runs.bundled / "broken.attn") << "no session";
  Controller d(o);
  d.look_around();
  d.wait();
  ASSERT_EQ(d.model().runs.size(), 2U);
  EXPECT_EQ(d.model().runs[0].from, RunFrom::here);
  EXPECT_EQ(d.model().runs[1].from, RunFrom::bundled);
  EXPECT_EQ(d.model().runs[1].run.name, "gpu") << "as its file is called";
  EXPECT_TRUE(shown_rows(d).empty());  // listed, not shown: the window opens on what can be predicted
  ASSERT_EQ(d.model().files.size(), 1U);
  EXPECT_TRUE(d.model().files[0].bundled);
  EXPECT_NE(d.model().files[0].words.find("4 rows"), std::string::npos) << d.model().files[0].words;
  d.update({OpenFile{d.model().files[0].path}});
  d.wait();
  EXPECT_EQ(shown_rows(d).size(), 4U);
  EXPECT_EQ(d.model().runs.size(), 2U);   // the same run, not a second one
  ASSERT_EQ(d.model().files.size(), 2U);  // and the file is known from now on
  EXPECT_FALSE(d.model().files[0].bundled);
}

TEST_F(RunsTest, AKernelOfBenchIsSteppedThroughAtASmallSizeAndMeasuredBack) {
  Controller c(options(small_sweep()));
  Problem p;
  p.Hq = p.Hkv = 16;
  p.Lq = p.Lk = 16384;
  p.D = p.Dv = 128;
  c.update({ChooseWorkspace{Workspace::bench}, ChooseKernel{"flash_simt"}});
  EXPECT_EQ(bench_kernel(c.state()), "flash_simt");
  EXPECT_NE(c.model().recording, nullptr);  // Step keeps what it can show
  c.update({StepThrough{"flash_simt", p, {}}});
  c.wait();
  ASSERT_NE(c.model().recording, nullptr) << c.model().recording_error;
  EXPECT_EQ(c.state().view.workspace, Workspace::step);
  EXPECT_EQ(c.model().recording->problem.Lq, 16);
  EXPECT_NE(last_words(c).find("instead of 16384"), std::string::npos) << last_words(c);
  EXPECT_EQ(bench_kernel(c.state()), "flash_simt");
  c.update({MeasureInBench{}});
  EXPECT_EQ(c.state().view.workspace, Workspace::bench);
  EXPECT_EQ(c.state().document.sweep.base.D, 8);
  EXPECT_TRUE(validate(c.state().document.sweep));
  c.update({Undo{}, Undo{}});
  EXPECT_TRUE(c.state().document.sweep.base == small_sweep().document.sweep.base);
}

TEST_F(RunsTest, ARunNeverTakesTheRowsOfAnotherAway) {
  Controller c(options(small_sweep()));
  c.update({RunSweep{}});
  c.wait();
  const std::string first = c.state().document.runs.shown.at(0);
  SweepSpec other = c.state().document.sweep;
  other.values = {48};
  c.update({SetSweep{other}, RunSweep{}});
  c.wait();
  ASSERT_EQ(c.model().runs.size(), 2U);
  ASSERT_EQ(c.state().document.runs.shown.size(), 2U);  // both are shown, the new one on top
  EXPECT_EQ(find_run(c.model(), first)->run.rows.size(), 4U);
  EXPECT_EQ(shown_rows(c).size(), 2U);
  // A sweep that is finished is measured again as a run of its own.
  c.update({RunSweep{}});
  c.wait();
  EXPECT_EQ(c.model().runs.size(), 3U);
}

// By its key as by its button, which is off.
TEST_F(RunsTest, ASweepOfWhichNothingCanRunIsNotBegunAndSaysWhy) {
  State s = small_sweep();
  s.document.sweep.memory_limit = 1000;
  Controller c(options(s));
  c.update({RunSweep{}});
  EXPECT_FALSE(c.tasks_run());
  EXPECT_TRUE(c.model().runs.empty());
  EXPECT_EQ(last_words(c).find("Nothing can run here. "), 0U) << last_words(c);
  EXPECT_NE(last_words(c).find("the memory limit is 1000 B"), std::string::npos) << last_words(c);
}

TEST_F(RunsTest, RunGoesOnWithTheUnfinishedRunOfTheSameSweep) {
  State s = small_sweep();
  s.document.sweep.values = {16, 24, 32, 40, 48, 56};
  s.document.sweep.seconds_per_point = 0.1;
  std::string id;
  std::size_t rows = 0;
  {
    Controller c(options(s));
    c.update({RunSweep{}});
    while (shown_rows(c).size() < 2) c.update({});
    c.update({CancelTask{}});
    c.wait();
    id = c.state().document.runs.shown.at(0);
    rows = shown_rows(c).size();
    ASSERT_LT(rows, 12U);
  }
  Controller d(options(s));
  d.look_around();
  d.wait();
  ASSERT_NE(find_run(d.model(), id), nullptr);
  const auto before = find_run(d.model(), id)->run.rows.at(0).samples_us;
  d.update({RunSweep{}});
  d.wait();
  EXPECT_EQ(d.model().runs.size(), 1U);
  ASSERT_EQ(find_run(d.model(), id)->run.rows.size(), 12U);
  bool kept = false;
  for (const Measurement& m : find_run(d.model(), id)->run.rows) {
    EXPECT_EQ(m.state, RowState::done);
    kept |= m.samples_us == before;
  }
  EXPECT_TRUE(kept);
  EXPECT_EQ(read_session(run_file())->runs.at(0).rows.size(), 12U);
}

TEST_F(RunsTest, TicksNamesAndRemovalsAreUndoneAndReachTheFiles) {
  std::string id;
  {
    Controller c(options(small_sweep()));
    c.update({ChooseWorkspace{Workspace::bench}, RunSweep{}});
    c.wait();
    id = c.state().document.runs.shown.at(0);
    c.update({RenameRun{id, "warm-up"}});
    c.wait();
    EXPECT_EQ(read_session(run_file())->runs.at(0).name, "warm-up");
    c.update({RenameRun{id, "before"}});
    c.wait();
    EXPECT_EQ(words_of(c.state().document.runs, c.model().runs[0].run), "before");
    c.update({Undo{}});
    c.wait();
    EXPECT_EQ(read_session(run_file())->runs.at(0).name, "warm-up");
    c.update({Undo{}});
    c.wait();
    EXPECT_EQ(read_session(run_file())->runs.at(0).name, "");
    c.update({ShowRun{id, false}});
    EXPECT_TRUE(shown_rows(c).empty());
    c.update({Undo{}});
    EXPECT_EQ(shown_rows(c).size(), 4U);
    c.update({RemoveRun{id}});
    EXPECT_TRUE(shown_rows(c).empty());
    c.update({Undo{}});
    EXPECT_EQ(shown_rows(c).size(), 4U);
  }
  EXPECT_TRUE(fs::exists(run_file()));  // the removal was undone
  {
    Controller d(options());
    d.look_around();
    d.wait();
    d.update({RemoveRun{id}});
    d.wait();
    EXPECT_TRUE(fs::exists(run_file()));  // it goes when the window closes
  }
  EXPECT_EQ(run_file(), fs::path());
}

TEST_F(RunsTest, TheSecondRunIsSetAgainstTheFirst) {
  Controller c(options(small_sweep()));
  c.update({RunSweep{}});
  c.wait();
  const std::string first = c.state().document.runs.shown.at(0);
  c.update({RunSweep{true}});
  c.wait();
  c.update({CompareWithRun{first}});
  EXPECT_EQ(c.state().view.bench.charts.back(), "against_run_ratio");
  c.update({ExportCsv{}});
  c.wait();
  std::ifstream csv(files(".csv").at(0));
  std::string text((std::istreambuf_iterator<char>(csv)), {});
  EXPECT_NE(text.find("against_run_ratio"), std::string::npos);
  EXPECT_NE(text.find(first), std::string::npos);
  const std::string state = *state_string(c.state());
  EXPECT_NE(state.find("run_ref=" + first), std::string::npos) << state;
  // Elsewhere neither run is there: that is said, and the rest opens.
  ControllerOptions o = options(*open_state_string(state));
  o.runs.runs = folder_ / "empty";
  Controller d(o);
  d.look_around();
  d.wait();
  EXPECT_NE(last_words(d).find("is not on this machine"), std::string::npos) << last_words(d);
  EXPECT_TRUE(d.state().document.sweep.base == c.state().document.sweep.base);
  // And here the string shows both.
  Controller e(options(*open_state_string(state)));
  e.look_around();
  e.wait();
  EXPECT_EQ(shown_runs(e.state().document.runs, e.model()).size(), 2U);
}

TEST_F(RunsTest, ASavedSessionHoldsTheRunsThatAreTickedAndNoOther) {
  Controller c(options(small_sweep()));
  for (int n = 0; n < 3; ++n) {
    c.update({RunSweep{true}});
    c.wait();
  }
  const auto ids = c.state().document.runs.shown;
  ASSERT_EQ(ids.size(), 3U);
  c.update({ShowRun{ids[1], false}, RenameRun{ids[0], "first"}, SaveSession{}});
  c.wait();
  const auto saved = read_session(files(".attn").at(0));
  ASSERT_TRUE(saved) << saved.error().message;
  ASSERT_EQ(saved->runs.size(), 2U);
  EXPECT_EQ(saved->runs[0].name, "first");
  EXPECT_EQ(saved->runs[1].id, ids[2]);
  EXPECT_EQ(saved->recordings.size(), 1U);
}

TEST_F(RunsTest, ACancelledSweepKeepsItsRows) {
  State s = small_sweep();
  s.document.sweep.values = {16, 32, 64, 128, 256, 512};
  s.document.sweep.seconds_per_point = 0.3;
  Controller c(options(s));
  c.update({RunSweep{}});
  while (shown_rows(c).empty()) c.update({});
  c.update({RunSweep{}, CancelTask{}});
  c.wait();
  EXPECT_GE(shown_rows(c).size(), 1U);
  EXPECT_LT(shown_rows(c).size(), 12U);
  EXPECT_FALSE(c.model().task.running);
}

}  // namespace
}  // namespace attn
