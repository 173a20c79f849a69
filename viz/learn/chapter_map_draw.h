// The map of chapters, drawn.
#pragma once

#include <cstddef>
#include <optional>

#include "viz/draw/canvas.h"
#include "viz/learn/chapter_map.h"
#include "viz/learn/map_roads.h"
#include "viz/state/commands.h"

namespace attn {

// Whether the stops stand far enough apart for their words.
bool map_has_room(const Box& box);
// The whole card. A stop is a button. Which is pointed at or focused, of the map's stops: it is told in the hero's
// place, where it covers no other.
std::optional<std::size_t> draw_chapter_map(const LearnScene& learn, const ChapterMap& map, const Box& box,
                                            MapRoads& roads, Commands& commands);

}  // namespace attn
