// What a lesson does not speak of has no place and no tile.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/model/order_row.h"
#include "viz/step/facts/focus.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {
namespace {

TileScene& tile_in(TilesScene& scene, Column c) {
  return scene.tiles[static_cast<std::size_t>(c)];
}

// As in an order that has no such tile, but its numbers are still printed as they were typed.
TileScene absent(const TileScene& tile) {
  TileScene none;
  none.natural = tile.natural;
  return none;
}

// Whether something meant stands over the column or under it, and has its place from it.
bool carries(const TilesScene& scene, Column c, bool k, bool v) {
  const ColumnLook* column = scene.look->column(c);
  if (column != nullptr && ((k && column->above == Slot::k) || (v && column->above == Slot::v))) return true;
  return std::ranges::any_of(scene.sides, [c](const SideTile& side) { return side.column == c; });
}

bool has_number(const TileScene& tile) {
  return std::ranges::any_of(tile.cells, [](const Cell& cell) { return cell.look == CellLook::value; });
}

}  // namespace

bool is_of_first_keys(const Recording& rec, EventIndex e) {
  const EventId& id = rec.events[e].id;
  const auto lane = rec.lane_of(e);
  // What merges parts is of none.
  if (id.j < 0 || (!lane && order_row(rec.order).abreast == Abreast::parts)) return false;
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
    const auto sum = j == id.j ? std::nullopt : rec.find({id.b, id.h, id.i, j, Phase::sum});
    if (sum && *sum < e && rec.lane_of(*sum) == lane) return false;
  }
  return true;
}

void keep_answers_back(TilesScene& scene) {
  scene.next_any = false;
  for (const Column c : scene.columns)
    if (!has_number(tile_in(scene, c))) scene.captions[static_cast<std::size_t>(c)] = {};
  for (SideTile& side : scene.sides)
    if (!has_number(side.tile)) side.caption = {};
}

void fold_tiles(TilesScene& scene, const StepFocus& look) {
  if (look.parts.none() || scene.columns.empty()) return;
  const bool k = scene.k.rows > 0 && look.has(scene.k.hue), v = scene.v.rows > 0 && look.has(scene.v.hue);
  const bool rows = std::ranges::any_of(scene.columns, [&](Column c) { return look.has(tile_in(scene, c).hue); });
  if (!k && !v && !rows) return;
  scene.folded = true;
  scene.rows_folded = !rows;
  scene.chip_folded = !look.has(StepPart::chip);
  std::erase_if(scene.sides, [&](const SideTile& side) { return !look.has(side.tile.hue); });
  if (!k) scene.k = absent(scene.k);
  if (!v) scene.v = absent(scene.v);
  for (const Column c : scene.columns) {
    TileScene& tile = tile_in(scene, c);
    tile.folded = !look.has(tile.hue);
    if (!tile.folded) continue;
    tile.made = tile.brought = false;
    tile.title.clear();
    scene.captions[static_cast<std::size_t>(c)] = {};
    if (scene.next_column == c) scene.next_any = false;
  }
  std::erase_if(scene.columns, [&](Column c) { return tile_in(scene, c).folded && !carries(scene, c, k, v); });
  // There is nothing yet that the factor could correct.
  if (!scene.first_keys || look.has(TensorColour::alpha)) return;
  for (CaptionScene& caption : scene.captions)
    std::erase_if(caption.words, [](const TextRun& run) { return run.text == "α"; });
}

}  // namespace attn
