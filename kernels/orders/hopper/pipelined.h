// The run of a CPU kernel in flash order, told in the order in which the recorded block took its steps.
#pragma once

#include <memory>

#include "kernels/base/result.h"
#include "kernels/base/stop.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/recording_run.h"

namespace attn::orders::hopper {

// Every number stays what it was; between them stand the moments at which somebody waits, hands over or lets go.
// `row` records in the order "flash" without the option `pipeline`, which `resolved` has.
Result<std::unique_ptr<RecordingRun>> begin_pipelined(const KernelRow& row, const Problem& p, const Options& resolved,
                                                      Inputs in, Stop stop);

}  // namespace attn::orders::hopper
