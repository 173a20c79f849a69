#include "app/shell/bar_menu.h"

#include <utility>

#include "app/shell/widgets/submenu.h"
#include "imgui.h"
#include "kernels/base/text.h"
#include "viz/draw/hands.h"

namespace attn {
namespace {

void item(const char* words, const char* keys, Command command, Commands& commands, bool on = false) {
  if (ImGui::MenuItem(words, by_touch() ? nullptr : keys, on)) commands.push_back(std::move(command));
}

void settings(const State& state, Commands& commands) {
  ImGui::PushItemFlag(ImGuiItemFlags_AutoClosePopups, false);  // several are often changed in one go
  const bool light = state.preferences.theme == Theme::light, still = state.preferences.reduced_motion;
  item(tr("Light theme"), "Ctrl+T", SetTheme{light ? Theme::dark : Theme::light}, commands, light);
  item(tr("Reduce motion"), nullptr, SetReducedMotion{!still}, commands, still);
  ImGui::PopItemFlag();
  if (!begin_submenu(tr("Settings"))) return;
  ImGui::PushItemFlag(ImGuiItemFlags_AutoClosePopups, false);
  item(tr("Dark"), "Ctrl+T", SetTheme{Theme::dark}, commands, !light);
  item(tr("Light"), "Ctrl+T", SetTheme{Theme::light}, commands, light);
  menu_separator();
  for (const int percent : {100, 125, 150, 200, 300}) {
    const float scale = static_cast<float>(percent) / 100;
    item(phrase("Text and tiles at {} %", percent).c_str(), percent == 100 ? "Ctrl+0" : nullptr, SetScale{scale},
         commands, state.preferences.scale == scale);
  }
  ImGui::PopItemFlag();
  end_submenu();
}

void exports(const State& state, Commands& commands) {
  if (!begin_submenu(tr("Export"))) return;
  item(tr("Measurements as CSV"), "Ctrl+E", ExportCsv{}, commands);
  item(tr("Picture of the window"), "F12", SavePicture{}, commands);
  if (shows_step(state.view)) item(tr("Pictures of several steps"), "Shift+F12", Ask{Popup::save_steps}, commands);
  if (state.view.workspace == Workspace::learn) item(tr("A chapter on paper"), "", Ask{Popup::print_chapter}, commands);
  item(tr("This view as a state string"), "Ctrl+K", CopyState{}, commands);
  end_submenu();
}

}  // namespace

void draw_bar_menu(const State& state, Commands& commands) {
  item(tr("Open a file"), "Ctrl+O", Ask{Popup::open_file}, commands);
  item(tr("Your own Q, K, V"), "Ctrl+I", Ask{Popup::input_files}, commands);
  menu_separator();
  item(tr("Save the session"), "Ctrl+S", SaveSession{}, commands);
  item(tr("Save under another name"), "Ctrl+Shift+S", Ask{Popup::save_as}, commands);
  exports(state, commands);
  menu_separator();
  settings(state, commands);
  item(tr("Log"), "Ctrl+L", ShowLog{!state.view.log_panel}, commands, state.view.log_panel);
}

}  // namespace attn
