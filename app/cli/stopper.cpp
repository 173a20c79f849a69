#include "app/cli/stopper.h"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

namespace attn::cli {
namespace {

constexpr int kCancelled = 130;  // 128 + SIGINT, as shells have it
constexpr long kLookAgainNanoseconds = 50'000'000;
constexpr int kEnd = SIGUSR1;  // to the watcher alone: the program ends, without waiting for the next look

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

Stopper::Stopper(bool watch) {
  // A file beyond the process's limit is then an error of write(), like a full disk, and is told as one.
  std::signal(SIGXFSZ, SIG_IGN);
  if (!watch) return;
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // The watcher inherits what is blocked; the others, and the children that they start, have this one as it was.
  sigset_t end = {}, before = {};
  sigemptyset(&end);
  sigaddset(&end, kEnd);
  pthread_sigmask(SIG_BLOCK, &end, &before);
  watcher_ = std::jthread([this](const std::stop_token& token) { wait_for_signals(token); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Stopper::~Stopper() {
  if (!watcher_.joinable()) return;
  watcher_.request_stop();
  pthread_kill(watcher_.native_handle(), kEnd);
}

void Stopper::wait_for_signals(const std::stop_token& end) {
  sigset_t signals = stop_signals();
  sigaddset(&signals, kEnd);
  const timespec look_again{0, kLookAgainNanoseconds};
  while (!end.stop_requested()) {
    const int came = sigtimedwait(&signals, nullptr, &look_again);
    if (came > 0 && came != kEnd) {
      if (source_.stop_requested() && !timed_out_) ::_exit(kCancelled);
      std::fputs("\nStopping; what is finished is kept. Ctrl+C again ends at once.\n", stderr);
      source_.request_stop();
    }
    const std::lock_guard lock(mutex_);
    if (deadline_ && std::chrono::steady_clock::now() >= *deadline_ && !source_.stop_requested()) {
      timed_out_ = true;
      source_.request_stop();
    }
  }
}

Result<void> Stopper::limit_time(double seconds) {
  constexpr double kLongest = 1e8;  // three years; beyond it durations overflow
  if (!(seconds >= 0) || seconds > kLongest) {
    return bad_input(
        fmt::format("--time-limit {} is not a number of seconds from 0 (none) to {:g}.", seconds, kLongest));
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
