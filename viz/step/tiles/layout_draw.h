// Where the tiles stand: widths, heights and how many characters a cell has room for. Left to right is time; K stands
// above S, V above O; rows share their height from Q to O. Numbers give way to heat maps where they do not fit.
#pragma once

#include <cstddef>

#include "viz/draw/canvas.h"
#include "viz/step/tiles/places_draw.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {

// `area` is the inside of the card, in pixels. `phone`: in bands, unless there are too many rows; they may end below
// the area, which says how much of them is seen at a time.
TilesLayout layout_tiles(const TilesScene& scene, const Box& area, bool phone = false);
// The same of a card that is no phone's. On a tablet held upright it is in a phone's bands, where those keep numbers
// that one line has no room for, and the card has room for all of them.
TilesLayout layout_in_card(const TilesScene& scene, const Box& area);
// Those whose cells all have room for numbers; at every step of a run as many.
std::ptrdiff_t numbered_tiles(const TilesScene& scene, const TilesLayout& layout);

// Where a tile of the scene stands.
inline const TilePlace& place_of_tile(const TilesScene& scene, const TilesLayout& layout, const TileScene& tile) {
  if (&tile == &scene.k) return layout.k;
  if (&tile == &scene.v) return layout.v;
  for (std::size_t n = 0; n < scene.sides.size(); ++n)
    if (&tile == &scene.sides[n].tile) return layout.sides[n];
  return layout.places[static_cast<std::size_t>(&tile - scene.tiles.data())];
}
// Height that the tiles would fill, logical: beyond it the charts get the space. `height`: of what holds both.
float liked_tiles_height(const Recording& rec, float height);

}  // namespace attn
