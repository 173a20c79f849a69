// The session that `attnscope bench -o` keeps up to date: a row is on disk before it is told.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/system/file_lock.h"
#include "kernels/base/result.h"
#include "profiling/session/session.h"

namespace attn::cli {

struct BenchFileOptions {
  std::filesystem::path file;  // empty: rows are kept in memory alone
  bool resume = false;         // go on with the run of this device that is in the file; all else in it stays
  bool force = false;          // replace the file
  bool samples = true;         // the single repeats too
};

class BenchFile {
 public:
  // Refuses a file that is there where neither `resume` nor `force` says what to do with it, and one that another
  // process writes. `spec`: the sweep as a state string; `here`: where its rows are taken.
  static Result<BenchFile> open(const BenchFileOptions& options, const std::string& spec, const Provenance& here);

  // Rows of the run that it goes on with: finished points among them are not measured again.
  std::span<const Measurement> earlier() const { return earlier_; }
  // In memory alone: who tells of the row writes first.
  void add(Measurement m);
  // Whether it is time to write: a session takes the longer the more rows it has, and is written whole, so that it is
  // written at most for a tenth of the time, or every few seconds where that is later.
  bool is_due() const;
  // Gives all rows their figures over rows of the other layout, which may have come after them.
  void relate();
  // The error says that the rows since the last time are not on disk; they stay in memory.
  Result<void> write();
  // What reading the file left out and will be gone when it is written, in words.
  const std::vector<std::string>& notes() const { return session_.notes; }
  // The run with the rows so far: first those that are no points of this sweep.
  const SweepRun& run() const { return session_.runs[at_]; }
  // All runs of the file, and that one.
  std::span<const SweepRun> runs() const { return session_.runs; }
  // Rows of this sweep alone.
  const std::vector<Measurement>& rows() const { return rows_; }

 private:
  explicit BenchFile(BenchFileOptions options) : options_(std::move(options)) {}
  Result<void> read();

  BenchFileOptions options_;
  std::optional<FileLock> lock_;
  Session session_;     // the whole file
  std::size_t at_ = 0;  // of its runs the one that grows
  std::vector<Measurement> earlier_, rows_;
  std::chrono::steady_clock::time_point written_;  // when the last writing ended, and how long it took
  std::chrono::steady_clock::duration took_{};
};

}  // namespace attn::cli
