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

RowHeights row_heights(std::span<const PipelineScene* const> scenes, float room) {
  float lanes = 0, slots = 0, products = 0;
  for (const PipelineScene* const s : scenes)
    for (const TimelineRow& row : s->rows) {
      room -= row.gap;
      if (row.kind == RowKind::computes) ++lanes;
      if (row.kind == RowKind::slot) ++slots;
      if (row.kind == RowKind::products) ++products;
      if (row.kind == RowKind::copies) room -= row.height;
    }
  RowHeights h;
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
  for (const TimelineRow& row : scene.rows) height += row.gap + heights.of(row);
  return height;
}

}  // namespace attn
