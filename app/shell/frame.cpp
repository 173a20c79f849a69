#include "app/shell/frame.h"

#include <algorithm>
#include <vector>

#include "imgui.h"
#include "imgui_internal.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

// A modifier has two events: its side's key and what ImGuiMod_ stands for.
bool is_modifier(ImGuiKey key) {
  return (key >= ImGuiKey_LeftCtrl && key <= ImGuiKey_RightSuper) || (key & ImGuiMod_Mask_) != 0;
}

bool goes(const ImGuiInputEvent& e, bool down, bool modifier) {
  return e.Type == ImGuiInputEventType_Key && e.Key.Down == down && is_modifier(e.Key.Key) == modifier;
}

}  // namespace

void begin_frame() {
  ImVector<ImGuiInputEvent>& queue = ImGui::GetCurrentContext()->InputEventsQueue;
  auto* const pressed =
      std::find_if(queue.begin(), queue.end(), [](const ImGuiInputEvent& e) { return goes(e, true, false); });
  auto* const let_go =
      std::find_if(pressed, queue.end(), [](const ImGuiInputEvent& e) { return goes(e, false, true); });
  const std::vector<ImGuiInputEvent> later(let_go, queue.end());
  queue.resize(static_cast<int>(let_go - queue.begin()));
  ImGui::NewFrame();
  close_where_clicked_beside();
  for (const ImGuiInputEvent& e : later) queue.push_back(e);
}

}  // namespace attn
