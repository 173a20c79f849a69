// How large a recording would be, known before it is made.
#pragma once

#include <cstdint>

#include "kernels/base/result.h"
#include "kernels/model/options.h"
#include "kernels/model/order.h"
#include "kernels/model/problem/problem.h"

namespace attn {

// Cap of a recording, headers included.
constexpr std::uint64_t kRecordingLimit = 64ULL << 20;

// Size of the recording that `order` would make, known before it is made; saturates.
std::uint64_t recording_bytes(Order order, const Problem& p, const Options& resolved);
// Refused with its size, the cap, and the largest L that would do.
Result<void> check_recordable(Order order, const Problem& p, const Options& resolved);

}  // namespace attn
