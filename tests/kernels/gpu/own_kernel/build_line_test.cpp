// The line that says how a kernel's text is built: what it holds comes back, what it does not know is refused, and a
// text without one is as it is.
#include "kernels/gpu/own_kernel/build_line.h"

#include <string>

#include <gtest/gtest.h>

namespace attn::gpu {
namespace {

std::string refusal(const std::string& text) {
  const auto built = split_build_line(text, "my.cu");
  return built ? "taken" : built.error().message;
}

TEST(BuildLine, ComesBackAsItWasWrittenAndLeavesTheTextAlone) {
  for (const BuildLine& line :
       {BuildLine{"flash_simt", {}}, BuildLine{"", {64, false}}, BuildLine{"tiled", {255, true}}}) {
    const std::string text = "#include <x>\n// attn-build: {} in the text is text\n";
    const auto built = split_build_line(with_build_line(line, text), "my.cu");
    ASSERT_TRUE(built) << built.error().message;
    EXPECT_EQ(built->line, line);
    EXPECT_EQ(built->text, text);
  }
}

TEST(BuildLine, IsNotWrittenWhereThereIsNothingToSay) {
  EXPECT_EQ(with_build_line({}, "int x;\n"), "int x;\n");
  EXPECT_EQ(split_build_line("int x;\n", "my.cu")->text, "int x;\n");
}

TEST(BuildLine, WhatItDoesNotKnowIsRefusedWithItsLine) {
  EXPECT_EQ(refusal("// attn-build: {\"maxregs\": 3}\n"),
            "my.cu, line 1: unknown key \"maxregs\"; use edits, maxrregcount or fast_math.");
  EXPECT_NE(refusal("// attn-build: {\"maxrregcount\": 8}\n").find("it must be 16 to 255"), std::string::npos);
  EXPECT_NE(refusal("// attn-build: {\"maxrregcount\": \"many\"}\n").find("maxrregcount"), std::string::npos);
  EXPECT_NE(refusal("// attn-build: [1]\n").find("must be followed by an object"), std::string::npos);
  EXPECT_NE(refusal("// attn-build: {\n").find("my.cu, line 1"), std::string::npos);
  EXPECT_NE(refusal("// attn-build: " + std::string(5000, ' ') + "{}\n").find("longer than"), std::string::npos);
}

TEST(BuildLine, FlagsAreThoseOfTheCompiler) {
  EXPECT_TRUE(flags_of({}).empty());
  EXPECT_EQ(words_of({64, true}), "maxrregcount=64 use_fast_math");
  EXPECT_EQ(flags_of({64, true}).front(), "--maxrregcount=64");
  EXPECT_FALSE(check_build({15, false}));
  EXPECT_FALSE(check_build({256, false}));
  EXPECT_TRUE(check_build({16, false}));
}

}  // namespace
}  // namespace attn::gpu
