// The colour of a phase: its tensor's, or the theme's for those that are none.
#pragma once

#include <cstdint>

#include "imgui.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/gpu/compile/phases.h"
#include "profiling/figures/samples.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"

namespace attn {

ImU32 hue_of(gpu::CodePhase phase);
// How much of a phase's hue each state of its warps has: what issues is full, what waits is paler.
float tint_of(WarpState state);
// The warp stood still for a reason of its own: it neither issued nor was ready to.
bool waits(WarpState state);

// A cell of a hue for what warps did: what waits is hatched, and the words stand on plain ground.
struct CellColours {
  ImU32 fill = 0, hatch = 0, text = 0;
};
CellColours cell_colours(Theme theme, ImU32 hue, WarpState state);

// Its letter or word, at the left; and its width with what is left of it.
float phase_sign_width(gpu::CodePhase phase);
void draw_phase_sign(ImDrawList* list, const Box& box, gpu::CodePhase phase);
// The kinds of instructions beside one another; `most` of them fill the box.
void draw_mix(ImDrawList* list, const Box& box, const gpu::InstructionMix& mix, std::uint32_t most,
              gpu::CodePhase phase);

}  // namespace attn
