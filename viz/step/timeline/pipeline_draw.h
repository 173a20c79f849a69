// Draws a block's pipeline: the card of its loops, and what each lane did on the axis of time.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/facts/pipeline.h"

namespace attn {

// What the loops take of a card `width` wide that may have `most` of height; all logical.
float pipeline_card_height(const Recording& rec, float width, float most);
// Where there is less, the loops have a row of nodes each.
constexpr float kLowPipelineCard = 62;
// What a token's words are drawn in, and how much of its colour its fill has.
constexpr Token kTokenInk = Token::text;
constexpr float kTokenFill = 0.25F;

// A node that is clicked leads to its next step, a slot to the one that it was filled with.
void draw_pipeline_card(const Box& box, const PipelineView& view, Commands& commands);
// Where it is pressed or dragged leads to the step of that moment. Without `future` it ends at this step.
void draw_pipeline_lanes(const Box& box, const PipelineView& view, bool future, Commands& commands);

}  // namespace attn
