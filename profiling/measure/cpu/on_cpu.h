// One point on the CPU: refuse what does not fit, check the answer, then time it.
#pragma once

#include <stop_token>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "profiling/measure/cpu/cpu_peak.h"
#include "profiling/measure/turn.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

// Never an error: what went wrong is the row's state and reason. `row` is the kernel, which need not be in the table;
// `peak` is what its figures are set against.
Measurement measure_on_cpu(const KernelRow& row, const Point& p, const CpuPeak& peak, std::stop_token stop);

// A turn's repeats in microseconds, nothing checked: for a point that was measured before.
Result<std::vector<double>> turn_on_cpu(const KernelRow& row, const Point& p, const Inputs& inputs, const Turn& turn,
                                        const std::stop_token& stop);

}  // namespace attn
