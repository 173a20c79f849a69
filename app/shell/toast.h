// The newest line of the log, for some seconds and in the workspace that it came up in: in the bar where that has room
// for it, else over the lower end of the workspace. Nothing moves for it, so that what is aimed at stays where it was.
#pragma once

#include <string>

#include "app/control/controller.h"
#include "app/control/tasks/log.h"
#include "viz/draw/canvas.h"

namespace attn {

struct ShellUiState;  // app/shell/shell_ui_state.h

struct Toast {
  bool shown = false, in_bar = false;
  std::string text;
  LogLevel level = LogLevel::note;
  Box box;          // where it stands, pixels
  float size = 13;  // of its text, logical
  int lines = 1;    // at most
};

// What is to be seen now, after what the log got since the last frame. `room`: what is free of the bar.
Toast toast_now(Controller& controller, ShellUiState& ui, const Box& room);
// Above all else, and in nobody's way: no window, so the pointer goes through.
void draw_toast(const Toast& toast);

// The mark before a line of the log: a dot, a ring for a warning, a cross for an error. Never colour alone.
void draw_level_mark(ImDrawList* list, ImVec2 centre, LogLevel level);

}  // namespace attn
