// What all GPU rungs share. A rung is ID.cu and ID.cpp in its family's folder: ID.cpp has its row, its options and what
// it launches; rows.cpp lists it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

// A row with what most rungs have alike: every architecture, every dtype, supports() of below. The rung fills in the
// rest. How it is prepared and launched is the same for all, and needs a driver: kernels/gpu/launch has it.
KernelRow common_row();

// The device is a GPU of an architecture that the row declares, the dtype one that it takes, the problem valid, the
// row's plan() has no objection and its launches are not too large. A rung that refuses more does so in its plan().
Result<void> supports(const KernelRow& row, const Problem& p, const Options& o, const Device& d);

// "384 threads compute with 160 registers each, 128 copy with 32": what ptxas counts is what each thread begins with.
// Empty: they keep it.
std::string register_words(const KernelRow& row, const Problem& p, const Options& resolved);

// ---- for the rungs' plan()

// What the device's architecture has, or that the rung is not known on it.
Result<ArchLimits> limits_for(const KernelRow& row, const Device& d);
// How many tiles of `tile` cover n.
std::int64_t tiles(std::int64_t n, std::int64_t tile);
// `grid` blocks of x * y threads with `shared` bytes of dynamic shared memory each.
Launch launch_of(std::string_view entry, std::int64_t grid, std::int64_t x, std::int64_t y, std::int64_t shared);
// `resolved` has no 0 left.
Plan plan_of(const KernelRow& row, const Problem& p, const Options& resolved, std::vector<Launch> launches);

// ---- for rungs in which 16 lanes share a row of a tile: tiled, flash_simt

// Threads of a block where nobody chose them: 8 rows of a tile each.
std::int32_t default_threads(std::int32_t br);
// Every thread has 1 to 8 whole rows, or which numbers of threads would do.
Result<void> check_rows_per_thread(const KernelRow& row, const Options& o);

}  // namespace attn::gpu
