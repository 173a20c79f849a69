// The row that a point becomes.
#pragma once

#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

// The row of a point before anything is known of it: what was asked for, no figures.
Measurement empty_row(const Point& p, Processor processor);

}  // namespace attn
