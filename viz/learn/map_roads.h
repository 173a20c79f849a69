// How the roads of the map run: each from the edge of its stop to the edge of the next, with a head there, and through
// no third stop and no words. Pure, in pixels.
#pragma once

#include <cstddef>
#include <vector>

#include "viz/draw/label_places.h"

namespace attn {

struct RoadPoint {
  float x = 0, y = 0;
  bool operator==(const RoadPoint&) const = default;
};
struct RoadStop {
  RoadPoint centre;
  float radius = 0;  // of its edge
  bool operator==(const RoadStop&) const = default;
};
struct RoadEnds {
  std::size_t from = 0, to = 0;  // of the stops
  bool operator==(const RoadEnds&) const = default;
};
struct RoadPath {
  RoadPoint p0, c0, c1, p1;  // a cubic curve from edge to edge; its head points at p1
  RoadPoint at(float t) const;
  // A triangle: its tip is p1.
  RoadPoint head_left, head_right;
};
struct RoadGround {
  std::vector<RoadStop> stops;
  std::vector<LabelBox> words;  // of the stops, and the legend
  std::vector<RoadEnds> roads;
  LabelBox inside;
  float scale = 1;  // pixels of a logical one
  bool operator==(const RoadGround&) const = default;
};

RoadPath road_path(const RoadGround& ground, const RoadEnds& road);

// The ground and its paths, found anew where the ground is another.
struct MapRoads {
  RoadGround ground;
  std::vector<RoadPath> paths;  // of ground.roads
  void follow(RoadGround now);
};

}  // namespace attn
