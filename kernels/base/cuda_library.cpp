#include "kernels/base/cuda_library.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/folders.h"
#include "kernels/base/text.h"

namespace attn::gpu {
namespace {

namespace fs = std::filesystem;

// Subfolders of `parent` whose names begin with `prefix`, last in order first: cuda-13.0 before cuda-12.8.
std::vector<fs::path> subfolders(const fs::path& parent, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().rfind(prefix, 0) == 0 && it->is_directory(error)) found.push_back(it->path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

}  // namespace

std::vector<fs::path> cuda_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  const auto add = [&](const fs::path& folder) {
    if (fs::is_directory(folder, error)) folders.push_back(folder);
  };
  if (const auto named = environment("ATTNSCOPE_CUDA")) {
    add(*named);
    for (const fs::path& wheel : subfolders(fs::path(*named) / "nvidia", "")) add(wheel);
  }
  add("/usr/local/cuda");
  for (const fs::path& toolkit : subfolders("/usr/local", "cuda-")) add(toolkit);
  if (const fs::path data = data_folder(); !data.empty()) {
    for (const fs::path& wheel : subfolders(data / "cuda/nvidia", "")) add(wheel);
  }
  return folders;
}

Result<Library> open_cuda_library(const std::vector<std::string>& names, std::string_view mend) {
  const std::vector<fs::path> folders = cuda_folders();
  std::error_code error;
  std::string refused;
  for (const std::string& name : names) {
    for (const fs::path& folder : folders) {
      for (const char* lib : {"lib64", "lib", "extras/CUPTI/lib64"}) {
        const fs::path file = folder / lib / name;
        if (!fs::exists(file, error)) continue;
        if (Result<Library> library = Library::open(file.string()))
          return library;
        else
          refused = library.error().message;
      }
    }
    if (Result<Library> library = Library::open(name)) return library;
  }
  if (!refused.empty())
    return fail(ErrorKind::cannot_run, phrase("{} cannot be loaded: {}. {}", fmt::join(names, " or "), refused, mend));
  std::vector<std::string> looked;
  looked.reserve(folders.size());
  for (const fs::path& folder : folders) looked.push_back(folder.string());
  return fail(ErrorKind::cannot_run,
              phrase("{} was not found{} in the loader's search path. {}", fmt::join(names, " or "),
                     looked.empty() ? "" : phrase(" in {} or", fmt::join(looked, ", ")), mend));
}

std::vector<fs::path> cuda_include_folders() {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::path& folder : cuda_folders()) {
    for (const char* name : {"include", "include/cccl"}) {
      if (fs::is_directory(folder / name, error)) found.push_back(folder / name);
    }
    if (!found.empty()) break;  // headers of one CUDA only
  }
  return found;
}

}  // namespace attn::gpu
