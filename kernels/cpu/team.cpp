#include "kernels/cpu/team.h"

namespace attn::cpu {

Team::Team(std::int32_t threads, std::stop_token stop) : stop_(std::move(stop)), turn_(threads) {
  for (std::int32_t worker = 1; worker < threads; ++worker) {
    helpers_.emplace_back([this, worker] {
      for (;;) {
        turn_.arrive_and_wait();  // work is there
        if (work_ == nullptr) return;
        take_pieces(worker);
        turn_.arrive_and_wait();  // everyone is done with it
      }
    });
  }
}

Team::~Team() {
  work_ = nullptr;
  turn_.arrive_and_wait();
}

void Team::take_pieces(std::int32_t worker) {
  for (;;) {
    const std::int64_t piece = next_.fetch_add(1, std::memory_order_relaxed);
    if (piece >= pieces_ || stop_.stop_requested()) return;
    (*work_)(piece, worker);
  }
}

void Team::run(std::int64_t pieces, const std::function<void(std::int64_t, std::int32_t)>& work) {
  pieces_ = pieces;
  work_ = &work;
  next_.store(0, std::memory_order_relaxed);
  turn_.arrive_and_wait();
  take_pieces(0);
  turn_.arrive_and_wait();
}

}  // namespace attn::cpu
