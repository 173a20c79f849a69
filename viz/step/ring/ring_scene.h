// A ring at one step: its ranks side by side, each with the queries that stay, the keys that are there now, what it
// makes of them and what the turns so far come to; who computes what in which turn; and the work of each rank by both
// ways of dealing. Plain data; pure functions of the recording and the step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/model/ring.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"
#include "viz/step/facts/scales.h"
#include "viz/step/place/place.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {

// Rows of a rank in one tensor: its query tiles one below the other, or its keys.
struct RingGrid {
  Slot slot = Slot::q;
  std::int32_t rows = 0, cols = 0;
  bool made = false;  // in this step, by whichever rank
  std::vector<Cell> cells;
  std::vector<Slot> row_slots;  // where rows differ: one query tile may have weights while another has scores still
  Slot slot_of(std::int32_t r) const { return row_slots.empty() ? slot : row_slots[static_cast<std::size_t>(r)]; }
  const Cell& cell(std::int32_t r, std::int32_t c) const {
    return cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(c)];
  }
};

// m, l and O of rows.
struct RingState {
  RingGrid m, l, o;
};

struct RingRankRow {
  std::int64_t rank = 0;
  std::string name, chunks, row_words;   // "Rank 1", "chunks 1 and 6", "rows 2 to 3, 12 to 13"
  std::vector<std::int32_t> rows, keys;  // of the whole tensors, as the grids have them
  std::int64_t here = 0;                 // whose keys it has
  std::optional<std::int64_t> next;      // whose are on their way to it
  RingGrid q, k, v, scores;              // `scores`: S, or P once that is made
  RingState turn, so_far;                // of this turn's keys alone; of all turns before, merged
  bool live = false;                     // the step is its own
  bool idle = false;                     // the mask leaves it nothing to do in this turn
};

enum class RingSquareLook : std::uint8_t { hidden, later, now, done };
// Queries of one chunk against the keys of one.
struct RingSquare {
  RingSquareLook look = RingSquareLook::hidden;
  bool cut = false;  // the mask hides a part of it
  std::int64_t rank = 0, turn = 0;
  std::optional<EventIndex> event;  // where it begins
};

// Pairs of tiles that a rank computes, by turn.
struct RingWork {
  std::vector<std::vector<std::int64_t>> by_rank;
  std::int64_t of_rank(std::size_t rank) const;
  std::int64_t most() const;  // of the rank that has the most to do: when the last is done
};

struct RingScene {
  StepPlace at;
  Ring ring;
  std::int64_t turn = 0;  // as many as ranks: after the last
  bool dividing = false;  // after the last turn
  std::string dense;      // why there are no cells: there are too many. Empty: there are
  std::string title, map_title, map_words;
  TensorColour scores_hue = TensorColour::s;
  bool merging = false;
  std::vector<RingRankRow> ranks;
  std::int32_t chunks = 0;
  std::vector<RingSquare> squares;  // by chunk of queries, then of keys
  RingWork dealt, otherwise;        // as it is, and by the other deal
  std::string sent_words;           // "A rank sends 256 B per turn, all ranks 3 072 B."
  RingBytes bytes;
  const RingSquare& square(std::int32_t queries, std::int32_t keys) const {
    return squares[static_cast<std::size_t>(queries) * static_cast<std::size_t>(chunks) +
                   static_cast<std::size_t>(keys)];
  }
};

// `exact`: fp64 of the query tiles of the step's head by index; with it the cells have texts. Empty: they have none.
RingScene ring_scene(const Recording& rec, const StepPlace& at, const TensorScales& scales,
                     const std::vector<ExactTile>& exact);

// What a rank computes under the problem's mask if tiles are dealt so.
RingWork ring_work(const Problem& p, const Options& o, std::int32_t b, bool zigzag);

}  // namespace attn
