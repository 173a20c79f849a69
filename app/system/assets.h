// Where the program finds fonts and texts: $ATTNSCOPE_ASSETS, then share/attnscope beside the executable's folder,
// then the build's own folder.
#pragma once

#include <filesystem>

#include "kernels/base/result.h"

namespace attn {

// The folder that holds fonts/. The error names every folder that was tried.
Result<std::filesystem::path> find_assets();
// One file or folder in it, which must exist: find_asset("fonts").
Result<std::filesystem::path> find_asset(const std::filesystem::path& name);

}  // namespace attn
