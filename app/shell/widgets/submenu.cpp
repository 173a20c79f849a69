#include "app/shell/widgets/submenu.h"

#include <algorithm>
#include <cfloat>

#include "imgui.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

constexpr float kNarrow = 600;  // logical: below it two menus have no room beside one another

bool unfolds() {
  return by_touch() && ImGui::GetMainViewport()->Size.x < style().px(kNarrow);
}

}  // namespace

bool begin_submenu(const char* words) {
  if (!unfolds()) return ImGui::BeginMenu(words);
  const Style& s = style();
  bool* open = ImGui::GetStateStorage()->GetBoolRef(ImGui::GetID(words), false);
  if (ImGui::IsWindowAppearing()) *open = false;
  ImGui::PushItemFlag(ImGuiItemFlags_AutoClosePopups, false);
  const bool pressed = ImGui::MenuItem(words);
  ImGui::PopItemFlag();
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  const float middle = (ImGui::GetItemRectMin().y + ImGui::GetItemRectMax().y) / 2;
  draw_arrow(ImGui::GetWindowDrawList(), {right - s.px(8), middle}, 8, *open ? Arrow::down : Arrow::right,
             colour_of(Token::dim));
  if (pressed) {
    *open = !*open;
    if (*open) ImGui::SetScrollFromPosY(ImGui::GetItemRectMin().y - ImGui::GetWindowPos().y, 0);
  }
  if (!*open) return false;
  ImGui::PushID(words);
  ImGui::Indent(s.px(14));
  return true;
}

void end_submenu() {
  if (!unfolds()) return ImGui::EndMenu();
  ImGui::Unindent(style().px(14));
  ImGui::PopID();
}

void menu_separator() {
  const float spare = by_touch() ? ImGui::GetStyle().ItemSpacing.y / 2 : 0;  // a line's room for a finger
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() - spare);
  ImGui::Separator();
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() - spare);
}

void keep_menu_within(float top, float least_width) {
  if (!by_touch()) return;
  constexpr float kFree = 8;  // logical: under it
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float room = viewport->Pos.y + viewport->Size.y - top - style().px(kFree);
  ImGui::SetNextWindowSizeConstraints({least_width, 0}, {FLT_MAX, std::max(room, style().px(kFinger))});
}

}  // namespace attn
