// The arcs over the words, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/timeline/sentence.h"

namespace attn {

// Into `in`. A click on a word makes it the query; what is pointed at is told.
void draw_sentence(const Box& in, const SentenceScene& scene, const Recording& rec, const StepPlace& at,
                   const Selection& selection, Commands& commands);

}  // namespace attn
