// A line of a kernel's text that its compiler speaks of.
#pragma once

#include <cstdint>
#include <string>

namespace attn::gpu {

// What the compiler says of a line.
struct SourceMark {
  std::string file;       // as the compiler names it; empty = it named none
  std::int32_t line = 0;  // from 1; 0 = of no line
  bool error = false;
  std::string words;
  bool operator==(const SourceMark&) const = default;
};

}  // namespace attn::gpu
