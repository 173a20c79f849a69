// The charts of a step, drawn: each into `in`, below its card's title.
#pragma once

#include <cstdint>
#include <string_view>

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/charts/error.h"
#include "viz/step/charts/fragments.h"
#include "viz/step/charts/hindsight.h"
#include "viz/step/charts/passes.h"
#include "viz/step/charts/row.h"
#include "viz/step/facts/scales.h"
#include "viz/step/place/place.h"

namespace attn {

// `asked`: the bar that can be dragged; null: none.
void draw_row_chart(ImDrawList* list, const Box& in, const RowChartScene& scene, AskedBar* asked = nullptr);

void draw_hindsight(ImDrawList* list, const Box& in, const HindsightScene& scene);

// The strip of the shown run is lit.
void draw_passes(ImDrawList* list, const Box& in, const PassesScene& scene);

// Of K and V in pages (viz/step/charts/pages.h): the pool, the table under it with a line from each gathered entry to
// its page, and words beside both. What the pointer is on is framed in both; an entry is pressed to go to where it is
// loaded.
void draw_pages(const Box& in, const Recording& rec, const StepPlace& at, std::int32_t key, const TensorScales& scales,
                Commands& commands);

// The map, its scale and the words. The map answers to the pointer; "go there" and a click send commands.
void draw_error(const Box& in, const ErrorScene& scene, const ErrorScan& scan, const StepPlace& at,
                const Selection& selection, Commands& commands);

// What fragments take without being scrolled, pixels.
float fragments_height(float width);
// `kernel`: whose they are. Choices on top, then the tile by its cells, the warp by its lanes, and the banks. What is
// pointed at is told below the lanes and lit everywhere; Ctrl+C copies it.
void draw_fragments(const Box& in, std::string_view kernel, const FragmentScene& scene, Commands& commands);

}  // namespace attn
