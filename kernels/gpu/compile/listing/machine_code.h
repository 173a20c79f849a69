// A kernel's machine code as instructions alone: what a session keeps of a row, and how that of two rows differs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/gpu/compile/listing/sass.h"

namespace attn::gpu {

struct CodeFunction {
  std::string name;
  std::vector<std::string> instructions;  // "@!P0 BRA `(.L_x_4)"
  bool operator==(const CodeFunction&) const = default;
};
struct MachineCode {
  std::string arch;  // "sm_90a"
  std::vector<CodeFunction> functions;
  std::size_t instructions() const;
  bool operator==(const MachineCode&) const = default;
};
constexpr std::size_t kMostInstructions = 16384;     // the largest of ours has 4120
constexpr std::size_t kMostCodeBytes = 2ULL << 20U;  // of its text

// Refused where a session would not keep it: too much of it, or none.
Result<MachineCode> machine_code_of(const Sass& sass, std::string_view arch);

// As a session's file keeps it: a function's name and a colon, then its instructions, two spaces before each.
std::string text_of(const MachineCode& code);
// Of such a text, which may be of anybody's; `name` is for messages.
Result<MachineCode> machine_code_from(std::string_view text, std::string_view arch, const std::string& name);

// An instruction without what changes though the code does not: numbers of labels, spaces.
std::string without_noise(std::string_view instruction);

enum class CodeSide : std::uint8_t { both, first, second };
struct CodeDiffRow {
  CodeSide side = CodeSide::both;
  bool is_name = false;     // of a function
  std::string text;         // without noise
  std::uint32_t alike = 0;  // above 0: it stands for so many that both have, and has no text
};
struct CodeDiff {
  std::vector<CodeDiffRow> rows;
  InstructionMix removed, added;  // of the first alone, of the second alone
  std::uint32_t common = 0;       // instructions of both
  bool same() const { return removed.total() == 0 && added.total() == 0; }
};
// The longest common subsequence of each pair of functions stands in both; between, what one alone has, the first's
// before the second's. Functions of one name are a pair; of what is left those that follow each other in order.
CodeDiff diff_of(const MachineCode& first, const MachineCode& second);

// Its rows; of equal ones those alone that stand near what differs, for the others one that says how many.
std::vector<CodeDiffRow> folded(const CodeDiff& diff);
// "FMA −120 +3 · tensor +64": one line, in the order of the kinds; empty: the code is the same.
std::string words_of(const CodeDiff& diff);

}  // namespace attn::gpu
