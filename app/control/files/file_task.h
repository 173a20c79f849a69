// The one file that is being written or read, and where new ones go: what Exports and Files share.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "app/control/tasks/job_context.h"
#include "kernels/base/result.h"
#include "kernels/base/text.h"

namespace attn {

class FileTask {
 public:
  FileTask(const JobContext& context, std::filesystem::path folder) : context_(context), folder_(std::move(folder)) {}

  static constexpr const char* kBusyWords = marked("Another file is being written or read; try again in a moment.");
  bool running() const { return context_.tasks.running(task_); }
  // running(), and then the log says so.
  bool refuse_while_running();
  void start(std::string title, TaskFunction work, std::function<void(const Result<void>&)> finished);
  void start_sliced(std::string title, SlicedFunction work, std::function<void(const Result<void>&)> finished);
  TaskId task() const { return task_; }

  const std::filesystem::path& folder() const { return folder_; }
  // In the folder, which is made where it is not there; named by the time, and no file that is there already.
  std::filesystem::path new_file(const char* extension) const;

 private:
  JobContext context_;
  std::filesystem::path folder_;
  TaskId task_ = 0;
};

// Where a program that was started here saves: the current folder, or data_folder() where it cannot be written.
std::filesystem::path default_save_folder();

}  // namespace attn
