// What a backward reads of its forward: O and LSE.
#pragma once

#include <cstdint>

#include "kernels/base/pieces.h"
#include "kernels/base/result.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/kernel.h"

namespace attn {

// The forward of the same problem.
Problem forward_of(const Problem& p);

// Fills O and LSE of a backward's inputs where they are missing, by cpu_flash on the stream's threads; of a forward
// nothing. `memory_limit` 0 = what the machine has free.
Result<void> add_forward(const Problem& p, Inputs& in, std::uint64_t memory_limit, const Stream& stream);

// make_inputs(), and of a backward what its forward gives.
Result<Inputs> make_all_inputs(const Problem& p, const InputSpec& spec, const TakePieces& take,
                               std::uint64_t memory_limit, const Stream& stream);

}  // namespace attn
