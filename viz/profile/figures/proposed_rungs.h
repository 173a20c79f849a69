// The rungs that findings propose, by the type of the numbers: data, in one table.
#pragma once

#include <string_view>

#include "kernels/base/dtype.h"

namespace attn {

// Keeps S and P on the chip.
std::string_view keeps_scores(DType dtype);
// Multiplies on tensor cores, on that architecture best.
std::string_view on_tensor_cores(DType dtype, std::string_view arch);

}  // namespace attn
