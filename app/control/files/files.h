// Sessions, recordings and arrays in files: opened in place of what is shown, and saved.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/control/bench/run_list.h"
#include "app/control/bench/sweeps.h"
#include "app/control/files/file_task.h"
#include "app/control/files/timelines.h"
#include "app/control/learn/lessons.h"
#include "app/control/step/recordings.h"
#include "app/control/tasks/job_context.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "profiling/session/session.h"

namespace attn {

// What SetInputFiles came to: the number of the last that was answered, and why it was refused.
struct InputFilesAnswer {
  std::uint64_t number = 0;
  std::string error;
};

class Files {
 public:
  Files(const JobContext& context, FileTask& files, Recordings& recordings, Sweeps& sweeps, RunList& runs,
        Lessons& lessons, Timelines& timelines)
      : context_(context),
        files_(files),
        recordings_(recordings),
        sweeps_(sweeps),
        runs_(runs),
        lessons_(lessons),
        timelines_(timelines) {}

  // To the file that this run saved to before, else to a new one.
  void save_session();
  void save_session_as(const std::string& path);
  // An .attn, .npy arrays, a lesson, or a kernel of the user's own (.cu).
  void open(const std::string& path);
  // Each of them, in their order.
  void open_all(const std::vector<std::string>& paths);
  // Q, K, V and the bias, as SetInputFiles says.
  void set_inputs(const std::array<std::string, 4>& paths);
  const InputFilesAnswer& inputs_answer() const { return inputs_answer_; }
  // The kernels that a session brought: taken, or left out. Until then none is compiled or run.
  void answer_offer(bool take);

 private:
  void open_session(const std::string& path);
  void open_kernel(const std::string& path);
  // Those of the session that are not open yet; what is none says so.
  void offer(const std::string& path, const std::vector<SessionKernel>& kernels);
  void open_arrays(const std::filesystem::path& q);
  // Ticked in Bench and shown there or in Profile; the error says why it is not.
  Result<void> take_kernel(std::shared_ptr<const gpu::OwnKernel> kernel);
  // What one of several files came to.
  struct OneOfSeveral {
    std::string path, error;
    std::optional<Session> session;
    std::shared_ptr<const gpu::OwnKernel> kernel;
    bool lesson = false;
  };
  struct Several;
  void opened_all(std::vector<OneOfSeveral> files);
  void opened(const std::string& path, Session session);
  // What no view shows of an opened session, so that saving does not drop it.
  struct Beside {
    std::vector<TensorSet> tensors;
    std::vector<std::shared_ptr<const Timeline>> timelines;
  };
  void keep_beside(Session& session);
  void show_recording(const std::string& file, Recording recording, const std::string& saved_state);

  JobContext context_;
  FileTask& files_;
  Recordings& recordings_;
  Sweeps& sweeps_;
  RunList& runs_;
  Lessons& lessons_;
  Timelines& timelines_;
  InputFilesAnswer inputs_answer_;
  std::shared_ptr<const Beside> beside_;  // of the session that was opened last; null: it had none
  std::set<std::string> refused_;         // kernels of sessions that were left out: they are not asked for again
  std::filesystem::path session_file_;    // what this run saved; saved again by the next Ctrl+S
  std::optional<std::filesystem::file_time_type> saved_at_;  // when: who changed it since is not written over
};

}  // namespace attn
