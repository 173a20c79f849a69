// What ptxas says of each entry of a compilation (option --ptxas-options=-v).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/gpu/compile/source_mark.h"

namespace attn::gpu {

struct EntryFigures {
  std::string name;
  std::int32_t registers = 0;     // a thread
  std::int32_t shared_bytes = 0;  // static, a block; what a launch asks for comes on top
  std::int32_t stack_bytes = 0;   // a thread
  std::int32_t spill_store_bytes = 0, spill_load_bytes = 0;
  bool operator==(const EntryFigures&) const = default;
};

struct PtxasLog {
  std::vector<EntryFigures> entries;  // in name order
  std::vector<std::string> warnings;  // lines that speak of a warning, as they stand
  // Lines "Potential Performance Loss", as they stand: ptxas calls them information, and what they speak of can cost
  // half of a kernel's speed.
  std::vector<std::string> losses;
  std::vector<std::string> errors;  // "kernels/gpu/naive.cu:12: identifier "x" is undefined"
};

PtxasLog parse_ptxas_log(std::string_view log);

// Of errors as they stand in PtxasLog::errors and in what a compilation that failed says, a line each; and of warnings
// and losses. Lines that name no place are left out of `errors`, whose first line is a sentence. A loss names the
// function that it is in: where that begins in `text` is its place.
std::vector<SourceMark> marks_of(std::string_view errors, const std::vector<std::string>& warnings,
                                 std::string_view text);
// The line is one of PtxasLog::losses.
bool is_loss(std::string_view line);

}  // namespace attn::gpu
