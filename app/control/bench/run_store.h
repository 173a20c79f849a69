// The runs that were made on this machine: one file each in $XDG_DATA_HOME/attnscope/runs, `<UTC>-<id>.attn`. Who
// writes a run holds `<id>.lock`, and other windows read; a file is replaced as a whole, so that no reader sees half
// of it. A run is written whole at times alone, for that takes the longer the more rows it has: a row that is measured
// between them lies beside it, `<id>.N.row`, a session of its own. Who reads a run reads these too. `<id>.kept` marks
// a run that the user named, saved or ticked: the newest twenty of the others stay, older ones may go.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/system/file_lock.h"
#include "kernels/base/result.h"
#include "profiling/session/run.h"

namespace attn {

struct StoredRun {
  SweepRun run;
  std::filesystem::path file;
  bool kept = false;     // named, saved or ticked
  bool growing = false;  // somebody holds its lock
};

// One run that is being measured here. Any thread.
class RunWriter {
 public:
  RunWriter(std::filesystem::path file, SweepRun run, std::optional<FileLock> lock);
  // The run is whole in its file.
  ~RunWriter();
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  void set_provenance(Provenance p);
  // On disk when it returns. A point that is there already is replaced.
  Result<void> add(const Measurement& m);
  Result<void> rename(std::string name);
  const std::string& id() const { return id_; }

 private:
  Result<void> write();
  bool is_due() const;

  std::mutex mutex_;  // guards run_
  std::filesystem::path file_;
  std::string id_;
  SweepRun run_;
  std::optional<FileLock> lock_;
  std::size_t beside_ = 0;                         // rows in files of their own
  std::chrono::steady_clock::time_point written_;  // when the whole was, and how long it took
  std::chrono::steady_clock::duration took_{};
};

class RunStore {
 public:
  // Of runs that nobody named, saved or ticked.
  static constexpr std::size_t kNewest = 20;

  // `folder` empty: nothing is kept. It is made when the first run is.
  explicit RunStore(std::filesystem::path folder);
  bool keeps() const { return !folder_.empty(); }
  const std::filesystem::path& folder() const { return folder_; }

  // Newest first. `said`: files that cannot be read, in words. What killed processes left behind goes.
  struct Listing {
    std::vector<StoredRun> runs;
    std::vector<std::string> said;
  };
  Listing list() const;

  // A new run, or one that goes on with the rows it has; on disk when it returns. cannot_run: another window writes it.
  Result<std::unique_ptr<RunWriter>> write(SweepRun run) const;
  // Refused (cannot_run) while another window writes it.
  Result<void> rename(const std::string& id, const std::string& name) const;
  Result<void> keep(const std::string& id) const;
  // Its file and its mark. Gone already: no error. Refused while another window writes it.
  Result<void> remove(const std::string& id) const;
  // A session as older versions kept a running sweep in becomes a run, and its file goes. The run's id; empty where
  // there is no such file or nothing in it.
  Result<std::string> adopt(const std::filesystem::path& autosave) const;

 private:
  std::filesystem::path file_of(const SweepRun& run) const;
  std::optional<std::filesystem::path> find(const std::string& id) const;
  std::filesystem::path beside(const std::string& id, const char* extension) const;
  Result<FileLock> lock(const std::string& id) const;

  std::filesystem::path folder_;
};

// The runs that are older than the newest kNewest of those that nobody named, saved or ticked. `runs` newest first.
std::vector<std::string> surplus_runs(const std::vector<StoredRun>& runs);

}  // namespace attn
