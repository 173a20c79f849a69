#include "viz/step/bars/bars_draw.h"

#include <algorithm>
#include <string>

#include "imgui_internal.h"
#include "kernels/base/text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/bars/areas_draw.h"

namespace attn {
namespace {

constexpr float kSide = 16, kTop = 7, kButton = 24, kSize = 13, kGap = 8, kPad = 9;

float chip_width(const GpuBarDifference& d) {
  const Style& s = style();
  return text_width(Face::text, kSize, d.letter) + text_width(Face::mono, kSize - 1, d.value) + s.px(2 * kPad + 6);
}

// Chips from (x, y) on, wrapped at `right`; returns how far down they reach. Draws where `commands` is there.
float lay_chips(const GpuBarScene& scene, float left, float x, float y, float right, Commands* commands) {
  const Style& s = style();
  for (std::size_t n = 0; n < scene.differences.size(); ++n) {
    const GpuBarDifference& d = scene.differences[n];
    const float width = chip_width(d);
    if (x + width > right && x > left) {
      x = left;
      y += s.px(kButton + 4);
    }
    if (commands != nullptr) {
      const Box box{{x, y}, {x + width, y + s.px(kButton)}};
      ImGui::SetCursorScreenPos(box.min);
      const std::string id = "##beside_" + std::to_string(n);
      const bool pressed = ImGui::InvisibleButton(id.c_str(), {box.width(), box.height()}, ImGuiButtonFlags_EnableNav);
      if (pressed) commands->insert(commands->end(), d.go_there.begin(), d.go_there.end());
      ImDrawList* list = ImGui::GetWindowDrawList();
      list->AddRectFilled(box.min, box.max, colour_of(ImGui::IsItemHovered() ? Token::line : Token::field), s.px(6));
      const float letter_end = box.min.x + s.px(kPad) + text_width(Face::text, kSize, d.letter);
      draw_text(list, {box.min.x + s.px(kPad), box.min.y + s.px(4)}, Face::text, kSize, colour_of(Token::text),
                d.letter);
      draw_text(list, {letter_end + s.px(6), box.min.y + s.px(4.5F)}, Face::mono, kSize - 1, colour_of(Token::text),
                d.value);
      tooltip(d.help);
    }
    x += width + s.px(6);
  }
  return y + s.px(kButton);
}

// Where the chips begin: beside their lead, or under it where there is little width.
struct Lines {
  float chips_x, chips_y;
};
Lines lines_of(const Box& box, const GpuBarScene& scene) {
  const Style& s = style();
  const float left = box.min.x + s.px(kSide), top = box.min.y + s.px(kTop + kButton + 5);
  const float after = left + text_width(Face::text, kSize, scene.lead) + s.px(12);
  if (after > box.min.x + box.width() * 0.55F) return {left, top + s.px(20)};
  return {after, top};
}

// Two halves, one of them chosen. Returns where they begin.
float draw_switch(const Box& box, const GpuBarScene& scene, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float y = box.min.y + s.px(kTop);
  float right = box.max.x - s.px(12);
  const auto half = [&](const char* id, const char* words, bool raw) {
    const float width = text_width(Face::text, kSize, words) + s.px(24);
    const Box at{{right - width, y}, {right, y + s.px(kButton)}};
    right = at.min.x - s.px(4);
    ImGui::SetCursorScreenPos(at.min);
    if (ImGui::InvisibleButton(id, {at.width(), at.height()}, ImGuiButtonFlags_EnableNav))
      commands.emplace_back(ShowRaw{raw});
    const bool chosen = scene.raw == raw, warm = ImGui::IsItemHovered();
    list->AddRectFilled(at.min, at.max, colour_of(chosen || warm ? Token::field : Token::card), s.px(6));
    draw_outline(list, at, colour_of(chosen ? Token::text : Token::line), chosen ? 1.5F : 1, 6);
    draw_text_in(list, at, Align::centre, Face::text, kSize, colour_of(chosen ? Token::text : Token::dim), words);
    tooltip(raw ? tr("Shows the numbers as the kernel holds them in its registers")
                : tr("Shows the numbers as in the formulas"));
  };
  half("##numbers_raw", tr("As held"), true);
  half("##numbers_formulas", tr("As in the formulas"), false);
  return right;
}

// Where the window is low: what opens the differences. Returns where it begins.
float draw_beside_button(const Box& bar, float right, const GpuBarScene& scene, Commands& commands) {
  const Style& s = style();
  constexpr const char* kWords = marked("Compared with the CPU");
  const float width = text_width(Face::bold, kSize, kWords) + s.px(24);
  const Box at{{right - width - s.px(4), bar.min.y + s.px(kTop)}, {right - s.px(4), bar.min.y + s.px(kTop + kButton)}};
  if (box_button(at, "##beside_open", kWords)) ImGui::OpenPopup("##beside_popup");
  const float wide = std::min(s.px(340), ImGui::GetMainViewport()->Size.x - s.px(32 + 24)),
              top = s.px(12) + s.px(kButton);
  const float height = lay_chips(scene, 0, 0, top, wide, nullptr) + s.px(12);
  const ImVec2 below{at.max.x, at.max.y + s.px(6)};
  const auto corner = begin_folded("##beside_popup", below, {1, 0}, {wide + s.px(32), height});
  if (!corner) return at.min.x;
  const float left = corner->x + s.px(16);
  draw_text(ImGui::GetWindowDrawList(), {left, corner->y + s.px(12)}, Face::text, kSize, colour_of(Token::dim),
            fitted_text(Face::text, kSize, scene.lead, wide));
  const std::size_t before = commands.size();
  lay_chips(scene, left, left, corner->y + top, left + wide, &commands);
  if (commands.size() != before) ImGui::CloseCurrentPopup();
  // The press is this popup's: the tiles, which come later in the frame, would let go of their pin.
  const ImGuiID owner = ImGui::GetID("##beside_escape");
  ImGui::SetKeyOwner(ImGuiKey_Escape, owner);
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, ImGuiInputFlags_None, owner)) ImGui::CloseCurrentPopup();
  end_folded();
  return at.min.x;
}

}  // namespace

float gpu_bar_height(const GpuBarScene& scene, float width, bool low) {
  const Style& s = style();
  const float one = s.px(kTop + kButton + kTop);
  if (scene.lead.empty() || low) return one;
  const Box box{{0, 0}, {width, 0}};
  const Lines lines = lines_of(box, scene);
  const float left = box.min.x + s.px(kSide);
  return lay_chips(scene, left, lines.chips_x, lines.chips_y, box.max.x - s.px(kSide), nullptr) + s.px(kTop + 1);
}

void draw_gpu_bar(const Box& box, const GpuBarScene& scene, bool low, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  const float left = box.min.x + s.px(kSide);
  float end = scene.can_be_raw ? draw_switch(box, scene, commands) : box.max.x - s.px(kSide);
  if (low && !scene.lead.empty()) end = draw_beside_button(box, end, scene, commands);
  const ImVec2 at{left, box.min.y + s.px(kTop + 4)};
  const std::string words = fitted_text(Face::text, kSize, scene.numbers, std::max(end - left - s.px(kGap), 1.0F));
  draw_text(list, at, Face::text, kSize, colour_of(scene.raw ? Token::text : Token::dim), words);
  ImGui::SetCursorScreenPos({left, box.min.y + s.px(kTop)});
  ImGui::InvisibleButton("##numbers_words", {std::max(end - left - s.px(kGap), 1.0F), s.px(kButton)});
  if (words != scene.numbers) tooltip(scene.numbers);
  if (scene.lead.empty() || low) return;
  const Lines lines = lines_of(box, scene);
  draw_text(list, {left, box.min.y + s.px(kTop + kButton + 9)}, Face::text, kSize, colour_of(Token::dim),
            fitted_text(Face::text, kSize, scene.lead, box.width() - s.px(2 * kSide)));
  lay_chips(scene, left, lines.chips_x, lines.chips_y, box.max.x - s.px(kSide), &commands);
}

}  // namespace attn
