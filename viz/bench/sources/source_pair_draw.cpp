#include "viz/bench/sources/source_pair_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kRow = 17, kCode = 12, kNumber = 34, kChoice = 130, kBetween = 12;  // logical pixels

void draw_choice(const SourcePairScene& scene, std::size_t side, Commands& commands) {
  const std::string& now = scene.kernels.at(side);
  ImGui::SetNextItemWidth(style().px(kChoice));
  if (!begin_list(side == 0 ? "##source_left" : "##source_right", now.c_str())) return;
  for (const std::string& id : scene.choices) {
    if (!ImGui::Selectable(id.c_str(), id == now)) continue;
    std::array<std::string, 2> kernels = scene.kernels;
    kernels.at(side) = id;
    commands.push_back(CompareSources{kernels});
  }
  end_list();
}

void go_to(SourcePairUiState& ui, const SourcePairScene& scene, int direction) {
  ui.row = next_stretch(scene, ui.row, direction);
  ui.follow = true;
}

void draw_heads(const SourcePairScene& scene, SourcePairUiState& ui, Commands& commands) {
  const Style& s = style();
  heading(tr("Sources"));
  draw_choice(scene, 0, commands);
  ImGui::SameLine();
  draw_choice(scene, 1, commands);
  if (scene.stretches.empty()) return;
  ImGui::SameLine(0, s.px(16));
  const float level = ImGui::GetCursorPosY() + s.px(3);
  ImGui::SetCursorPosY(level);
  const bool before = toggle(tr("Before"), true, with_key(tr("Previous difference"), "Shift+F8").c_str()) ||
                      ImGui::Shortcut(ImGuiMod_Shift | ImGuiKey_F8, ImGuiInputFlags_RouteGlobal);
  ImGui::SameLine();
  ImGui::SetCursorPosY(level);
  const bool after = toggle(tr("Next"), true, with_key(tr("Next difference"), "F8").c_str()) ||
                     ImGui::Shortcut(ImGuiKey_F8, ImGuiInputFlags_RouteGlobal);
  if (before) go_to(ui, scene, -1);
  if (after) go_to(ui, scene, 1);
}

ImU32 text_ink(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  const bool quiet = first != std::string::npos && (text.compare(first, 2, "//") == 0 || text[first] == '#');
  return colour(style().theme, quiet ? Token::dim : Token::text);
}

// One side of a row. What differs stands on a band; of a line that both have in other words the words themselves, on a
// stronger one.
void draw_side(ImDrawList* list, const Box& box, const PairRow& row, std::size_t side, bool marked, float scrolled) {
  const Style& s = style();
  const std::int32_t line = row.line.at(side);
  if (line == 0) {
    draw_hatch(list, box, faded(colour(s.theme, Token::line), 0.6F), 7);
    return;
  }
  const float text_at = box.min.x + s.px(kNumber + 18), each = text_width(Face::mono, kCode, "0");
  if (!row.same) {
    list->AddRectFilled(box.min, box.max, side_colour(side, 0.14F));
    list->AddRectFilled(box.min, {box.min.x + s.px(3), box.max.y},
                        marked ? colour(s.theme, Token::text) : side_colour(side, 0.9F));
    draw_text_in(list, {{box.min.x + s.px(kNumber + 6), box.min.y}, {text_at, box.max.y}}, Align::left, Face::mono,
                 kCode, colour(s.theme, Token::text), side == 0 ? "−" : "+");
  }
  draw_text_in(list, {box.min, {box.min.x + s.px(kNumber), box.max.y}}, Align::right, Face::mono, 11,
               colour(s.theme, Token::dim), fmt::format("{}", line));
  const std::string& text = row.text.at(side);
  list->PushClipRect({text_at, box.min.y}, box.max, true);
  const float from = text_at - scrolled;
  const TextSpan& span = row.differs.at(side);
  // A line that shares little with its neighbour is another line, not a changed one.
  if (span.size > 0 && 2 * span.size < text.size()) {
    const float x = from + each * static_cast<float>(span.from);
    list->AddRectFilled({x, box.min.y + s.px(1)}, {x + each * static_cast<float>(span.size), box.max.y - s.px(1)},
                        side_colour(side, 0.34F), s.px(2));
  }
  draw_text(list, {from, box.min.y + (box.height() - s.px(kCode)) / 2}, Face::mono, kCode, text_ink(text), text);
  list->PopClipRect();
  const bool cut = scrolled > 0 || text_at + each * static_cast<float>(text.size()) > box.max.x;
  if (cut && ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(box.min, box.max)) show_tooltip(text, 900);
}

void follow(const SourcePairScene& scene, SourcePairUiState& ui) {
  const std::string pair = scene.kernels[0] + "|" + scene.kernels[1];
  if (ui.pair != pair) {
    ui.pair = pair;
    ui.row = scene.first_code;
    ui.follow = true;
  }
  if (!ui.follow) return;
  ui.follow = false;
  ImGui::SetScrollY(std::max(0.0F, style().px(kRow) * (static_cast<float>(ui.row) - 3)));
}

// Pixels that the longest line has too many for a side of this width.
float overhang(const SourcePairScene& scene, float half) {
  std::size_t longest = 0;
  for (const PairRow& row : scene.rows) longest = std::max({longest, row.text[0].size(), row.text[1].size()});
  const float room = half - style().px(kNumber + 18) - style().px(8);
  return std::max(0.0F, text_width(Face::mono, kCode, "0") * static_cast<float>(longest) - room);
}

// The window scrolls sideways over the longest line: what stands in both sides moves, the sides stay.
void draw_rows(const SourcePairScene& scene, const SourcePairUiState& ui, float half) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float scrolled = ImGui::GetScrollX(), gap = s.px(kBetween), width = 2 * half + gap + overhang(scene, half);
  const auto end = std::ranges::find_if(scene.rows.begin() + static_cast<std::ptrdiff_t>(ui.row), scene.rows.end(),
                                        [](const PairRow& r) { return r.same; });
  const auto marked_end = static_cast<std::size_t>(end - scene.rows.begin());
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(scene.rows.size()), s.px(kRow));
  while (clipper.Step()) {
    for (int n = clipper.DisplayStart; n < clipper.DisplayEnd; ++n) {
      const auto index = static_cast<std::size_t>(n);
      const ImVec2 at = ImGui::GetCursorScreenPos();
      ImGui::Dummy({width, s.px(kRow)});
      const float bottom = at.y + s.px(kRow);
      const bool marked = index >= ui.row && index < marked_end;
      const float left = at.x + scrolled, right = left + half + gap;
      draw_side(list, {{left, at.y}, {left + half, bottom}}, scene.rows[index], 0, marked, scrolled);
      draw_side(list, {{right, at.y}, {right + half, bottom}}, scene.rows[index], 1, marked, scrolled);
    }
  }
}

// The right edge of both sides, where lines go on.
void fade_sides(float half) {
  if (ImGui::GetScrollX() >= ImGui::GetScrollMaxX() - 1) return;
  const ImVec2 at = ImGui::GetWindowPos();
  const float bottom = at.y + ImGui::GetWindowHeight() - ImGui::GetStyle().ScrollbarSize;
  for (const float left : {0.0F, half + style().px(kBetween)})
    fade_before(ImGui::GetWindowDrawList(), at.x + left + half, at.y, bottom);
}

}  // namespace

void draw_source_pair(const SourcePairScene& scene, SourcePairUiState& ui, ImVec2 size, Commands& commands) {
  const Style& s = style();
  if (begin_card("source_pair", size)) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(s.px(8), s.px(6)));
    draw_heads(scene, ui, commands);
    if (!scene.empty.empty()) {
      dim_text(scene.empty);
    } else {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize;
      const float half = std::floor((width - s.px(kBetween)) / 2);
      for (std::size_t side = 0; side < 2; ++side) {
        const std::string words = fmt::format("{}.cu {}", scene.kernels.at(side), scene.notes.at(side));
        draw_text(ImGui::GetWindowDrawList(), {at.x + (side == 0 ? 0 : half + s.px(kBetween)), at.y}, Face::text, 12,
                  colour(s.theme, Token::dim), fitted_text(Face::text, 12, words, half));
      }
      ImGui::Dummy({width, s.px(16)});
      ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
      if (ImGui::BeginChild("pair_lines", {0, 0}, ImGuiChildFlags_NavFlattened, ImGuiWindowFlags_HorizontalScrollbar)) {
        follow(scene, ui);
        draw_rows(scene, ui, half);
        fade_where_more();
        fade_sides(half);
      }
      ImGui::EndChild();
      ImGui::PopStyleVar();
      ImGui::PopStyleColor();
    }
    ImGui::PopStyleVar();
  }
  ImGui::EndChild();
}

}  // namespace attn
