// The colour of a phase: its tensor's, or the theme's for those that are none.
#pragma once

#include "imgui.h"
#include "kernels/gpu/compile/phases.h"
#include "profiling/figures/samples.h"

namespace attn {

ImU32 hue_of(gpu::CodePhase phase);
// How much of a phase's hue each state of its warps has: what issues is full, what waits is paler.
float tint_of(WarpState state);
// The warp stood still for a reason of its own: it neither issued nor was ready to.
bool waits(WarpState state);

}  // namespace attn
