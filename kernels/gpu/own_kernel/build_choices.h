// What a kernel's text is built with beyond what the text says itself.
#pragma once

#include <cstdint>

namespace attn::gpu {

struct BuildChoices {
  std::int32_t max_registers = 0;  // -maxrregcount; 0 = the compiler's own choice
  bool fast_math = false;          // -use_fast_math
  bool any() const { return max_registers != 0 || fast_math; }
  bool operator==(const BuildChoices&) const = default;
};

}  // namespace attn::gpu
