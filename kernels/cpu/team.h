// Who takes the pieces of a CPU kernel's work: the calling thread alone, or a crew that the stream brings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "kernels/base/stop.h"
#include "kernels/model/kernel.h"

namespace attn::cpu {

// One piece of work, by the worker that takes it: 0 is the calling thread.
using Piece = std::function<void(std::int64_t piece, std::int32_t worker)>;

// Workers that a stream brings along, for one call after the other. Used by one thread at a time. Those that are
// threads are kernels/cpu/thread_crew.h; nothing here is.
class Crew {
 public:
  Crew() = default;
  virtual ~Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // At least 1, the calling thread included.
  virtual std::int32_t threads() const = 0;
  // Calls work(piece, worker) for each piece in [0, pieces) and returns when all are done, or, once a stop is asked
  // for, when the pieces under way are. One thread takes the pieces in order. Exceptions must not leave `work`.
  virtual void run(std::int64_t pieces, const Piece& work, const Stop& stop) = 0;
  // Another of the same kind.
  virtual std::unique_ptr<Crew> with(std::int32_t threads) const = 0;
};

// Those that share one launch: the stream's crew where it has as many threads as the plan asks for, else one of its
// kind that ends with the launch. A stream without a crew: the calling thread alone, however many the plan asks for.
class Team {
 public:
  Team(std::int32_t threads, const Stream& stream);

  // As Crew::run, until the stream is stopped. Of a stream with a mark: a step of it, each piece in steps or one.
  void run(std::int64_t pieces, const Piece& work);
  bool stopped() const { return stop_.stop_requested(); }

 private:
  Stop stop_;
  std::unique_ptr<Crew> own_;
  WalkMark* mark_ = nullptr;
  Crew* crew_ = nullptr;  // own_ or the stream's; null: the calling thread alone
};

}  // namespace attn::cpu
