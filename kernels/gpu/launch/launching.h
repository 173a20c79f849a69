// From a plan to kernels that run: prepare() and launch() of every rung of a GPU. They stand beside the rows, which are
// data and link without a driver. A rung says what parameters its kernels take; the rest is the same for all.
#pragma once

#include "kernels/base/result.h"
#include "kernels/gpu/launch/parameters.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

// Compiles and loads ROW.cu where that was not done yet, lets its kernels ask for their
// shared memory, sends key lengths and slopes that are no tensors, and keeps the parameters.
Result<Prepared> prepare_with(ParametersFn parameters, const Plan& plan, const Buffers& buffers, const Stream& stream);
// The same by the row's own prepare(), of a rung that has parameters of its own; else of one whose kernels take Args
// (args.h), and of a backward BackwardArgs (backward_args.h).
Result<Prepared> prepare(const Plan& plan, const Buffers& buffers, const Stream& stream);
// One call of the driver a launch, in the queue's stream and the thread's context.
Result<void> launch(const Prepared& prepared, const Stream& stream);

}  // namespace attn::gpu
