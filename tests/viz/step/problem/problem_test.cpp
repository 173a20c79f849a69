// The typed fields of the Problem panel.
#include "tests/viz/step/fixture.h"
#include "viz/step/problem/problem_fields.h"

namespace attn {
namespace {

Document blackboard() {
  Document d;
  const auto preset = find_preset("blackboard");
  d.problem = (*preset)->problem;
  d.options.br = (*preset)->br;
  d.options.bc = (*preset)->bc;
  return d;
}

TEST(StepProblem, ReadsWholeNumbersAsTypedAndAsShown) {
  EXPECT_EQ(whole_numbers("2 × 4/2"), (std::vector<std::int64_t>{2, 4, 2}));
  EXPECT_EQ(whole_numbers("9x8"), (std::vector<std::int64_t>{9, 8}));
  EXPECT_EQ(whole_numbers("−1, 2"), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(whole_numbers(""), std::vector<std::int64_t>{});
  EXPECT_FALSE(whole_numbers("4.5").has_value());
  EXPECT_FALSE(whole_numbers("four").has_value());
}

TEST(StepProblem, OneLengthIsBothAndTwoAreEach) {
  const auto both = with_field(blackboard(), ProblemField::length, "6");
  ASSERT_TRUE(both.has_value()) << both.error().message;
  EXPECT_EQ(both->problem.Lq, 6);
  EXPECT_EQ(both->problem.Lk, 6);
  EXPECT_EQ(field_text(*both, ProblemField::length), "6");
  const auto each = with_field(blackboard(), ProblemField::length, "9 x 8");
  ASSERT_TRUE(each.has_value());
  EXPECT_EQ(field_text(*each, ProblemField::length), "9 × 8");
}

TEST(StepProblem, EveryFieldReadsBackWhatItShows) {
  Document d = blackboard();
  d.problem.mask.window_left = 2;
  d.problem.mask.window_right = -1;
  d.problem.scale = 0.25;
  for (const ProblemField f : {ProblemField::heads, ProblemField::length, ProblemField::dim, ProblemField::tile,
                               ProblemField::window, ProblemField::scale, ProblemField::seed}) {
    const auto again = with_field(d, f, field_text(d, f));
    ASSERT_TRUE(again.has_value()) << field_text(d, f);
    EXPECT_EQ(again->problem, d.problem);
    EXPECT_EQ(again->options, d.options);
  }
}

TEST(StepProblem, WhatWillNotDoSaysWhy) {
  EXPECT_FALSE(with_field(blackboard(), ProblemField::length, "0").has_value());
  EXPECT_FALSE(with_field(blackboard(), ProblemField::length, "many").has_value());
  EXPECT_FALSE(with_field(blackboard(), ProblemField::heads, "1 × 3/2").has_value());
  EXPECT_FALSE(with_field(blackboard(), ProblemField::tile, "0 × 4").has_value());
  EXPECT_FALSE(with_field(blackboard(), ProblemField::scale, "nan").has_value());
  const auto large = with_field(blackboard(), ProblemField::length, "100000");
  ASSERT_FALSE(large.has_value());
  EXPECT_NE(large.error().message.find("MiB"), std::string::npos) << large.error().message;
}

// A kernel of a GPU that has no tile of its own as well.
TEST(StepProblem, OfEveryKernelItIsKnownWhetherStepCouldShowIt) {
  Document d;
  for (const KernelRow* row : ladder_of(Pass::forward)) {
    d.kernel = std::string(row->id);
    d.options = {};
    d.problem = {};
    d.problem.Lq = d.problem.Lk = 8;
    d.problem.D = d.problem.Dv = 8;
    d.problem.dtype = row->dtypes.empty() ? DType::f32 : row->dtypes.front();
    EXPECT_EQ(why_not_recordable(d).value_or(""), "") << row->id;
    d.problem.Lq = d.problem.Lk = 1'000'000;
    EXPECT_NE(why_not_recordable(d).value_or(""), "") << row->id;
  }
}

TEST(StepProblem, MaskAndBiasFollowTheShape) {
  Document d = blackboard();
  d.problem.mask.key_lengths = {3};
  const auto more = with_field(d, ProblemField::heads, "2 × 1");
  ASSERT_TRUE(more.has_value()) << more.error().message;
  EXPECT_EQ(more->problem.mask.key_lengths, (std::vector<std::int64_t>{3, 4}));
  const auto shorter = with_field(*more, ProblemField::length, "2");
  ASSERT_TRUE(shorter.has_value()) << shorter.error().message;
  EXPECT_EQ(shorter->problem.mask.key_lengths, (std::vector<std::int64_t>{2, 2}));
}

TEST(StepProblem, KeysLieInPagesOfTheTypedSizeAndThePoolFollowsTheShape) {
  Document d = blackboard();
  EXPECT_EQ(field_text(d, ProblemField::page), "none");
  d.inputs.edits = {{InputTensor::k, 3, 1.5F}};
  const auto paged = with_field(d, ProblemField::page, "3");
  ASSERT_TRUE(paged) << paged.error().message;
  EXPECT_EQ(paged->problem.storage, (KvStorage{3, 2 + 1}));  // four keys
  EXPECT_EQ(paged->inputs.edits, d.inputs.edits) << "a cell is typed by key, wherever it lies";
  EXPECT_EQ(field_text(*paged, ProblemField::page), "3");
  EXPECT_EQ(with_field(*paged, ProblemField::length, "4 x 10")->problem.storage, (KvStorage{3, 4 + 1}));
  EXPECT_EQ(with_field(*paged, ProblemField::page, "none")->problem.storage, KvStorage{});
  for (const char* wrong : {"0.5", "-2", "257", "many"})
    EXPECT_FALSE(with_field(d, ProblemField::page, wrong)) << wrong;
  d.kernel = "cpu_flash1";
  const auto refused = with_field(d, ProblemField::page, "2");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("dense"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(page_choices(d).empty());
}

}  // namespace
}  // namespace attn
