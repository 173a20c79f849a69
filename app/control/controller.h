// Owns all that the program shows: state, recording, measurements, history, tasks, log. Between frames it obeys the
// commands of the frame: those of the state it applies, with undo; effects it gives to its jobs, each a class in a file
// of its own (job_context.h). No window, no GL: the window does what is asked of it (WindowRequests) after each frame.
// All members: UI thread only.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "app/control/bench/leftovers.h"
#include "app/control/bench/run_list.h"
#include "app/control/bench/sweeps.h"
#include "app/control/bench/tunings.h"
#include "app/control/files/exports.h"
#include "app/control/files/file_task.h"
#include "app/control/files/files.h"
#include "app/control/files/timelines.h"
#include "app/control/learn/lessons.h"
#include "app/control/profile/labs.h"
#include "app/control/profile/listings.h"
#include "app/control/profile/samplings.h"
#include "app/control/step/examinations.h"
#include "app/control/step/playback.h"
#include "app/control/step/recordings.h"
#include "app/control/tasks/job_context.h"
#include "app/control/tasks/log.h"
#include "app/control/tasks/tasks.h"
#include "app/graphics/image.h"
#include "app/state/apply/history.h"
#include "app/worker/bench.h"
#include "profiling/session/sweep_run.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct ControllerOptions {
  State state;
  std::function<void()> wake;         // see Tasks
  std::filesystem::path save_folder;  // sessions, exports and pictures go there
  std::filesystem::path program;      // draws pictures of steps in a process of its own; empty = this program
  RunFolders runs;                    // where runs are kept and found
  SweepSources sweeps;
  std::filesystem::path drafts{};  // where what is typed in the lab is kept; empty = nowhere
  KernelLister lister;             // for Profile's source; none = it says so
  LessonSources lessons;
  TaskPlace tasks = TaskPlace::threads;
};

class Controller {
 public:
  explicit Controller(ControllerOptions options);

  const State& state() const { return state_; }
  const Model& model() const { return model_; }
  Log& log() { return log_; }
  const History& history() const { return history_; }
  const InputFilesAnswer& input_files_answer() const { return files_.inputs_answer(); }
  const std::filesystem::path& save_folder() const { return file_task_.folder(); }

  // Between frames: results of tasks, then the commands in their order. Whether there is something new to draw.
  bool update(const Commands& commands);
  // `seconds` have passed: play goes on. Whether the cursor moved.
  bool advance(double seconds);
  // After so many seconds advance() will move the cursor; infinity while nothing plays.
  double seconds_to_step() const { return playback_.seconds_to_step(); }
  bool tasks_run() const { return tasks_.any_running(); }
  // Mouse and keyboard rest: what is dragged next is an undo entry of its own.
  void end_gesture() { history_.end_gesture(); }
  WindowRequests take_requests();
  // Shows what a picture or a loaded session brings, in place of what this machine made.
  void show(std::vector<ListedRun> runs, std::shared_ptr<const Recording> recording);
  // Adds runs that can be ticked.
  void list(const std::vector<ListedRun>& runs);
  // Timelines of an opened file, for Profile.
  void show(const std::vector<Timeline>& timelines);
  // What stands in the lab of a picture, with what it was built to.
  void show_lab(LabView lab) { model_.lab = std::move(lab); }
  // Writes what SavePicture asked for, on a task.
  void save_picture(const std::filesystem::path& file, Image image);
  // Of the window, in pixels: pictures of steps are as large.
  void window_is(int width, int height) { exports_.window_is(width, height); }
  // Which GPUs there are, which runs and which files, on tasks.
  void look_around() { sweeps_.look_around(); }
  // What takes long to free, for the controller that comes in place of this one, and what that does with it.
  std::vector<SweepRun> take_runs() { return runs_.take_all(); }
  void let_go(std::vector<SweepRun> runs) { free_in_pieces(std::move(runs), tasks_); }
  // Until no task runs; for pictures and tests.
  void wait();

 private:
  struct RunEffect;

  JobContext context();
  void obey(const Command& command);
  void change(const StateCommand& command);
  void travel(bool forward);
  void undo(bool forward);
  // Those that the window shows and Esc cancels: the sweep first, it is what the user waits for.
  std::array<TaskId, 6> tasks_shown() const;
  void cancel_task();
  void refresh_task_view();

  State state_;
  Model model_;
  History history_;
  Log log_;
  WindowRequests requests_;
  std::uint64_t said_ = 0;  // newest line of the log when update() was last called
  // The jobs. A new one is a member here, and its effects are overloads of RunEffect.
  FileTask file_task_;
  Recordings recordings_;
  Examinations examinations_;
  Playback playback_;
  RunList runs_;
  Sweeps sweeps_;
  Listings listings_, listings_against_;
  Timelines timelines_;
  Samplings samplings_;
  Labs labs_;
  Tunings tunings_;
  Exports exports_;
  Lessons lessons_;
  Files files_;
  Tasks tasks_;  // last: its threads end first
};

}  // namespace attn
