// The window on a display: GLFW and OpenGL 3.3.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "kernels/base/result.h"
#include "viz/state/state.h"

namespace attn {

struct WindowOptions {
  std::optional<State> state;       // none: initial_state(); its preferences are replaced by those of the settings
  std::optional<Theme> theme;       // wins over the settings, for this run
  std::optional<float> scale;       // 1 to 3, wins over the settings, for this run
  std::filesystem::path open_file;  // an .attn to open at once; empty = none
  int max_frames = 0;               // 0 = until the user closes it
  std::stop_token stop;             // Ctrl+C in the terminal: closes as the user would
};

// Runs until the window is closed; the value is the exit code. No display or no OpenGL: cannot_run, with what would do.
// With ATTNSCOPE_TIMINGS set, the time from exec to the first frame on screen goes to stderr.
Result<int> run_window(const WindowOptions& options);

// What `doctor` prints: the display and its OpenGL ("X11, OpenGL 4.5, llvmpipe"), or why there is none.
Result<std::string> check_display();

}  // namespace attn
