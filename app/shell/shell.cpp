#include "app/shell/shell.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/shell/doors.h"
#include "app/shell/keys/tab_order.h"
#include "app/shell/motion.h"
#include "app/system/assets.h"
#include "imgui.h"
#include "imgui_internal.h"
#include "kernels/base/files.h"
#include "viz/learn/class_scale.h"
#include "viz/step/step_cache.h"
#include "viz/workspaces.h"

namespace attn {
namespace {

constexpr std::uint64_t kMaxTextBytes = 4 << 20;
constexpr const char* kWorkspaceWindow = "###workspace";
constexpr const char* kLogWindow = "Log###log";

// The workspace fills what the log leaves, the log lies below; a layout that was loaded wins, unless it is to go.
void build_default_layout(ImGuiID dockspace, ImVec2 size, bool anew) {
  if (ImGui::DockBuilderGetNode(dockspace) != nullptr && !anew) return;
  if (anew) ImGui::DockBuilderRemoveNode(dockspace);
  ImGui::DockBuilderAddNode(dockspace, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(dockspace, size);
  ImGuiID log = 0, rest = 0;
  ImGui::DockBuilderSplitNode(dockspace, ImGuiDir_Down, 0.24F, &log, &rest);
  ImGui::DockBuilderDockWindow(kWorkspaceWindow, rest);
  ImGui::DockBuilderDockWindow(kLogWindow, log);
  ImGui::DockBuilderFinish(dockspace);
}

// `bar`, `foot`: what lies above and below it, pixels.
ImGuiID draw_dockspace(bool anew, float bar) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
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
  build_default_layout(dockspace, size, anew);
  if (anew) ImGui::MarkIniSettingsDirty();
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
  for (const std::string_view file : kStepTextFiles) {
    const auto text = read_text(assets / file);
    if (!text) return tl::unexpected(text.error());
    auto texts = parse_step_texts(*text, std::move(step_.texts));
    if (!texts) return tl::unexpected(texts.error());
    step_.texts = *std::move(texts);
  }
  ImGui::GetIO().UserData = &style_;
  ImGui::GetIO().FontDefault = style_.fonts.text;
  apply_imgui_style(style_);
  return ok();
}

void Shell::follow(const State& state, float monitor_scale) {
  const Preferences& preferences = state.preferences;
  float scale = preferences.scale * std::clamp(monitor_scale, 1.0F, 4.0F);
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  if (teaches(state.view)) scale *= class_scale(size.x / scale, size.y / scale);
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
  if (toasts_ && ui_.toast_until > ImGui::GetTime()) {
    constexpr double kJustAfter = 0.005;
    seconds = std::min(seconds, ui_.toast_until - ImGui::GetTime() + kJustAfter);
  }
  constexpr double kAskDialog = 0.1;  // the desktop's dialog is a process that is asked whether it has ended
  if (!ui_.browsing.empty()) seconds = std::min(seconds, kAskDialog);
  if (step_.cache != nullptr && step_.cache->scanning) seconds = 0;
  return moves() ? 0 : seconds;
}

bool Shell::moves() const {
  return step_.tiles.moving();
}

// Step, and beside it the doors while they are open. Both work.
void Shell::draw_first_window(Controller& controller, Commands& commands) {
  const State& state = controller.state();
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail(),
               window = ImGui::GetMainViewport()->Size;
  if (!doors_have_room(state, window.x, window.y)) return draw_step(state, controller.model(), step_, commands);
  const float left = size.x - doors_width() - style_.px(12);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::BeginChild("beside_doors", {left, size.y}, ImGuiChildFlags_NavFlattened,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  draw_step(state, controller.model(), step_, commands);
  ImGui::EndChild();
  draw_doors(state, controller.model(), {{at.x + left + style_.px(12), at.y}, {at.x + size.x, at.y + size.y}},
             commands);
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
        step_.hidden = {};
        step_.look = {};
        step_.alone = false;
        draw_first_window(controller, commands);
        break;
      case Workspace::bench:
        draw_bench(controller.state(), controller.model(), bench_, commands);
        break;
      case Workspace::profile:
        draw_profile(controller.state(), controller.model(), profile_, commands);
        break;
      case Workspace::learn:
        draw_learn(controller.state(), controller.model(), teaches(controller.state().view) ? class_ : learn_, step_,
                   commands,
                   [&](const StageFigure& figure, const CardScene& card, const Box& box, Commands& of_figure) {
                     draw_stage_figure(figure, card, box, figure_, of_figure);
                   });
        break;
    }
    ImGui::PopID();
  }
  ImGui::End();
}

namespace {

// Step's keys; and those of a lesson's card, whatever stands beside it.
bool has_own_keys(const View& view) {
  return shows_step(view) || (view.workspace == Workspace::learn && view.learn.figure);
}

}  // namespace

// Where arrows step, Dear ImGui's own keyboard navigation is off; in lists and menus, where Tab goes through the
// controls, and elsewhere, Tab, arrows, Enter and Escape are its own.
void Shell::follow_keyboard(const State& state) {
  ImGuiIO& io = ImGui::GetIO();
  const bool steps = has_own_keys(state.view);
  const bool its_own = !steps || ui_.open_popups > 0 || !ui_.tab_is_tiles;
  if (!its_own && (io.ConfigFlags & ImGuiConfigFlags_NavEnableKeyboard) != 0) ImGui::SetNavCursorVisible(false);
  io.ConfigFlags = its_own ? io.ConfigFlags | ImGuiConfigFlags_NavEnableKeyboard
                           : io.ConfigFlags & ~ImGuiConfigFlags_NavEnableKeyboard;
  // An Escape that has closed a list or a menu does nothing else: it neither lets go of a pin nor closes the sheet.
  const bool closed = ImGui::GetCurrentContext()->OpenPopupStack.Size < ui_.open_popups;
  // For the rest of this frame the key counts as held, which nobody obeys, whoever asks for it.
  constexpr float kHeld = 0.001F;
  if (closed && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
    ImGui::GetKeyData(ImGuiKey_Escape)->DownDuration = kHeld;
    // The pointer rests on what opened the list, and would open it again: it counts from where it moves to.
    if (ImGui::GetCurrentContext()->OpenPopupStack.Size > 0) ImGui::SetNavCursorVisibleAfterMove();
  }
  if (ui_.focus_next != nullptr) focus_first_control(ImGui::FindWindowByName(std::exchange(ui_.focus_next, nullptr)));
}

// In Step Tab enters the tiles, from there it goes through the controls, and after the last into the tiles again.
void Shell::follow_tab(const State& state, bool tiles_had_keyboard) {
  static constexpr const char* kOrder[] = {kWorkspaceWindow, kLogWindow, "Bar"};
  const bool steps = has_own_keys(state.view);
  if (ui_.open_popups > 0) return;
  const bool on = tab_left_its_window();
  if (on) ImGui::NavMoveRequestCancel();
  if (!steps) {
    ui_.tab_is_tiles = true;
    if (on) ui_.focus_next = next_window(kOrder, kWorkspaceWindow);
    return;
  }
  if (ui_.tab_is_tiles) {
    const bool leaves = state.view.learn.figure || (tiles_had_keyboard && !step_.tiles.focused);
    const bool left = leaves && ImGui::IsKeyDown(ImGuiKey_Tab);
    if (!left) return;
    ui_.tab_is_tiles = false;
    ui_.focus_next = kWorkspaceWindow;
    return;
  }
  if (ImGui::IsAnyMouseDown() || ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ui_.tab_is_tiles = true;
  if (!on) return;
  ui_.focus_next = next_window(kOrder, nullptr);
  ui_.tab_is_tiles = step_.tiles.focused = ui_.focus_next == nullptr;
}

// Those of the frame's commands, from `from` on, that are for the shell. Returns how many there are by now.
std::size_t Shell::obey_own(const Commands& commands, std::size_t from) {
  for (std::size_t n = from; n < commands.size(); ++n) {
    if (const auto* ask = command_as<Ask>(commands[n])) ui_.open_next = ask->popup;
    if (command_as<ResetLayout>(commands[n]) != nullptr) ui_.reset_layout = true;
    if (command_as<TypeNumbers>(commands[n]) != nullptr) step_.tiles.type_next = true;
  }
  return commands.size();
}

// Escape leaves the class, after what is open above the lesson; F11 works while a number is typed too. Their command is
// the frame's last: what was pinned is let go before.
void Shell::follow_class(const State& state, bool tiles_had_keyboard, Commands& commands) const {
  const bool teaching = teaches(state.view);
  if (state.view.workspace != Workspace::learn || ui_.popup_open || ui_.open_popups > 0) return;
  if (ImGui::GetIO().WantTextInput) {
    if (ImGui::Shortcut(ImGuiKey_F11, ImGuiInputFlags_RouteGlobal)) commands.emplace_back(Teach{!teaching});
    return;
  }
  const bool above = state.view.keys_sheet || tiles_had_keyboard;
  if (teaching && !above && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) commands.emplace_back(Teach{false});
}

void Shell::draw(Controller& controller, Commands& commands) {
  const State& state = controller.state();
  step_.tiles.begin_frame();
  follow_keyboard(state);
  if (state.view.workspace != Workspace::learn || teaches(state.view)) learn_.on_map.reset();
  const ArrowKeys arrows = step_.tiles.focused ? ArrowKeys::cells : learn_.on_map ? ArrowKeys::map : ArrowKeys::steps;
  const Commands keys = read_keys(state, arrows, ui_.popup_open);
  commands.insert(commands.end(), keys.begin(), keys.end());

  // A class sees card and run alone, a figure in another page its panel.
  const bool teaching = teaches(state.view) || step_.only;
  Box room;
  if (!teaching) room = draw_top_bar(controller, commands);
  toast_ = toasts_ ? toast_now(controller, ui_, room) : Toast{};
  draw_dockspace(std::exchange(ui_.reset_layout, false), teaching ? 0 : style().px(kTopBarHeight));
  step_.tiles.tab_elsewhere = !ui_.tab_is_tiles;
  const bool tiles_had_keyboard = arrows != ArrowKeys::steps;  // or the map
  draw_workspace(controller, commands);
  if (state.view.log_panel && !teaching) draw_log_panel(controller, ui_, commands);
  const std::size_t obeyed = obey_own(commands, 0);
  draw_popups(controller, ui_, commands);
  draw_keys_sheet(state, ui_, commands);
  obey_own(commands, obeyed);  // what they ask for comes in the next frame
  draw_toast(toast_);
  follow_tab(state, tiles_had_keyboard && !learn_.on_map);
  follow_class(state, tiles_had_keyboard, commands);
  ui_.open_popups = ImGui::GetCurrentContext()->OpenPopupStack.Size;
  // A button that was let go ends the drag, and so does the window that is left: GLFW then lets go of all.
  if (!ImGui::IsAnyItemActive()) controller.end_gesture();
}

}  // namespace attn
