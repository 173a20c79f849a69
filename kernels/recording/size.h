// How large a recording would be, known before it is made.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/base/result.h"
#include "kernels/model/options.h"
#include "kernels/model/order.h"
#include "kernels/model/problem/problem.h"

namespace attn {

// Cap of a recording, headers included.
constexpr std::uint64_t kRecordingLimit = 64ULL << 20;

// What it is made of: as many of each as it will have.
struct RecordingSize {
  std::size_t events = 0, versions = 0, floats = 0;
};
RecordingSize recording_size(Order order, const Problem& p, const Options& resolved);

// Size of the recording that `order` would make, known before it is made; saturates.
std::uint64_t recording_bytes(Order order, const Problem& p, const Options& resolved);
// Refused with its size, the cap, and the largest L that would do.
Result<void> check_recordable(Order order, const Problem& p, const Options& resolved);

}  // namespace attn
