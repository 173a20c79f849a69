// A thread that lives as long as the object and does what it is asked to. A child process that is to end with its
// parent ends, on Linux, with the thread that started it: one that a task started would be gone with the task.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace attn {

class LastingThread {
 public:
  LastingThread();
  // Runs `work` there, and returns when it is done. By one caller at a time.
  void run(const std::function<void()>& work);

 private:
  void live(const std::stop_token& stop);
  std::mutex mutex_;  // guards work_
  std::condition_variable_any changed_;
  const std::function<void()>* work_ = nullptr;  // the caller's, while it waits
  std::jthread thread_;                          // last: it ends first
};

}  // namespace attn
