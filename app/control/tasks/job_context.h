// What the jobs of the controller share. Each job is a class in a file of its own (recordings.h, sweeps.h, ...) that
// gets this, and others of the jobs where it needs them; none knows the controller.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/control/tasks/log.h"
#include "app/control/tasks/tasks.h"
#include "app/state/apply/history.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// What the controller asks of the window, once a frame.
struct WindowRequests {
  std::optional<std::string> clipboard;
  std::optional<std::filesystem::path> picture;  // write the window's pixels there
  bool quit = false;
};

// The controller's own, which outlive the jobs' tasks. All of it: UI thread only.
struct JobContext {
  State& state;
  Model& model;
  History& history;
  Tasks& tasks;
  Log& log;
  WindowRequests& requests;
};

}  // namespace attn
