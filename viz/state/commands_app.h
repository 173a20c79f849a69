// Commands of no workspace: which one is shown, preferences, undo, files, clipboard.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "viz/state/state.h"

namespace attn {

struct ChooseWorkspace {
  Workspace workspace = Workspace::step;
};
struct ShowKeys {
  bool on = true;
};
struct ShowLog {
  bool on = true;
};

// Preferences.
struct SetTheme {
  Theme theme = Theme::dark;
};
struct SetScale {
  float scale = 1;
};
struct SetReducedMotion {
  bool on = false;
};

using AppCommand = std::variant<ChooseWorkspace, ShowKeys, ShowLog, SetTheme, SetScale, SetReducedMotion>;

// Small windows of the shell that ask for something.
enum class Popup : std::uint8_t {
  none,
  go_to,
  open_file,
  save_as,
  input_files,
  save_steps,
  bookmarks,
  print_chapter,
  palette
};
struct Ask {
  Popup popup = Popup::none;
};

// Panels where they were at first.
struct ResetLayout {};

struct Undo {};
struct Redo {};
struct CancelTask {};
struct SavePicture {};
struct SaveSession {};
struct SaveSessionAs {
  std::string path;
};
struct OpenFile {
  std::string path;
};
// Several at once: every session as its runs, every kernel; of the recordings the last is shown. One line of the log
// says what came of them.
struct OpenFiles {
  std::vector<std::string> paths;
};
struct CopyState {};
struct CopyText {
  std::string text;
};
struct Quit {};
using AppEffect = std::variant<Ask, ResetLayout, Undo, Redo, CancelTask, SavePicture, SaveSession, SaveSessionAs,
                               OpenFile, OpenFiles, CopyState, CopyText, Quit>;

}  // namespace attn
