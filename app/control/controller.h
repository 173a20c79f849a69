// Owns all that the program shows: state, recording, measurements, history, tasks, log. Receives the commands of a
// frame, applies them, records anew where the problem changed, runs sweeps, opens and saves files. No window, no GL:
// the shell asks for effects (clipboard, picture, quit) after each frame. All members: UI thread only.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/control/log.h"
#include "app/control/row_keeper.h"
#include "app/control/tasks.h"
#include "app/state/document_inputs.h"
#include "app/state/history.h"
#include "app/window/pictures.h"
#include "app/worker/bench.h"
#include "profiling/session/session.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct ControllerOptions {
  State state;
  std::function<void()> wake;              // see Tasks
  std::filesystem::path save_folder;       // sessions, exports and pictures go there
  std::filesystem::path autosave_file;     // the rows of a running sweep; empty = not kept
  std::filesystem::path program;           // draws pictures of steps in a process of its own; empty = this program
  std::filesystem::path bundled_sessions;  // the folder of those that Bench offers; empty = none
  std::shared_ptr<GpuBench> gpu;           // measures GPU kernels; null = no GPU is looked for
};

// What the shell does for the controller, once a frame.
struct Effects {
  std::optional<std::string> clipboard;
  std::optional<std::filesystem::path> picture;  // write the window's pixels there
  bool quit = false;
};

// What SetInputFiles came to: the number of the last that was answered, and why it was refused.
struct InputFilesAnswer {
  std::uint64_t number = 0;
  std::string error;
};

class Controller {
 public:
  explicit Controller(ControllerOptions options);

  const State& state() const { return state_; }
  const Model& model() const { return model_; }
  Log& log() { return log_; }
  const History& history() const { return history_; }
  const InputFilesAnswer& input_files_answer() const { return input_files_answer_; }
  const std::filesystem::path& save_folder() const { return options_.save_folder; }

  // Between frames: results of tasks, then the commands in their order.
  void update(const Commands& commands);
  // `seconds` since the last frame: play goes on.
  void advance(double seconds);
  // Whether something moves without the user: play or a task.
  bool wants_frames() const;
  Effects take_effects();
  // Shows what a picture or a loaded session brings, in place of what this machine made.
  void show(std::vector<Measurement> rows, Provenance provenance, std::shared_ptr<const Recording> recording);
  // Writes what SavePicture asked for, on a task.
  void save_picture(const std::filesystem::path& file, Image image);
  // Of the window, in pixels: pictures of steps are as large.
  void window_is(int width, int height) { window_width_ = width, window_height_ = height; }
  // Which GPUs there are and which sessions can be offered, on tasks.
  void look_around();
  // Until no task runs; for pictures and tests.
  void wait();

 private:
  // What a recording depends on.
  struct RecordingKey {
    Problem problem;
    InputSpec inputs;
    std::string kernel;
    Options options;
    bool operator==(const RecordingKey&) const = default;
  };
  RecordingKey wanted() const;
  void obey(const Command& command);
  bool run_effect(const Command& command);
  void follow_document(bool to_start);
  void record(const RecordingKey& key, bool to_start);
  void install(std::shared_ptr<const Recording> recording, bool to_start);
  void refuse_recording(std::string words);
  void refresh_task_view();
  void travel(bool forward);

  // controller_bench.cpp
  void run_sweep_task(bool restart);
  Result<void> sweep_in_task(TaskHandle& task, const SweepSpec& spec, const std::vector<Measurement>& kept,
                             GpuBench* gpu, RowKeeper& keeper);
  void show_rows(Session& session);
  std::string state_text() const;

  // controller_files.cpp
  void cancel_task();
  void export_rows(const char* extension);
  void save_session();
  void save_session_as(const std::string& path);
  void set_input_files(const std::array<std::string, 4>& paths);
  void save_steps(const SaveSteps& what);
  void open_file(const std::string& path);
  void open_session(const std::string& path);
  void open_arrays(const std::filesystem::path& q);
  void opened(const std::string& path, Session session);
  void copy_state();
  std::filesystem::path new_file(const char* extension) const;
  void write_text(const std::string& what, const std::filesystem::path& file, std::string text);

  ControllerOptions options_;
  State state_;
  Model model_;
  History history_;
  Log log_;
  Effects effects_;
  RecordingKey shown_;    // of model_.recording, or of what was refused
  RecordingKey pending_;  // of the recording that a task makes
  OpenedRecordings opened_;
  InputFilesAnswer input_files_answer_;
  std::filesystem::path session_file_;  // what this run saved; saved again by the next Ctrl+S
  int window_width_ = 1440, window_height_ = 900;
  double play_debt_ = 0;                     // steps that play owes
  std::optional<EventIndex> wanted_cursor_;  // from a state string, until there is a recording
  TaskId recording_task_ = 0, sweep_task_ = 0, file_task_ = 0;
  std::uint64_t recording_generation_ = 0;
  Tasks tasks_;  // last: its threads end first
};

// Where a program that was started here saves: the current folder, or data_folder() where it cannot be written.
std::filesystem::path default_save_folder();

}  // namespace attn
