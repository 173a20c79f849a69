#include "app/cli/arguments/stopper.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "kernels/base/text.h"

namespace attn::cli {
namespace {

constexpr int kCancelled = 130;  // 128 + SIGINT, as shells have it

}  // namespace

Stopper::Stopper(bool watch) {
  ignore_file_limit_signal();
  if (watch) signals_.emplace([this](bool came) { look(came); });
}

void Stopper::look(bool signal_came) {
  if (signal_came) {
    if (source_.stop_requested() && !timed_out_) std::_Exit(kCancelled);
    std::fputs(tr("\n"
                  "Stopping. Finished work is kept. Press Ctrl+C again to quit at once.\n"),
               stderr);
    source_.request_stop();
  }
  const std::lock_guard lock(mutex_);
  if (deadline_ && std::chrono::steady_clock::now() >= *deadline_ && !source_.stop_requested()) {
    timed_out_ = true;
    source_.request_stop();
  }
}

Result<void> Stopper::limit_time(double seconds) {
  constexpr double kLongest = 1e8;  // three years; beyond it durations overflow
  if (!(seconds >= 0) || seconds > kLongest) {
    return bad_input(
        phrase("Invalid --time-limit {}; use a value from 0 (no limit) to {:g} seconds.", seconds, kLongest));
  }
  const std::lock_guard lock(mutex_);
  seconds_ = seconds;
  deadline_.reset();
  if (seconds > 0) {
    deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::llround(seconds * 1000));
  }
  return ok();
}

std::optional<double> Stopper::reached_limit() const {
  if (!timed_out_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return seconds_;
}

}  // namespace attn::cli
