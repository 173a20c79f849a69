#include "app/cli/arguments/session_file.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/system/file_lock.h"

namespace attn::cli {

Result<void> change_session(const std::string& file, const std::function<void(Session&)>& change) {
  const auto lock = FileLock::of_file(file);
  if (!lock) return tl::unexpected(lock.error());
  Session session;
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    auto read = read_session(file);
    if (!read) return tl::unexpected(read.error());
    session = std::move(*read);
  }
  change(session);
  return write_session(file, session);
}

}  // namespace attn::cli
