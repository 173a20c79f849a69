// The map of chapters, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/learn/chapter_map.h"
#include "viz/learn/map_roads.h"
#include "viz/state/commands.h"

namespace attn {

// Whether the stops stand far enough apart for their words.
bool map_has_room(const Box& box);
// The whole card. A stop is a button; what is pointed at or focused is told in the corner.
void draw_chapter_map(const LearnScene& learn, const ChapterMap& map, const Box& box, MapRoads& roads,
                      Commands& commands);

}  // namespace attn
