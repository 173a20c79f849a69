// The marks of kernels (viz/draw/kernel_looks.h), drawn, and the lines that carry them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "imgui.h"
#include "viz/draw/kernel_looks.h"

namespace attn {

// solid: live on the GPU. open: a ring with a dot, live on the CPU. hollow: loaded, nothing inside.
enum class MarkFill : std::uint8_t { solid, open, hollow };

// `radius` and `thickness` in pixels; `ground` is what lies under the mark.
struct MarkStyle {
  KernelMark mark;
  MarkFill fill = MarkFill::solid;
  ImU32 ink = 0, ground = 0;
  float radius = 4, thickness = 1.5F;
};
void draw_mark(ImDrawList& list, ImVec2 centre, const MarkStyle& mark);

// A polyline of dots (a prediction).
void draw_dotted(ImDrawList& list, std::span<const ImVec2> points, ImU32 ink, float thickness);

// A polyline with the pattern of a run: unbroken for the first, then long dashes, short ones, dash and dot, and again.
void draw_patterned(ImDrawList& list, std::span<const ImVec2> points, ImU32 ink, float thickness, std::size_t order);

// A piece of line with the kernel's mark on it, as in the list of kernels: `width` pixels from `left`.
struct SwatchStyle {
  bool thick = false;  // the baseline
  bool open = false;   // on the CPU
  bool dim = false;
};
void draw_swatch(ImDrawList& list, ImVec2 left, float width, std::string_view kernel_id, const SwatchStyle& look);

}  // namespace attn
