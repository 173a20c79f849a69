// The phases of a kernel's source (kernels/gpu/compile/phases.h) as steps of a recording, and back: the same letters in
// both. Set-up, loop and barriers are of the hardware; the paper has no step for them, nor has a recording. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/gpu/compile/phases.h"
#include "kernels/model/order_row.h"
#include "kernels/recording/recording.h"

namespace attn {

// The steps of an order that may show a phase of the source, the nearest first; empty: there is none.
std::vector<Phase> step_phases(const OrderRow& order, gpu::CodePhase phase);
// The phase of the source in which a step's work is done; nothing for a tile that the mask skips.
std::optional<gpu::CodePhase> code_phase_of(Phase phase);

// The first step of the run that shows the phase. The error says in words why there is none.
Result<EventIndex> step_of(const Recording& rec, gpu::CodePhase phase);
// Why no run of any kernel has a step for it; empty: runs may have one.
std::string why_no_step(gpu::CodePhase phase);

}  // namespace attn
