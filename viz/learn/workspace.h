// Learn: a tour that drives the real workspaces. Without a lesson it shows the chapters; with one its card, and beside
// it Step's own panels on the lesson's numbers.
#pragma once

#include "viz/learn/held.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"
#include "viz/step/held.h"

namespace attn {

void draw_learn(const State& state, const Model& model, LearnHeld& held, StepHeld& step, Commands& commands);

}  // namespace attn
