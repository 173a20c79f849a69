// The lab: the kernel's text as it is typed, kept on disk; built, checked and timed on a task, in the worker.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "app/control/files/file_task.h"
#include "app/control/tasks/job_context.h"
#include "app/worker/bench.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "viz/profile/lab/lab.h"
#include "viz/state/commands_profile.h"
#include "viz/state/lab_view.h"

namespace attn {

// $XDG_DATA_HOME/attnscope/drafts; empty where there is no such folder.
std::filesystem::path drafts_folder();

class Labs {
 public:
  // `gpu` null: nothing is built, and it says so. `drafts` empty: nothing is kept.
  Labs(const JobContext& context, FileTask& files, std::shared_ptr<GpuBench> gpu, std::filesystem::path drafts)
      : context_(context), files_(files), gpu_(std::move(gpu)), drafts_(std::move(drafts)) {}

  // Once a frame: where the lab is shown, the chosen kernel's text is; what was typed is on its way to the disk.
  void follow();
  void edit(const EditLab& typed);
  // Undo, and redo.
  void travel(bool forward);
  void build();
  void revert();
  void open_experiment(const std::string& id);
  void limit_registers(const LimitRegisters& wanted);
  void take_try(std::size_t number);
  void answer_draft(bool take);
  void keep();
  void save();
  // The build, else the samples of what was built.
  TaskId task() const { return context_.tasks.running(task_) ? task_ : lines_task_; }

 private:
  void open(const std::string& kernel);
  void look_for_draft();
  // Chooses the kernel and opens it; whether its text is there.
  bool opened(const std::string& kernel);
  void put(const LabChange& change);
  void take(const LabChange& change, bool typed);
  // The text is another: an older draft is out of date, and the next one is to be written.
  void changed();
  // The kernel that stands in the lab, and what the editor makes of it.
  Result<const KernelRow*> row() const;
  Result<std::shared_ptr<const gpu::OwnKernel>> edited() const;
  void write_draft();
  // What a build asks for: the original's point, the edit's options, and whether the original is not measured yet.
  struct Work {
    Point before;
    Options options;
    bool measure_before = false;
    double begun = 0;
  };
  Result<void> work(TaskHandle& task, const std::shared_ptr<const gpu::OwnKernel>& edit, gpu::OwnKernels own,
                    const Work& asked);
  void deliver_try(TaskHandle& task, LabTry made, const std::string& kernel);
  // What the answer need not wait for: where the warps of the newest try wait, and those of the original.
  void sample_lines();
  // In the task's thread: samples of one row, set beside its lines; it takes the row's place.
  Result<void> sample_row(TaskHandle& task, const std::shared_ptr<const Measurement>& row);

  JobContext context_;
  FileTask& files_;
  std::shared_ptr<GpuBench> gpu_;
  std::filesystem::path drafts_;
  std::string subject_key_;  // lab_subject_key() of `subject_`
  LabSubject subject_;
  std::map<std::string, LabView> left_;  // kernels that were open before, as they were left
  std::uint64_t puts_ = 0;               // of all kernels: a text is put once under a number
  double typed_at_ = 0;                  // when the newest change was typed; 0: nobody typed it
  bool draft_changed_ = false;
  std::string draft_of_;  // the kernel whose draft is to be written
  TaskId task_ = 0, draft_task_ = 0, lines_task_ = 0;
};

}  // namespace attn
