// How a kernel's text is built beyond what the text says itself, and the line that a file says it with: the first,
//
//   // attn-build: {"edits": "flash_simt", "maxrregcount": 64, "fast_math": true}
//
// A file that begins so is a rung of the ladder with a changed text, or a file of one's own with options of the
// compiler. The line is no part of the kernel's text: lines count from the one behind it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/own_kernel/build_choices.h"

namespace attn::gpu {

constexpr std::int32_t kLeastMaxRegisters = 16, kMostMaxRegisters = 255;

// 0, or a number that ptxas takes; the error says which do.
Result<void> check_build(const BuildChoices& build);
// As NVRTC takes them.
std::vector<std::string> flags_of(const BuildChoices& build);
// "maxrregcount=64 use_fast_math": rows, files and the window say it so; empty where nothing was chosen.
std::string words_of(const BuildChoices& build);

struct BuildLine {
  std::string edits;  // id of the rung whose text it was; empty = a kernel with a header of its own
  BuildChoices build;
  bool operator==(const BuildLine&) const = default;
};
struct BuiltText {
  BuildLine line;
  std::string text;  // without the line
};

// Takes the line off. A text without one is as it is. `name` is for messages: "my.cu, line 1: ...".
Result<BuiltText> split_build_line(std::string_view text, std::string_view name);
// The text with its line before it; as it is where there is nothing to say.
std::string with_build_line(const BuildLine& line, std::string_view text);

}  // namespace attn::gpu
