// Ctrl+C, a polite kill and a terminal that closes, and what else the system would say by a signal. No handler and no
// global: the signals are blocked in every thread, and one thread waits for them.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>

namespace attn {

// A file beyond the process's limit is then an error of write(), like a full disk, and is told as one.
void ignore_file_limit_signal();

class StopSignals {
 public:
  // Calls `look` in a thread of its own: with true for each signal that came, with false now and then. Before any other
  // thread is started: threads inherit the signals that are blocked.
  explicit StopSignals(std::function<void(bool came)> look);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  void wait(const std::stop_token& end);

  std::function<void(bool came)> look_;
  std::jthread watcher_;  // last: ends before what it uses
};

}  // namespace attn
