// The threads of the CPU kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "kernels/model/kernel.h"

namespace attn::cpu {

// Threads that stand by from one call to the next, as those of every library of matrix products do: starting and ending
// 16 of them takes longer than attention of a few hundred keys. Used by one thread at a time.
class Crew {
 public:
  // `threads` >= 1, the calling thread included.
  explicit Crew(std::int32_t threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  std::int32_t threads() const { return static_cast<std::int32_t>(helpers_.size()) + 1; }
  // Calls work(piece, worker) for each piece in [0, pieces) and returns when all are done, or, once a stop is asked
  // for, when the pieces under way are. One thread takes the pieces in order. Exceptions must not leave `work`.
  void run(std::int64_t pieces, const std::function<void(std::int64_t piece, std::int32_t worker)>& work,
           const std::stop_token& stop);

 private:
  void dismiss();
  void stand_by(std::int32_t worker);
  void take_pieces(std::int32_t worker);

  std::int64_t pieces_ = 0;
  const std::function<void(std::int64_t, std::int32_t)>* work_ = nullptr;  // null tells the helpers to end
  const std::stop_token* stop_ = nullptr;
  std::atomic<std::int64_t> next_{0};
  std::atomic<std::uint32_t> turn_{0};  // counts the calls of run(); what is above is written before it moves
  std::atomic<std::int32_t> busy_{0};   // helpers that are not done with this turn
  std::vector<std::jthread> helpers_;
};

// Those that share one launch: the stream's crew where it has as many threads, else a crew that ends with the call.
class Team {
 public:
  Team(std::int32_t threads, const Stream& stream);

  // As Crew::run, until the stream is stopped.
  void run(std::int64_t pieces, const std::function<void(std::int64_t piece, std::int32_t worker)>& work) {
    crew_->run(pieces, work, stop_);
  }
  bool stopped() const { return stop_.stop_requested(); }

 private:
  std::stop_token stop_;
  std::unique_ptr<Crew> own_;
  Crew* crew_;  // own_ or the stream's
};

}  // namespace attn::cpu
