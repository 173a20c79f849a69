// The tiles of a kernel that can be tried on a problem, with the threads and stages of each, and why others cannot: all
// of it known before anything runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/gpu/compile/occupancy.h"
#include "kernels/model/kernel.h"
#include "profiling/spec/tile_words.h"

namespace attn {

// What the compiler said of a tile.
struct CompiledTile {
  std::int32_t registers = 0;     // a thread
  std::int64_t spill_bytes = 0;   // stores and loads
  std::int64_t static_bytes = 0;  // shared memory beside what the launch asks for
};

struct TileCandidate {
  Options options;                // every 0 replaced where it fits
  std::string why_not;            // empty: it can be tried
  std::int64_t threads = 0;       // of a block; 0 = not known
  std::int64_t shared_bytes = 0;  // of a block, as the launch asks for it
  std::optional<CompiledTile> compiled;
  // GPU: of one SM; while the registers are not known, what threads and shared memory allow at most. max_warps 0: a
  // CPU.
  gpu::Occupancy occupancy;
  bool usual = false;  // what the kernel takes by itself
  std::string reason;  // why it is as it is, where the row can say (KernelRow::reason)
};

// Whether there is anything to tune: the kernel reads a Br or a Bc that may be more than one number.
bool has_tiles(const KernelRow& row);
// Why there is none to tune, in English; of a training step what is tuned instead.
std::string why_no_tiles(const KernelRow& row);

// Every tile of Br and Bc in {16, 32, 48, 64, 96, 128, 192, 256} that the kernel's row allows, with the threads that
// its Br takes and every number of stages, or whatever else its row declares to be tuned; past the first side that
// holds every row there is nothing new. A row may propose its own instead (KernelRow::tiles). What is chosen in `fixed`
// is not varied; threads of a CPU kernel never are. Of a tile that no threads and stages make fit, one candidate that
// says why. The usual one is among them, or an error says why the kernel takes the problem in no way.
Result<std::vector<TileCandidate>> tile_candidates(const KernelRow& row, const Problem& p, const Options& fixed,
                                                   const Device& device);

// Puts in what the compiler said; a tile that no SM can hold is then refused.
void put_compiled(TileCandidate& c, const CompiledTile& compiled, const Device& device);

// In which order they are tried: the usual one, then of each tile (Br x Bc) the threads and stages nearest to the usual
// ones, tiles nearest to the usual tile first, then the others. Indices; what cannot be tried is left out.
std::vector<std::size_t> order_to_try(std::span<const TileCandidate> candidates);

}  // namespace attn
