// Machine code as a session keeps it, and what differs between two.
#include "kernels/gpu/compile/listing/machine_code.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace attn::gpu {
namespace {

MachineCode code_of(std::vector<std::string> instructions, std::string name = "k") {
  return {"sm_90a", {{std::move(name), std::move(instructions)}}};
}

// One side's instructions, as a diff tells them.
std::vector<std::string> told_of(const CodeDiff& diff, CodeSide side) {
  std::vector<std::string> lines;
  for (const CodeDiffRow& row : diff.rows)
    if (!row.is_name && (row.side == side || row.side == CodeSide::both)) lines.push_back(row.text);
  return lines;
}

std::size_t longest_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::vector<std::size_t>> best(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      best[i][j] = a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
  return best[a.size()][b.size()];
}

TEST(MachineCode, LabelsAndBlanksMakeNoDifference) {
  const auto first = code_of({"@!P0 BRA `(.L_x_4)", "FFMA R1,  R2, R3, R4", "BRA `(.L_x_5)"});
  const auto second = code_of({"@!P0 BRA `(.L_x_17)", "FFMA R1, R2, R3, R4 ", "BRA `(.L_x_18)"});
  const CodeDiff diff = diff_of(first, second);
  EXPECT_TRUE(diff.same());
  EXPECT_EQ(diff.common, 3U);
  EXPECT_EQ(words_of(diff), "");
  EXPECT_EQ(without_noise("@!P0 BRA `(.L_x_4)"), "@!P0 BRA label");
  EXPECT_FALSE(diff_of(first, code_of({"@!P0 BRA `(.L_x_4)", "FFMA R1, R2, R3, R5", "BRA `(.L_x_5)"})).same())
      << "a register is no noise";
}

TEST(MachineCode, CountsWhatWentAndCameByKind) {
  const CodeDiff diff = diff_of(code_of({"LDG.E R4, [R2]", "FFMA R1, R2, R3, R4", "FFMA R5, R2, R3, R4", "EXIT"}),
                                code_of({"LDG.E R4, [R2]", "HMMA.16816.F32 R4, R4, R8, R4", "EXIT"}));
  EXPECT_EQ(words_of(diff), "FMA −2 · tensor +1");
  EXPECT_EQ(diff.common, 2U);
}

// Against the table of lengths: what stands in both is the longest there is, and each side is told whole, in order.
TEST(MachineCode, WhatStandsInBothIsTheLongestThereIs) {
  std::mt19937 random(7);
  for (int n = 0; n < 400; ++n) {
    const auto lines = [&] {
      const std::size_t count = random() % (n % 20 == 0 ? 200 : 12);
      std::vector<std::string> made;
      const std::uint32_t kinds = 1 + static_cast<std::uint32_t>(random() % 6);
      for (std::size_t i = 0; i < count; ++i) made.push_back(fmt::format("IADD R{}, R1, R2", random() % kinds));
      return made;
    };
    const auto a = lines(), b = lines();
    const CodeDiff diff = diff_of(code_of(a), code_of(b));
    EXPECT_EQ(told_of(diff, CodeSide::first), a);
    EXPECT_EQ(told_of(diff, CodeSide::second), b);
    EXPECT_EQ(diff.common, longest_common(a, b));
    EXPECT_EQ(diff.removed.total() + diff.common, a.size());
    EXPECT_EQ(diff.added.total() + diff.common, b.size());
    std::uint32_t alike = 0;
    for (const CodeDiffRow& row : folded(diff))
      if (!row.is_name && row.side == CodeSide::both) alike += row.alike > 0 ? row.alike : 1;
    EXPECT_EQ(alike, diff.common) << "folded, none is lost";
  }
}

TEST(MachineCode, FunctionsOfOneNameAreAPairAndTheOthersFollow) {
  const MachineCode first{"sm_90a", {{"scores", {"FADD R1, R2, R3"}}, {"old", {"EXIT"}}}};
  const MachineCode second{"sm_90a", {{"new", {"EXIT"}}, {"scores", {"FADD R1, R2, R3"}}, {"more", {"NOP"}}}};
  const CodeDiff diff = diff_of(first, second);
  EXPECT_EQ(diff.common, 2U);
  EXPECT_EQ(diff.removed.total(), 0U);
  EXPECT_EQ(diff.added.total(), 1U);
  ASSERT_FALSE(diff.rows.empty());
  EXPECT_TRUE(diff.rows[0].is_name && diff.rows[0].side == CodeSide::both && diff.rows[0].text == "scores");
}

TEST(MachineCode, FoldsWhatIsFarFromADifference) {
  std::vector<std::string> long_one;
  for (int n = 0; n < 40; ++n) long_one.push_back(fmt::format("MOV R{}, RZ", n));
  std::vector<std::string> other = long_one;
  other[20] = "EXIT";
  const auto rows = folded(diff_of(code_of(long_one), code_of(other)));
  ASSERT_EQ(rows.size(), 11U) << "a name, a fold, three, two, three, a fold";
  EXPECT_EQ(rows[1].alike, 17U);
  EXPECT_EQ(rows[5].side, CodeSide::first);
  EXPECT_EQ(rows[6].side, CodeSide::second);
  EXPECT_EQ(rows.back().alike, 16U);
}

TEST(MachineCode, ItsTextIsReadAsItWasWritten) {
  const MachineCode code{"sm_90a", {{"a", {"@P0 BRA `(.L_x_1)", "EXIT"}}, {"b", {"NOP"}}}};
  const auto back = machine_code_from(text_of(code), "sm_90a", "a file");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, code);
}

TEST(MachineCode, HostileTextsAreRefusedInWords) {
  std::string many = "k:\n";
  for (std::size_t n = 0; n <= kMostInstructions; ++n) many += "  NOP\n";
  const std::string huge = "k:\n  " + std::string(kMostCodeBytes, 'x') + "\n";
  for (const std::string& text :
       {std::string(), std::string("k:\n"), std::string("  NOP\n"), std::string("k\n  NOP\n"),
        std::string("k:\n NOP\n"), std::string("k:\n  \x1b[2J\n"), std::string("k:\n  \xff\n"), many, huge}) {
    const auto read = machine_code_from(text, "sm_90a", "a file");
    ASSERT_FALSE(read) << text.substr(0, 40);
    EXPECT_EQ(read.error().kind, ErrorKind::bad_input);
    EXPECT_NE(read.error().message.find("a file"), std::string::npos);
  }
}

}  // namespace
}  // namespace attn::gpu
