// The runs that Bench lists: those kept on this machine, those of opened files, those that came with the program. Keeps
// the model's list, and the files of the runs in step with what the user did to it. UI thread; reading and writing go
// on tasks.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "app/control/bench/run_store.h"
#include "app/control/tasks/job_context.h"
#include "profiling/session/session.h"
#include "profiling/session/session_reading.h"
#include "profiling/spec/sweep_spec.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

struct RunFolders {
  std::filesystem::path runs;      // of this machine; empty = runs are not kept
  std::filesystem::path autosave;  // where older versions kept the last sweep; empty = not looked for
  std::filesystem::path bundled;   // the sessions that came with the program; empty = none
  std::filesystem::path recent;    // the list of files that were opened or saved; empty = not kept
};

// All runs that can be found: the newest first, the bundled ones last. `wanted`: ids that are looked for in the recent
// files too. `said`: what could not be read.
struct FoundRuns {
  std::vector<ListedRun> runs;
  std::vector<KnownFile> files;
  std::vector<std::string> said;
  std::vector<std::string> surplus;  // see surplus_runs()
};
// Those of this user; without autosave and recent files where there is no folder for data.
RunFolders run_folders();
FoundRuns find_runs(const RunFolders& folders, const BenchRuns& wanted);

// The same in pieces.
class RunSearch {
 public:
  RunSearch(RunFolders folders, BenchRuns wanted);
  RunSearch(const RunSearch&) = delete;
  RunSearch& operator=(const RunSearch&) = delete;
  // Whether all is found.
  bool step();
  FoundRuns take();

 private:
  void look_here();
  void take_bundled(const std::filesystem::path& file, Result<Session> session);
  bool look_in_recent();

  RunFolders folders_;
  BenchRuns wanted_;
  FoundRuns found_;
  std::vector<std::filesystem::path> recent_;  // that are still to be looked at
  std::unique_ptr<SessionsReading> bundled_;
  bool bundled_done_ = false;
};

// The runs that are shown, or one, with the names that the user gave; no recording.
Session session_of_runs(const State& state, const Model& model, const std::string& only);

// The sweep as the text by which a run is known to be of it.
std::string sweep_text(const SweepSpec& sweep);

class RunList {
 public:
  RunList(const JobContext& context, RunFolders folders);
  // Deletes the files of what was removed, and of what is surplus and was not looked at.
  ~RunList();
  RunList(const RunList&) = delete;
  RunList& operator=(const RunList&) = delete;

  // Lists everything, on a task.
  void look();
  // Again where another window changed the folder; asked for every frame, looks every two seconds at most.
  void look_again();
  // The document's list was `before`: names go to their files.
  void follow(const BenchRuns& before);
  // Before a command is applied: the undo of a name must know the one before it, and what is ticked by hand stays.
  void prepare(const StateCommand& command);
  // The user looked at it, named it or saved it: it stays.
  void keep(const std::string& id);
  // Ticks it and sets the sweep up as it was.
  void take_sweep_of(const std::string& id);
  // A file was opened or saved.
  void remember(const std::filesystem::path& file);
  // Lists the runs of an opened file and ticks them.
  void add(std::vector<SweepRun> runs, RunFrom from);
  // Nothing is listed from then on, nor what is being looked for.
  std::vector<SweepRun> take_all();

  // A sweep begins: the run that it goes on with, or a new one, is listed and ticked.
  struct Begun {
    SweepRun run;                   // with the rows that stay
    std::vector<Measurement> kept;  // rows of which finished points are not measured again
    bool goes_on = false;           // `run` was there before
  };
  Begun begin(const SweepSpec& sweep, bool restart);
  void set_provenance(const std::string& id, const Provenance& p);
  void add_row(const std::string& id, const Measurement& m);
  void ended(const std::string& id);
  // While a run is being measured its name goes through its writer.
  void set_writer(const std::string& id, std::shared_ptr<RunWriter> writer);
  const RunStore& store() const { return store_; }

 private:
  ListedRun* find(const std::string& id);
  void insert(ListedRun run);
  void install(FoundRuns found);
  void write_name(const std::string& id, const std::string& name);

  JobContext context_;
  RunFolders folders_;
  RunStore store_;
  std::map<std::string, std::string> names_;  // as they stand in the files
  struct WantedNames {
    std::mutex mutex;
    std::map<std::string, std::string> names;
  };
  std::shared_ptr<WantedNames> wanted_ = std::make_shared<WantedNames>();
  std::set<std::string> surplus_, kept_;
  std::set<std::string> said_missing_;  // ids that the state names and nobody has
  std::string writing_;                 // the run that is measured here; empty = none
  std::shared_ptr<RunWriter> writer_;
  TaskId looking_ = 0;
  std::weak_ptr<RunSearch> search_;         // while it looks
  std::filesystem::file_time_type seen_{};  // the folder's last change that was looked at
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace attn
