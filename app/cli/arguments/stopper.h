// Ctrl+C, a polite kill and the time limit, as one stop token. A second Ctrl+C ends the program at once.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>

#include "app/system/signals.h"
#include "kernels/base/result.h"

namespace attn::cli {

class Stopper {
 public:
  // Before any other thread is started: see StopSignals. `watch` false: a token that nothing stops.
  explicit Stopper(bool watch);
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  // From now on. 0 = none.
  Result<void> limit_time(double seconds);
  // Whether it was the time limit that asked to stop, and what it was.
  std::optional<double> reached_limit() const;

 private:
  void look(bool signal_came);

  std::stop_source source_;
  mutable std::mutex mutex_;
  double seconds_ = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::atomic<bool> timed_out_ = false;
  std::optional<StopSignals> signals_;  // last: ends before what it uses
};

}  // namespace attn::cli
