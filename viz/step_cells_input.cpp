#include <algorithm>

#include "imgui_internal.h"
#include "viz/step_tiles_parts.h"

namespace attn::tiles {
namespace {

std::optional<CellRef> hit(const TileScene& tile, const TilePlace& place, ImVec2 p) {
  if (!place.box.contains(p) || place.cell_width <= 0) return std::nullopt;
  const auto c = static_cast<std::int32_t>((p.x - place.box.min.x) / place.cell_width);
  const auto below = std::upper_bound(place.y.begin(), place.y.end(), p.y);
  const auto r = static_cast<std::int32_t>(below - place.y.begin()) - 1;
  if (r < 0 || r >= tile.rows || c < 0 || c >= tile.cols) return std::nullopt;
  return tile.ref(r, c);
}

Select select_of(const TilesScene& scene, const CellRef& ref) {
  Select select{{scene.at.b, scene.at.h, scene.at.row, ref.slot, ref.col}};
  // A key's column pins that key's score; a value's column pins that column of O.
  if (ref.slot == Slot::k)
    select.selection.slot = Slot::s, select.selection.col = ref.row;
  else if (ref.slot == Slot::v)
    select.selection.slot = Slot::o_new;
  else
    select.selection.row = ref.row;
  return select;
}

// Tiles in the order in which left and right cross from one to the next.
std::vector<const TileScene*> row_tiles(const TilesScene& scene) {
  std::vector<const TileScene*> tiles;
  for (const Column c : scene.columns) tiles.push_back(&scene.tiles[static_cast<std::size_t>(c)]);
  return tiles;
}

void move_keyboard(const TilesScene& scene, CellRef& at, int dx, int dy) {
  const TileScene* tile = tile_of(scene, at.slot);
  if (tile == nullptr) return;
  std::int32_t r = (tile->transposed ? at.col - tile->first_row : at.row - tile->first_row) + dy;
  std::int32_t c = (tile->transposed ? at.row - tile->first_col : at.col - tile->first_col) + dx;
  // Over S's upper edge lies K, over O's lies V, and back.
  if (r < 0 && tile->slot == Slot::s)
    tile = &scene.k, r = tile->rows - 1;
  else if (r < 0 && tile == &scene.tiles[static_cast<std::size_t>(Column::o)])
    tile = &scene.v, r = tile->rows - 1;
  else if (r >= tile->rows && tile->slot == Slot::k)
    tile = &scene.tiles[kSTile], r = 0;
  else if (r >= tile->rows && tile->slot == Slot::v)
    tile = &scene.tiles[static_cast<std::size_t>(Column::o)], r = 0;
  const std::vector<const TileScene*> row = row_tiles(scene);
  const auto here = std::find(row.begin(), row.end(), tile);
  if (here != row.end() && c < 0 && here != row.begin())
    tile = *(here - 1), c = tile->cols - 1;
  else if (here != row.end() && c >= tile->cols && here + 1 != row.end())
    tile = *(here + 1), c = 0;
  at = tile->ref(std::clamp(r, 0, tile->rows - 1), std::clamp(c, 0, tile->cols - 1));
}

}  // namespace

// One invisible button a tile: what the pointer and the tests find.
void take_pointer(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout) {
  StepCache& cache = *panel.memory.cache;
  cache.hovered.reset();
  const auto button = [&](const char* id, const TileScene& tile, const TilePlace& place) {
    if (place.box.width() < 1 || place.box.height() < 1) return;
    ImGui::SetCursorScreenPos(place.box.min);
    const bool clicked = ImGui::InvisibleButton(id, {place.box.width(), place.box.height()});
    if (!ImGui::IsItemHovered()) return;
    cache.hovered = hit(tile, place, ImGui::GetMousePos());
    if (!clicked || !cache.hovered) return;
    const bool inside =
        tile.slot == Slot::k || tile.slot == Slot::v || cache.hovered->row < scene.at.first_row + scene.at.rows;
    if (inside) panel.commands.push_back(select_of(scene, *cache.hovered));
  };
  static constexpr const char* kIds[kColumns] = {"##tile_q",     "##tile_s",     "##tile_m_old",
                                                 "##tile_m_new", "##tile_alpha", "##tile_p",
                                                 "##tile_l_old", "##tile_l_new", "##tile_o"};
  for (const Column c : scene.columns) {
    const auto n = static_cast<std::size_t>(c);
    button(kIds[n], scene.tiles[n], layout.places[n]);
  }
  button("##tile_k", scene.k, layout.k);
  button("##tile_v", scene.v, layout.v);
}

// Tab enters the tiles, arrows move, Enter pins, Esc leaves. The keys are owned for the frame, so that neither
// Dear ImGui's tabbing nor the shell's stepping sees them.
void take_keys(const TilesPanel& panel, const TilesScene& scene) {
  StepMemory& memory = panel.memory;
  StepCache& cache = *memory.cache;
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
    return;
  const ImGuiID owner = ImGui::GetID("##step_cells");
  ImGui::SetKeyOwner(ImGuiKey_Tab, owner);
  if (!memory.cells_focused) {
    if (!ImGui::IsKeyPressed(ImGuiKey_Tab, ImGuiInputFlags_None, owner) || io.KeyCtrl) return;
    memory.cells_focused = true;
    if (!cache.keyboard || cell_of(scene, *cache.keyboard) == nullptr)
      cache.keyboard = pointed_cell(scene, panel.state, memory);
    if (!cache.keyboard) cache.keyboard = scene.tiles[kSTile].ref(0, 0);
    return;
  }
  if (!cache.keyboard || cell_of(scene, *cache.keyboard) == nullptr)
    cache.keyboard = scene.tiles[kSTile].ref(scene.at.row - scene.at.first_row, 0);
  const auto pressed = [&](ImGuiKey key) {
    ImGui::SetKeyOwner(key, owner);
    return ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, owner);
  };
  if (pressed(ImGuiKey_Escape) || ImGui::IsKeyPressed(ImGuiKey_Tab, ImGuiInputFlags_None, owner)) {
    memory.cells_focused = false;
    return;
  }
  const bool plain = !io.KeyCtrl && !io.KeyShift;
  if (!plain) return;
  if (pressed(ImGuiKey_LeftArrow)) move_keyboard(scene, *cache.keyboard, -1, 0);
  if (pressed(ImGuiKey_RightArrow)) move_keyboard(scene, *cache.keyboard, 1, 0);
  if (pressed(ImGuiKey_UpArrow)) move_keyboard(scene, *cache.keyboard, 0, -1);
  if (pressed(ImGuiKey_DownArrow)) move_keyboard(scene, *cache.keyboard, 0, 1);
  if (pressed(ImGuiKey_Enter)) panel.commands.push_back(select_of(scene, *cache.keyboard));
}

}  // namespace attn::tiles
