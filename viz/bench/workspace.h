// Bench: measures the kernels along an axis of the user's choice.
#pragma once

#include "viz/bench/scene/bench_ui_state.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// Draws into the current Dear ImGui window's content region, which the shell has opened. The shell owns `ui`.
void draw_bench(const State& state, const Model& model, BenchUiState& ui, Commands& commands);

}  // namespace attn
