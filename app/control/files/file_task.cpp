#include "app/control/files/file_task.h"

#include <chrono>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/system/posix.h"
#include "kernels/base/clock.h"
#include "kernels/base/folders.h"
#include "kernels/base/text.h"

namespace attn {

std::filesystem::path default_save_folder() {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  return !error && can_write_in(here) ? here : data_folder();
}

bool FileTask::refuse_while_running() {
  if (!running()) return false;
  context_.log.warn(tr_of(kBusyWords));
  return true;
}

void FileTask::start(std::string title, TaskFunction work, std::function<void(const Result<void>&)> finished) {
  task_ = context_.tasks.start(std::move(title), std::move(work), std::move(finished));
}

void FileTask::start_sliced(std::string title, SlicedFunction work, std::function<void(const Result<void>&)> finished) {
  task_ = context_.tasks.start_sliced(std::move(title), std::move(work), std::move(finished));
}

std::filesystem::path FileTask::new_file(const char* extension) const {
  const std::string stem = "attnscope-" + time_text(std::chrono::system_clock::now(), TimeZone::local, "%Y%m%d-%H%M%S");
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  std::filesystem::path file = folder_ / (stem + extension);
  for (int n = 2; std::filesystem::exists(file, error); ++n) {
    file = folder_ / fmt::format("{}-{}{}", stem, n, extension);
  }
  return file;
}

}  // namespace attn
