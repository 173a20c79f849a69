// Where CUDA lies on this machine: its libraries and headers, neither of which is needed to build.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/library.h"
#include "kernels/base/result.h"

namespace attn::gpu {

// Folders that hold CUDA, in the order in which they are looked at: $ATTNSCOPE_CUDA, /usr/local/cuda and
// /usr/local/cuda-* (newest first), the wheels that app/setup/fetch_cuda.sh unpacks
// ($XDG_DATA_HOME/attnscope/cuda/nvidia/*). Only those that exist.
std::vector<std::filesystem::path> cuda_folders();

// Opens the first of `names` that is in a lib or lib64 of those folders, else what the loader finds by itself. The
// error names what was looked for, where, and `mend`.
Result<Library> open_cuda_library(const std::vector<std::string>& names, std::string_view mend);

// What app/setup/fetch_cuda.sh brings for `attnscope doctor --fetch-cuda` where nothing lies yet: NVRTC, CUPTI and
// nvdisasm.
inline constexpr int kFetchedMegabytes = 105;

// Include folders of CUDA at run time, for kernels that use its headers; may be empty.
std::vector<std::filesystem::path> cuda_include_folders();

}  // namespace attn::gpu
