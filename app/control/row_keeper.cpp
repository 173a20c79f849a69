#include "app/control/row_keeper.h"

#include <system_error>
#include <utility>

namespace attn {

constexpr auto kEvery = std::chrono::seconds(10);

RowKeeper::RowKeeper(std::filesystem::path file, std::string state) : file_(std::move(file)) {
  session_.state = state;
  session_.runs.push_back(new_run(std::move(state)));
}

Result<void> RowKeeper::row(const Measurement& m) {
  session_.runs.front().rows.push_back(m);
  return Clock::now() - last_ < kEvery ? ok() : write();
}

Result<void> RowKeeper::write() {
  last_ = Clock::now();
  if (file_.empty() || session_.runs.front().rows.empty() || failed_) return ok();
  std::error_code error;
  std::filesystem::create_directories(file_.parent_path(), error);
  auto written = write_session(file_, session_);
  failed_ = !written;
  return written;
}

}  // namespace attn
