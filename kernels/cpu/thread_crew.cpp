#include "kernels/cpu/thread_crew.h"

namespace attn::cpu {

namespace {

// Looks this often before it sleeps: about 50 us, several times what lies between the parts of a call (packing, tiles),
// and little beside what waking a thread takes. Who waits longer leaves the core to others.
constexpr int kLooks = 2000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

// Returns once `value` is no longer `old`.
template <class T>
void ThreadCrew::await_change(const std::atomic<T>& value, T old) const {
  for (int look = 0; look < kLooks; ++look) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  while (warm_.load(std::memory_order_relaxed)) {
    if (value.load(std::memory_order_acquire) != old) return;
    std::this_thread::yield();  // more threads than cores still move on
  }
  value.wait(old, std::memory_order_acquire);
}

ThreadCrew::ThreadCrew(std::int32_t threads) {
  try {
    for (std::int32_t worker = 1; worker < threads; ++worker) {
      helpers_.emplace_back([this, worker] { stand_by(worker); });
    }
  } catch (...) {  // the system starts no more: those that stand by already would be waited for
    dismiss();
    throw;
  }
}

ThreadCrew::~ThreadCrew() {
  dismiss();
}

void ThreadCrew::dismiss() {
  work_ = nullptr;
  turn_.fetch_add(1, std::memory_order_release);
  turn_.notify_all();
}

void ThreadCrew::stand_by(std::int32_t worker) {
  for (std::uint32_t seen = 0;; ++seen) {
    await_change(turn_, seen);
    if (work_ == nullptr) return;
    take_pieces(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void ThreadCrew::take_pieces(std::int32_t worker) {
  for (;;) {
    const std::int64_t piece = next_.fetch_add(1, std::memory_order_relaxed);
    if (piece >= pieces_ || stop_->stop_requested()) return;
    (*work_)(piece, worker);
  }
}

void ThreadCrew::run(std::int64_t pieces, const Piece& work, const Stop& stop) {
  if (pieces <= 1) {  // nobody is woken for nothing
    if (pieces == 1 && !stop.stop_requested()) work(0, 0);
    return;
  }
  pieces_ = pieces;
  work_ = &work;
  stop_ = &stop;
  next_.store(0, std::memory_order_relaxed);
  busy_.store(static_cast<std::int32_t>(helpers_.size()), std::memory_order_relaxed);
  turn_.fetch_add(1, std::memory_order_release);
  turn_.notify_all();
  take_pieces(0);
  for (std::int32_t busy = busy_.load(std::memory_order_acquire); busy != 0;
       busy = busy_.load(std::memory_order_acquire)) {
    await_change(busy_, busy);
  }
}

}  // namespace attn::cpu
