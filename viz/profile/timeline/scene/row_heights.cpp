#include "viz/profile/timeline/scene/row_heights.h"

#include <algorithm>
#include <cmath>

namespace attn {
namespace {

// A wait is the lower part of its lane, and has letters too.
constexpr float kLeastLane = 31, kGoodLane = 34, kMostLane = 68;
static_assert(kLeastLane * (1 - kWaitTop) >= kLeastLettered);
constexpr float kGoodSlot = 18, kMostSlot = 20;
constexpr float kProduct = 11, kLowProduct = 9;
constexpr float kLowestLane = 22, kLowestSlot = 7, kLowestProduct = 6;  // where two must be seen at once

// What is left for each of `all` where `taken` is of the room.
float each_of(float room, float taken, float all, float least, float most) {
  return all < 1 ? most : std::clamp(std::floor((room - taken) / all), least, most);
}

}  // namespace

float RowHeights::of(const TimelineRow& row) const {
  switch (row.kind) {
    case RowKind::computes:
      return lane;
    case RowKind::slot:
      return slot;
    case RowKind::products:
      return product;
    case RowKind::copies:
      break;
  }
  return row.height;
}

float RowHeights::above(const TimelineRow& row) const {
  return low ? std::floor(row.gap / 2) : row.gap;
}

RowHeights row_heights(std::span<const PipelineScene* const> scenes, float room) {
  RowHeights h;
  float lanes = 0, slots = 0, products = 0, saved = 0;
  for (const PipelineScene* const s : scenes)
    for (const TimelineRow& row : s->rows) {
      room -= row.gap;
      saved += row.gap - std::floor(row.gap / 2);
      if (row.kind == RowKind::computes) ++lanes;
      if (row.kind == RowKind::slot) ++slots;
      if (row.kind == RowKind::products) ++products;
      if (row.kind == RowKind::copies) room -= row.height;
    }
  const float lettered = products * kLowProduct + lanes * kLeastLane + slots * kLeastLettered;
  const float lowest = products * kLowestProduct + lanes * kLowestLane + slots * kLowestSlot;
  if (scenes.size() > 1 && room < lettered && room + saved >= lowest) {
    h.low = true;
    room += saved - products * kLowestProduct;
    h.product = kLowestProduct;
    h.slot = kLowestSlot;
    h.lane = each_of(room, slots * h.slot, lanes, kLowestLane, kLeastLane);
    h.slot = each_of(room, lanes * h.lane, slots, h.slot, kLeastLettered);
    return h;
  }
  const bool narrow = room - products * kProduct < lanes * kLeastLane + slots * kLeastLettered;
  h.product = narrow ? kLowProduct : kProduct;
  room -= products * h.product;
  h.slot = each_of(room, lanes * kGoodLane, slots, kLeastLettered, kGoodSlot);
  h.lane = each_of(room, slots * h.slot, lanes, kLeastLane, kMostLane);
  h.slot = each_of(room, lanes * h.lane, slots, h.slot, kMostSlot);
  return h;
}

float all_rows_height(const PipelineScene& scene, const RowHeights& heights) {
  float height = 0;
  for (const TimelineRow& row : scene.rows) height += heights.above(row) + heights.of(row);
  return height;
}

}  // namespace attn
