#include "app/shell/widgets/popup.h"

#include <algorithm>

#include "imgui_internal.h"
#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

constexpr ImGuiWindowFlags kFlags = ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoDocking |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_AlwaysAutoResize |
                                    ImGuiWindowFlags_NoTitleBar;

constexpr float kPopupMargin = 12, kPopupPadding = 20;  // logical

}  // namespace

bool begin_popup(const char* name) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  // Above the middle, unless it is so high that its head would be out of the window.
  const ImGuiWindow* before = ImGui::FindWindowByName(name);
  const float half = before == nullptr ? 0 : before->Size.y / 2 + style().px(kPopupMargin);
  const float y = std::max(viewport->Size.y * 0.4F, std::min(half, viewport->Size.y / 2));
  return begin_popup(name, {viewport->Pos.x + viewport->Size.x / 2, viewport->Pos.y + y}, {0.5F, 0.5F});
}

float popup_width(float logical) {
  const Style& s = style();
  const float padding = s.px(kPopupPadding) + ImGui::GetStyle().ScrollbarSize;
  return std::min(s.px(logical), ImGui::GetMainViewport()->Size.x - 2 * (padding + s.px(kPopupMargin)));
}

bool begin_popup(const char* name, ImVec2 at, ImVec2 pivot) {
  const Style& s = style();
  ImGui::SetNextWindowPos(at, ImGuiCond_Always, pivot);
  const ImVec2 all = ImGui::GetMainViewport()->Size;
  ImGui::SetNextWindowSizeConstraints({0, 0}, {all.x - 2 * s.px(kPopupMargin), all.y - 2 * s.px(kPopupMargin)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(s.px(kPopupPadding), s.px(16)));
  const bool open = ImGui::BeginPopupModal(name, nullptr, kFlags);
  ImGui::PopStyleVar();
  if (open && ImGui::IsKeyPressed(ImGuiKey_Escape)) ImGui::CloseCurrentPopup();
  return open;
}

void popup_heading(const std::string& words) {
  ImGui::PushFont(style().fonts.bold, style().px(15));
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopFont();
}

bool popup_buttons(const char* words, bool enabled) {
  const Style& s = style();
  ImGui::BeginDisabled(!enabled);
  const bool pressed = ImGui::Button(words, {s.px(104), 0});
  ImGui::EndDisabled();
  ImGui::SameLine();
  if (ImGui::Button(tr("Close"), {s.px(72), 0})) ImGui::CloseCurrentPopup();
  return pressed;
}

}  // namespace attn
