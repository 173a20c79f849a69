#include "viz/learn/card/question_map_draw.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "imgui.h"
#include "imgui_internal.h"
#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

constexpr float kLargestTile = 40, kRowNames = 20;  // logical
constexpr const char* kMapKeys = marked("Tab, arrows, Space");

// From a tile to the one beside it; at the edge it stays.
std::size_t beside(const CardScene& card, std::size_t on, std::int32_t rows, std::int32_t cols) {
  const auto across = static_cast<std::size_t>(card.map_cols);
  const auto i = std::clamp(static_cast<std::int32_t>(on / across) + rows, 0, card.map_rows - 1),
             j = std::clamp(static_cast<std::int32_t>(on % across) + cols, 0, card.map_cols - 1);
  return static_cast<std::size_t>(i) * across + static_cast<std::size_t>(j);
}

// `side`: of a tile, pixels.
void draw_head_of_map(const CardScene& card, float side, Pen& pen) {
  const Style& s = style();
  constexpr const char* kNames = marked("query tiles down, key tiles across");
  draw_text(pen.list, {pen.x, pen.y}, Face::text, 12, colour_of(Token::dim), tr_of(kNames));
  pen.gap(18);
  for (std::int32_t j = 0; j < card.map_cols; ++j) {
    const float x = pen.x + s.px(kRowNames) + side * static_cast<float>(j);
    draw_text_in(pen.list, {{x, pen.y}, {x + side, pen.y + s.px(14)}}, Align::centre, Face::mono, 12,
                 colour_of(Token::dim), std::to_string(j));
  }
  pen.gap(16);
}

void draw_tile_of_map(const CardScene& card, std::size_t n, bool on, const Box& box, Pen& pen, Commands& commands) {
  const Style& s = style();
  const CardOption& tile = card.options[n];
  ImGui::SetCursorScreenPos(box.min);
  const std::string id = fmt::format("##lesson_tile_{}", n);
  if (ImGui::InvisibleButton(id.c_str(), {box.width(), box.height()}, ImGuiButtonFlags_EnableNav) && card.open)
    commands.emplace_back(ChooseAnswer{n});
  const bool hovered = ImGui::IsItemHovered() || ImGui::IsItemFocused() || on;
  pen.list->AddRectFilled(box.min, box.max, colour_of(hovered && card.open ? Token::line : Token::field), s.px(3));
  if (tile.chosen || tile.right) draw_hatch(pen.list, box, colour_of(Token::dim), 6);
  if (tile.chosen) draw_outline(pen.list, box, colour_of(Token::text), s.px(1.5F), s.px(3));
  if (tile.missed) draw_text_in(pen.list, box, Align::centre, Face::bold, 14, colour_of(Token::text), "×");
  // Around the tile, so that a tick is seen within.
  if (on) draw_outline(pen.list, box.grown(s.px(2)), colour_of(Token::text), s.px(2), s.px(4));
}

}  // namespace

void draw_map_of_tiles(const CardScene& card, std::optional<std::size_t> on, Pen& pen, Commands& commands) {
  const Style& s = style();
  const float left = s.px(kRowNames);
  const float side = std::min(s.px(kLargestTile), (pen.width - left) / static_cast<float>(std::max(card.map_cols, 1)));
  draw_head_of_map(card, side, pen);
  const ImVec2 origin{pen.x + left, pen.y};
  for (std::int32_t i = 0; i < card.map_rows; ++i) {
    const Box label{{pen.x, origin.y + side * static_cast<float>(i)},
                    {origin.x, origin.y + side * static_cast<float>(i + 1)}};
    draw_text_in(pen.list, label, Align::left, Face::mono, 12, colour_of(Token::dim), std::to_string(i));
    for (std::int32_t j = 0; j < card.map_cols; ++j) {
      const auto n =
          static_cast<std::size_t>(i) * static_cast<std::size_t>(card.map_cols) + static_cast<std::size_t>(j);
      const ImVec2 at{origin.x + side * static_cast<float>(j), origin.y + side * static_cast<float>(i)};
      const Box box = Box{at, {at.x + side, at.y + side}}.grown(-s.px(2));
      draw_tile_of_map(card, n, on == n, box, pen, commands);
    }
    if (pen.breaks != nullptr) pen.breaks->push_back(label.max.y);
  }
  pen.y = origin.y + side * static_cast<float>(card.map_rows);
  pen.gap(6);
  if (!card.open || card.teach || by_touch()) return;
  draw_text(pen.list, {pen.x, pen.y}, Face::text, 12, colour_of(Token::dim), tr_of(kMapKeys));
  pen.gap(18);
  if (pen.breaks != nullptr) pen.breaks->push_back(pen.y);
}

bool take_map_keys(const CardScene& card, bool others_have_it, CardUiState& ui, Commands& commands) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool asks = card.open && !card.teach && card.asks == AskKind::tiles && !card.options.empty() &&
                    ui.showing == card.number_of_showing;
  if (!asks || others_have_it || io.WantTextInput || ImGui::IsMouseClicked(ImGuiMouseButton_Left) ||
      ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) {
    ui.on_map.reset();
    return false;
  }
  if (io.KeyCtrl || io.KeyShift || io.KeyAlt) return false;
  // Owned for the frame: neither Dear ImGui's own navigation nor what is drawn later sees them.
  const ImGuiID owner = ImGui::GetID("##lesson_map");
  const auto pressed = [owner](ImGuiKey key, ImGuiInputFlags flags) {
    ImGui::SetKeyOwner(key, owner);
    return ImGui::IsKeyPressed(key, flags, owner);
  };
  const bool tab = pressed(ImGuiKey_Tab, ImGuiInputFlags_None);
  if (!ui.on_map) {
    if (tab) ui.on_map = 0;
    return tab;
  }
  if (pressed(ImGuiKey_Escape, ImGuiInputFlags_None) || tab) {
    ui.on_map.reset();
    return false;
  }
  std::size_t on = std::min(*ui.on_map, card.options.size() - 1);
  if (pressed(ImGuiKey_LeftArrow, ImGuiInputFlags_Repeat)) on = beside(card, on, 0, -1);
  if (pressed(ImGuiKey_RightArrow, ImGuiInputFlags_Repeat)) on = beside(card, on, 0, 1);
  if (pressed(ImGuiKey_UpArrow, ImGuiInputFlags_Repeat)) on = beside(card, on, -1, 0);
  if (pressed(ImGuiKey_DownArrow, ImGuiInputFlags_Repeat)) on = beside(card, on, 1, 0);
  if (pressed(ImGuiKey_Space, ImGuiInputFlags_None)) commands.emplace_back(ChooseAnswer{on});
  ui.on_map = on;
  return false;
}

}  // namespace attn
