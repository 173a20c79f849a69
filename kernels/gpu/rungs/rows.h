// The GPU kernels' rows, one a file: the ladder from rung 3 on. They have the same shape as the CPU's; a Device of
// processor gpu may name any architecture, with no such GPU in the machine, to plan and compile for it.
#pragma once

#include <span>
#include <string_view>

#include "kernels/model/kernel.h"

namespace attn::gpu {

std::span<const KernelRow> gpu_kernel_table();

// Every architecture that is known, oldest first.
std::span<const std::string_view> architectures();

// The architecture that every GPU rung was run on and judged; on the others it was compiled only.
constexpr std::string_view kArchRunOn = "sm_90a";

// A device that stands for an architecture alone: what `inspect` plans for. Refuses one that no row declares.
Result<Device> device_for(std::string_view arch);

}  // namespace attn::gpu
