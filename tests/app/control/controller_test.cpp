// The whole program without a window.
#include "app/control/controller.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "app/state/apply.h"
#include "app/state/string.h"
#include "app/window/pictures.h"
#include "profiling/session/session.h"
#include "tests/kernels/temp_folder.h"
#include "tests/paths.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

class Headless : public ::testing::Test {
 protected:
  ControllerOptions options(State state = initial_state()) const {
    ControllerOptions o;
    o.state = std::move(state);
    o.save_folder = folder_;
    o.runs.runs = folder_ / "runs";
    o.runs.recent = folder_ / "data" / "recent";
    return o;
  }
  static std::string last_words(Controller& c) {
    const auto entries = c.log().after(0);
    return entries.empty() ? "" : entries.back().text;
  }
  // The rows of the run that was ticked last.
  static std::vector<Measurement> shown_rows(const Controller& c) {
    const auto runs = shown_runs(c.state().document.runs, c.model());
    return runs.empty() ? std::vector<Measurement>{} : runs.back()->run.rows;
  }
  fs::path run_file() const {
    for (const auto& entry : fs::directory_iterator(folder_ / "runs"))
      if (entry.path().extension() == ".attn") return entry.path();
    return {};
  }
  std::vector<fs::path> files(const char* extension) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == extension) found.push_back(entry.path());
    }
    return found;
  }
  static State small_sweep() {
    State s = initial_state();
    s.document.sweep.kernels = {"cpu_multicore", "cpu_flash"};
    s.document.sweep.values = {16, 32};
    s.document.sweep.seconds_per_point = 0.01;
    s.document.sweep.peak = {1, 1, 1};
    return s;
  }
  TempFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(Headless, TheFirstFrameIsSteppable) {
  Controller c(options());
  ASSERT_NE(c.model().recording, nullptr) << c.model().recording_error;
  c.update({StepBy{}});
  EXPECT_EQ(c.state().view.step.cursor, 1U);
  c.update({StepBy{StepUnit::phase, -1}, GoToEnd{}});
  EXPECT_EQ(c.state().view.step.cursor, c.model().recording->events.size() - 1);
}

TEST_F(Headless, AnEditShowsInTheNextFrameAndKeepsThePlace) {
  Controller c(options());
  c.update({ChoosePreset{"random"}});
  const EventIndex at = *c.model().recording->find({0, 0, 2, 1, Phase::weights});
  c.update({GoToEvent{at}});
  SetInputs edit{c.state().document.inputs, 0};
  edit.inputs.seed = 77;
  const auto old = c.model().recording;
  c.update({edit});
  EXPECT_NE(c.model().recording, old);
  EXPECT_EQ(c.model().recording->events[c.state().view.step.cursor].id, (EventId{0, 0, 2, 1, Phase::weights}));
  SetOptions tiles{c.state().document.options, 0};
  tiles.options.br = 2;
  tiles.options.bc = 2;
  c.update({tiles});
  // Rows 8 and keys 4 on: tile (4, 2) now.
  EXPECT_EQ(c.model().recording->events[c.state().view.step.cursor].id, (EventId{0, 0, 4, 2, Phase::weights}));
}

TEST_F(Headless, UpdateSaysWhetherThereIsSomethingNewToDraw) {
  Controller c(options());
  c.update({});
  EXPECT_FALSE(c.update({}));
  EXPECT_TRUE(c.update({StepBy{}}));
  EXPECT_FALSE(c.update({}));
  c.log().note("as from another thread");
  EXPECT_TRUE(c.update({}));
  EXPECT_FALSE(c.update({}));
  EXPECT_FALSE(c.advance(1));
}

TEST_F(Headless, ARefusedCommandChangesNothingAndIsSaid) {
  Controller c(options());
  const std::string before = *state_string(c.state());
  const auto recording = c.model().recording;
  SetProblem bad{c.state().document.problem, 0};
  bad.problem.Hq = 3;
  bad.problem.Hkv = 2;
  c.update({bad, ChooseKernel{"no_such"}, ChoosePreset{"no_such"}});
  EXPECT_EQ(*state_string(c.state()), before);
  EXPECT_EQ(c.model().recording, recording);
  EXPECT_EQ(c.log().after(0).size(), 3U);
}

TEST_F(Headless, WhatIsTooLargeToRecordSaysSoAndUndoMends) {
  Controller c(options());
  SetProblem large{c.state().document.problem, 0};
  large.problem.Lq = large.problem.Lk = 1 << 20;
  c.update({large});
  c.wait();
  EXPECT_EQ(c.model().recording, nullptr);
  EXPECT_FALSE(c.model().recording_error.empty());
  c.update({StepBy{}, GoToEnd{}, Play{}, Undo{}});
  EXPECT_NE(c.model().recording, nullptr);
}

TEST_F(Headless, ALargeRecordingIsMadeBesideTheFrames) {
  Controller c(options());
  SetProblem large{c.state().document.problem, 0};
  large.problem.Lq = large.problem.Lk = 512;
  large.problem.D = large.problem.Dv = 32;
  SetOptions tiles{c.state().document.options, 0};
  tiles.options.br = tiles.options.bc = 32;
  c.update({tiles});
  const auto old = c.model().recording;
  c.update({large});
  EXPECT_EQ(c.model().recording, old);
  c.wait();
  ASSERT_NE(c.model().recording, nullptr) << c.model().recording_error;
  EXPECT_EQ(c.model().recording->problem.Lq, 512);
}

TEST_F(Headless, ASweepFillsRowsExportsThemAndIsAutosaved) {
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

TEST_F(Headless, ASweepGoesOnFromTheRowsOfASavedSession) {
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

TEST_F(Headless, RunsThatCanBeShownAreListedAndBundledFilesCanBeOpened) {
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

TEST_F(Headless, AKernelOfBenchIsSteppedThroughAtASmallSizeAndMeasuredBack) {
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
  EXPECT_NE(last_words(c).find("in place of 16384"), std::string::npos) << last_words(c);
  EXPECT_EQ(bench_kernel(c.state()), "flash_simt");
  c.update({MeasureInBench{}});
  EXPECT_EQ(c.state().view.workspace, Workspace::bench);
  EXPECT_EQ(c.state().document.sweep.base.D, 8);
  EXPECT_TRUE(validate(c.state().document.sweep));
  c.update({Undo{}, Undo{}});
  EXPECT_TRUE(c.state().document.sweep.base == small_sweep().document.sweep.base);
}

TEST_F(Headless, ARunNeverTakesTheRowsOfAnotherAway) {
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
TEST_F(Headless, ASweepOfWhichNothingCanRunIsNotBegunAndSaysWhy) {
  State s = small_sweep();
  s.document.sweep.memory_limit = 1000;
  Controller c(options(s));
  c.update({RunSweep{}});
  EXPECT_FALSE(c.tasks_run());
  EXPECT_TRUE(c.model().runs.empty());
  EXPECT_EQ(last_words(c).find("Nothing here can run. "), 0U) << last_words(c);
  EXPECT_NE(last_words(c).find("the memory limit is 1000 B"), std::string::npos) << last_words(c);
}

TEST_F(Headless, RunGoesOnWithTheUnfinishedRunOfTheSameSweep) {
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

TEST_F(Headless, TicksNamesAndRemovalsAreUndoneAndReachTheFiles) {
  std::string id;
  {
    Controller c(options(small_sweep()));
    c.update({RunSweep{}});
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

TEST_F(Headless, TheSecondRunIsSetAgainstTheFirst) {
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

TEST_F(Headless, ASavedSessionHoldsTheRunsThatAreTickedAndNoOther) {
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

TEST_F(Headless, ACancelledSweepKeepsItsRows) {
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

TEST_F(Headless, ASavedSessionOpensWithItsRecordingAndRows) {
  Controller c(options(small_sweep()));
  c.update({ChoosePreset{"causal"}, RunSweep{}});
  c.wait();
  c.update({GoToEvent{21}, ToggleBookmark{3}, ToggleBookmark{kNoEvent}, Select{{0, 0, 5, Slot::s, 2}}});
  c.update({SaveSession{}});
  c.wait();
  ASSERT_EQ(files(".attn").size(), 1U) << last_words(c);
  Controller d(options());
  d.update({OpenFile{files(".attn")[0].string()}});
  d.wait();
  EXPECT_EQ(shown_rows(d).size(), 4U) << last_words(d);
  EXPECT_TRUE(d.model().runs.at(0).run.provenance.loaded);
  EXPECT_EQ(d.model().recording->problem, c.model().recording->problem);
  EXPECT_EQ(d.model().recording->arena, c.model().recording->arena);
  // The step, the row and the marks that it was left with.
  EXPECT_EQ(d.state().view.step.cursor, 21U);
  EXPECT_EQ(d.state().document.selection, c.state().document.selection);
  ASSERT_EQ(d.state().view.step.bookmarks.size(), 2U);
  EXPECT_EQ(d.state().view.step.bookmarks, c.state().view.step.bookmarks);
  // Another tile, the same numbers: they come out of the file.
  SetOptions tiles{d.state().document.options, 0};
  tiles.options.br = 8;
  d.update({tiles});
  ASSERT_NE(d.model().recording, nullptr) << d.model().recording_error;
  EXPECT_EQ(d.model().recording->inputs.q, c.model().recording->inputs.q);
  d.update({Undo{}, Undo{}});
  EXPECT_EQ(d.state().document.preset, "blackboard");
}

TEST_F(Headless, ASessionIsSavedUnderTheNameThatWasAskedFor) {
  Controller c(options());
  c.update({SaveSessionAs{(folder_ / "lesson").string()}});
  c.wait();
  EXPECT_TRUE(fs::exists(folder_ / "lesson.attn")) << last_words(c);
  // Ctrl+S then goes to the same file.
  c.update({SaveSession{}});
  c.wait();
  EXPECT_EQ(files(".attn").size(), 1U);
}

TEST_F(Headless, PicturesOfStepsAreMadeInAProcessOfTheirOwn) {
  ControllerOptions o = options();
  o.program = test::program();
  Controller c(std::move(o));
  c.window_is(640, 480);
  c.update({ChoosePreset{"causal"}, SaveSteps{(folder_ / "steps.gif").string(), 2, 4, 0.5F}});
  EXPECT_TRUE(c.tasks_run());
  c.wait();
  if (last_words(c).find("No picture can be drawn") != std::string::npos) GTEST_SKIP() << last_words(c);
  EXPECT_GT(fs::file_size(folder_ / "steps.gif"), 1000U) << last_words(c);
  c.update({SaveSteps{(folder_ / "steps").string(), 0, 1, 1}});
  c.wait();
  EXPECT_TRUE(fs::exists(folder_ / "steps" / "step-0001.png")) << last_words(c);
  EXPECT_TRUE(fs::exists(folder_ / "steps" / "step-0002.png"));
}

TEST_F(Headless, PicturesThatCannotBeMadeSayWhy) {
  ControllerOptions o = options();
  o.program = test::program();
  Controller c(std::move(o));
  c.window_is(640, 480);
  c.update({SaveSteps{(folder_ / "no" / "such" / "folder.gif").string(), 0, 1, 1}});
  c.wait();
  EXPECT_NE(last_words(c).find("folder.gif"), std::string::npos) << last_words(c);
  c.update({SaveSteps{(folder_ / "x.gif").string(), 0, 0xffffff, 1}, CancelTask{}});
  c.wait();
  EXPECT_FALSE(fs::exists(folder_ / "x.gif"));
}

TEST_F(Headless, AHostileFileChangesNothingThatIsOpen) {
  Controller c(options());
  const auto recording = c.model().recording;
  const std::string before = *state_string(c.state());
  const fs::path bad = folder_ / "bad.attn";
  std::ofstream(bad) << "PK\x03\x04 and then nothing";
  for (const fs::path& file : {bad, folder_ / "missing.attn", folder_, folder_ / "q.npy", folder_ / "x.npy"}) {
    const auto said = c.log().last_number();
    c.update({OpenFile{file.string()}});
    c.wait();
    EXPECT_GT(c.log().last_number(), said) << file;
    EXPECT_EQ(c.model().recording, recording) << file;
    EXPECT_EQ(*state_string(c.state()), before) << file;
  }
}

TEST_F(Headless, WhereNothingCanBeSavedItIsSaidAndTheWorkGoesOn) {
  ControllerOptions o = options(small_sweep());
  std::ofstream(folder_ / "file") << "no folder";
  o.save_folder = folder_ / "file";
  o.runs.runs = folder_ / "file" / "runs";
  Controller c(std::move(o));
  c.update({SaveSession{}});
  c.wait();
  EXPECT_EQ(c.log().after(0).back().level, LogLevel::error);
  c.update({RunSweep{}});
  c.wait();
  EXPECT_EQ(shown_rows(c).size(), 4U);
}

TEST_F(Headless, CopyStateGivesTheStringThatReopensTheView) {
  Controller c(options());
  c.update({ChoosePreset{"window"}, GoToEvent{9}, CopyState{}});
  const WindowRequests requests = c.take_requests();
  ASSERT_TRUE(requests.clipboard);
  Controller d(options(*open_state_string(*requests.clipboard)));
  EXPECT_TRUE(d.state().document == c.state().document);
  EXPECT_EQ(d.state().view.step.cursor, 9U);
  EXPECT_FALSE(c.take_requests().clipboard);
}

// Its text would name the kernel.
TEST_F(Headless, TheStateOfASealedExhibitIsCopiedOnceItIsRevealed) {
  Controller c(options());
  c.update({ShowRandomPiece{5}, CopyState{}});
  EXPECT_FALSE(c.take_requests().clipboard);
  EXPECT_NE(c.log().after(0).back().text.find("reveal it first"), std::string::npos);
  c.update({RevealPiece{}, CopyState{}});
  EXPECT_TRUE(c.take_requests().clipboard);
}

TEST_F(Headless, ACursorBeyondTheRecordingIsCutToItsEnd) {
  State s = initial_state();
  s.view.step.cursor = 4000000000U;
  Controller c(options(s));
  EXPECT_EQ(c.state().view.step.cursor, c.model().recording->events.size() - 1);
}

TEST(Picture, AbsurdSizesAreRefusedInWords) {
  for (const auto& [w, h] : {std::pair{0, 0}, {100, 9000}, {1 << 30, 1 << 30}, {-5, 400}}) {
    const auto picture = draw_picture({initial_state(), w, h, {}, {}});
    ASSERT_FALSE(picture);
    EXPECT_NE(picture.error().message.find("8192"), std::string::npos);
  }
}

}  // namespace
}  // namespace attn
