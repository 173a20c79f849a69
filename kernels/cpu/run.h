// One answer of one kernel on this CPU.
#pragma once

#include <cstdint>

#include "kernels/base/result.h"
#include "kernels/base/stop.h"
#include "kernels/model/kernel.h"

namespace attn {

// supports, plan, memory check, allocation, prepare, launch: the answer of one kernel on this CPU.
// `memory_limit` 0 = what the machine has free.
Result<Outputs> run_on_cpu(const KernelRow& row, const Problem& p, const Options& o, const Inputs& in,
                           std::uint64_t memory_limit, Stop stop);

}  // namespace attn
