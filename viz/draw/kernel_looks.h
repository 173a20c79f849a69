// How each kernel is drawn: colour and mark, one row an id. A GPU rung that has no row takes the next free look;
// tests/viz/draw/theme_test.cpp fails where none is left, and recomputes contrasts and distances.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string_view>

namespace attn {

// Each kernel of a device has a mark of its own, so that no line is told by colour alone.
enum class MarkShape : std::uint8_t {
  square,
  triangle_up,
  triangle_down,
  triangle_left,
  triangle_right,
  diamond,
  circle,
  hexagon,
  pentagon,
  star,
  three_rays,
  plus,
  cross,
};

// `bar` is a stroke under the shape.
struct KernelMark {
  MarkShape shape = MarkShape::circle;
  bool bar = false;
  friend auto operator<=>(const KernelMark&, const KernelMark&) = default;
};

struct KernelLook {
  std::string_view kernel;           // empty: nobody's yet
  std::array<std::uint32_t, 2> rgb;  // 0xRRGGBB; index with Theme: dark = 0, light = 1
  KernelMark mark;
};
std::span<const KernelLook> kernel_looks();

// What is no kernel of this program is neutral, with a cross: a row of a file that another version wrote, or a peer
// that is a file of the user's. The program's own peers are neutral too, each with a mark.
constexpr KernelLook kUnknownLook{"", {0xE8EAED, 0x1A1D21}, {MarkShape::cross}};
const KernelLook& look_of(std::string_view kernel);

}  // namespace attn
