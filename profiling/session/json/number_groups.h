// Numbers in a short text: "0:100,1:7". As lists they would take ten times the room, and a file has thousands. For this
// room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/gpu/compile/listing/sass.h"

namespace attn {

constexpr std::int64_t kLargestNumber = std::int64_t{1} << 53;  // that a double holds exactly

std::vector<std::string_view> parts_of(std::string_view text, char separator);
// A whole number from 0 to 2^53, and nothing beside it.
std::optional<std::int64_t> number_of(std::string_view text);
// Groups of `size` numbers, at most `most` groups: "0:100,1:7" in twos. "-" is none; nothing: it is anything else.
std::optional<std::vector<std::int64_t>> groups_of(std::string_view text, std::size_t size, std::size_t most);

// "0:100,1:7": file and line of each; "-": none.
std::string lines_text(const std::vector<gpu::SourceFrame>& lines);
// The same, read; `files`: how many there are. What is wrong with it; empty: it was read.
std::string read_lines(std::string_view text, std::size_t files, std::vector<gpu::SourceFrame>& lines);

}  // namespace attn
