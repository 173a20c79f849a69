#include "viz/step/timeline/map.h"

#include <algorithm>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"

namespace attn {

MapScene map_scene(const Recording& rec, const StepPlace& at) {
  MapScene scene;
  scene.rows = rec.query_tiles();
  scene.cols = rec.key_tiles();
  const OrderRow& order = order_row(rec.order);
  scene.i = order.of_query_tile(rec.events[at.event].id.phase) ? at.i : -1;
  scene.j = at.j;
  const std::int32_t first_pass = order.first_tile_pass(), last_pass = order.last_tile_pass();
  for (std::int32_t i = 0; i < scene.rows; ++i) {
    const std::int64_t r0 = static_cast<std::int64_t>(i) * at.br,
                       r1 = std::min<std::int64_t>(rec.problem.Lq, r0 + at.br);
    for (std::int32_t j = 0; j < scene.cols; ++j) {
      const std::int64_t c0 = static_cast<std::int64_t>(j) * at.bc,
                         c1 = std::min<std::int64_t>(rec.problem.Lk, c0 + at.bc);
      MapTile tile;
      const TileCover cover = rec.problem.cover(at.b, r0, r1, c0, c1);
      tile.partial = cover == TileCover::partial;
      tile.current = i == scene.i && j == scene.j;
      if (cover == TileCover::skipped) {
        tile.look = MapLook::skipped;
        ++scene.skipped;
      } else {
        const auto last = rec.find({at.b, at.h, i, j, order.ends_tile()}, last_pass);
        const auto first = rec.find({at.b, at.h, i, j, order.begins_tile()}, first_pass);
        if (last && *last <= at.event)
          tile.look = MapLook::done;
        else if (first && *first <= at.event)
          tile.look = MapLook::begun;
        (tile.look == MapLook::done ? scene.done : scene.to_come) += tile.current && tile.look != MapLook::done ? 0 : 1;
      }
      scene.tiles.push_back(tile);
    }
  }
  const std::int32_t all = scene.rows * scene.cols - scene.skipped;
  const bool at_work = scene.done + scene.to_come < all;
  const std::int32_t pass = rec.events[at.event].pass;
  // An order that walks in passes goes over all tiles in each: only the last finishes them.
  if (first_pass < last_pass && pass < last_pass)
    scene.words = {phrase("pass {} of {}", pass + 1, last_pass + 1)};
  else if (at_work)
    scene.words = {phrase("tile {} of {}", scene.done + 1, all)};
  else
    scene.words = {scene.to_come == 0 ? plural(all, "all {} tile done", "all {} tiles done")
                                      : phrase("{} of {} tiles done", scene.done, all)};
  if (scene.skipped > 0) scene.words.push_back(phrase("{} skipped", scene.skipped));
  const auto partial =
      std::count_if(scene.tiles.begin(), scene.tiles.end(), [](const MapTile& t) { return t.partial; });
  if (partial > 0) scene.words.push_back(phrase("{} partly masked", partial));
  return scene;
}

std::optional<EventIndex> event_of_tile(const Recording& rec, const StepPlace& at, std::int32_t i, std::int32_t j) {
  for (const Phase phase : {rec.events[at.event].id.phase, order_row(rec.order).begins_tile(), Phase::skipped}) {
    if (const auto e = rec.find({at.b, at.h, i, j, phase})) return e;
  }
  return std::nullopt;
}

}  // namespace attn
