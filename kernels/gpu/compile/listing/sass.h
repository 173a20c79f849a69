// The machine code of a cubin as nvdisasm prints it (nvdisasm -c -gi -gp): of each instruction its address, its text,
// the lines of source that it stands for, innermost first, and its line of PTX. Only the reading lives here; app/system
// runs the program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"

namespace attn::gpu {

// A line of source that an instruction stands for. `file` is an index into Sass::files; lines count from 1.
struct SourceFrame {
  std::uint32_t file = 0, line = 0;
  bool operator==(const SourceFrame&) const = default;
};

// Which part of the multiprocessor an instruction asks for.
enum class InstructionKind : std::uint8_t {
  fma,      // FFMA, FADD, FMUL: fp32 arithmetic
  tensor,   // HMMA, HGMMA, IMMA: tensor cores
  mufu,     // special functions: exponential, reciprocal
  shared,   // LDS, LDSM, STS: shared memory
  global,   // LDG, STG, LDGSTS, UTMALDG: device memory and copies from it
  barrier,  // BAR, DEPBAR, WARPSYNC, SYNCS
  other     // integers, moves, conditions, branches
};
constexpr std::size_t kInstructionKinds = 7;
constexpr std::array<InstructionKind, kInstructionKinds> all_instruction_kinds() {
  return {InstructionKind::fma,    InstructionKind::tensor,  InstructionKind::mufu, InstructionKind::shared,
          InstructionKind::global, InstructionKind::barrier, InstructionKind::other};
}
std::string_view name_of(InstructionKind kind);   // "fma", ...: JSON and CSV
std::string_view words_of(InstructionKind kind);  // "FMA", "tensor", ...
// "@!P0 FFMA.FTZ R1, R2, R3, R4" -> "FFMA": without predicate and suffixes.
std::string_view opcode_of(std::string_view text);
InstructionKind kind_of(std::string_view text);

struct Instruction {
  std::uint32_t address = 0;  // in its function, bytes
  std::uint32_t chain = 0;    // index into Sass::chains
  std::uint32_t ptx = 0;      // line of the PTX, from 1; 0 = none
  InstructionKind kind = InstructionKind::other;
  std::string text;  // "@!P0 BRA `(.L_x_4)"
};

// A routine of the compiler's own (a division) that a function calls: it stands for no line of source.
struct SassRoutine {
  std::string name;
  std::uint32_t first = 0;  // of the function's instructions; up to the next routine's, or the end
};
// One section of code: an entry, then its routines.
struct SassFunction {
  std::string name;
  std::vector<Instruction> instructions;
  std::vector<SassRoutine> routines;
};

struct Sass {
  std::vector<std::string> files;                // as the line information names them
  std::vector<std::vector<SourceFrame>> chains;  // each once, innermost frame first; [0] is empty: no line is known
  std::vector<SassFunction> functions;
};

// What nvdisasm printed. Text without an instruction is refused.
Result<Sass> parse_sass(std::string_view text);

}  // namespace attn::gpu
