#pragma once

#include "viz/draw/canvas.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/profile/source/source.h"
#include "viz/state/commands.h"
#include "viz/state/commands_profile.h"

namespace attn {

// What a figure remembers between frames.
struct FigureUiState {
  SourceUiState source;   // of the text of a kernel beside the card
  ChooseSourceLine line;  // of it that was clicked last
};

// The figure of a beat, or words that it waits for the answer. `card`: whose question a click in it may answer.
void draw_stage_figure(const StageFigure& figure, const CardScene& card, const Box& box, FigureUiState& ui,
                       Commands& commands);

}  // namespace attn
