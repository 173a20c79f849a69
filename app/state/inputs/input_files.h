// Q, K, V and the bias out of .npy files: what the files' headers make of a document.
#pragma once

#include <array>
#include <string>

#include "kernels/base/result.h"
#include "viz/state/state.h"

namespace attn {

// `state` with the files as inputs: the problem takes their shapes, what has no file stays generated, typed cells of a
// tensor whose file changed go. Reads headers alone. Refused in words that name the files where they do not fit
// together.
Result<State> with_input_files(const State& state, const std::array<std::string, 4>& paths);

// The file's name from the root on; as it is where that cannot be had, or where it is empty.
std::string absolute_name(const std::string& path);

}  // namespace attn
