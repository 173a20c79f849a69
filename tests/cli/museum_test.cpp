// `attnscope museum`: the list, a piece run and examined, what needs a GPU.
#include <string>

#include <gtest/gtest.h>

#include "kernels/museum/museum.h"
#include "tests/cli/program.h"

namespace attn::test {
namespace {

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(CliMuseum, ListsEveryPieceAndTheLadderListsNone) {
  const Done done = run({"museum"});
  EXPECT_EQ(done.code, 0);
  const std::string ladder = run({"list"}).out;
  for (const Piece& p : museum()) {
    EXPECT_TRUE(has(done.out, std::string(p.id))) << p.id;
    EXPECT_FALSE(has(ladder, std::string(p.id))) << p.id;
  }
}

TEST(CliMuseum, APieceIsRunAndItsVerdictStepCauseAndPatchAreSaid) {
  const Done done = run({"museum", "alpha_on_l_only", "--seed", "77"});
  EXPECT_EQ(done.code, 0) << done.err;
  for (const char* words :
       {"Deliberately wrong", "seed 77", "Verdict         wrong: O (b 0, h 0, row", "cpu_flash       pass",
        "First wrong     step", "(output, query tile", "O was not multiplied by α", "-     rescaled_product",
        "+     rescaled_product", "attnscope --state attn1,"}) {
    EXPECT_TRUE(has(done.out, words)) << words << "\n" << done.out;
  }
}

TEST(CliMuseum, ItsKernelIsSteppedThroughLikeAnyOther) {
  const Done done = run({"step", "--kernel", "museum_max_not_carried", "--preset", "blackboard", "--to", "2"});
  EXPECT_EQ(done.code, 0) << done.err;
  const Done bench = run({"bench", "--kernels", "museum_max_not_carried", "--values", "16"});
  EXPECT_EQ(bench.code, 2) << "there is nothing to measure";
}

TEST(CliMuseum, WhatIsNotThereIsRefused) {
  EXPECT_EQ(run({"museum", "nothing"}).code, 2);
  EXPECT_EQ(run({"museum", "l_in_bf16", "--source"}).code, 2);
  EXPECT_EQ(run({"museum", "--seed", "1"}).code, 2);
}

// On a machine with a GPU it runs; elsewhere it says what it needs and invents nothing.
TEST(CliMuseum, ACudaPieceShowsItsPatchAndSaysThatItNeedsAGpu) {
  const Done done = run({"museum", "missing_barrier", "--runs", "5"});
  EXPECT_TRUE(has(done.out, "-       __syncthreads();")) << done.out;
  if (done.code == 0) {
    EXPECT_TRUE(has(done.out, "of 5 runs are wrong"));
    return;
  }
  EXPECT_EQ(done.code, 3);
  EXPECT_TRUE(has(done.err, "needs an NVIDIA GPU")) << done.err;
  EXPECT_FALSE(has(done.out, "First wrong"));
  const Done source = run({"museum", "missing_barrier", "--source"});
  EXPECT_EQ(source.code, 0);
  EXPECT_TRUE(has(source.out, "__nanosleep(20000)") && has(source.out, "extern \"C\" __global__"));
}

}  // namespace
}  // namespace attn::test
