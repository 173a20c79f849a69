// A crew of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/cpu/team.h"

namespace attn::cpu {

// Threads that stand by from one call to the next, as those of every library of matrix products do: starting and ending
// 16 of them takes longer than attention of a few hundred keys.
class ThreadCrew final : public Crew {
 public:
  // `threads` >= 1, the calling thread included.
  explicit ThreadCrew(std::int32_t threads);
  ~ThreadCrew() override;
  ThreadCrew(const ThreadCrew&) = delete;
  ThreadCrew& operator=(const ThreadCrew&) = delete;

  std::int32_t threads() const override { return static_cast<std::int32_t>(helpers_.size()) + 1; }
  void run(std::int64_t pieces, const Piece& work, const Stop& stop) override;
  std::unique_ptr<Crew> with(std::int32_t threads) const override { return std::make_unique<ThreadCrew>(threads); }

  // While it lives, no helper sleeps between calls: waking one takes 200 us, many times what a small problem does, and
  // would be timed as if it were the kernel's.
  class Warm {
   public:
    explicit Warm(ThreadCrew& crew) : crew_(crew) { crew_.warm_.store(true, std::memory_order_relaxed); }
    ~Warm() { crew_.warm_.store(false, std::memory_order_relaxed); }
    Warm(const Warm&) = delete;
    Warm& operator=(const Warm&) = delete;

   private:
    ThreadCrew& crew_;
  };

 private:
  void dismiss();
  void stand_by(std::int32_t worker);
  void take_pieces(std::int32_t worker);
  template <class T>
  void await_change(const std::atomic<T>& value, T old) const;

  std::int64_t pieces_ = 0;
  const Piece* work_ = nullptr;  // null tells the helpers to end
  const Stop* stop_ = nullptr;
  std::atomic<std::int64_t> next_{0};
  std::atomic<std::uint32_t> turn_{0};  // counts the calls of run(); what is above is written before it moves
  std::atomic<std::int32_t> busy_{0};   // helpers that are not done with this turn
  std::atomic<bool> warm_{false};
  std::vector<std::jthread> helpers_;
};

}  // namespace attn::cpu
