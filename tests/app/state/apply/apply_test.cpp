#include "app/state/apply/apply.h"

#include <gtest/gtest.h>

#include <cmath>

#include "app/state/apply/history.h"

namespace attn {
namespace {

State after(const State& s, const StateCommand& c) {
  auto next = apply(s, c, nullptr);
  EXPECT_TRUE(next) << next.error().message;
  return next ? *next : s;
}

TEST(Apply, PresetResetsProblemInputsTileSelectionAndCursorButNotTheSweep) {
  State s = initial_state();
  s.document.sweep.values = {7};
  s.document.selection.row = 3;
  s.document.inputs.seed = 99;
  s.view.step.cursor = 12;
  const State t = after(s, ChoosePreset{"causal"});
  EXPECT_EQ(t.document.preset, "causal");
  EXPECT_TRUE(t.document.problem.mask.causal);
  EXPECT_EQ(t.document.options.br, 4);
  EXPECT_EQ(t.document.inputs.seed, 1U);
  EXPECT_EQ(t.document.selection, Selection{});
  EXPECT_EQ(t.view.step.cursor, 0U);
  EXPECT_EQ(t.document.sweep.values, std::vector<std::int64_t>{7});
}

TEST(Apply, AnUnknownPresetIsRefusedWithTheOnesThereAre) {
  const auto next = apply(initial_state(), ChoosePreset{"blackbord"}, nullptr);
  ASSERT_FALSE(next);
  EXPECT_NE(next.error().message.find("blackboard"), std::string::npos);
}

TEST(Apply, AProblemThatCannotBeIsRefusedInWords) {
  SetProblem c{initial_state().document.problem, 0};
  c.problem.D = 0;
  const auto next = apply(initial_state(), c, nullptr);
  ASSERT_FALSE(next);
  EXPECT_NE(next.error().message.find("D"), std::string::npos);
}

TEST(Apply, AChangedProblemIsNoPresetAnyMoreAndItsSelectionFits) {
  State s = initial_state();
  s.document.selection.row = 3;
  SetProblem c{s.document.problem, 0};
  c.problem.Lq = 2;
  const State t = after(s, c);
  EXPECT_EQ(t.document.preset, "");
  EXPECT_EQ(t.document.selection.row, 1);
}

TEST(Apply, TheBiasFollowsTheLengthThatIsTyped) {
  State s = after(initial_state(), ChoosePreset{"bias"});
  SetProblem c{s.document.problem, 0};
  c.problem.Lk = 9;
  EXPECT_EQ(after(s, c).document.problem.bias_shape, (std::vector<std::int64_t>{1, 1, 16, 9}));
}

TEST(Apply, TypedCellsGoWithTheShapeTheyWereTypedIn) {
  State s = initial_state();
  s.document.inputs.edits = {{InputTensor::q, 1, 5.0F}, {InputTensor::v, 2, 6.0F}};
  SetProblem c{s.document.problem, 0};
  c.problem.Lq = 8;
  const State t = after(s, c);
  ASSERT_EQ(t.document.inputs.edits.size(), 1U);
  EXPECT_EQ(t.document.inputs.edits[0].tensor, InputTensor::v);
}

TEST(Apply, TheScaleStaysBetween100And300Percent) {
  EXPECT_EQ(after(initial_state(), SetScale{9}).preferences.scale, 3);
  EXPECT_EQ(after(initial_state(), SetScale{0.1F}).preferences.scale, 1);
  EXPECT_EQ(after(initial_state(), SetScale{NAN}).preferences.scale, 1);
}

TEST(Apply, LeavingStepEndsPlay) {
  State s = initial_state();
  s.view.step.playing = true;
  EXPECT_FALSE(after(s, ChooseWorkspace{Workspace::bench}).view.step.playing);
}

HistoryEntry titled(const char* preset) {
  HistoryEntry entry;
  entry.document.preset = preset;
  return entry;
}

constexpr DocumentPart kPart = DocumentPart::step;

TEST(History, UndoAndRedoGoBackAndForth) {
  History h;
  h.seen(titled("a"), kPart, 0);
  h.seen(titled("b"), kPart, 0);
  EXPECT_EQ(h.undo(titled("c"), kPart)->document.preset, "b");
  EXPECT_EQ(h.undo(titled("b"), kPart)->document.preset, "a");
  EXPECT_FALSE(h.undo(titled("a"), kPart));
  EXPECT_EQ(h.redo(titled("a"), kPart)->document.preset, "b");
  EXPECT_EQ(h.redo(titled("b"), kPart)->document.preset, "c");
  EXPECT_FALSE(h.redo(titled("c"), kPart));
}

TEST(History, ADragIsOneEntry) {
  History h;
  h.seen(titled("a"), kPart, 7);
  h.seen(titled("b"), kPart, 7);
  h.seen(titled("c"), kPart, 7);
  h.seen(titled("d"), kPart, 8);
  EXPECT_EQ(h.undo(titled("e"), kPart)->document.preset, "d");
  EXPECT_EQ(h.undo(titled("d"), kPart)->document.preset, "a");
}

TEST(History, UndoOrRedoInsideADragEndsItsEntry) {
  History h;
  h.seen(titled("a"), kPart, 0);
  h.seen(titled("b"), kPart, 7);
  EXPECT_EQ(h.undo(titled("c"), kPart)->document.preset, "b");
  h.seen(titled("b"), kPart, 7);  // the drag goes on: what it does now is an entry of its own
  EXPECT_EQ(h.undo(titled("d"), kPart)->document.preset, "b");
  EXPECT_EQ(h.redo(titled("b"), kPart)->document.preset, "d");
  h.seen(titled("d"), kPart, 7);
  EXPECT_EQ(h.undo(titled("e"), kPart)->document.preset, "d");
}

TEST(History, AChangeAfterUndoEndsRedo) {
  History h;
  h.seen(titled("a"), kPart, 0);
  h.undo(titled("b"), kPart);
  h.seen(titled("a"), kPart, 0);
  EXPECT_FALSE(h.can_redo(kPart));
}

TEST(History, AnEndedGestureStartsAnEntryThoughItsNumberIsTheSame) {
  History h;
  h.seen(titled("a"), kPart, 7);
  h.seen(titled("b"), kPart, 7);
  h.end_gesture();
  h.seen(titled("c"), kPart, 7);
  EXPECT_EQ(h.undo(titled("d"), kPart)->document.preset, "c");
  EXPECT_EQ(h.undo(titled("c"), kPart)->document.preset, "a");
}

TEST(History, IsBounded) {
  History h;
  for (std::size_t i = 0; i < History::kMaxEntries + 20; ++i) h.seen(titled("x"), kPart, 0);
  std::size_t undone = 0;
  while (h.undo(titled("y"), kPart)) ++undone;
  EXPECT_EQ(undone, History::kMaxEntries);
}

TEST(ApplyLearn, AStageTakesDocumentAndViewAndLeavesBenchItsOwn) {
  State s = initial_state();
  s.document.sweep.values = {7};
  show_run(s.document.runs, "a run");
  State beat = after(initial_state(), ChoosePreset{"causal"});
  beat.view.step.cursor = 5;
  beat.view.step.playing = true;
  const State t = after(s, SetStage{beat.document, beat.view.step});
  EXPECT_EQ(t.document.preset, "causal");
  EXPECT_EQ(t.document.sweep.values, std::vector<std::int64_t>{7});
  EXPECT_EQ(t.document.runs, s.document.runs);
  EXPECT_EQ(t.view.step.cursor, 5U);
  EXPECT_FALSE(t.view.step.playing);
}

TEST(ApplyLearn, ALessonHoldsBackWhatIsBeyondAndNothingElse) {
  State s = initial_state();
  s.view.step.playing = true;
  s.view.step.cursor = 4;
  EXPECT_TRUE(after(s, HoldBack{4}).view.step.playing);
  const State held = after(s, HoldBack{3});
  EXPECT_EQ(held.view.step.cursor, 3U);
  EXPECT_FALSE(held.view.step.playing);
}

TEST(ApplyLearn, AToldStepMovesTheSelectionOnlyWhereItTellsOne) {
  State s = initial_state();
  s.document.selection.row = 2;
  EXPECT_EQ(after(s, ShowBeatStep{9, std::nullopt}).document.selection, s.document.selection);
  const Selection cell{0, 0, 1, Slot::s, 3};
  const State t = after(s, ShowBeatStep{9, cell});
  EXPECT_EQ(t.document.selection, cell);
  EXPECT_EQ(t.view.step.cursor, 9U);
}

TEST(ApplyLearn, AClassEndsWhereItBeganUnlessItsTeacherIsElsewhere) {
  State s = initial_state();
  s.view.workspace = Workspace::bench;
  s.view.log_panel = true;
  State taught = after(s, BeginClass{});
  EXPECT_EQ(taught.view.workspace, Workspace::learn);
  EXPECT_TRUE(taught.view.learn.teach);
  EXPECT_FALSE(taught.view.log_panel);
  taught.preferences.scale = 2;
  const EndClass end{s.view.learn, s.view.workspace, s.view.log_panel, s.view.keys_sheet, s.preferences};
  const State t = after(taught, end);
  EXPECT_EQ(t.view.workspace, Workspace::bench);
  EXPECT_TRUE(t.view.log_panel);
  EXPECT_FALSE(t.view.learn.teach);
  EXPECT_EQ(t.preferences.scale, s.preferences.scale);
  taught.view.workspace = Workspace::profile;
  EXPECT_EQ(after(taught, end).view.workspace, Workspace::profile);
}

TEST(Apply, FragmentsAreOfTheKernelThatIsStepped) {
  State s = after(initial_state(), ChooseKernel{"flash_tf32x3"});
  EXPECT_EQ(s.view.step.fragment_kernel, "flash_tf32x3");
  s = after(s, ChooseKernel{"cpu_flash"});  // it has none: what was shown stays
  EXPECT_EQ(s.view.step.fragment_kernel, "flash_tf32x3");
  EXPECT_EQ(after(s, ChooseKernel{"flash_mma"}).view.step.fragment_kernel, "flash_mma");
}

}  // namespace
}  // namespace attn
