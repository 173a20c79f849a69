#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "imgui_internal.h"
#include "imgui_stdlib.h"
#include "kernels/base/text.h"
#include "kernels/model/inputs/input_spec.h"
#include "viz/draw/finger_field.h"
#include "viz/draw/hands.h"
#include "viz/draw/widgets.h"
#include "viz/step/tiles/parts_draw.h"
#include "viz/step/tiles/pointed.h"
#include "viz/step/tiles/tiles_draw.h"

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
  if (const auto& pins = scene.look->slot(ref.slot).pins) {
    select.selection.slot = pins->slot;
    if (pins->key_as_column) select.selection.col = ref.row;
  } else if (slot_row(ref.slot).rows == SlotRows::queries) {
    select.selection.row = ref.row;
  }
  return select;
}

// The row stays followed.
Select released_pin(Selection selection) {
  selection.col = -1;
  return {selection};
}

// What is pinned already is let go.
Select pin_or_release(const TilesPanel& panel, const TilesScene& scene, const CellRef& ref) {
  const Select select = select_of(scene, ref);
  return select.selection == panel.state.document.selection ? released_pin(select.selection) : select;
}

// Tiles in the order in which left and right cross from one to the next.
std::vector<const TileScene*> row_tiles(const TilesScene& scene) {
  std::vector<const TileScene*> tiles;
  tiles.reserve(scene.columns.size());
  for (const Column c : scene.columns) tiles.push_back(&scene.tiles[static_cast<std::size_t>(c)]);
  return tiles;
}

void move_keyboard(const TilesScene& scene, CellRef& at, int dx, int dy) {
  const TileScene* tile = tile_of(scene, at.slot);
  if (tile == nullptr) return;
  std::int32_t r = (tile->transposed ? at.col - tile->first_row : at.row - tile->first_row) + dy;
  std::int32_t c = (tile->transposed ? at.row - tile->first_col : at.col - tile->first_col) + dx;
  // Over S's upper edge lies K, over O's lies V, and back.
  const TileScene* from = tile;
  for (const ColumnLook& column : scene.look->columns) {
    const TileScene* below = &scene.tiles[static_cast<std::size_t>(column.column)];
    const TileScene* above = column.above ? tile_of(scene, *column.above) : nullptr;
    const TileScene* under = column.below ? tile_of(scene, *column.below) : nullptr;
    if (above != nullptr && r < 0 && from == below) tile = above, r = tile->rows - 1;
    if (above != nullptr && r >= from->rows && from == above) tile = below, r = 0;
    if (under != nullptr && r >= from->rows && from == below) tile = under, r = 0;
    if (under != nullptr && r < 0 && from == under) tile = below, r = tile->rows - 1;
  }
  const std::vector<const TileScene*> row = row_tiles(scene);
  const auto here = std::find(row.begin(), row.end(), tile);
  if (here != row.end() && c < 0 && here != row.begin())
    tile = *(here - 1), c = tile->cols - 1;
  else if (here != row.end() && c >= tile->cols && here + 1 != row.end())
    tile = *(here + 1), c = 0;
  at = tile->ref(std::clamp(r, 0, tile->rows - 1), std::clamp(c, 0, tile->cols - 1));
}

// The tensor that a slot's cells are of; none: it is computed, if only by the forward before.
std::optional<InputTensor> input_of(Slot slot) {
  constexpr std::pair<Slot, InputTensor> kInputs[] = {
      {Slot::q, InputTensor::q}, {Slot::k, InputTensor::k}, {Slot::v, InputTensor::v}};
  const auto* const at = std::ranges::find(kInputs, slot, &std::pair<Slot, InputTensor>::first);
  if (at != std::end(kInputs)) return at->second;
  return name_of(slot) == "do" ? std::optional(InputTensor::d_o) : std::nullopt;
}

// Only inputs are typed. An empty `text` starts from the value that stands there.
bool start_editing(const TilesPanel& panel, const TilesScene& scene, const CellRef& ref, const std::string& text) {
  const Cell* cell = cell_of(scene, ref);
  if (!input_of(ref.slot) || cell == nullptr || cell->look != CellLook::value) return false;
  TilesUiState& ui = panel.ui;
  ui.editing = ref;
  ui.editing_starts = true;
  const std::string start = text.empty() ? fmt::format("{}", cell->value) : text;
  ui.typed.fill('\0');
  start.copy(ui.typed.data(), ui.typed.size() - 1);
  return true;
}

// Begins a number, or the field with what stands in it.
bool begins_answer(ImWchar c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '(';
}

// The cell that a lesson asks for, as drawn; none where it holds something or is too small for numbers.
std::optional<Box> asked_box(const TilesUiState& ui, const TilesScene& scene, const TilesLayout& layout) {
  if (!ui.asked) return std::nullopt;
  const CellRef& ref = ui.asked->cell;
  const Cell* cell = cell_of(scene, ref);
  if (cell == nullptr || cell->look != CellLook::empty) return std::nullopt;
  for (const Column c : scene.columns) {
    const auto n = static_cast<std::size_t>(c);
    const TileScene& tile = scene.tiles[n];
    if (&tile != tile_of(scene, ref.slot)) continue;
    const std::int32_t row = ref.row - tile.first_row;
    const TilePlace& place = layout.places[n];
    if (place.room == 0 && place.only_row != row) return std::nullopt;
    return place.cell(row, ref.col - tile.first_col);
  }
  return std::nullopt;
}

int to_end_once(ImGuiInputTextCallbackData* data) {
  auto& ui = *static_cast<TilesUiState*>(data->UserData);
  if (!ui.asked_to_end) return 0;
  data->ClearSelection();
  data->CursorPos = data->BufTextLen;
  ui.asked_to_end = false;
  return 0;
}

// On the cell that is asked for, Enter opens its field, and so does what a number begins with. The field has the
// keyboard two frames later: until then what is typed goes on here. Whether the keys were its own.
bool start_answer(TilesUiState& ui) {
  if (!ui.asked || ui.keyboard != ui.asked->cell) return false;
  for (const ImWchar c : ImGui::GetIO().InputQueueCharacters) {
    if (ui.asked_catches ? c <= ' ' || c >= 0x7f : !begins_answer(c)) continue;
    if (!ui.asked_catches && ui.asked->missed) ui.asked->typed.clear();
    ui.asked->typed += static_cast<char>(c);
    ui.asked_catches = ui.asked_starts = ui.asked_to_end = true;
  }
  if (!ui.asked_catches && ImGui::IsKeyPressed(ImGuiKey_Enter, false))
    ui.asked_catches = ui.asked_starts = ui.asked_to_end = true;
  return ui.asked_catches;
}

// The document's inputs with one cell typed; edits stay sorted by (tensor, index).
InputSpec with_edit(const Recording& rec, const TilesScene& scene, InputSpec inputs, const CellRef& ref, float value) {
  const Problem& p = rec.problem;
  const SlotRow& slot = slot_row(ref.slot);
  const bool by_key = slot.rows == SlotRows::keys;
  const std::int64_t head = by_key ? scene.at.b * p.Hkv + p.kv_head(scene.at.h) : scene.at.b * p.Hq + scene.at.h;
  const std::int64_t rows = by_key ? p.Lk : p.Lq, cols = slot.columns == SlotColumns::value_head ? p.Dv : p.D;
  const CellEdit edit{*input_of(ref.slot), (head * rows + ref.row) * cols + ref.col, value};
  const auto before = [](const CellEdit& a, const CellEdit& b) {
    return std::pair(a.tensor, a.index) < std::pair(b.tensor, b.index);
  };
  const auto at = std::lower_bound(inputs.edits.begin(), inputs.edits.end(), edit, before);
  if (at != inputs.edits.end() && !before(edit, *at))
    at->value = value;
  else
    inputs.edits.insert(at, edit);
  return inputs;
}

}  // namespace

// One invisible button a tile: what the pointer and the tests find.
void take_pointer(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout) {
  TilesUiState& ui = panel.ui;
  ui.hovered.reset();
  const ImGuiIO& io = ImGui::GetIO();
  if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || ImGui::IsAnyMouseDown()) ui.pointer_rests = false;
  const auto button = [&](const char* id, const TileScene& tile, const TilePlace& place) {
    if (place.box.width() < 1 || place.box.height() < 1 || tile.folded) return;
    ImGui::SetCursorScreenPos(place.box.min);
    if (ui.asked && tile_of(scene, ui.asked->cell.slot) == &tile) ImGui::SetNextItemAllowOverlap();
    const bool clicked = ImGui::InvisibleButton(id, {place.box.width(), place.box.height()});
    if (!ImGui::IsItemHovered() || ui.pointer_rests) return;
    const std::optional<CellRef> at = hit(tile, place, ImGui::GetMousePos());
    if (!at) return;
    // A finger that was lifted lies on nothing.
    if (!by_touch()) ui.hovered = at;
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) start_editing(panel, scene, *at, "");
    if (!clicked || ui.editing) return;
    const bool inside = tile.by_key || at->row < scene.at.first_row + scene.at.rows;
    // A second click lets go, but on an input it may be the first of the two that open the field: Escape lets go there.
    const bool input = input_of(tile.slot).has_value();
    if (inside) panel.commands.push_back(input ? select_of(scene, *at) : pin_or_release(panel, scene, *at));
  };
  for (const ColumnLook& column : scene.look->columns) {
    const auto n = static_cast<std::size_t>(column.column);
    button(std::string(column.id).c_str(), scene.tiles[n], layout.places[n]);
  }
  button("##tile_k", scene.k, layout.k);
  button("##tile_v", scene.v, layout.v);
  for (std::size_t n = 0; n < scene.sides.size(); ++n) {
    const TileScene& tile = scene.sides[n].tile;
    // K stands there a second time.
    const bool again = tile_of(scene, tile.slot) != &tile;
    button(fmt::format("##tile_{}{}", name_of(tile.slot), again ? "_again" : "").c_str(), tile, layout.sides[n]);
  }
  // A tap beside the tiles lets go, as Escape does.
  const bool beside = by_touch() && ImGui::IsWindowHovered() && !ImGui::IsAnyItemHovered();
  if (beside && ImGui::IsMouseClicked(ImGuiMouseButton_Left) && panel.state.document.selection.col >= 0)
    panel.commands.push_back(released_pin(panel.state.document.selection));
}

// Tab enters the tiles, arrows move, Enter pins or lets go, Esc leaves, and outside lets go of the pin. The keys are
// owned for the frame, so that neither Dear ImGui's tabbing nor the shell's stepping sees them.
void take_keys(const TilesPanel& panel, const TilesScene& scene) {
  TilesUiState& ui = panel.ui;
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || !ui.asked) ui.asked_catches = false;
  if (io.WantTextInput || ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
    return;
  const ImGuiID owner = ImGui::GetID("##step_cells");
  if (!ui.tab_elsewhere) ImGui::SetKeyOwner(ImGuiKey_Tab, owner);
  if (!ui.focused) {
    // The sheet of keys closes first.
    const bool released =
        !panel.state.view.keys_sheet && ImGui::IsKeyPressed(ImGuiKey_Escape, ImGuiInputFlags_None, owner);
    if (released && panel.state.document.selection.col >= 0)
      panel.commands.push_back(released_pin(panel.state.document.selection));
    const bool enters = !ui.tab_elsewhere && ImGui::IsKeyPressed(ImGuiKey_Tab, ImGuiInputFlags_None, owner);
    if (!enters || io.KeyCtrl) return;
    ui.focused = true;
    if (ui.keyboard && cell_of(scene, *ui.keyboard) == nullptr) ui.keyboard.reset();
    if (!ui.keyboard) {
      const auto now = pointed_cell(scene, panel.state, ui);
      ui.keyboard = now && cell_of(scene, now->cell) != nullptr ? now->cell : first_tile(scene).ref(0, 0);
    }
    return;
  }
  if (!ui.keyboard || cell_of(scene, *ui.keyboard) == nullptr)
    ui.keyboard = first_tile(scene).ref(scene.at.row - scene.at.first_row, 0);
  const auto pressed = [&](ImGuiKey key) {
    ImGui::SetKeyOwner(key, owner);
    return ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, owner);
  };
  if (pressed(ImGuiKey_Escape) || ImGui::IsKeyPressed(ImGuiKey_Tab, ImGuiInputFlags_None, owner)) {
    ui.focused = false;
    return;
  }
  const bool plain = !io.KeyCtrl && !io.KeyShift;
  if (!plain) return;
  if (pressed(ImGuiKey_LeftArrow)) move_keyboard(scene, *ui.keyboard, -1, 0);
  if (pressed(ImGuiKey_RightArrow)) move_keyboard(scene, *ui.keyboard, 1, 0);
  if (pressed(ImGuiKey_UpArrow)) move_keyboard(scene, *ui.keyboard, 0, -1);
  if (pressed(ImGuiKey_DownArrow)) move_keyboard(scene, *ui.keyboard, 0, 1);
  if (start_answer(ui)) {
    ImGui::SetKeyOwner(ImGuiKey_Enter, owner);
    return;
  }
  // A digit or a sign begins a new number, as in a spreadsheet.
  for (const ImWchar c : io.InputQueueCharacters) {
    const bool begins = (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (begins && start_editing(panel, scene, *ui.keyboard, std::string(1, static_cast<char>(c)))) return;
  }
  if (pressed(ImGuiKey_Enter)) panel.commands.push_back(pin_or_release(panel, scene, *ui.keyboard));
}

bool takes_numbers(const TileScene& tile, const TilePlace& place) {
  const auto holds = [](const Cell& cell) { return cell.look == CellLook::value; };
  return input_of(tile.slot) && !tile.folded && place.room > 0 && std::ranges::any_of(tile.cells, holds);
}

void take_pencils(const TilesPanel& panel, const TilesScene& scene) {
  const Style& s = style();
  const auto type_into = [&](const TileScene& tile) {
    // The followed row's where it has one, else the first that holds a number.
    const std::int32_t row = tile.by_key ? 0 : scene.at.row - scene.at.first_row;
    return start_editing(panel, scene, tile.ref(std::clamp(row, 0, std::max(tile.rows - 1, 0)), 0), "");
  };
  for (const PencilPlace& pencil : panel.ui.pencils) {
    const TileScene* tile = tile_of(scene, pencil.slot);
    if (tile == nullptr) continue;
    const float side = s.px(18);
    const Box box{{pencil.left, pencil.middle - side / 2}, {pencil.left + side, pencil.middle + side / 2}};
    // A finger's reaches over the cells, which come first.
    const Box pressed = box.grown(s.px(beyond_edge(18)));
    ImGui::SetCursorScreenPos(pressed.min);
    const bool clicked = ImGui::InvisibleButton(fmt::format("##pencil_{}", name_of(pencil.slot)).c_str(),
                                                {pressed.width(), pressed.height()});
    draw_pencil(ImGui::GetWindowDrawList(), box.centre(), 11,
                colour_of(ImGui::IsItemHovered() ? Token::text : Token::dim));
    tooltip(for_hands(tr("Type your own numbers: double-click a cell, or press Tab, go to a cell with the arrow keys, "
                         "and type"),
                      tr("Type your own numbers: double-tap a cell")));
    if (clicked) type_into(*tile);
  }
  if (!std::exchange(panel.ui.type_next, false)) return;
  std::vector<const TileScene*> inputs = row_tiles(scene);
  inputs.push_back(&scene.k), inputs.push_back(&scene.v);
  for (const SideTile& side : scene.sides) inputs.push_back(&side.tile);
  for (const TileScene* tile : inputs)
    if (type_into(*tile)) return;
  // What this step no longer holds the first one brings.
  if (panel.state.view.step.cursor == 0) return;
  panel.commands.emplace_back(GoToEnd{false});
  panel.ui.type_next = true;
}

void draw_asked_cell(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout) {
  TilesUiState& ui = panel.ui;
  const std::optional<Box> cell = asked_box(ui, scene, layout);
  if (!cell) {
    ui.asked.reset();  // the card's field alone
    ui.asked_starts = ui.asked_catches = false;
    return;
  }
  AskedCell& asked = *ui.asked;
  const Style& s = style();
  const float text = std::clamp(cell->height() / s.scale - 8, 11.0F, 14.0F);
  const float width = std::max(cell->width() - s.px(2), s.px(44)), height = s.px(text + 8);
  const Box box{{cell->centre().x - width / 2, cell->centre().y - height / 2},
                {cell->centre().x + width / 2, cell->centre().y + height / 2}};
  const std::string words = asked.typed.empty() ? "?" : asked.typed;
  const float side = std::max(s.px(4), (width - text_width(Face::mono, text, words)) / 2 - s.px(1));
  ImGui::SetCursorScreenPos(box.min);
  ImGui::SetNextItemWidth(width);
  ImGui::PushFont(s.fonts.mono, s.px(text));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {side, (height - s.px(text)) / 2});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, std::max(1.0F, s.px(asked.missed ? 2.0F : 1.5F)));
  ImGui::PushStyleColor(ImGuiCol_Border, colour_of(Token::text));
  if (ui.asked_starts) ImGui::SetKeyboardFocusHere();
  // A field cuts at its edge what is too long: while nobody types in it the number is rounded instead.
  const int room = static_cast<int>((width - s.px(10)) / text_width(Face::mono, text, "0"));
  const std::string shown = at_rest(asked.typed, room);
  const bool rounds =
      !asked.hidden && shown != asked.typed && !ui.asked_starts && ImGui::GetActiveID() != ImGui::GetID("##asked_cell");
  if (rounds) ImGui::PushStyleColor(ImGuiCol_Text, 0U);
  const ImGuiInputTextFlags hidden = asked.hidden ? ImGuiInputTextFlags_Password : ImGuiInputTextFlags_None;
  asked.entered = ImGui::InputTextWithHint("##asked_cell", "?", &asked.typed,
                                           ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll |
                                               ImGuiInputTextFlags_CallbackAlways | hidden,
                                           to_end_once, &ui);
  if (rounds) {
    ImGui::PopStyleColor();
    draw_text_in(ImGui::GetWindowDrawList(), box, Align::centre, Face::mono, text, colour_of(Token::text), shown);
  }
  if (ImGui::IsItemActive()) ui.asked_starts = false;
  // The card has the keyboard again: it goes on from here.
  if (asked.entered) ui.focused = false;
  const bool at_rest = !ImGui::IsItemActive();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  ImGui::PopFont();
  if (at_rest)
    tooltip(
        for_hands(tr("As on the card. Press Enter to check your prediction."), tr("Your prediction, as on the card")));
}

namespace {

// Over the cell.
FieldEnd keyboard_field(TilesUiState& ui, const Box& cell) {
  const Style& s = style();
  const float width = std::max(cell.width(), s.px(64)), height = s.px(24);
  ImGui::SetCursorScreenPos({cell.centre().x - width / 2, cell.centre().y - height / 2});
  ImGui::SetNextItemWidth(width);
  ImGui::PushFont(s.fonts.mono, s.px(13));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {s.px(6), (height - s.px(13)) / 2});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, std::max(1.0F, s.px(1)));
  ImGui::PushStyleColor(ImGuiCol_Border, colour_of(Token::text));
  const bool starts = ui.editing_starts;
  if (starts) ImGui::SetKeyboardFocusHere();
  const bool entered = ImGui::InputText("##cell_edit", ui.typed.data(), ui.typed.size(),
                                        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CharsScientific);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  ImGui::PopFont();
  const bool left = ImGui::IsItemDeactivated();
  if (starts || (!entered && !left)) return FieldEnd::none;
  // Esc gives the field's old text back, so nothing changes.
  return ImGui::IsKeyPressed(ImGuiKey_Escape, false) ? FieldEnd::cancelled : FieldEnd::accepted;
}

// Above the tile, whose cells and row numbers stay in sight; where there is no room, below it.
FieldEnd touch_field(TilesUiState& ui, const Box& cell, const Box& tile) {
  const float gap = style().px(4);
  const ImVec2 size = finger_field_size();
  const ImRect& seen = ImGui::GetCurrentWindow()->ClipRect;
  const float x =
      std::clamp(cell.centre().x - size.x / 2, seen.Min.x + gap, std::max(seen.Min.x + gap, seen.Max.x - size.x - gap));
  const float above = tile.min.y - gap - size.y, below = tile.max.y + gap;
  const float y = above >= seen.Min.y || below + size.y > seen.Max.y ? std::max(above, seen.Min.y) : below;
  return finger_field("##cell_edit", {x, y}, ui.typed, ui.editing_starts);
}

}  // namespace

void edit_cell(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout) {
  TilesUiState& ui = panel.ui;
  if (!ui.editing) return;
  const CellRef ref = *ui.editing;
  const TileScene* tile = tile_of(scene, ref.slot);
  if (tile == nullptr || cell_of(scene, ref) == nullptr) {
    ui.editing.reset();
    return;
  }
  const TilePlace& place = place_of_tile(scene, layout, *tile);
  if (place.y.empty()) return ui.editing.reset();  // folded meanwhile
  const Box cell = tile->transposed ? place.cell(ref.col - tile->first_row, ref.row - tile->first_col)
                                    : place.cell(ref.row - tile->first_row, ref.col - tile->first_col);
  const FieldEnd end = by_touch() ? touch_field(ui, cell, place.box) : keyboard_field(ui, cell);
  ui.editing_starts = false;
  if (end == FieldEnd::none) return;
  ui.editing.reset();
  char* rest = nullptr;
  const float value = std::strtof(ui.typed.data(), &rest);
  // What is no number changes nothing.
  if (end == FieldEnd::cancelled || rest == ui.typed.data() || *rest != '\0') return;
  const InputSpec changed = with_edit(panel.rec, scene, panel.state.document.inputs, ref, value);
  if (changed != panel.state.document.inputs) panel.commands.push_back(SetInputs{changed, 0});
}

}  // namespace attn::tiles
