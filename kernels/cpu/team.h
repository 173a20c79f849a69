// The threads that share one enqueue. They start with it and end with it, so that no thread outlives a call.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

namespace attn::cpu {

class Team {
 public:
  // `threads` >= 1, the calling thread included.
  Team(std::int32_t threads, std::stop_token stop);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls work(piece, worker) for each piece in [0, pieces) and returns when all are done, or, once a stop is asked
  // for, when the pieces under way are. One thread takes the pieces in order. Exceptions must not leave `work`.
  void run(std::int64_t pieces, const std::function<void(std::int64_t piece, std::int32_t worker)>& work);
  bool stopped() const { return stop_.stop_requested(); }

 private:
  void take_pieces(std::int32_t worker);

  std::stop_token stop_;
  std::int64_t pieces_ = 0;
  const std::function<void(std::int64_t, std::int32_t)>* work_ = nullptr;  // null tells the helpers to end
  std::atomic<std::int64_t> next_{0};
  std::barrier<> turn_;
  std::vector<std::jthread> helpers_;
};

}  // namespace attn::cpu
