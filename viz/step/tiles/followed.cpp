// Which cell is spelled out, and where a cell stands in the scene.
#include <cmath>
#include <optional>

#include "kernels/model/order_row.h"
#include "viz/step/tiles/pointed.h"

namespace attn {
namespace {

// Where no maximum is followed: what the step made, of the followed row or of the key with its largest score.
std::optional<Pointed> made_cell(const TilesScene& scene) {
  const std::int32_t r = scene.at.row - scene.at.first_row;
  const TileScene& s = scene.tiles[static_cast<std::size_t>(*scene.look->scores)];
  std::int32_t best = 0;
  for (std::int32_t c = 1; s.live && c < scene.at.keys; ++c)
    if (s.cell(r, c).look == CellLook::value && !(s.cell(r, c).value <= s.cell(r, best).value)) best = c;
  const auto cell = [&](const TileScene& tile) {
    const bool keys = slot_row(tile.slot).columns == SlotColumns::keys;
    return Pointed{tile.by_key ? tile.ref(best, 0) : tile.ref(r, keys ? best : 0), PointedBy::step};
  };
  for (const SideTile& side : scene.sides)
    if (side.below && side.tile.made) return cell(side.tile);
  for (auto c = scene.columns.rbegin(); c != scene.columns.rend(); ++c) {
    const TileScene& tile = scene.tiles[static_cast<std::size_t>(*c)];
    if (tile.made && !slot_row(tile.slot).input) return cell(tile);
  }
  return std::nullopt;
}

// The step's own: O while it is made or all that is left, else the row's largest score of the tile, which m looks at; a
// NaN before all, since it is what happens to the row. None where the row holds neither.
std::optional<Pointed> own_cell(const TilesScene& scene) {
  if (scene.look->scores && !scene.look->maximum) return made_cell(scene);
  const std::int32_t r = scene.at.row - scene.at.first_row;
  static const TileScene kNone;
  const auto tile = [&](const std::optional<Column>& c) -> const TileScene& {
    return c ? scene.tiles[static_cast<std::size_t>(*c)] : kNone;
  };
  const TileScene &o = tile(scene.look->output), &s = tile(scene.look->scores);
  if (o.live && (o.made || !s.live)) return Pointed{o.ref(r, 0), PointedBy::output};
  std::optional<CellRef> best;
  float max = 0;
  for (std::int32_t c = 0; c < s.cols; ++c) {
    const Cell& cell = s.cell(r, c);
    if (cell.look != CellLook::value || (best && !(cell.value > max) && !std::isnan(cell.value))) continue;
    best = s.ref(r, c);
    max = cell.value;
    if (std::isnan(max)) break;
  }
  // A row that may see no key here: why.
  if (!best && s.live && !s.cells.empty() && s.cell(r, 0).look == CellLook::masked) best = s.ref(r, 0);
  if (!best) return std::nullopt;
  return Pointed{*best, PointedBy::score};
}

}  // namespace

const TileScene* tile_of(const TilesScene& scene, Slot slot) {
  if (slot == Slot::k && scene.k.rows > 0) return &scene.k;
  if (slot == Slot::v && scene.v.rows > 0) return &scene.v;
  for (const ColumnLook& c : scene.look->columns)
    if (c.slot == slot || c.other == slot) {
      const TileScene& tile = scene.tiles[static_cast<std::size_t>(c.column)];
      return tile.folded ? nullptr : &tile;
    }
  for (const SideTile& side : scene.sides)
    if (side.tile.slot == slot) return &side.tile;
  return nullptr;
}

const Cell* cell_of(const TilesScene& scene, const CellRef& ref) {
  const TileScene* tile = tile_of(scene, ref.slot);
  if (tile == nullptr) return nullptr;
  const std::int32_t r = (tile->transposed ? ref.col - tile->first_row : ref.row - tile->first_row);
  const std::int32_t c = (tile->transposed ? ref.row - tile->first_col : ref.col - tile->first_col);
  if (r < 0 || c < 0 || r >= tile->rows || c >= tile->cols) return nullptr;
  return &tile->cell(r, c);
}

std::optional<Pointed> pointed_cell(const TilesScene& scene, const State& state, const TilesUiState& ui) {
  if (ui.hovered) return Pointed{*ui.hovered, PointedBy::pointer};
  if (ui.focused && ui.keyboard) return Pointed{*ui.keyboard, PointedBy::keyboard};
  const Selection& pinned = state.document.selection;
  if (pinned.col >= 0) {
    const CellRef ref{pinned.slot, scene.at.row, pinned.col};
    const Cell* cell = cell_of(scene, ref);
    if (cell != nullptr && (cell->look == CellLook::value || cell->look == CellLook::masked))
      return Pointed{ref, PointedBy::pin};
  }
  return own_cell(scene);
}

}  // namespace attn
