// Learn: a tour that drives the real workspaces. Without a lesson it shows the chapters; with one its card, and beside
// it Step's own panels on the lesson's numbers.
#pragma once

#include <functional>

#include "viz/learn/card/card_ui_state.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"
#include "viz/step/step_ui_state.h"

namespace attn {

struct Box;  // viz/draw/canvas.h

// Draws the figure of a beat in the box; `card`: whose question a click in it may answer.
using DrawFigure =
    std::function<void(const StageFigure& figure, const CardScene& card, const Box& box, Commands& commands)>;

// `draw_figure`: figures are Profile's pictures, which the caller has (viz/learn/figure/figure_draw.h).
void draw_learn(const State& state, const Model& model, CardUiState& ui, StepUiState& step, Commands& commands,
                const DrawFigure& draw_figure);

}  // namespace attn
