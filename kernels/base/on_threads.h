// Pieces of work taken by threads.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/base/pieces.h"

namespace attn {

// A TakePieces (kernels/base/pieces.h): the calling thread and helpers that end with the call, as many in all as there
// are processors, or pieces.
void on_threads(std::int64_t pieces, const std::function<void(std::int64_t piece)>& work);
// The same by `threads` at most, the calling one included.
TakePieces as_many_threads(std::int32_t threads);

}  // namespace attn
