// Options and launch of the rungs on tensor cores: a warp has 16 or 32 rows of a query tile, and one kernel, named as
// its rung, does all.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/gpu/rungs/common.h"

namespace attn::gpu {

// A tile that a rung would take by itself.
struct WarpTile {
  std::int32_t br = 0, bc = 0;
  std::int32_t warp_rows = 0;  // of the query tile a warp: 16 or 32
  std::int32_t stages = 0;     // 0 = the rung does not read it
};

// Shared memory of a block in bytes.
using SharedBytesFn = std::int64_t (*)(const Problem&, const Options&);

// Of `tiles`, best first: the first of which an SM holds as many blocks as 255 registers a thread allow, else the first
// that a block can have at all, else the last.
WarpTile first_that_fits(std::span<const WarpTile> tiles, const Problem& p, const ArchLimits& arch,
                         SharedBytesFn shared_bytes);

// What is 0 in `o` comes from first_that_fits(); the rest must agree with it and with the architecture.
Result<Plan> plan_warp_tiles(const KernelRow& row, const Problem& p, const Options& o, const Device& d,
                             std::span<const WarpTile> tiles, SharedBytesFn shared_bytes);

}  // namespace attn::gpu
