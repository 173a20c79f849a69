#pragma once

#include "imgui.h"
#include "viz/profile/source.h"
#include "viz/state/commands.h"

namespace attn {

// Two cards of `size` pixels each: the source with its gutter, and the phases.
void draw_source(const SourceScene& scene, const ProfileView& view, SourceHeld& held, ImVec2 size, Commands& commands);
// `shown`: the phase of the line that is looked at; `to_step`: the row in Step, at no phase yet.
void draw_phases(const SourceScene& scene, const SourceHeld& held, gpu::CodePhase shown, const StepThrough& to_step,
                 ImVec2 size, Commands& commands);

}  // namespace attn
