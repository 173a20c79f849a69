// What a tile takes of an SM, and why it is not larger, in words.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/model/kernel.h"
#include "profiling/tune/tune.h"

namespace attn {

// "126 kB of shared memory, 1 block an SM, 12.5 % occupancy, 254 registers, limited by registers"; empty on a CPU.
std::string hold_words(const TileCandidate& c);
// "64 x 64: ...; 128 x 64 does not fit: ...; 64 x 128 would take ...": of the tile with this index, why its kernel
// takes it where it says so, and the next larger ones down and across. One sentence.
std::string why_tile(const KernelRow& row, const TuneResult& r, std::size_t tile);

}  // namespace attn
