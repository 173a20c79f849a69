// Reading and writing whole files, with errors that name the file and what would do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "kernels/base/result.h"

namespace attn {

// A regular file, open for reading from its beginning. Pipes, folders and devices are refused: their size, which
// every limit is checked against, is not known before they are read.
class InputFile {
 public:
  static Result<InputFile> open(const std::filesystem::path& file);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  std::uint64_t size() const { return size_; }
  // Fills `out` from where the last read ended.
  Result<void> read(std::span<std::byte> out);

 private:
  InputFile(int descriptor, std::uint64_t size, std::filesystem::path file);

  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::filesystem::path file_;
};

// Makes a folder, and those above it, where they are not there.
Result<void> make_folder(const std::filesystem::path& folder);

Result<std::vector<std::byte>> read_file(const std::filesystem::path& file, std::uint64_t max_bytes);

// Any file of ours: temporary name in the same folder, written, synced, renamed. A full disk or a folder without
// permission is an error that names the file; the old file stays as it was, and no temporary file stays behind.
// A link is followed. What is no regular file (/dev/stdout, a pipe) is written in place. Temporary files that processes
// of this program left in the folder when they were killed go.
// A file that is read-only is not replaced, though its folder would allow it.
Result<void> write_file_atomically(const std::filesystem::path& file, std::span<const std::byte> bytes);
// The same of what is never all in memory: `next` gives piece after piece, and one without bytes at the end.
Result<void> write_file_atomically(const std::filesystem::path& file,
                                   const std::function<std::span<const std::byte>()>& next);
// Whether the file is there, regular, and not to be written by this user. The superuser may write everything: for one
// a file is read-only where nobody has the permission.
bool is_read_only(const std::filesystem::path& file);

// Deletes such temporary files, and locks (lock_of) that processes left: those that no living process holds.
void sweep_temporaries(const std::filesystem::path& folder);
// The file beside `file` that who writes it for long holds a lock on, whatever link or path leads to it. Its name is
// short whatever the file's is.
std::filesystem::path lock_of(const std::filesystem::path& file);

}  // namespace attn
