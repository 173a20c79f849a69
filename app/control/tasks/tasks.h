// Work that takes longer than a frame. A task runs on its own thread, says how far it is, can be cancelled, and hands
// its results to the UI thread through a queue that is drained between frames: nothing a frame reads changes under it.
// Where there are no threads it runs between two frames instead, one task at a time, and work that comes in slices runs
// some of them between two frames.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kernels/base/result.h"
#include "viz/state/model.h"

namespace attn {

class Tasks;

// What a task's function gets. All of it may be called from the task's thread.
class TaskHandle {
 public:
  std::stop_token stop() const { return stop_; }
  // `fraction` 0 to 1; seconds_left -1 = not known.
  void progress(double fraction, std::string now, double seconds_left = -1);
  // Runs `result` in the UI thread, in order, at the next drain(); never once the task's owner is gone.
  void deliver(std::function<void()> result);

 private:
  friend class Tasks;
  struct Shared;
  TaskHandle(Tasks* tasks, std::shared_ptr<Shared> shared, std::stop_token stop);
  Tasks* tasks_;
  std::shared_ptr<Shared> shared_;
  std::stop_token stop_;
};

using TaskId = std::uint64_t;
using TaskFunction = std::function<Result<void>(TaskHandle&)>;
// Called again and again, until it answers true or an error.
using SlicedFunction = std::function<Result<bool>(TaskHandle&)>;

// Where tasks run. Between frames: drain() runs the one that has waited longest, to its end, or of one in slices as
// many as begin within kSlicesTogether. What the last slices of one brought after that waits for a drain of its own.
enum class TaskPlace : std::uint8_t { threads, between_frames };

class Tasks {
 public:
  // `wake` is called, from any thread, when there is something to draw: it ends the window's wait.
  explicit Tasks(std::function<void()> wake = {}, TaskPlace place = TaskPlace::threads);
  ~Tasks();  // cancels and joins all
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  // UI thread only, from here on. `finished` runs in drain() after everything the task delivered.
  TaskId start(std::string title, TaskFunction work, std::function<void(const Result<void>&)> finished = {});
  TaskId start_sliced(std::string title, SlicedFunction work, std::function<void(const Result<void>&)> finished = {});
  void cancel(TaskId id);
  void cancel_all();
  bool running(TaskId id) const;
  bool any_running() const;
  // Title, progress and error of a task, also after its end as long as no later one has taken its place.
  TaskView view(TaskId id) const;
  // Runs what tasks delivered, and between frames a task before. Whether there was anything.
  bool drain();
  static constexpr std::chrono::milliseconds kSlicesTogether{2};
  // Work that may take longer than a frame must come in slices.
  bool between_frames() const { return place_ == TaskPlace::between_frames; }
  // Blocks until no task runs, draining; for tests and for programs without a window.
  void wait();

 private:
  friend class TaskHandle;
  struct Task {
    TaskId id = 0;
    std::shared_ptr<TaskHandle::Shared> shared;
    std::stop_source stop;
    std::function<bool()> waiting;  // between frames, until it answers that it ran to its end
    std::uint64_t turn = 0;         // among those that wait the least runs next
    bool sliced = false;
    std::jthread thread;
  };
  void post(std::function<void()> f);
  // Whether it ended in slices that took all of their time.
  bool run_waiting();
  TaskId add(std::string title, SlicedFunction work, std::function<void(const Result<void>&)> finished, bool sliced);
  const Task* find(TaskId id) const;
  // A slice. Whether it was the last.
  bool run(const std::shared_ptr<TaskHandle::Shared>& shared, const SlicedFunction& work,
           const std::function<void(const Result<void>&)>& finished, std::stop_token stop);

  std::function<void()> wake_;
  TaskPlace place_;
  std::mutex queue_mutex_;
  std::vector<std::function<void()>> queue_;
  std::vector<Task> tasks_;  // last: threads end before the queue goes
  TaskId last_id_ = 0;
  std::uint64_t last_turn_ = 0;
  bool results_wait_ = false;
};

}  // namespace attn
