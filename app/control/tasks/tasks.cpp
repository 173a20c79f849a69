#include "app/control/tasks/tasks.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "kernels/base/text.h"

namespace attn {

// What the task's thread writes and the UI thread reads.
struct TaskHandle::Shared {
  mutable std::mutex mutex;
  TaskView view;
};

TaskHandle::TaskHandle(Tasks* tasks, std::shared_ptr<Shared> shared, std::stop_token stop)
    : tasks_(tasks), shared_(std::move(shared)), stop_(std::move(stop)) {}

void TaskHandle::progress(double fraction, std::string now, double seconds_left) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->view.fraction = std::clamp(fraction, 0.0, 1.0);
    shared_->view.now = std::move(now);
    shared_->view.seconds_left = seconds_left;
  }
  if (tasks_->wake_) tasks_->wake_();
}

void TaskHandle::deliver(std::function<void()> result) {
  tasks_->post(std::move(result));
}

Tasks::Tasks(std::function<void()> wake, TaskPlace place) : wake_(std::move(wake)), place_(place) {}

Tasks::~Tasks() {
  cancel_all();
  tasks_.clear();  // joins
}

void Tasks::post(std::function<void()> f) {
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.push_back(std::move(f));
  }
  if (wake_) wake_();
}

bool Tasks::run(const std::shared_ptr<TaskHandle::Shared>& shared, const SlicedFunction& work,
                const std::function<void(const Result<void>&)>& finished, std::stop_token stop) {
  TaskHandle handle(this, shared, std::move(stop));
  Result<void> result;
  try {
    const Result<bool> done = work(handle);
    if (done && !*done) return false;
    if (!done) result = tl::unexpected(done.error());
  } catch (const std::bad_alloc&) {
    result = fail(ErrorKind::cannot_run, tr("Not enough memory for this task."));
  } catch (const std::exception& bug) {
    result = fail(ErrorKind::failed, phrase("This is a bug in AttnScope: {}", bug.what()));
  }
  // `running` ends in the UI thread, so that no frame sees an ended task without its results.
  post([shared, finished, result] {
    {
      const std::lock_guard lock(shared->mutex);
      shared->view.running = false;
      if (!result) shared->view.error = result.error().message;
    }
    if (finished) finished(result);
  });
  return true;
}

TaskId Tasks::start(std::string title, TaskFunction work, std::function<void(const Result<void>&)> finished) {
  const auto whole = [work = std::move(work)](TaskHandle& task) -> Result<bool> {
    if (auto done = work(task); !done) return tl::unexpected(done.error());
    return true;
  };
  return add(std::move(title), whole, std::move(finished), false);
}

TaskId Tasks::start_sliced(std::string title, SlicedFunction work, std::function<void(const Result<void>&)> finished) {
  return add(std::move(title), std::move(work), std::move(finished), true);
}

TaskId Tasks::add(std::string title, SlicedFunction work, std::function<void(const Result<void>&)> finished,
                  bool sliced) {
  // Ended ones go, but the last stays: panels may still show its error.
  std::erase_if(tasks_, [&](const Task& t) { return t.id != last_id_ && !running(t.id); });
  Task task;
  task.id = ++last_id_;
  task.shared = std::make_shared<TaskHandle::Shared>();
  task.shared->view.title = std::move(title);
  task.shared->view.running = true;
  task.sliced = sliced;
  auto slice = [this, shared = task.shared, work = std::move(work), finished = std::move(finished),
                stop = task.stop.get_token()] { return run(shared, work, finished, stop); };
  if (place_ == TaskPlace::between_frames) {
    task.waiting = std::move(slice);
    task.turn = ++last_turn_;
    if (wake_) wake_();
  } else {
    task.thread = std::jthread([slice = std::move(slice)] {
      while (!slice()) {
      }
    });
  }
  tasks_.push_back(std::move(task));
  return last_id_;
}

const Tasks::Task* Tasks::find(TaskId id) const {
  const auto it = std::find_if(tasks_.begin(), tasks_.end(), [&](const Task& t) { return t.id == id; });
  return it == tasks_.end() ? nullptr : &*it;
}

void Tasks::cancel(TaskId id) {
  for (Task& task : tasks_) {
    if (task.id == id) task.stop.request_stop();
  }
}

void Tasks::cancel_all() {
  for (Task& task : tasks_) task.stop.request_stop();
}

bool Tasks::running(TaskId id) const {
  return view(id).running;
}

bool Tasks::any_running() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [&](const Task& t) { return running(t.id); });
}

TaskView Tasks::view(TaskId id) const {
  const Task* task = find(id);
  if (task == nullptr) return {};
  const std::lock_guard lock(task->shared->mutex);
  return task->shared->view;
}

// What a task asks for while it runs may move the list.
bool Tasks::run_waiting() {
  const auto sooner = [](const Task& a, const Task& b) {
    return a.waiting != nullptr && (b.waiting == nullptr || a.turn < b.turn);
  };
  const auto it = std::min_element(tasks_.begin(), tasks_.end(), sooner);
  if (it == tasks_.end() || it->waiting == nullptr) return false;
  const TaskId id = it->id;
  const bool sliced = it->sliced;
  std::function<bool()> slice = std::exchange(it->waiting, nullptr);
  const auto until = std::chrono::steady_clock::now() + kSlicesTogether;
  do {
    if (slice()) return sliced && std::chrono::steady_clock::now() >= until;
  } while (std::chrono::steady_clock::now() < until);
  const auto now = std::find_if(tasks_.begin(), tasks_.end(), [&](const Task& t) { return t.id == id; });
  now->waiting = std::move(slice);
  now->turn = ++last_turn_;
  return false;
}

bool Tasks::drain() {
  if (!std::exchange(results_wait_, false)) results_wait_ = run_waiting();
  if (results_wait_) return false;
  std::vector<std::function<void()>> ready;
  {
    const std::lock_guard lock(queue_mutex_);
    ready.swap(queue_);
  }
  for (const auto& f : ready) f();
  return !ready.empty();
}

void Tasks::wait() {
  while (any_running()) {
    if (!drain() && place_ == TaskPlace::threads) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  drain();
}

}  // namespace attn
