#include "viz/draw/text_fit.h"

#include <gtest/gtest.h>

#include <string>

namespace attn {
namespace {

TEST(TextFit, AWordIsNotCutWhereTheOneBeforeLeavesHalf) {
  EXPECT_EQ(cut_at_word("EPYC, all four on the CPU", 18), "EPYC, all four on");
  EXPECT_EQ(cut_at_word("EPYC, all four on the CPU", 19), "EPYC, all four on");
  EXPECT_EQ(cut_at_word("profile in f16, before the ring", 18), "profile in f16");
  EXPECT_EQ(cut_at_word("counted, f32, L = 4096", 18), "counted, f32");  // not "L ="
  EXPECT_EQ(cut_at_word("counted, f32, L = 4096", 15), "counted, f32");  // nor "L"
  EXPECT_EQ(cut_at_word("counted, f32, L = 4096", 22), "counted, f32, L = 4096");
  EXPECT_EQ(cut_at_word("my_attention_with_long_name", 16), "my_attention_wit");  // there is no other word
  EXPECT_EQ(cut_at_word("a kernel_with_a_long_name", 12), "a kernel_wit");        // half and more would go
  EXPECT_EQ(cut_at_word("whole", 5), "whole");
  EXPECT_EQ(cut_at_word("", 0), "");
}

// Of every text and every room: a beginning of it, at least half of what fits, and a whole number of words where two
// words are in that half.
TEST(TextFit, EveryCutIsABeginningThatKeepsHalf) {
  const std::string text = "run A: B=1 H=16 D=64 f32, loaded: NVIDIA H100 80GB HBM3, 2026-11-24; run B: B=1";
  for (std::size_t bytes = 0; bytes <= text.size(); ++bytes) {
    const std::string cut(cut_at_word(text, bytes));
    ASSERT_TRUE(text.starts_with(cut)) << cut;
    EXPECT_GE(2 * cut.size() + 6, bytes) << cut;
    if (bytes < 20) continue;  // no word of it is longer
    EXPECT_TRUE(cut.size() == text.size() || text.find_first_of(" ,;:", cut.size()) == cut.size()) << cut;
  }
}

}  // namespace
}  // namespace attn
