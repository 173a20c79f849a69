// The map: every tile (i, j) of the live head, done, current, to come, cut by the mask or skipped. A click goes there.
#pragma once

#include <vector>

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/facts/place.h"

namespace attn {

enum class MapLook : std::uint8_t { to_come, begun, done, skipped };
struct MapTile {
  MapLook look = MapLook::to_come;
  bool partial = false, current = false;
};
struct MapScene {
  std::int32_t rows = 0, cols = 0;
  std::int32_t i = -1, j = -1;
  std::vector<MapTile> tiles;  // row-major
  std::int32_t done = 0, to_come = 0, skipped = 0;
};
MapScene map_scene(const Recording& rec, const StepPlace& at);

// Draws into `box`; the words go to its right part where there is room.
void draw_step_map(const Box& box, const MapScene& scene, const Recording& rec, const StepPlace& at,
                   Commands& commands);

}  // namespace attn
