// What the user may choose of a kernel. A kernel's row says which of these it reads and which values it takes;
// the others are left at their defaults and do not count for its identity.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/base/dtype.h"

namespace attn {

enum class KeyOrder : std::uint8_t { left_to_right, right_to_left };

struct Options {
  std::int32_t br = 0;       // query rows of a tile; 0 = the kernel's default
  std::int32_t bc = 0;       // keys of a tile; 0 = the kernel's default
  std::int32_t threads = 0;  // CPU: threads; GPU: threads of a block; 0 = the kernel's default (CPU: all cores)
  std::int32_t stages = 0;   // GPU: depth of the copy pipeline; 0 = the kernel's default
  // What-if switches of cpu_flash.
  bool subtract_max = true;                      // off: m stays 0, so large scores overflow
  KeyOrder key_order = KeyOrder::left_to_right;  // the order in which key tiles are visited
  DType accumulate = DType::f32;                 // l and O are rounded to this after every addition

  bool operator==(const Options&) const = default;
};

enum class Option : std::uint8_t { br, bc, threads, stages, subtract_max, key_order, accumulate };

// One option that a kernel reads. `min`..`max` hold for the whole numbers, in steps of `step`.
struct OptionSpec {
  Option option = Option::br;
  std::int32_t min = 1;
  std::int32_t max = 1;
  std::int32_t step = 1;
  std::int32_t default_value = 1;  // the value that 0 stands for (threads on the CPU: 0 = all cores)
};

// "br", "bc", ...: the spelling of CSV columns and state strings.
std::string_view name_of(Option o);

}  // namespace attn
