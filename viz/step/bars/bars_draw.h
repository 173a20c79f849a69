// The strip, the bar of a GPU's run and that of a wrong run, drawn; each has a source of its own.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/bars/gpu_bar.h"
#include "viz/step/bars/strip.h"
#include "viz/step/bars/wrong_run.h"

namespace attn {

// Of a strip that is `width` wide in a view `height` high, all logical: how many lines its sentence may take, the same
// at every step, and how high it is.
int strip_lines(float width);
constexpr float kPhoneStrip = 140;
float strip_height(float width, float height);
// Of a strip's chips below its top edge, pixels: clear of the headline's letters.
float chip_top(const Box& strip);
// The first line ends at `chips`, pixels: what stands there is not covered.
// Whether the position was pressed, which is a door where `scene.door` says so.
bool draw_step_strip(ImDrawList* list, const Box& box, const StripScene& scene, float chips);

// What a bar takes, pixels, in a window `width` pixels wide. `low`: one line, the differences behind a button.
float gpu_bar_height(const GpuBarScene& scene, float width, bool low);
void draw_gpu_bar(const Box& box, const GpuBarScene& scene, bool low, Commands& commands);

float wrong_run_height(const WrongRunScene& scene, float width);
// A line that says so, where the bar itself is scrolled out of sight; whether it was pressed.
bool draw_wrong_line(const Box& box, const WrongRunScene& scene);
void draw_wrong_run(const Box& box, const WrongRunScene& scene, Commands& commands);

}  // namespace attn
