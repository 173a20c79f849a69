// One recorded block as a pipeline, with its critical path.
#pragma once

#include <cstdint>

#include "kernels/base/result.h"
#include "profiling/timeline/pipeline_parts.h"

namespace attn {

// Refused in words where the block has no lanes of its own, or they do not fit each other (a reader of what nobody
// asked for).
Result<Pipeline> pipeline_of(const Timeline& t, std::int32_t block);

}  // namespace attn
