// Undo and play of the whole program without a window.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"

namespace attn {
namespace {

ControllerOptions options() {
  ControllerOptions o;
  o.state = initial_state();
  return o;
}

std::string last_words(Controller& c) {
  const auto said = c.log().after(0);
  return said.empty() ? "" : said.back().text;
}

TEST(Undoing, UndoBringsBackWhatTheEyeSaw) {
  Controller c(options());
  const Document first = c.state().document;
  c.update({GoToEvent{9}, ChooseStepChart{StepChart::passes}, ChooseBenchMetric{"tflops"}, ChooseBenchValue{128}});
  c.update({ChoosePreset{"causal"}, GoToEvent{4}, Select{{0, 0, 3, Slot::s, 2}}});
  c.update(
      {GoToEvent{5}, ChooseStepChart{StepChart::error}, ChooseBenchMetric{"time_us_median"}, ChooseBenchValue{64}});
  c.update({Undo{}});
  EXPECT_EQ(c.state().document.selection, Selection{});
  EXPECT_EQ(c.state().view.step.cursor, 4U);
  EXPECT_EQ(c.state().view.step.chart, StepChart::passes);
  // What Bench shows is not on screen and stays.
  EXPECT_EQ(c.state().view.bench.charts.back(), "time_us_median");
  EXPECT_EQ(c.state().view.bench.value, 64);
  c.update({Redo{}});
  EXPECT_EQ(c.state().view.step.cursor, 5U);
  EXPECT_EQ(c.state().view.step.chart, StepChart::error);
  c.update({Undo{}, Undo{}});
  EXPECT_EQ(c.state().view.step.cursor, 9U);
  EXPECT_TRUE(c.state().document == first);
  EXPECT_EQ(c.model().recording->problem, first.problem);
  c.update({Redo{}, Redo{}});
  EXPECT_EQ(c.state().document.preset, "causal");
  EXPECT_EQ(c.state().document.selection.row, 3);
  c.update({Undo{}, Undo{}, Undo{}});
  EXPECT_NE(last_words(c).find("Nothing to undo"), std::string::npos);
}

SetSweep sweep_along(const Controller& c, std::vector<std::int64_t> values) {
  SetSweep set{c.state().document.sweep, 0};
  set.sweep.values = std::move(values);
  return set;
}

TEST(Undoing, EachViewUndoesItsOwnAndLeavesTheOtherAlone) {
  Controller c(options());
  const Document first = c.state().document;
  c.update({ChooseBenchMetric{"tflops"}, ChooseBenchValue{128}, sweep_along(c, {16, 32})});
  c.update({ChoosePreset{"causal"}, ChooseBenchMetric{"time_us_median"}, ChooseBenchValue{64}});
  c.update({sweep_along(c, {64})});
  // In Step: the preset goes, the sweep that was set up after it stays.
  c.update({Undo{}});
  EXPECT_EQ(c.state().document.preset, first.preset);
  EXPECT_EQ(c.state().document.sweep.values, (std::vector<std::int64_t>{64}));
  c.update({Undo{}});
  EXPECT_NE(last_words(c).find("Nothing to undo"), std::string::npos);
  c.update({Redo{}, ChooseWorkspace{Workspace::bench}, Undo{}});
  // In Bench: the sweep goes back with what was seen of it, the preset stays.
  EXPECT_EQ(c.state().document.sweep.values, (std::vector<std::int64_t>{16, 32}));
  EXPECT_EQ(c.state().document.preset, "causal");
  EXPECT_EQ(c.state().view.bench.value, 64);
  c.update({Undo{}});
  EXPECT_EQ(c.state().document.sweep.values, first.sweep.values);
  EXPECT_EQ(c.state().view.bench.charts.back(), "tflops");
  EXPECT_EQ(c.state().view.bench.value, 128);
  EXPECT_EQ(c.state().document.preset, "causal");
  // Profile looks at Bench's rows.
  c.update({ChooseWorkspace{Workspace::profile}, Redo{}, Redo{}});
  EXPECT_EQ(c.state().document.sweep.values, (std::vector<std::int64_t>{64}));
}

TEST(Undoing, WhatChangesBothViewsIsUndoneInEach) {
  Controller c(options());
  const Document first = c.state().document;
  c.update({ChoosePreset{"causal"}, MeasureInBench{}});
  ASSERT_FALSE(c.state().document.sweep.base == first.sweep.base);
  ASSERT_EQ(c.state().view.workspace, Workspace::bench);
  c.update({Undo{}});
  EXPECT_TRUE(c.state().document.sweep.base == first.sweep.base);
  EXPECT_EQ(c.state().document.preset, "causal");
  c.update({ChooseWorkspace{Workspace::step}, Undo{}});
  EXPECT_TRUE(c.state().document == first);
}

TEST(Undoing, WhatIsLookedAtAloneIsNothingToUndo) {
  Controller c(options());
  c.update({GoToEvent{7}, ChooseStepChart{StepChart::passes}, ChooseBenchValue{64}, Play{}, SetPlaySpeed{4},
            ChooseWorkspace{Workspace::bench}, ShowLog{}});
  EXPECT_FALSE(c.history().can_undo(DocumentPart::step));
  EXPECT_FALSE(c.history().can_undo(DocumentPart::bench));
}

TEST(Undoing, ALargeRecordingThatComesBackIsShownAtItsStep) {
  Controller c(options());
  SetProblem large{c.state().document.problem, 0};
  large.problem.Lq = large.problem.Lk = 512;
  large.problem.D = large.problem.Dv = 32;
  SetOptions tiles{c.state().document.options, 0};
  tiles.options.br = tiles.options.bc = 32;
  c.update({tiles, large});
  c.wait();
  ASSERT_NE(c.model().recording, nullptr) << c.model().recording_error;
  c.update({GoToEvent{1234}, ChoosePreset{"blackboard"}});
  c.update({GoToEvent{3}, Undo{}});
  c.wait();
  EXPECT_EQ(c.model().recording->problem.Lq, 512);
  EXPECT_EQ(c.state().view.step.cursor, 1234U);
}

TEST(Undoing, ADragIsOneUndo) {
  Controller c(options());
  const Document first = c.state().document;
  for (int length = 5; length < 12; ++length) {
    SetProblem drag{c.state().document.problem, 3};
    drag.problem.Lq = drag.problem.Lk = length;
    c.update({drag});
  }
  EXPECT_EQ(c.model().recording->problem.Lq, 11);
  c.update({Undo{}});
  EXPECT_TRUE(c.state().document == first);
}

TEST(Playing, PlayWalksToTheEndAndStops) {
  Controller c(options());
  c.update({SetPlaySpeed{10}, Play{}});
  c.advance(0.2);
  EXPECT_EQ(c.state().view.step.cursor, 2U);
  EXPECT_NEAR(c.seconds_to_step(), 0.1, 1e-9);
  EXPECT_FALSE(c.advance(0.04));
  EXPECT_TRUE(c.advance(c.seconds_to_step()));
  EXPECT_EQ(c.state().view.step.cursor, 3U);
  for (int i = 0; i < 100; ++i) c.advance(0.25);
  EXPECT_EQ(c.state().view.step.cursor, c.model().recording->events.size() - 1);
  EXPECT_FALSE(c.state().view.step.playing);
}

TEST(Playing, SlowPlayMovesAtEachOfItsSteps) {
  Controller c(options());
  c.update({SetPlaySpeed{0.5F}, Play{}});
  EXPECT_FALSE(c.advance(1));
  EXPECT_TRUE(c.advance(c.seconds_to_step()));
  EXPECT_EQ(c.state().view.step.cursor, 1U);
  c.advance(60);  // a window that was held up
  EXPECT_EQ(c.state().view.step.cursor, 2U);
  c.update({Play{false}});
  EXPECT_TRUE(std::isinf(c.seconds_to_step()));
}

}  // namespace
}  // namespace attn
