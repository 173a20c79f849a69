// From what went wrong to the state of the row that says so. For this room.
#pragma once

#include "kernels/base/result.h"
#include "profiling/figures/measurement.h"

namespace attn {

RowState row_state_of(ErrorKind kind);
// The row has no figures, and says why.
void give_up(Measurement& m, const Error& why);

}  // namespace attn
