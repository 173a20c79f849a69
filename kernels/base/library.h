// Shared libraries of CUDA, opened at run time: the program works without them and says which is missing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"

namespace attn::gpu {

// One open library; closed with the object.
class Library {
 public:
  // The error is the loader's own words.
  static Result<Library> open(const std::string& name);
  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) noexcept;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();
  // Null where there is no such symbol.
  void* symbol(const char* name) const;
  const std::string& name() const { return name_; }
  // The library stays in the process after the object: for one that others call back into.
  void stay() { stays_ = true; }

 private:
  Library(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* handle_ = nullptr;
  std::string name_;
  bool stays_ = false;
};

// Folders that hold CUDA, in the order in which they are looked at: $ATTNSCOPE_CUDA, /usr/local/cuda and
// /usr/local/cuda-* (newest first), the wheels that app/setup/fetch_cuda.sh unpacks
// ($XDG_DATA_HOME/attnscope/cuda/nvidia/*). Only those that exist.
std::vector<std::filesystem::path> cuda_folders();

// Opens the first of `names` that is in a lib or lib64 of those folders, else what the loader finds by itself. The
// error names what was looked for, where, and `mend`.
Result<Library> open_cuda_library(const std::vector<std::string>& names, std::string_view mend);

// Include folders of CUDA at run time, for kernels that use its headers; may be empty.
std::vector<std::filesystem::path> cuda_include_folders();

}  // namespace attn::gpu
