// Where the tiles stand: widths, heights and how many characters a cell has room for. Left to right is time; K stands
// above S, V above O; rows share their height from Q to O. Numbers give way to heat maps where they do not fit.
#pragma once

#include <vector>

#include "viz/draw/canvas.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {

constexpr float kNumberHeight = 11;  // logical: no number is drawn in a cell lower than this

struct TilePlace {
  Box box;
  int room = 0;          // characters; 0 = heat map
  int only_row = -1;     // the one row that is high enough for numbers; -1 = all are
  float text_size = 12;  // logical
  std::vector<float> y;  // top of each row, and the bottom of the last
  float cell_width = 0;
  Box cell(std::int32_t r, std::int32_t c) const {
    const float x = box.min.x + cell_width * static_cast<float>(c);
    return {{x, y[static_cast<std::size_t>(r)]}, {x + cell_width, y[static_cast<std::size_t>(r) + 1]}};
  }
};

struct TilesLayout {
  std::vector<TilePlace> places;  // by Column
  TilePlace k, v;
  std::vector<TilePlace> sides;  // as the scene has them
  float sides_top = 0;           // of the line that parts the tiles below from the rest
  float label_right = 0;         // row labels end here
  float title_height = 0;        // line of titles above a tile
  float captions_top = 0;
  float band_left = 0, band_right = 0;
  Box chip, pointed;  // free space left of K, and between K and V; empty where too small
  bool has_chip = false, has_pointed = false;
  bool has_captions = true;  // a low card has none
};

// `area` is the inside of the card, in pixels.
TilesLayout layout_tiles(const TilesScene& scene, const Box& area);

// Where a tile of the scene stands.
inline const TilePlace& place_of_tile(const TilesScene& scene, const TilesLayout& layout, const TileScene& tile) {
  if (&tile == &scene.k) return layout.k;
  if (&tile == &scene.v) return layout.v;
  for (std::size_t n = 0; n < scene.sides.size(); ++n)
    if (&tile == &scene.sides[n].tile) return layout.sides[n];
  return layout.places[static_cast<std::size_t>(&tile - scene.tiles.data())];
}
}  // namespace attn
