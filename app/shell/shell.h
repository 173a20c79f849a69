// Builds one frame of the window: top bar, dockspace with the active workspace and the log, popups, `?` sheet. The
// same frame goes to a display, to a picture and to the tests. Needs a GuiContext and a renderer; knows no window.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "app/control/controller.h"
#include "app/shell/palette/palette.h"
#include "app/shell/shell_ui_state.h"
#include "app/shell/toast.h"
#include "kernels/base/result.h"
#include "viz/bench/scene/bench_ui_state.h"
#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/learn/card/card_ui_state.h"
#include "viz/learn/figure/figure_draw.h"
#include "viz/profile/profile_ui_state.h"
#include "viz/state/commands.h"
#include "viz/step/step_ui_state.h"

namespace attn {

class Shell {
 public:
  // Fonts and texts out of the assets; the current context's style and io.UserData.
  Result<void> set_up(const std::filesystem::path& assets);
  // Between frames, before NewFrame. `monitor_scale` multiplies the user's.
  void follow(const State& state, float monitor_scale);
  // Dear ImGui's layout text; before the first frame.
  void load_layout(const std::string& layout);
  std::string layout() const;

  // Between NewFrame and Render.
  void draw(Controller& controller, Commands& commands);

  // After so many seconds the frame that was just rendered would be another, with nobody doing anything; infinity where
  // nothing moves.
  double seconds_to_motion() const;

  // A step is on its way: frames come by themselves until it has arrived.
  bool moves() const;
  // The system asks for less motion: nothing moves, whatever the user's own switch says.
  void ask_less_motion(bool less) { step_.tiles.less_motion = less; }

  // Pictures show no toasts: they would be of what happened before.
  void show_toasts(bool on) { toasts_ = on; }
  // Bench draws this chart alone (viz/bench/scene/bench_ui_state.h).
  void show_one_chart(std::size_t chart) { bench_.only_chart = chart; }
  // A figure in another page: Step without the bar, or one panel of it.
  void show_alone(StepPanel panel) { step_.only = panel; }
  // In a browser: files are chosen, dropped or pasted, and no path is asked for.
  void live_in_page() { ui_.in_page = true; }
  const StepUiState& step_ui() const { return step_; }
  // The question of the palette whose answer is open; null: none is.
  const PaletteEntry* answered() const { return ui_.palette.answer_shown ? &ui_.palette.asked : nullptr; }
  // Of the frame that was drawn last.
  const Toast& toast() const { return toast_; }
  const CardUiState& card_ui() const { return learn_; }

 private:
  void draw_workspace(Controller& controller, Commands& commands);
  void draw_first_window(Controller& controller, Commands& commands);
  std::size_t obey_own(const Commands& commands, std::size_t from);
  void follow_class(const State& state, bool tiles_had_keyboard, Commands& commands) const;
  void follow_keyboard(const State& state);
  void follow_tab(const State& state, bool tiles_had_keyboard);

  Style style_;
  StepUiState step_;
  BenchUiState bench_;
  ProfileUiState profile_;
  CardUiState learn_, class_;  // the learner's, and that of a class
  FigureUiState figure_;
  ShellUiState ui_;
  Toast toast_;
  bool toasts_ = true;
};

// The shell's parts, each in its file. All sizes through style().
constexpr float kTopBarHeight = 46;  // logical pixels
// Returns what of it is free.
Box draw_top_bar(Controller& controller, Commands& commands);                       // top_bar.cpp
void draw_log_panel(Controller& controller, ShellUiState& ui, Commands& commands);  // log_panel.cpp
void draw_keys_sheet(const State& state, ShellUiState& ui, Commands& commands);     // keys_sheet.cpp
void draw_popups(Controller& controller, ShellUiState& ui, Commands& commands);     // popups.cpp
// popups_files.cpp
void open_file_popup(Popup popup, const Controller& controller, ShellUiState& ui);
void draw_file_popups(const Controller& controller, ShellUiState& ui, Commands& commands);

}  // namespace attn
