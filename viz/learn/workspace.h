// Learn: a tour that drives the real workspaces. Not built yet.
#pragma once

#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

void draw_learn(const State& state, const Model& model, Commands& commands);

}  // namespace attn
