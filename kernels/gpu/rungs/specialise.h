// From a plan to what is compiled, launched and allocated: shared by the rows' functions and by `inspect`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/gpu/rungs/args.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

// The constants that a kernel is compiled with (device.cuh lists them).
std::vector<std::string> defines_of(const Plan& plan, bool aligned);
// D and Dv allow 128-bit loads; pointers must also be multiples of 16 bytes.
bool may_be_aligned(const Problem& p);

// Where things lie in the workspace, in bytes; every part starts at a multiple of 256. Saturates at 2^63 - 1. `s` is S
// in fp32; of a backward dS, in the problem's dtype.
struct Workspace {
  std::uint64_t s = 0, p = 0, key_lengths = 0, slopes = 0, counters = 0, total = 0;
};
Workspace workspace_of(const KernelRow& row, const Problem& p);

// Where the problem's key lengths and slopes lie: a tensor of the caller's, else their part of the workspace. For a
// problem that has them.
const std::int64_t* key_lengths_at(const Plan& plan, const Buffers& buffers);
const float* slopes_at(const Plan& plan, const Buffers& buffers);

Args args_of(const Plan& plan, const Buffers& buffers);

}  // namespace attn::gpu
