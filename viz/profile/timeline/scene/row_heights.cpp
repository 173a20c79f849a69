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
constexpr float kLowestLane = 20, kLowestSlot = 7, kLowestProduct = 6, kLowQ = 9;  // where two must be seen at once

// What is left for each of `all` where `taken` is of the room.
float each_of(float room, float taken, float all, float least, float most) {
  return all < 1 ? most : std::clamp(std::floor((room - taken) / all), least, most);
}

// Rows of several scenes, by what sets their height.
struct Counted {
  float lanes = 0, slots = 0, products = 0;
  float copies = 0, gaps = 0, low_gaps = 0;  // pixels
  float lettered() const { return products * kLowProduct + lanes * kLeastLane + slots * kLeastLettered; }
  float lowest() const { return products * kLowestProduct + lanes * kLowestLane + slots * kLowestSlot; }
};

Counted counted(std::span<const PipelineScene* const> scenes, bool without_q) {
  Counted c;
  for (const PipelineScene* const s : scenes)
    for (const TimelineRow& row : s->rows) {
      if (without_q && row.of_q && !row.on_path) continue;
      c.gaps += row.gap;
      c.low_gaps += std::floor(row.gap / 2);
      if (row.kind == RowKind::computes) ++c.lanes;
      if (row.kind == RowKind::slot) ++c.slots;
      if (row.kind == RowKind::products) ++c.products;
      if (row.kind == RowKind::copies) c.copies += without_q && row.of_q ? kLowQ : row.height;
    }
  return c;
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
  return !without_q || !row.of_q ? row.height : row.on_path ? kLowQ : 0;
}

float RowHeights::above(const TimelineRow& row) const {
  if (without_q && row.of_q && !row.on_path) return 0;
  return low ? std::floor(row.gap / 2) : row.gap;
}

float least_rows_height(std::span<const PipelineScene* const> scenes, bool without_q) {
  const Counted c = counted(scenes, without_q);
  return c.copies + c.low_gaps + c.lowest();
}

RowHeights row_heights(std::span<const PipelineScene* const> scenes, float room, bool without_q) {
  RowHeights h;
  h.without_q = without_q;
  const Counted c = counted(scenes, without_q);
  room -= c.copies + c.gaps;
  if (scenes.size() > 1 && room < c.lettered()) {
    h.low = true;
    room += c.gaps - c.low_gaps - c.products * kLowestProduct;
    h.product = kLowestProduct;
    h.slot = kLowestSlot;
    h.lane = each_of(room, c.slots * h.slot, c.lanes, kLowestLane, kLeastLane);
    h.slot = each_of(room, c.lanes * h.lane, c.slots, h.slot, kLeastLettered);
    return h;
  }
  const bool narrow = room - c.products * kProduct < c.lanes * kLeastLane + c.slots * kLeastLettered;
  h.product = narrow ? kLowProduct : kProduct;
  room -= c.products * h.product;
  h.slot = each_of(room, c.lanes * kGoodLane, c.slots, kLeastLettered, kGoodSlot);
  h.lane = each_of(room, c.slots * h.slot, c.lanes, kLeastLane, kMostLane);
  h.slot = each_of(room, c.lanes * h.lane, c.slots, h.slot, kMostSlot);
  return h;
}

float all_rows_height(const PipelineScene& scene, const RowHeights& heights) {
  float height = 0;
  for (const TimelineRow& row : scene.rows) height += heights.above(row) + heights.of(row);
  return height;
}

}  // namespace attn
