// The shell's small windows: go to a step, open a file.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "app/shell.h"
#include "imgui.h"
#include "misc/cpp/imgui_stdlib.h"

namespace attn {
namespace {

constexpr const char* kGoTo = "Go to step";
constexpr const char* kOpenFile = "Open a file";

constexpr ImGuiWindowFlags kFlags = ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoDocking |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_AlwaysAutoResize |
                                    ImGuiWindowFlags_NoTitleBar;

bool begin_popup(const char* name) {
  const Style& s = style();
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->Pos.x + viewport->Size.x / 2, viewport->Pos.y + viewport->Size.y * 0.4F},
                          ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(s.px(20), s.px(16)));
  const bool open = ImGui::BeginPopupModal(name, nullptr, kFlags);
  ImGui::PopStyleVar();
  if (open && ImGui::IsKeyPressed(ImGuiKey_Escape)) ImGui::CloseCurrentPopup();
  return open;
}

void heading(const std::string& words) {
  ImGui::PushFont(style().fonts.bold, style().px(15));
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopFont();
}

void draw_go_to(const Model& model, ShellMemory& memory, Commands& commands) {
  if (!begin_popup(kGoTo)) return;
  const Style& s = style();
  const int steps = model.recording == nullptr ? 0 : static_cast<int>(model.recording->events.size());
  heading(kGoTo);
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(s.px(120));
  const bool entered = ImGui::InputInt("##number", &memory.go_to, 0, 0,
                                       ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  ImGui::SameLine();
  ImGui::TextDisabled("of %d", steps);
  ImGui::SameLine(0, s.px(16));
  if ((ImGui::Button("Go", {s.px(56), 0}) || entered) && steps > 0) {
    commands.emplace_back(GoToEvent{static_cast<EventIndex>(std::clamp(memory.go_to, 1, steps) - 1)});
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

void draw_open_file(ShellMemory& memory, Commands& commands) {
  if (!begin_popup(kOpenFile)) return;
  const Style& s = style();
  heading(kOpenFile);
  ImGui::TextDisabled("A session (.attn), or q.npy with k.npy and v.npy beside it. A file can also be dropped here.");
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(s.px(440));
  const bool entered =
      ImGui::InputTextWithHint("##path", "/path/to/session.attn", &memory.path, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  if ((ImGui::Button("Open", {s.px(64), 0}) || entered) && !memory.path.empty()) {
    commands.emplace_back(OpenFile{memory.path});
    ImGui::CloseCurrentPopup();
  }
  ImGui::SameLine();
  if (ImGui::Button("Cancel", {s.px(72), 0})) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace

void draw_popups(Controller& controller, ShellMemory& memory, Commands& commands) {
  if (memory.open_next == Popup::go_to) {
    memory.go_to = static_cast<int>(controller.state().view.cursor) + 1;
    ImGui::OpenPopup(kGoTo);
  } else if (memory.open_next == Popup::open_file) {
    ImGui::OpenPopup(kOpenFile);
  }
  memory.open_next = Popup::none;
  draw_go_to(controller.model(), memory, commands);
  draw_open_file(memory, commands);
  memory.popup_open = ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

}  // namespace attn
