#include "app/shell/shell.h"

#include <algorithm>
#include <string_view>

#include "app/shell/motion.h"
#include "app/system/assets.h"
#include "imgui.h"
#include "imgui_internal.h"
#include "kernels/base/files.h"
#include "viz/step/cache.h"
#include "viz/workspaces.h"

namespace attn {
namespace {

constexpr std::uint64_t kMaxTextBytes = 4 << 20;
constexpr const char* kWorkspaceWindow = "###workspace";
constexpr const char* kLogWindow = "Log###log";

// The workspace fills what the log leaves, the log lies below; a layout that was loaded wins.
void build_default_layout(ImGuiID dockspace, ImVec2 size) {
  if (ImGui::DockBuilderGetNode(dockspace) != nullptr) return;
  ImGui::DockBuilderAddNode(dockspace, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(dockspace, size);
  ImGuiID log = 0, rest = 0;
  ImGui::DockBuilderSplitNode(dockspace, ImGuiDir_Down, 0.24F, &log, &rest);
  ImGui::DockBuilderDockWindow(kWorkspaceWindow, rest);
  ImGui::DockBuilderDockWindow(kLogWindow, log);
  ImGui::DockBuilderFinish(dockspace);
}

ImGuiID draw_dockspace() {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float bar = style().px(kTopBarHeight);
  const ImVec2 size(viewport->Size.x, std::max(1.0F, viewport->Size.y - bar));
  ImGui::SetNextWindowPos(ImVec2(viewport->Pos.x, viewport->Pos.y + bar));
  ImGui::SetNextWindowSize(size);
  ImGui::SetNextWindowViewport(viewport->ID);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0F);
  ImGui::Begin("Desk", nullptr,
               ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNavFocus |
                   ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleVar(2);
  const ImGuiID dockspace = ImGui::GetID("dockspace");
  build_default_layout(dockspace, size);
  // The gap between two docks is ground, as between two cards.
  ImGui::PushStyleColor(ImGuiCol_Separator, colour(style().theme, Token::ground));
  ImGui::DockSpace(dockspace, ImVec2(0, 0), ImGuiDockNodeFlags_NoWindowMenuButton | ImGuiDockNodeFlags_NoCloseButton);
  ImGui::PopStyleColor();
  ImGui::End();
  return dockspace;
}

Result<std::string> read_text(const std::filesystem::path& file) {
  const auto bytes = read_file(file, kMaxTextBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  std::string text(bytes->size(), '\0');
  std::transform(bytes->begin(), bytes->end(), text.begin(), [](std::byte b) { return static_cast<char>(b); });
  return text;
}

}  // namespace

Result<void> Shell::set_up(const std::filesystem::path& assets) {
  const auto fonts = load_fonts(assets / "fonts");
  if (!fonts) return tl::unexpected(fonts.error());
  style_.fonts = *fonts;
  const auto text = read_text(assets / "step_texts.json");
  if (!text) return tl::unexpected(text.error());
  auto texts = parse_step_texts(*text);
  if (!texts) return tl::unexpected(texts.error());
  step_.texts = *std::move(texts);
  ImGui::GetIO().UserData = &style_;
  ImGui::GetIO().FontDefault = style_.fonts.text;
  apply_imgui_style(style_);
  return ok();
}

void Shell::follow(const Preferences& preferences, float monitor_scale) {
  const float scale = preferences.scale * std::clamp(monitor_scale, 1.0F, 4.0F);
  if (style_.theme == preferences.theme && style_.scale == scale) return;
  style_.theme = preferences.theme;
  style_.scale = scale;
  apply_imgui_style(style_);
}

void Shell::load_layout(const std::string& layout) {
  if (!layout.empty()) ImGui::LoadIniSettingsFromMemory(layout.data(), layout.size());
}

std::string Shell::layout() const {
  std::size_t size = 0;
  const char* text = ImGui::SaveIniSettingsToMemory(&size);
  return {text, size};
}

double Shell::seconds_to_motion() const {
  double seconds = attn::seconds_to_motion();
  if (toasts_ && held_.toast_until > ImGui::GetTime()) {
    constexpr double kJustAfter = 0.005;
    seconds = std::min(seconds, held_.toast_until - ImGui::GetTime() + kJustAfter);
  }
  constexpr double kAskDialog = 0.1;  // the desktop's dialog is a process that is asked whether it has ended
  if (!held_.browsing.empty()) seconds = std::min(seconds, kAskDialog);
  if (step_.cache != nullptr && step_.cache->scanning) seconds = 0;
  return seconds;
}

void Shell::draw_workspace(Controller& controller, Commands& commands) {
  // No tab: the top bar's tabs say which workspace this is. Other windows dock beside it, never over it.
  ImGuiWindowClass no_tab;
  no_tab.DockNodeFlagsOverrideSet = static_cast<ImGuiDockNodeFlags>(ImGuiDockNodeFlags_NoTabBar) |
                                    static_cast<ImGuiDockNodeFlags>(ImGuiDockNodeFlags_NoDockingOverMe);
  ImGui::SetNextWindowClass(&no_tab);
  const Workspace workspace = controller.state().view.workspace;
  if (ImGui::Begin(kWorkspaceWindow, nullptr,
                   ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoBackground)) {
    ImGui::PushID(name_of(workspace).data());
    switch (workspace) {
      case Workspace::step:
        draw_step(controller.state(), controller.model(), step_, commands);
        break;
      case Workspace::bench:
        draw_bench(controller.state(), controller.model(), bench_, commands);
        break;
      case Workspace::profile:
        draw_profile(controller.state(), controller.model(), commands);
        break;
      case Workspace::learn:
        draw_learn(controller.state(), controller.model(), commands);
        break;
    }
    ImGui::PopID();
  }
  ImGui::End();
}

void Shell::draw(Controller& controller, Commands& commands) {
  // Where arrows step, Dear ImGui's own keyboard navigation is off; elsewhere Tab and arrows reach every control.
  ImGuiIO& io = ImGui::GetIO();
  const bool steps = controller.state().view.workspace == Workspace::step;
  io.ConfigFlags = steps ? io.ConfigFlags & ~ImGuiConfigFlags_NavEnableKeyboard
                         : io.ConfigFlags | ImGuiConfigFlags_NavEnableKeyboard;
  const Commands keys = read_keys(controller.state(), step_.tiles.focused, held_.popup_open);
  commands.insert(commands.end(), keys.begin(), keys.end());

  draw_top_bar(controller, commands);
  draw_dockspace();
  draw_workspace(controller, commands);
  if (controller.state().view.log_panel) draw_log_panel(controller, held_, commands);
  for (const Command& command : commands) {
    if (const auto* ask = command_as<Ask>(command)) held_.open_next = ask->popup;
  }
  draw_popups(controller, held_, commands);
  draw_keys_sheet(controller.state(), held_, commands);
  if (toasts_) draw_toast(controller, held_);
  // A button that was let go ends the drag, and so does the window that is left: GLFW then lets go of all.
  if (!ImGui::IsAnyItemActive()) controller.end_gesture();
}

}  // namespace attn
