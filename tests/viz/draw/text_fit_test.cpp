#include "viz/draw/text_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "imgui.h"

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

// Dear ImGui's own font, of which each letter is 7 pixels wide.
class LinesAtSpaces : public testing::Test {
 protected:
  void SetUp() override {
    context_ = ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
    io.IniFilename = nullptr;
    io.DisplaySize = {800, 600};
    ImGui::NewFrame();
  }
  void TearDown() override {
    ImGui::EndFrame();
    ImGui::DestroyContext(context_);
  }
  static float wide(const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; }

 private:
  ImGuiContext* context_ = nullptr;
};

TEST_F(LinesAtSpaces, NoNameIsBrokenBehindItsPoints) {
  const std::string words = "No driver: libcuda.so.1 is missing; mma.sync needs it";
  for (float width = wide("libcuda.so.1"); width < wide(words); width += 3) {
    const std::string lines = lines_at_spaces(words, width);
    std::string joined = lines;
    std::ranges::replace(joined, '\n', ' ');
    EXPECT_EQ(joined, words) << width;
    EXPECT_LE(wide(lines), width) << lines;
    // Dear ImGui breaks it nowhere else: as high wrapped as it is by itself.
    EXPECT_EQ(ImGui::CalcTextSize(lines.c_str(), nullptr, false, width).y, ImGui::CalcTextSize(lines.c_str()).y);
  }
  // Without that it does.
  const float narrow = wide("No driver: libcuda.so.");
  EXPECT_NE(ImGui::CalcTextSize(words.c_str(), nullptr, false, narrow).y,
            ImGui::CalcTextSize(lines_at_spaces(words, narrow).c_str()).y);
}

TEST_F(LinesAtSpaces, WhatHasNoSuchNameIsLeftToDearImGui) {
  for (const char* words : {"Every word, and then. The end", "a", "", "two\nlines"})
    EXPECT_EQ(lines_at_spaces(words, 30), words);
  EXPECT_EQ(lines_at_spaces("sm.one\nsm.two sm.three", wide("sm.two sm")), "sm.one\nsm.two\nsm.three");
}

}  // namespace
}  // namespace attn
