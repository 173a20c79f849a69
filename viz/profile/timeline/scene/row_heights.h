// How high the rows of a timeline are, so that all of them and their letters stand on one screen: pure, in logical
// pixels.
#pragma once

#include <span>

#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

constexpr float kLeastLettered = 13;  // a letter is no taller than its box

// Of a lane that computes, a slot of the ring, a lane's products.
struct RowHeights {
  float lane = 40, slot = 18, product = 11;
  bool low = false;        // between rows there is half as much then
  bool without_q = false;  // the lane that copies Q alone is left out, or low where the path runs through it
  float of(const TimelineRow& row) const;
  float above(const TimelineRow& row) const;
};
// Of these scenes together in `room`, gaps and all. Where there is too little, rows stay as high as letters are: they
// take more. Two become as low as it takes for both to be seen, letters or not: what differs is their shape.
RowHeights row_heights(std::span<const PipelineScene* const> scenes, float room, bool without_q = false);
// What two take at least.
float least_rows_height(std::span<const PipelineScene* const> scenes, bool without_q);
float all_rows_height(const PipelineScene& scene, const RowHeights& heights);

}  // namespace attn
