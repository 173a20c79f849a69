// The attention map, drawn: the live head large with the sharpness of its rows beside it, all heads small. A click on a
// cell pins it and goes to its tile.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/draw/pixel_image.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"
#include "viz/step/timeline/attention.h"

namespace attn {

// How many rows and columns the map of a card of this size can show.
std::int32_t attention_side(const Box& in);
void draw_attention(const Box& in, const Recording& rec, const AttentionScene& scene, const StepPlace& at,
                    const Selection& selection, PixelImages& images, Commands& commands);

}  // namespace attn
