#include "app/system/temporary_file.h"

#include <cstdlib>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "kernels/base/files.h"
#include "kernels/base/text.h"

namespace attn {

Result<TemporaryFile> TemporaryFile::make(const std::string& name, std::span<const std::byte> bytes) {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / (name + "-XXXXXX")).string();
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0) return fail(ErrorKind::io, phrase("cannot create {}", path));
  ::close(descriptor);
  TemporaryFile file{std::filesystem::path(path)};
  if (auto written = write_file_atomically(path, bytes); !written) return tl::unexpected(written.error());
  return file;
}

TemporaryFile::TemporaryFile(std::filesystem::path path) : path_(std::move(path)) {}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryFile::~TemporaryFile() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove(path_, error);
}

}  // namespace attn
