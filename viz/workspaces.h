// The four workspaces: each draws one frame out of the state and the model, and gives back commands.
#pragma once

#include "viz/bench/held.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"
#include "viz/step/held.h"

namespace attn {

// Workspaces draw into the current Dear ImGui window's content region, which the shell has opened.
// Each is its own file: viz/step/workspace.cpp, viz/bench/workspace.cpp, ...
// The shell owns `memory`, sets memory.texts at start-up with parse_step_texts(text of assets/step_texts.json), and
// leaves the plain arrow keys, Tab and Esc to Step while memory.cells_focused.
void draw_step(const State& state, const Model& model, StepHeld& memory, Commands& commands);
void draw_bench(const State& state, const Model& model, BenchHeld& memory, Commands& commands);
void draw_profile(const State& state, const Model& model, Commands& commands);
void draw_learn(const State& state, const Model& model, Commands& commands);

}  // namespace attn
