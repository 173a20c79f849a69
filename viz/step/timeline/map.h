// The map: every tile (i, j) of the live head, done, current, to come, cut by the mask or skipped. A click goes there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "viz/step/place/place.h"

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
  std::vector<std::string> words;  // "tile 4 of 16", "6 skipped"
};
MapScene map_scene(const Recording& rec, const StepPlace& at);
// Where a click on a tile goes: to the phase of this step there, else to its scores; to where it is skipped.
std::optional<EventIndex> event_of_tile(const Recording& rec, const StepPlace& at, std::int32_t i, std::int32_t j);

}  // namespace attn
