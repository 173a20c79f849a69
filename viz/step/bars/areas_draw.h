// Where Step's panels stand, by the room that there is, and what of them is scrolled. Left to right, top to bottom:
// Problem, the strip, the tiles, the row chart beside HBM traffic, the timeline. On a phone strip and timeline stay,
// and between them tiles and charts are scrolled.
#pragma once

#include <optional>

#include "kernels/recording/recording.h"
#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"
#include "viz/state/view_step.h"
#include "viz/step/bars/page.h"
#include "viz/step/facts/focus.h"
#include "viz/step/tiles/pointed.h"
#include "viz/step/tiles/tiles_ui_state.h"

namespace attn {

constexpr float kStepGutter = 12, kPhoneGutter = 8, kProblemWidth = 200, kScrolledTiles = 240;  // logical

struct StepAreas {
  Box problem, strip, tiles, chart, traffic, timeline;
  bool has_problem = false, has_bottom = false, has_traffic = false;
  bool has_strip = true, has_tiles = true, has_chart = true, has_timeline = true;
  bool phone = false;
  bool scrolls = false;  // what is on `page`, whose room is too low for all of it
  Box page;              // strip and tiles, or on a phone tiles and charts; the timeline stays where it is
  Box bars;              // on a page: what says that a run is wrong, above the tiles
  Box wrong;             // where that is scrolled out of sight beside it: a line that leads there
  bool has_wrong = false;
};

// What the panels are to have room for.
struct StepRoom {
  const Recording& rec;
  const StepFocus& look;
  bool alone = false;        // the run without the Problem panel, for a class
  bool wide = false;         // a chart that takes the place of HBM traffic, and needs height
  bool touch = false;        // fingers press it
  bool words_below = false;  // a phone's chart has its words under a picture
  bool wrong = false;        // the run is told to be
};
StepAreas step_areas(const Box& all, const StepRoom& room);

// One panel in the room of all.
StepAreas panel_areas(const Box& all, StepPanel panel);

// A phone's: the page and what stays, above it and below, or beside it where the phone lies; then what is on the page,
// whose bars and tiles are so high, pixels. `only`: of a figure, which has no charts below its tiles.
StepAreas phone_areas(const Box& all, const StepRoom& room, std::optional<StepPanel> only = {});
// Without its strip; an upright phone's page has that room.
void fold_strip(StepAreas& areas);
void fill_phone_page(StepAreas& areas, const StepRoom& room, float bars, float tiles);

// What stands on the page moves with it. A finger moves it without a bar.
void begin_page(StepAreas& areas);
// On a phone what a step made is in sight, whole where there is room for it and what it is made of; and so is the cell
// that was pinned last.
void show_made_tiles(PageMemory& memory, const TilesUiState& tiles, EventIndex now, const Selection& selection,
                     const Box& page);
void end_page(const StepAreas& areas);

// What is folded behind a chip or a button, of `size` pixels, its `pivot` at `at`: within the window, and scrolled
// where that, or `room` of its height, is too little. Where it is open: its corner, scrolled; then end_folded().
std::optional<ImVec2> begin_folded(const char* id, ImVec2 at, ImVec2 pivot, ImVec2 size, float room = 1e9F);
void end_folded();

// The pinned cell spelled out, beside the page rather than over it, until it is let go.
float spelled_height(const PointedScene& scene, float width);
void draw_spelled(const Box& box, const PointedScene& scene, const Selection& pinned, Commands& commands);

}  // namespace attn
