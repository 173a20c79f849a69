#include "app/shell/keys/tab_order.h"

#include "imgui.h"
#include "imgui_internal.h"

namespace attn {

bool tab_left_its_window() {
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  // The request is still open at the end of the frame: the control after the last was looked for.
  const bool tabbing = (g.NavMoveFlags & ImGuiNavMoveFlags_IsTabbing) != 0 && g.NavMoveScoringItems;
  return tabbing && g.NavTabbingDir == 1 && g.NavTabbingCounter == 1 && g.NavMoveResultLocal.ID == 0;
}

void focus_first_control(ImGuiWindow* window) {
  if (window == nullptr) return;
  ImGuiContext& g = *ImGui::GetCurrentContext();
  ImGui::FocusWindow(window);
  ImGui::NavInitWindow(window, true);
  g.NavInitRequestFromMove = true;  // so that it is seen where the keyboard is
}

const char* next_window(std::span<const char* const> names, const char* after_last) {
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  const ImGuiWindow* now = g.NavWindow == nullptr ? nullptr : g.NavWindow->RootWindow;
  bool passed = now == nullptr;
  for (const char* name : names) {
    const ImGuiWindow* window = ImGui::FindWindowByName(name);
    if (window == nullptr || !window->Active || window->Hidden) continue;
    if (passed) return name;
    passed = window == now;
  }
  return after_last;
}

}  // namespace attn
