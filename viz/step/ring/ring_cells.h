// How a ring's grids are filled from a recording: tiles that a rank was dealt, one below the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"
#include "viz/step/facts/scales.h"
#include "viz/step/place/place.h"
#include "viz/step/ring/ring_rows.h"

namespace attn {

struct RingCells {
  const Recording& rec;
  const StepPlace& at;
  const TensorScales& scales;
  const std::vector<ExactTile>& exact;  // empty: cells have no texts

  void put(Cell& cell, Slot slot, float value, double bound) const;
  double bound(std::int32_t tile, VersionId v, std::size_t n) const;
  static RingGrid grid(Slot slot, std::size_t rows, std::int64_t cols);
  RingGrid inputs(Slot slot, const Array& from, std::int64_t heads, std::int64_t head, std::int64_t length,
                  const std::vector<std::int32_t>& rows, std::int64_t width) const;
  // The rows of a tile, from `first` on in the grid, as a version has them; none: they stay as they are. `gone`: where
  // they were once. What this step made of them is marked.
  void fill(RingGrid& g, std::size_t first, std::int32_t tile, VersionId id, CellLook look = CellLook::value) const;
};

// Rows of tiles of so many each.
std::vector<std::int32_t> rows_of_tiles(const std::vector<std::int64_t>& tiles, std::int32_t side, std::int64_t length);

}  // namespace attn
