// What a pipelined kernel's flight recorder writes, and where. Compiled by the program (how much to allot, what it
// reads) and by NVRTC (where it writes): one place, so the two cannot disagree.
//
// A lane is one thread that stands for its warpgroup: the one that copies K and V, the one that copies Q, and the first
// of each consumer. An event is eight bytes: the lower half of the SM's clock, and what the lane does from then on.
//
//   heads    [blocks][lanes]   when a lane began and ended, by both clocks, and where
//   events   of the blocks that are recorded in detail, 2^detail_log2 a lane; then of all blocks, 2^coarse_log2 a lane:
//            of those that are not recorded in detail, only when they took which query tile
#pragma once

namespace attn::gpu {

// The states of a lane, as events name them. Order and number are those of stamp_tags() in stamps.h.
enum StampTag : unsigned {
  kStampSetUp = 0,   // from the block's start to the lane's first event; the program sets it
  kStampTile,        // a query tile begins
  kStampNext,        // takes the next query tile, and hands its number on
  kStampWaitTile,    // waits for that number
  kStampWaitPlaceK,  // waits for a slot of the ring
  kStampAskK,        // asks for a tile of K: the copy runs on by itself
  kStampWaitPlaceV,
  kStampAskV,
  kStampWaitPlaceQ,
  kStampAskQ,
  kStampWaitQ,  // waits for its rows of Q
  kStampWaitK,
  kStampWaitV,
  kStampWaitTurn,  // waits for another consumer to have started its products
  kStampIssueS,    // hands Q K^T to the tensor cores
  kStampWaitS,
  kStampMaximum,  // mask, row maxima
  kStampP,        // exponentials, sums, P packed; O rescaled
  kStampIssueO,   // hands P V to the tensor cores
  kStampWaitO,
  kStampHandOn,  // its rows see nothing of the tile: hands the slots on
  kStampStore,   // O and LSE
  kStampDone,
  kStampTags
};

// An event's second word: tag, slot of the ring or buffer of Q, key or query tile.
constexpr unsigned kStampTagBits = 6, kStampSlotBits = 4, kStampTileBits = 22;
constexpr unsigned kStampNoSlot = (1u << kStampSlotBits) - 1, kStampNoTile = (1u << kStampTileBits) - 1;
static_assert(kStampTags <= 1u << kStampTagBits, "a tag has six bits");

struct StampHead {
  long long start_ns, start_clock, end_ns, end_clock;  // %globaltimer and clock64, read one after the other
  unsigned sm, count;                                  // events that were written
};

struct StampEvent {
  unsigned clock, word;
};

// Lanes of a block: two that copy, and the consumers behind them.
constexpr int kStampCopies = 2;

// What the host sets before the launch.
struct StampArgs {
  StampHead* heads;
  StampEvent* events;
  int lanes;                     // of a block
  int first, blocks;             // recorded in detail
  int detail_log2, coarse_log2;  // events that a lane has room for; where it has no more, the last is overwritten
};

// A lane's first event.
constexpr unsigned stamp_place(const StampArgs& a, int block, int lane) {
  const bool detail = static_cast<unsigned>(block - a.first) < static_cast<unsigned>(a.blocks);
  if (detail) return static_cast<unsigned>((block - a.first) * a.lanes + lane) << a.detail_log2;
  const unsigned before = static_cast<unsigned>(a.blocks * a.lanes) << a.detail_log2;
  return before + (static_cast<unsigned>(block * a.lanes + lane) << a.coarse_log2);
}

}  // namespace attn::gpu
