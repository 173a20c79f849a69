// What leaves the program: rows as CSV or JSON, pictures, the state string.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "app/control/files/file_task.h"
#include "app/control/tasks/job_context.h"
#include "app/graphics/image.h"
#include "profiling/session/session.h"
#include "viz/state/commands_profile.h"
#include "viz/state/commands_step.h"

namespace attn {

class Exports {
 public:
  // `program` draws pictures of steps in a process of its own; empty = this program.
  Exports(const JobContext& context, FileTask& files, std::filesystem::path program)
      : context_(context), files_(files), program_(std::move(program)) {}

  // Of one run, or of all that are shown.
  void write_csv(const std::string& run);
  void write_json(const std::string& run);
  void write_trace(const std::string& run);
  void write_timeline(const ExportTimeline& what);
  // Asks the window for its pixels; save_picture() writes them.
  void ask_for_picture();
  void save_picture(const std::filesystem::path& file, Image image);
  void save_steps(const SaveSteps& what);
  void copy_state();
  // Of the window, in pixels: pictures of steps are as large.
  void window_is(int width, int height) { width_ = width, height_ = height; }

 private:
  std::optional<Session> rows_to_write(const std::string& run);
  void write_rows(const std::filesystem::path& file, std::size_t count, std::string text);

  JobContext context_;
  FileTask& files_;
  std::filesystem::path program_;
  int width_ = 1440, height_ = 900;
};

}  // namespace attn
