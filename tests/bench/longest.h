// The largest recording that the cap lets through: one head, D = 64, default tile, of cpu_flash.
#pragma once

#include <cstdint>

#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"
#include "kernels/recording/recording.h"

namespace attn::bench {

Problem square(std::int64_t L);
// The longest sequence that can be recorded.
Result<std::int64_t> longest_recordable();
Result<Recording> record_flash(const Problem& p);

}  // namespace attn::bench
