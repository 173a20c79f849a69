// From a phase of a kernel to its step: the ways that Profile offers.
#pragma once

#include "kernels/gpu/compile/phases.h"
#include "viz/state/commands.h"

namespace attn {

// A menu of the last item, by the right button: its step, or why there is none. `to_step`: the row, at no phase yet.
void draw_phase_menu(gpu::CodePhase phase, const StepThrough& to_step, Commands& commands);
// A button of the same; it stays where it is whatever the phase, and cannot be pressed where there is no step.
void draw_phase_button(gpu::CodePhase phase, const StepThrough& to_step, Commands& commands);

}  // namespace attn
