// The rows of a running sweep, kept on disk so that a crash or a power cut costs ten seconds at most.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "profiling/session/session.h"

namespace attn {

class RowKeeper {
 public:
  // `file` empty: nothing is kept. `state`: of the view whose sweep runs, so that it can go on from the file.
  RowKeeper(std::filesystem::path file, std::string state);
  void set_provenance(Provenance p) { session_.runs.front().provenance = std::move(p); }
  // Writes where ten seconds have passed since the last time. A failure is told once.
  Result<void> row(const Measurement& m);
  Result<void> write();

 private:
  using Clock = std::chrono::steady_clock;
  std::filesystem::path file_;
  Session session_;
  Clock::time_point last_ = Clock::now();
  bool failed_ = false;
};

}  // namespace attn
