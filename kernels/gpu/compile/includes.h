// What a user's text may include: the program's headers and CUDA's, by names that stand there. A file from elsewhere
// would count in no hash, so that a changed one gave stale figures; its lines would stand in errors; and a pipe would
// be waited for without end.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/sources.h"

namespace attn::gpu {

// Whether one of CUDA's folders has a header of this name.
using IsOfCuda = std::function<bool(std::string_view name)>;

// The error names the first line that includes something else, or that cannot be known: #include of a macro,
// __has_include. Lines that a condition leaves out count too.
Result<void> check_includes(std::string_view text, std::string_view name, ScoreLines lines, const IsOfCuda& is_of_cuda);
// With the CUDA of this machine; of a text that is the program's own nothing is asked.
Result<void> check_includes(const KernelSource& source);

}  // namespace attn::gpu
