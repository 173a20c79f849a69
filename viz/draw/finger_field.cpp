#include "viz/draw/finger_field.h"

#include <algorithm>

#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kPad = 4, kNumber = 96, kText = 16, kSmallText = 12;  // logical

bool draw_field(const char* id, float width, std::span<char> text, bool starts) {
  const Style& s = style();
  ImGui::SetNextItemWidth(width);
  ImGui::PushFont(s.fonts.mono, s.px(kText));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {s.px(10), s.px(kFinger - kText) / 2});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, std::max(1.0F, s.px(1)));
  ImGui::PushStyleColor(ImGuiCol_Border, colour_of(Token::text));
  if (starts) ImGui::SetKeyboardFocusHere();
  const bool entered = ImGui::InputText(
      id, text.data(), text.size(),
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CharsScientific | ImGuiInputTextFlags_AutoSelectAll);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  ImGui::PopFont();
  return entered;
}

// A tick, or a cross.
void draw_button(const char* id, const Box& box, bool accepts) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(box.min);
  ImGui::InvisibleButton(id, {box.width(), box.height()});
  const Box drawn = box.grown(-s.px(2));
  list->AddRectFilled(drawn.min, drawn.max, colour_of(accepts ? Token::text : Token::field), s.px(6));
  const ImVec2 c = box.centre();
  const float arm = s.px(6), thick = s.px(2);
  if (accepts) {
    const ImVec2 tick[] = {{c.x - arm, c.y}, {c.x - s.px(2), c.y + s.px(5)}, {c.x + arm + s.px(1), c.y - s.px(5)}};
    list->AddPolyline(tick, 3, colour_of(Token::card), 0, thick);
    return;
  }
  const ImU32 ink = colour_of(Token::text);
  list->AddLine({c.x - arm, c.y - arm}, {c.x + arm, c.y + arm}, ink, thick);
  list->AddLine({c.x - arm, c.y + arm}, {c.x + arm, c.y - arm}, ink, thick);
}

}  // namespace

ImVec2 finger_field_size() {
  const Style& s = style();
  return {s.px(kNumber + 2 * kFinger + 2 * kPad), s.px(kFinger + 2 * kPad)};
}

// A window of its own: a finger presses it rather than what lies below.
FieldEnd finger_field(const char* id, ImVec2 at, std::span<char> text, bool starts) {
  const Style& s = style();
  const ImVec2 size = finger_field_size();
  ImGui::SetCursorScreenPos(at);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, s.px(8));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, colour_of(Token::card));
  ImGui::PushStyleColor(ImGuiCol_Border, colour_of(Token::dim));
  ImGui::BeginChild("finger_field", size, ImGuiChildFlags_Borders, ImGuiWindowFlags_NoScrollbar);
  const float pad = s.px(kPad), side = s.px(kFinger);
  ImGui::SetCursorScreenPos({at.x + pad, at.y + pad});
  const bool entered = draw_field(id, s.px(kNumber), text, starts);
  const bool left = ImGui::IsItemDeactivated();
  const ImVec2 first{at.x + pad + s.px(kNumber), at.y + pad};
  const Box accept{first, {first.x + side, first.y + side}},
      cancel{{accept.max.x, first.y}, {accept.max.x + side, accept.max.y}};
  draw_button("##field_accept", accept, true);
  draw_button("##field_cancel", cancel, false);
  ImGui::EndChild();
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar(2);
  if (starts || (!entered && !left)) return FieldEnd::none;
  // The press on a button already takes the keyboard from the field.
  const bool pressed = ImGui::IsMouseClicked(ImGuiMouseButton_Left) && cancel.grown(pad).contains(ImGui::GetMousePos());
  return pressed || ImGui::IsKeyPressed(ImGuiKey_Escape, false) ? FieldEnd::cancelled : FieldEnd::accepted;
}

float finger_padding(float usual) {
  return by_touch() ? style().px(kFinger - kSmallText) / 2 : usual;
}

bool finger_button(const char* label, const char* help, float height) {
  if (!by_touch()) return toggle(label, true, help, false, {0, height});
  const Style& s = style();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(s.px(8), finger_padding(0)));
  ImGui::PushFont(s.fonts.text, s.px(kSmallText));
  const bool pressed = ImGui::Button(label);
  ImGui::PopFont();
  ImGui::PopStyleVar();
  tooltip(help);
  return pressed;
}

}  // namespace attn
