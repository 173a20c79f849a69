// An exhibit in the state: opened, left, kept out of Bench, written into a state string.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "kernels/museum/museum.h"

namespace attn {
namespace {

State with(const State& state, const StateCommand& command) {
  const auto next = apply(state, command, nullptr);
  EXPECT_TRUE(next) << (next ? "" : next.error().message);
  return next ? *next : state;
}

TEST(MuseumState, APieceIsOpenedOnTheProblemThatShowsIt) {
  const State s = with(initial_state(), ShowPiece{"l_in_bf16"});
  const Piece& piece = **find_piece("l_in_bf16");
  EXPECT_EQ(s.document.kernel, "museum_l_in_bf16");
  EXPECT_TRUE(s.document.problem == piece.problem);
  EXPECT_EQ(s.document.options.bc, 1);
  EXPECT_EQ(s.document.inputs.generator, Generator::equal_scores);
  EXPECT_EQ(s.document.preset, "");
  EXPECT_FALSE(s.view.step.seek_first_wrong) << "the answer is not told before it is asked for";
}

TEST(MuseumState, ACudaPieceIsRefusedInWords) {
  const auto next = apply(initial_state(), ShowPiece{"stale_k_tile"}, nullptr);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().kind, ErrorKind::cannot_run);
  EXPECT_NE(next.error().message.find("needs an NVIDIA GPU"), std::string::npos);
}

TEST(MuseumState, ItIsLeftByTheRightKernelOnTheSameProblem) {
  const State wrong = with(initial_state(), ShowPiece{"max_not_carried"});
  const State s = with(wrong, ChooseKernel{"cpu_flash"});
  EXPECT_EQ(s.document.kernel, "cpu_flash");
  EXPECT_TRUE(s.document.problem == wrong.document.problem);
  EXPECT_EQ(s.view.bench.kernel, "");
}

TEST(MuseumState, BenchMeasuresTheRightKernelInItsPlace) {
  State s = with(initial_state(), ShowPiece{"max_not_carried"});
  EXPECT_EQ(bench_kernel(s), "cpu_flash");
  s.document.sweep.kernels = {"cpu_tiled"};
  s = with(s, MeasureInBench{});
  EXPECT_EQ(s.document.sweep.kernels, (std::vector<std::string>{"cpu_tiled", "cpu_flash"}));
}

TEST(MuseumState, AStateStringOpensItAgainWithTheAnswerShown) {
  State s = with(initial_state(), ShowPiece{"mask_off_by_one"});
  s = with(s, SeekFirstWrong{true});
  const auto text = state_string(s);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(text->find("kernel=museum_mask_off_by_one"), std::string::npos) << *text;
  EXPECT_NE(text->find("first_wrong=1"), std::string::npos) << *text;
  const auto read = parse_state_string(*text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->state.document == s.document);
  EXPECT_TRUE(read->state.view.step.seek_first_wrong);
}

// What a learner may not read from the state's own names: the kernel in Bench is that of every exhibit.
TEST(MuseumState, ARandomExhibitIsSealedUntilItIsRevealed) {
  const State s = with(initial_state(), ShowRandomPiece{5});
  EXPECT_TRUE(s.document.exhibit == Exhibit::sealed);
  EXPECT_EQ(s.document.preset, "");
  EXPECT_EQ(bench_kernel(s), "cpu_flash");
  const State same = with(with(initial_state(), ShowPiece{"l_in_bf16"}), ShowRandomPiece{5});
  EXPECT_EQ(same.document.kernel, s.document.kernel);
  EXPECT_TRUE(same.document.inputs == s.document.inputs && same.document.problem == s.document.problem);
  const State told = with(s, RevealPiece{});
  EXPECT_TRUE(told.document.exhibit == Exhibit::revealed);
  EXPECT_EQ(told.document.kernel, s.document.kernel);
  EXPECT_TRUE(with(initial_state(), RevealPiece{}).document.exhibit == Exhibit::none);
  EXPECT_TRUE(with(s, ChooseKernel{"cpu_flash"}).document.exhibit == Exhibit::none);
  EXPECT_TRUE(with(s, ShowPiece{"l_in_bf16"}).document.exhibit == Exhibit::none);
}

// The problem is no hint.
TEST(MuseumState, EveryRandomExhibitHasTheSameProblem) {
  const State one = with(initial_state(), ShowRandomPiece{1});
  std::set<std::string> kernels;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const State s = with(initial_state(), ShowRandomPiece{seed});
    EXPECT_TRUE(s.document.problem == one.document.problem && s.document.options == one.document.options) << seed;
    EXPECT_EQ(s.document.inputs.generator, one.document.inputs.generator) << seed;
    kernels.insert(s.document.kernel);
  }
  EXPECT_GT(kernels.size(), 4U);
}

TEST(MuseumState, AStateStringKeepsARandomExhibitSealed) {
  const State s = with(initial_state(), ShowRandomPiece{5});
  const auto text = state_string(s);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(text->find("exhibit=sealed"), std::string::npos) << *text;
  const auto read = parse_state_string(*text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->state.document == s.document);
}

}  // namespace
}  // namespace attn
