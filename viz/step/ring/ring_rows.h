// A rank of a ring at one step as plain data: its queries, the keys that are there, and what it makes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/model/order.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {

// What of a grid the step made, in its rows and columns: one tile at most.
struct RingSpan {
  std::int32_t row = 0, rows = 0, col = 0, cols = 0;
  bool any() const { return rows > 0 && cols > 0; }
};

// Rows of a rank in one tensor: its query tiles one below the other, or its keys.
struct RingGrid {
  Slot slot = Slot::q;
  std::int32_t rows = 0, cols = 0;
  RingSpan made;
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

// dK and dV of keys.
struct RingSums {
  RingGrid dk, dv;
};

struct RingRankRow {
  std::int64_t rank = 0;
  std::string name, chunks, row_words;   // "Rank 1", "chunks 1 and 6", "rows 2 to 3, 12 to 13"
  std::string row_brief;                 // "2–3, 12–13"
  std::vector<std::int32_t> rows, keys;  // of the whole tensors, as the grids have them
  std::int64_t here = 0;                 // whose keys it has
  std::optional<std::int64_t> next;      // whose are on their way to it
  RingGrid q, k, v, scores;              // `scores`: S, or P once that is made
  RingState turn, so_far;                // of this turn's keys alone; of all turns before, merged
  // Of a backward: what stays with the queries; of the keys that are here, what this turn gives their dK and dV, and
  // the sums with the ranks before. After the last turn those of its own keys, once they are home.
  RingGrid delta, d_o, dq;
  RingSums part, sums;
  std::vector<std::int32_t> sum_keys;  // rows of these
  bool home = false;
  bool live = false;  // the step is its own
  bool idle = false;  // the mask leaves it nothing to do in this turn
};

}  // namespace attn
