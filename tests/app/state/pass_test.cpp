// The pass is a choice of Step: the kernel follows it, and it follows the kernel.
#include <gtest/gtest.h>

#include "app/state/apply/apply.h"
#include "app/state/inputs/document_inputs.h"
#include "app/state/string/state_string.h"
#include "kernels/model/problem/pages.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

State with(const State& state, const StateCommand& command) {
  auto next = apply(state, command, nullptr);
  EXPECT_TRUE(next) << (next ? "" : next.error().message);
  return next ? *next : state;
}

State backward() {
  State s = initial_state();
  Problem p = s.document.problem;
  p.pass = Pass::backward;
  return with(s, SetProblem{p});
}

TEST(PassOfStep, TheKernelFollowsThePassAndBack) {
  State s = backward();
  EXPECT_EQ(s.document.kernel, "cpu_flash_bwd");
  Problem p = s.document.problem;
  p.pass = Pass::forward;
  s = with(s, SetProblem{p});
  EXPECT_EQ(s.document.kernel, "cpu_flash");
}

TEST(PassOfStep, ThePassFollowsTheKernel) {
  const State s = with(initial_state(), ChooseKernel{"cpu_flash_bwd"});
  EXPECT_EQ(s.document.kernel, "cpu_flash_bwd");
  EXPECT_EQ(s.document.problem.pass, Pass::backward);
  EXPECT_EQ(with(s, ChooseKernel{"cpu_tiled"}).document.problem.pass, Pass::forward);
}

TEST(PassOfStep, APieceOfTheMuseumBringsItsPassAndLeavesWithIt) {
  const State s = with(initial_state(), ChooseKernel{"museum_delta_left_out"});
  EXPECT_EQ(s.document.kernel, "museum_delta_left_out");
  EXPECT_EQ(s.document.problem.pass, Pass::backward);
  const State shown = with(initial_state(), ShowPiece{"dq_race"});
  EXPECT_EQ(shown.document.problem.pass, Pass::backward);
  EXPECT_EQ(with(shown, ChooseKernel{"cpu_flash_bwd"}).document.problem.pass, Pass::backward);
}

TEST(PassOfStep, APresetKeepsThePass) {
  const State s = with(backward(), ChoosePreset{"causal"});
  EXPECT_EQ(s.document.problem.pass, Pass::backward);
  EXPECT_EQ(s.document.kernel, "cpu_flash_bwd");
  EXPECT_TRUE(s.document.problem.mask.causal);
}

TEST(PassOfStep, IsAChoiceOfThePanelThatCanBeRecorded) {
  const auto choices = pass_choices(initial_state().document);
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_TRUE(choices[0].on);
  EXPECT_EQ(choices[1].words, "backward");
  EXPECT_EQ(why_not_recordable(choices[1].changed), std::nullopt);
}

// Of keys in pages only cpu_flash is recorded, of a backward with them none.
TEST(PassOfStep, APassOfThePanelBringsAKernelThatTakesThePagesToo) {
  State s = initial_state();
  s.document.kernel = "cpu_tiled";
  s.document.problem.storage.page = 4;
  s.document.problem = paged_anew(s.document.problem);
  ASSERT_NE(why_not_recordable(s.document), std::nullopt);
  const auto choices = pass_choices(s.document);
  EXPECT_EQ(choices[0].changed.kernel, "cpu_flash");
  EXPECT_EQ(why_not_recordable(choices[0].changed), std::nullopt);
  EXPECT_EQ(choices[1].changed.kernel, "cpu_tiled");
  // As the command does.
  Problem p = s.document.problem;
  p.mask.causal = true;
  EXPECT_EQ(with(s, SetProblem{p}).document.kernel, "cpu_flash");
}

TEST(PassOfStep, StateStringGivesItBackWithATypedGradient) {
  State s = backward();
  s.document.inputs.edits = {{InputTensor::d_o, 1, 2.5F}};
  s.document.preset.clear();
  const auto text = state_string(s);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(text->find("pass=backward"), std::string::npos) << *text;
  EXPECT_NE(text->find("do:1:2.5"), std::string::npos) << *text;
  const auto read = parse_state_string(*text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->state.document == s.document);
}

// O and LSE are those of the numbers that are typed.
TEST(PassOfStep, ATypedNumberChangesWhatTheForwardGave) {
  State s = backward();
  const auto before = record_document(s.document, {});
  ASSERT_TRUE(before) << before.error().message;
  s.document.inputs.edits = {{InputTensor::v, 0, 9}};
  const auto after = record_document(s.document, {});
  ASSERT_TRUE(after);
  EXPECT_NE(before->inputs.o->get(0), after->inputs.o->get(0));
}

}  // namespace
}  // namespace attn
