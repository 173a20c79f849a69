#include "app/system/signals.h"

#include <csignal>
#include <ctime>
#include <utility>

#include <pthread.h>

namespace attn {
namespace {

constexpr long kLookAgainNanoseconds = 50'000'000;
constexpr int kEnd = SIGUSR1;  // to the watcher alone: the program ends, without waiting for the next look

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);  // the terminal is gone; under nohup it is ignored, blocked or not
  return set;
}

}  // namespace

void ignore_file_limit_signal() {
  std::signal(SIGXFSZ, SIG_IGN);
}

StopSignals::StopSignals(std::function<void(bool came)> look) : look_(std::move(look)) {
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // The watcher inherits what is blocked; the others, and the children that they start, have this one as it was.
  sigset_t end = {}, before = {};
  sigemptyset(&end);
  sigaddset(&end, kEnd);
  pthread_sigmask(SIG_BLOCK, &end, &before);
  watcher_ = std::jthread([this](const std::stop_token& token) { wait(token); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

StopSignals::~StopSignals() {
  watcher_.request_stop();
  pthread_kill(watcher_.native_handle(), kEnd);
}

void StopSignals::wait(const std::stop_token& end) {
  sigset_t signals = stop_signals();
  sigaddset(&signals, kEnd);
  const timespec look_again{0, kLookAgainNanoseconds};
  while (!end.stop_requested()) {
    const int came = sigtimedwait(&signals, nullptr, &look_again);
    look_(came > 0 && came != kEnd);
  }
}

}  // namespace attn
