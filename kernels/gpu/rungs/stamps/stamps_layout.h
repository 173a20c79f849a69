// What a pipelined kernel's flight recorder writes, and where. Compiled by the program (how much to allot, what it
// reads) and by NVRTC (where it writes): one place, so the two cannot disagree.
//
// A lane is one thread that stands for its warpgroup: the one that copies K and V, the one that copies Q, and the first
// of each consumer. It writes records of 32-bit words one after the other: a word that says what, and the lower half of
// the SM's clock at each change of state. A key tile is one record whose states stand at fixed places, so a mark is the
// clock and its store: no tag, no place to compute.
//
//   heads    [blocks][lanes]   when a lane began and ended, by both clocks, and where
//   words    of the blocks that are recorded in detail, 2^detail_log2 a lane; then of all blocks, 2^coarse_log2 a lane:
//            of those that are not recorded in detail, only when they took which query tile
#pragma once

namespace attn::gpu {

// The states of a lane. Order and number are those of stamp_tags() in stamps.h.
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
  kStampScores,  // of a warp that multiplies itself: Q K^T, the copies of a tile to come among it
  kStampOutput,  // the same: P V, the exponentials among it
  kStampDone,
  kStampTags
};

// What a record is: one state (its tag), a query tile (kStampTile: its clock, and the lower half of the global timer),
// or the states of one key tile.
enum StampRecord : unsigned {
  kStampCovering = kStampTags,         // form 5: Q K^T and P V of a key tile; + kStampTakesTurns, + kStampSplits
  kStampSkipped = kStampCovering + 4,  // the rows see nothing of it
  kStampOverlapped,                    // form 4: Q K^T of a key tile beside P V of the one before; + kStampTakesTurns
  kStampWarp = kStampOverlapped + 2,   // flash_mma: a warp's key tile
  kStampOwn = kStampWarp + 1,          // the first state of a kernel of one's own, in the order of its header
  kStampRecords = 64
};
constexpr unsigned kStampTakesTurns = 1, kStampSplits = 2;  // the latter: P V of the first keys early
constexpr unsigned stamp_record(unsigned form, bool turns, bool splits) {
  return form + (turns ? kStampTakesTurns : 0) + (splits ? kStampSplits : 0);
}

// A record's states in the order of their clocks, which stand behind its first words.
constexpr int kStampMostStates = 11;
struct StampStates {
  int words = 1, count = 0;
  StampTag tags[kStampMostStates] = {};

  constexpr void add(StampTag tag) { tags[count++] = tag; }
  // Where the clock of that state stands, of several the nth; -1: the record has none.
  constexpr int place(StampTag tag, int nth = 0) const {
    for (int n = 0; n < count; ++n)
      if (tags[n] == tag && nth-- == 0) return words + n;
    return -1;
  }
  constexpr int all_words() const { return words + count; }
};
constexpr StampStates stamp_covering(unsigned how) {
  StampStates s;
  s.add(kStampWaitK);
  if (how & kStampTakesTurns) s.add(kStampWaitTurn);
  for (const StampTag tag : {kStampIssueS, kStampWaitS, kStampMaximum, kStampP, kStampWaitV, kStampIssueO}) s.add(tag);
  if (how & kStampSplits) {
    s.add(kStampP);
    s.add(kStampIssueO);
  }
  s.add(kStampWaitO);
  return s;
}
// Word 1 is the key tile before; kStampBegins: the first of a query tile.
constexpr unsigned kStampBegins = 0x80000000u;
constexpr StampStates stamp_overlapped(unsigned how) {
  StampStates s;
  s.words = 2;
  s.add(kStampWaitK);
  if (how & kStampTakesTurns) s.add(kStampWaitTurn);
  for (const StampTag tag : {kStampIssueS, kStampWaitV, kStampIssueO, kStampWaitS, kStampMaximum, kStampP, kStampWaitO})
    s.add(tag);
  s.add(kStampStore);  // where the query tile before ends; else O is rescaled, P packed
  return s;
}
constexpr StampStates stamp_states(unsigned record) {
  if (record >= kStampCovering && record < kStampSkipped) return stamp_covering(record - kStampCovering);
  if (record >= kStampOverlapped && record < kStampWarp) return stamp_overlapped(record - kStampOverlapped);
  StampStates s;
  if (record == kStampWarp) {
    for (const StampTag tag : {kStampWaitK, kStampScores, kStampMaximum, kStampOutput}) s.add(tag);
  } else if (record == kStampSkipped) {
    for (const StampTag tag : {kStampWaitK, kStampWaitV, kStampHandOn}) s.add(tag);
  } else {
    s.add(static_cast<StampTag>(record));
  }
  return s;
}
constexpr int kStampTileWords = 3;                         // of the record of a query tile
constexpr int kStampMostWords = 1 + 1 + kStampMostStates;  // of any

// A record's first word: what it is, two slots of the ring or buffers of Q, key or query tile.
constexpr unsigned kStampRecordBits = 6, kStampSlotBits = 4, kStampTileBits = 18;
constexpr unsigned kStampNoSlot = (1u << kStampSlotBits) - 1, kStampNoTile = (1u << kStampTileBits) - 1;
static_assert(kStampRecords <= 1u << kStampRecordBits, "a record has six bits");
constexpr unsigned stamp_word(unsigned record, int tile, int a, int b) {
  return record | (static_cast<unsigned>(a) & kStampNoSlot) << kStampRecordBits |
         (static_cast<unsigned>(b) & kStampNoSlot) << (kStampRecordBits + kStampSlotBits) |
         static_cast<unsigned>(tile) << (kStampRecordBits + 2 * kStampSlotBits);
}

struct StampHead {
  long long start_ns, start_clock, end_ns, end_clock;  // %globaltimer and clock64, read one after the other
  unsigned sm, count;                                  // words that were written
};

// Lanes of a block: two that copy, and the consumers behind them.
constexpr int kStampCopies = 2;

// What the host sets before the launch.
struct StampArgs {
  StampHead* heads;
  unsigned* words;
  int lanes, grid;               // of a block; blocks
  int first, blocks;             // recorded in detail
  int detail_log2, coarse_log2;  // words that a lane has room for
  int tile_words;                // that a lane recorded in detail writes for one query tile, at most
};

// A lane's first word.
constexpr unsigned stamp_place(const StampArgs& a, int block, int lane) {
  const bool detail = static_cast<unsigned>(block - a.first) < static_cast<unsigned>(a.blocks);
  if (detail) return static_cast<unsigned>((block - a.first) * a.lanes + lane) << a.detail_log2;
  const unsigned before = static_cast<unsigned>(a.blocks * a.lanes) << a.detail_log2;
  return before + (static_cast<unsigned>(block * a.lanes + lane) << a.coarse_log2);
}

}  // namespace attn::gpu
