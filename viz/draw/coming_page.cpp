#include "viz/draw/coming_page.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "imgui.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

constexpr float kWidth = 620, kPadding = 32, kHeadline = 22, kText = 15;

Runs words(std::string_view text, Token ink, Face face = Face::text) {
  return {{std::string(text), face, ink, 0, false}};
}

}  // namespace

void draw_coming_page(const ComingPage& page, Commands& commands) {
  const Style& s = style();
  const ImVec2 origin = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float width = std::min(s.px(kWidth), room.x), text = width - 2 * s.px(kPadding);
  const Runs headline = words(page.headline, Token::text, Face::bold), sentence = words(page.sentence, Token::text),
             meanwhile = words(page.meanwhile, Token::dim);
  const float head_height = draw_paragraph(list, {}, text, kHeadline, headline, 3, false);
  const float sentence_height = draw_paragraph(list, {}, text, kText, sentence, 12, false);
  const float meanwhile_height = draw_paragraph(list, {}, text, kText, meanwhile, 12, false);
  const float button_height = s.px(36);
  const float height = 2 * s.px(kPadding) + head_height + s.px(12) + sentence_height + s.px(12) + meanwhile_height +
                       s.px(24) + button_height;
  const float x = origin.x + std::floor(std::max(0.0F, room.x - width) / 2);
  // A little above the middle: the optical centre.
  float y = origin.y + std::floor(std::max(0.0F, room.y - height) * 0.4F);
  draw_card(list, {{x, y}, {x + width, y + height}});
  const float left = x + s.px(kPadding);
  y += s.px(kPadding);
  draw_paragraph(list, {left, y}, text, kHeadline, headline, 3);
  y += head_height + s.px(12);
  draw_paragraph(list, {left, y}, text, kText, sentence, 12);
  y += sentence_height + s.px(12);
  draw_paragraph(list, {left, y}, text, kText, meanwhile, 12);
  y += meanwhile_height + s.px(24);
  ImGui::SetCursorScreenPos({left, y});
  ImGui::PushStyleColor(ImGuiCol_Button, colour(s.theme, Token::text));
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, colour(s.theme, Token::dim));
  ImGui::PushStyleColor(ImGuiCol_ButtonActive, colour(s.theme, Token::dim));
  ImGui::PushStyleColor(ImGuiCol_Text, colour(s.theme, Token::card));
  ImGui::PushFont(s.fonts.bold, s.px(14));
  const float button = ImGui::CalcTextSize(page.button.data(), page.button.data() + page.button.size()).x + s.px(36);
  if (ImGui::Button(std::string(page.button).c_str(), {button, button_height})) {
    commands.emplace_back(ChooseWorkspace{page.workspace});
  }
  ImGui::PopFont();
  ImGui::PopStyleColor(4);
}

}  // namespace attn
