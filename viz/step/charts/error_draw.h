// The map of errors, drawn. It answers to the pointer.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/charts/error.h"

namespace attn {

// The map, its scale and the words into `in`. The map answers to the pointer; "go there" and a click send commands.
void draw_error(const Box& in, const ErrorScene& scene, const ErrorScan& scan, const StepPlace& at,
                const Selection& selection, Commands& commands);

}  // namespace attn
