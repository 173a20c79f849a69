// Which rungs record themselves, and with which tile. How they do is trace.h.
#pragma once

#include "kernels/model/kernel.h"

namespace attn::gpu {

// The rung records itself on such a problem: its kernels have hooks.
bool has_recorder(const KernelRow& row, const Problem& p, const Options& resolved);
// The smallest tile that the row takes: of a small problem it shows most steps. The rest is left to the kernel.
Options smallest_tile(const KernelRow& row);

// What a kernel without a tile of its own is cut into for its recording.
Options cut_for_recording(Options resolved);

}  // namespace attn::gpu
