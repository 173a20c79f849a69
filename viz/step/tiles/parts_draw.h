// The parts of the tiles panel: how cells are drawn (cells_draw.cpp) and how they answer to the pointer and the
// keyboard (input_draw.cpp). For viz/step/tiles/tiles_draw.cpp alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/step/tiles/layout_draw.h"
#include "viz/step/tiles/tiles_panel.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn::tiles {

// Where a tile of the scene stands.
inline const TilePlace& place_of_tile(const TilesScene& scene, const TilesLayout& layout, const TileScene& tile) {
  if (&tile == &scene.k) return layout.k;
  if (&tile == &scene.v) return layout.v;
  for (std::size_t n = 0; n < scene.sides.size(); ++n)
    if (&tile == &scene.sides[n].tile) return layout.sides[n];
  return layout.places[static_cast<std::size_t>(&tile - scene.tiles.data())];
}
// The scores', or the first: where the keyboard begins.
inline const TileScene& first_tile(const TilesScene& scene) {
  return scene.tiles[static_cast<std::size_t>(scene.look->scores.value_or(scene.columns.front()))];
}

struct Drawn {
  ImDrawList* list;
  const TilesScene& scene;
  const TilesLayout& layout;
  const std::optional<CellRef>& pointed;  // lit in every view
  TilesUiState& ui;
  const Style& s;
  float arrival = 1;  // of what this step made: 1 = at rest
};

// Strength of a tile's cells: what was made in this step comes in.
inline float strength_of(const Drawn& d, const TileScene& tile) {
  return tile.made ? d.arrival : 1.0F;
}

// The word of the n-th row or key of the tile; empty: none.
std::string_view label_at(const std::vector<std::string>& words, std::int32_t n);
// The word of a key of the tile where it has one, else its number.
void draw_key_name(const Drawn& d, const Box& box, Align align, std::int32_t key, bool lit);
void draw_tile(const Drawn& d, const TileScene& tile, const TilePlace& place);
// A cell of a gradient: its upper right corner is cut off.
void draw_cut(ImDrawList* list, const Box& box, ImU32 fill);
// A value that was computed and is gone from chip.
void draw_dropped_cell(ImDrawList* list, const Box& box, bool dot);
// Outlines the operands of the pointed-at cell, and a cell itself.
void light_operands(const Drawn& d);
void light_cell(const Drawn& d, const CellRef& ref, float thickness);

// One invisible button a tile: what the pointer and the tests find.
void take_pointer(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout);
// Tab enters the tiles, arrows move, Enter pins, Esc leaves.
void take_keys(const TilesPanel& panel, const TilesScene& scene);
// The field in the cell that a lesson asks for, where that holds nothing yet and is large enough for numbers.
void draw_asked_cell(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout);
// The field over an input cell that was double-clicked or typed into.
void edit_cell(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout);

}  // namespace attn::tiles
