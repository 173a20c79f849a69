// The tile of flash_hopper, by one formula of D, Dv, lengths, heads and multiprocessors; what it decides it can say in
// words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/rungs/hopper/hopper_copy.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"

namespace attn::gpu {

// The constants that the kernel is compiled with; every one an option of its row.
struct HopperTile {
  std::int32_t step = 11;        // which ideas are in (hopper_block.cuh)
  std::int32_t form = 5;         // 4: consumers that overlap within; 5: consumers that cover each other
  std::int32_t consumers = 3;    // warpgroups of 64 query rows
  std::int32_t keys = 128;       // of a K or V tile
  std::int32_t slots = 5;        // of the ring
  std::int32_t queries = 1;      // buffers of Q a consumer
  std::int32_t pack = 1;         // heads that share keys, packed as rows
  std::int32_t split = 4;        // eighths of the keys whose P V goes first
  std::int32_t half = 64;        // keys of the shorter step
  bool late = false;             // O's rows are handed back under the next tile
  bool turns = false;            // form 4: consumers take turns at starting products
  Copies copies = Copies::none;  // to rows that begin on 16 bytes
};

// Bytes of shared memory of a block.
std::int64_t shared_bytes(const Problem& p, const HopperTile& t);
// What is asked for stays, and the rest is chosen to go with it.
HopperTile hopper_tile(const Problem& p, const Options& asked);
// What else is worth a try: other forms, keys, buffers, halves and splits.
std::vector<HopperTile> hopper_tiles(const Problem& p, const Options& asked);
// Why this one, a clause a choice.
std::string words_of(const Problem& p, const HopperTile& t, std::int32_t sms);
// The steps from which on the host does otherwise.
inline constexpr std::int32_t kStaysFrom = 7, kEvensFrom = 8, kGuessesFrom = 11, kLastStep = 11;

// Query tiles of a packed head: the number whose last wave costs least, 64-row pieces shared out evenly; before step 8
// as few as there can be.
std::int64_t query_tiles(const Problem& p, const HopperTile& t, std::int32_t sms);
// Packed heads that are walked together, so that their K and V stay in L2; divides the number of all.
std::int64_t heads_together(const Problem& p, const HopperTile& t);
// Rows and heads as the kernel counts them (hopper_args.h).
std::int64_t packed_rows(const Problem& p, const HopperTile& t);
std::int64_t packed_heads(const Problem& p, const HopperTile& t);

// Waits for products that its machine code has; where ptxas gives the overlap up there is one after every product.
std::int32_t product_waits(const HopperTile& t);

// The options of the row, and a tile from resolved ones.
extern const Option kHopperForm, kHopperQueries, kHopperPack, kHopperSplit, kHopperHalf, kHopperStep, kHopperLate,
    kHopperTurns, kHopperCopies;
// Resolved options as a tile; and a tile as options, where `asked` chooses nothing.
HopperTile tile_of(const Options& resolved);
Options options_of(const HopperTile& t, const Options& asked);

}  // namespace attn::gpu
