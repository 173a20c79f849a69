// The whole program without a window.
#include "app/control/controller.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "app/window/pictures.h"
#include "profiling/session/session.h"
#include "tests/app/control/headless.h"
#include "tests/environment/paths.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

using control_test::Headless;
namespace fs = std::filesystem;

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
  c.update({SaveSessionAs{fs::relative(folder_ / "lesson").string()}});  // the message has the whole path
  c.wait();
  EXPECT_TRUE(fs::exists(folder_ / "lesson.attn")) << last_words(c);
  EXPECT_NE(last_words(c).find("Session saved as " + (folder_ / "lesson.attn").string()), std::string::npos)
      << last_words(c);
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
  if (last_words(c).find("Cannot draw a picture") != std::string::npos) GTEST_SKIP() << last_words(c);
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
