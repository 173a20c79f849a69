#include "viz/step/charts/hindsight.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "kernels/base/text.h"
#include "viz/draw/number_text.h"
#include "viz/step/orders/looks.h"
#include "viz/step/place/place.h"

namespace attn {
namespace {

struct HindsightBuilder {
  const Recording& rec;
  const StepPlace& at;
  std::int32_t i = 0;
  EventIndex last = 0;

  VersionId version(Slot slot, std::int32_t j) const { return rec.tile_version(slot, at.b, at.h, i, j, last); }
  // O of the row before it is rounded to the dtype.
  std::span<const float> final_output() const {
    if (const auto e = rec.find({at.b, at.h, i, -1, Phase::normalise}))
      return row_of(rec, rec.after(*e, Slot::o_new), at.row);
    std::optional<EventIndex> newest;
    for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
      const auto e = rec.find({at.b, at.h, i, j, Phase::output});
      if (e && (!newest || *e > *newest)) newest = e;
    }
    return newest ? row_of(rec, rec.after(*newest, Slot::o_new), at.row) : std::span<const float>();
  }
  void compare(HindsightTile& tile, std::int32_t j, std::span<const float> final_row) const {
    const VersionId id = version(Slot::o_new, j);
    const auto now = row_of(rec, id, at.row);
    if (now.size() != final_row.size() || now.empty()) {
      tile.look = HindsightLook::skipped;
      return;
    }
    const bool normalised = rec.version(id).holds.normalised;
    const auto l = row_of(rec, version(Slot::l_new, j), at.row);
    const bool no_sum = !normalised && (l.empty() || l[0] == 0);
    tile.event = rec.version(id).made_by;
    tile.live = j == at.j;
    tile.to_come = tile.event > at.event;
    if (no_sum) {
      tile.look = HindsightLook::no_key;
      return;
    }
    for (std::size_t c = 0; c < now.size(); ++c) {
      // In fp32, as the kernel divides: after the last key the difference is exactly 0.
      const float quotient = normalised ? now[c] : now[c] / l[0];
      const double difference = std::abs(static_cast<double>(quotient) - static_cast<double>(final_row[c]));
      if (!std::isfinite(difference)) {
        tile.look = HindsightLook::not_finite;
        tile.col = static_cast<std::int32_t>(c);
        return;
      }
      if (difference > tile.difference) {
        tile.difference = difference;
        tile.col = static_cast<std::int32_t>(c);
      }
    }
  }
  TextRuns words() const { return woven(order_look(rec.order).hindsight); }
};

std::string words_of(const HindsightTile& tile) {
  switch (tile.look) {
    case HindsightLook::value:
      return tile.difference > 0 ? significant_text(tile.difference, 3) : tr("exactly 0");
    case HindsightLook::skipped:
      return {};
    case HindsightLook::no_key:
      return tr("no key yet");
    case HindsightLook::not_finite:
      return tr("not a number");
  }
  return {};
}

int decade_of(double x) {
  return static_cast<int>(std::floor(std::log10(x)));
}

}  // namespace

HindsightScene hindsight_scene(const Recording& rec, const StepPlace& at) {
  HindsightScene scene;
  scene.row = at.row;
  scene.right_to_left = rec.options.key_order == KeyOrder::right_to_left;
  const HindsightBuilder b{rec, at, at.row / std::max(at.br, 1), static_cast<EventIndex>(rec.events.size() - 1)};
  scene.words = b.words();
  const auto final_row = b.final_output();
  double min = std::numeric_limits<double>::max(), max = 0;
  for (std::int32_t n = 0; n < rec.key_tiles(); ++n) {
    // Left to right is the order of time, whichever way the keys were visited.
    const std::int32_t j = scene.right_to_left ? rec.key_tiles() - 1 - n : n;
    HindsightTile tile;
    tile.key_tile = j;
    tile.first_key = j * at.bc;
    tile.keys = static_cast<std::int32_t>(std::min<std::int64_t>(at.bc, rec.problem.Lk - tile.first_key));
    b.compare(tile, j, final_row);
    if (tile.look == HindsightLook::value && tile.difference > 0) {
      min = std::min(min, tile.difference);
      max = std::max(max, tile.difference);
    }
    tile.text = words_of(tile);
    scene.tiles.push_back(tile);
  }
  scene.any_value = max > 0;
  if (scene.any_value) {
    scene.min_decade = decade_of(min);
    scene.max_decade = std::max(decade_of(max) + 1, scene.min_decade + 1);
  }
  const bool seen = std::any_of(scene.tiles.begin(), scene.tiles.end(), [](const HindsightTile& t) {
    return t.look == HindsightLook::value || t.look == HindsightLook::not_finite;
  });
  if (!order_look(rec.order).output)
    scene.nothing = phrase("The order {} has no running output to compare.", name_of(rec.order));
  else if (!seen)
    scene.nothing = phrase("Row {} sees no key: its O is 0 by definition, so there is nothing to compare.", at.row);
  return scene;
}

}  // namespace attn
