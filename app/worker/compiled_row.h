// What the compiler says of one point, with no GPU and no driver: a row without times.
#pragma once

#include <filesystem>

#include "kernels/gpu/compile/service.h"
#include "kernels/ladder.h"
#include "profiling/figures/measurement.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

// For `p.arch`. A kernel that cannot be planned or compiled is a row that failed or was refused, with the reason; one
// that was compiled is refused without one: whoever asks knows why it is not run.
Measurement compiled_row(const Point& p, const gpu::OwnKernels& own, gpu::CompileService& service,
                         const std::filesystem::path& edited_kernels);

}  // namespace attn
