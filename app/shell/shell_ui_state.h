// What the shell's own windows remember between frames: popups, palette, toast, log.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "app/shell/keys/shortcuts.h"
#include "app/shell/palette/palette.h"
#include "app/system/file_dialog.h"
#include "viz/state/state.h"

namespace attn {

struct ShellUiState {
  Popup open_next = Popup::none;  // to be opened in this frame
  bool popup_open = false;        // one was open in the last frame
  int go_to = 1;
  std::string path;                        // of the popup that is open
  std::string print_lesson;                // the chapter to print
  std::array<std::string, 4> input_paths;  // Q, K, V, bias as typed
  std::uint64_t input_asked = 0;           // number of the answer that is waited for; 0 = none
  int first_step = 1, last_step = 1;
  float seconds_per_step = 1;
  FileDialog dialog;
  std::string browsing;                  // field whose dialog is open
  bool has_dialogs = false;              // the desktop has file dialogs
  bool in_page = false;                  // in a browser: nobody knows a path there
  std::uint64_t log_seen = 0;            // newest entry that the log panel has shown
  std::uint64_t toast = 0;               // entry that the toast shows; 0 = none
  double toast_until = 0;                // ImGui::GetTime() at which it goes
  Workspace toast_in = Workspace::step;  // in which it came up
  bool keys_sheet_shown = false;
  PaletteUiState palette;
  int open_popups = 0;               // at the end of the last frame
  bool tab_is_tiles = true;          // in Step: Tab enters the tiles; else it goes through the controls
  bool reset_layout = false;         // in the next frame
  const char* focus_next = nullptr;  // window whose first control gets the keyboard in the next frame
};

}  // namespace attn
