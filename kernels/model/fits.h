// Bytes known before anything is allocated, and the words for what does not fit.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"

namespace attn {

struct KernelRow;
struct Options;
struct Device;
struct Plan;

// What the problem's pass reads and writes, Q, K, V, bias, O and LSE of a forward, in bytes; saturates at 2^63 - 1.
// Scratch, lengths and slopes are a plan's workspace.
std::uint64_t tensor_bytes(const Problem& p);

// tensor_bytes + the plan's workspace.
std::uint64_t bytes_needed(const Plan& plan);

// Bytes that a problem takes beside tensors and workspace: of the check of its answer.
using BytesBeside = std::function<std::uint64_t(const Problem&)>;

// The largest L (Lq = Lk, the rest as in the plan's problem) whose tensors and workspace fit into `limit` bytes; 0: not
// even L = 1 does.
std::int64_t longest_that_fits(const Plan& plan, const Device& d, std::uint64_t limit);

// Refuses with the bytes needed, the limit, and the largest L (Lq = Lk, the rest as in the problem)
// that would fit. `limit` 0 = free_memory().
Result<void> check_memory(const Plan& plan, const Device& d, std::uint64_t limit, const BytesBeside& beside = {});

}  // namespace attn
