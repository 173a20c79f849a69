// Where the elements of a launch's tensors lie: as the problem's layout says, or as the buffers do.
#pragma once

#include <vector>

#include "kernels/model/kernel.h"
#include "kernels/model/problem/tensors.h"

namespace attn::gpu {

// The strides that the buffers give for it, if they give some.
void take_strides(TensorSpec& spec, const Buffers& buffers);
// tensors_of(), with the strides of the buffers.
std::vector<TensorSpec> tensors_at(const Problem& p, const Buffers& buffers);

}  // namespace attn::gpu
