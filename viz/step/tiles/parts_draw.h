// The parts of the tiles panel: how cells are drawn (cells_draw.cpp), how they move (motion_draw.cpp) and how they
// answer to the pointer and the keyboard (input_draw.cpp). For viz/step/tiles/tiles_draw.cpp alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/step/tiles/flights_draw.h"
#include "viz/step/tiles/layout_draw.h"
#include "viz/step/tiles/tiles_scene.h"
#include "viz/step/tiles/tiles_ui_state.h"

namespace attn {
struct LaneTitle;   // viz/step/facts/abreast.h
struct StepFocus;   // viz/step/facts/focus.h
struct TilesPanel;  // viz/step/tiles/tiles_draw.h
}  // namespace attn

namespace attn::tiles {

// The scores', or the first: where the keyboard begins.
inline const TileScene& first_tile(const TilesScene& scene) {
  const Column scores = scene.look->scores.value_or(scene.columns.front());
  const bool there = !scene.tiles[static_cast<std::size_t>(scores)].folded;
  return scene.tiles[static_cast<std::size_t>(there ? scores : scene.columns.front())];
}

// A step on its way: `at` 0 to 1.
struct Moving {
  StepFlights flights;
  float at = 0;
  std::vector<Box> plates;  // of each flight what it covers now; nothing of one that does not fly now
  std::vector<Box> quiet;   // where nothing that stands shows its number: under a plate, where it left, where it lands
};

struct Drawn {
  ImDrawList* list;
  const TilesScene& scene;
  const TilesLayout& layout;
  const std::optional<CellRef>& pointed;  // lit in every view
  TilesUiState& ui;
  const Style& s;
  const Moving* moving = nullptr;  // null: what this step made has arrived
  bool pencils = false;            // beside the titles of what can be typed over; told to `ui.pencils`
};

// The numbers of all tiles, as many digits as there is room for.
void give_texts(const TilesPanel& panel, TilesScene& scene, const TilesLayout& layout);
// The word of the n-th row or key of the tile; empty: none.
std::string_view label_at(const std::vector<std::string>& words, std::int32_t n);
// The word of a key of the tile where it has one, else its number.
void draw_key_name(const Drawn& d, const Box& box, Align align, std::int32_t key, bool lit);
void draw_tile(const Drawn& d, const TileScene& tile, const TilePlace& place);
// A cell on its way from tile to tile; its number where the box holds it. `strength`: what alpha leaves of it.
void draw_flying_cell(const Drawn& d, const TileScene& tile, const Cell& cell, const Box& box, float text_size,
                      float strength);
// All tiles of a scene.
void draw_scene(const Drawn& d);
// The terms under the columns of a band (captions_draw.cpp).
void draw_captions(const Drawn& d, const TilesBand& band);
// Over the tiles of a part or a consumer; `live`: of the one at hand.
float lane_title_height(float width);
void draw_lane_title(ImDrawList* list, const Box& area, const LaneTitle& lane, bool live);
// Outlines the operands of the pointed-at cell, and a cell itself.
void light_operands(const Drawn& d);
void light_cell(const Drawn& d, const CellRef& ref, float thickness);

// ---- parts of the keys, or consumers with rows of their own (captions_draw.cpp)

constexpr float kBetweenParts = 26;  // logical: side by side

// Below one another on a phone's page, where a lesson speaks of them, and on a tablet's.
struct PhoneStack {
  std::int64_t first = 0, parts = 0;  // 0: none has a part beside it
  std::int64_t live = 0;              // of those that are drawn
  float part = 0;                     // the height of each with its title, pixels
};
// `area`: what the tiles have of the part of the card that is seen at once.
PhoneStack phone_stack(const TilesScene& scene, const Recording& rec, const StepFocus& look, const Box& area);
// Takes the place of the part beside the live one, and those of the titles, away from `area`, and draws them there. The
// height of a title, 0: it has none.
float draw_other_part(const TilesPanel& panel, const TilesScene& scene, Box& area);

// ---- a step on its way (motion_draw.cpp)

// What this step moves, while it does.
std::optional<Moving> moving_step(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout,
                                  const Box& card);
// A tile of the scene: at rest, or what its slot shows until all of it has landed.
void draw_slot(const Drawn& d, const TileScene& tile, const TilePlace& place);
// Whether what stands in the box keeps its number back: at one place at most one number is readable.
bool keeps_quiet(const Drawn& d, const Box& box);
// A step that stands still: where in HBM it brought its tiles from, or stored them, and a line from there to the slot
// that crosses nothing of `taken`.
void draw_sources(const Drawn& d, const std::vector<Shelf>& shelves, std::span<const Box> taken);
// HBM's shelves and what is on its way; tells `ui.flying`.
void draw_flights(const Drawn& d);

// ---- pointer and keyboard (input_draw.cpp)

// One invisible button a tile: what the pointer and the tests find.
void take_pointer(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout);
// Tab enters the tiles, arrows move, Enter pins, Esc leaves.
void take_keys(const TilesPanel& panel, const TilesScene& scene);
// Whether its cells can be typed over: an input's, where they hold numbers and are large enough to show them.
bool takes_numbers(const TileScene& tile, const TilePlace& place);
// The pencils beside the titles of the inputs, and the field that a command asks for.
void take_pencils(const TilesPanel& panel, const TilesScene& scene);
// The field in the cell that a lesson asks for, where that holds nothing yet and is large enough for numbers.
void draw_asked_cell(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout);
// The field over an input cell that was double-clicked or typed into.
void edit_cell(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout);

}  // namespace attn::tiles
