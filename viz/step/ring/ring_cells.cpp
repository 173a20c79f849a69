#include "viz/step/ring/ring_cells.h"

#include <algorithm>
#include <cmath>

#include "viz/draw/number_text.h"

namespace attn {
namespace {

// A number of a cell in three digits at most, as far as its bound allows.
std::string brief_text(double value, double bound) {
  if (!std::isfinite(value)) return number_text(value, {});
  constexpr int kDigits = 3, kDecimals = 2;
  const double size = std::fabs(value);
  const int whole = size >= 100 ? 0 : size >= 10 ? 1 : kDecimals;
  if (size >= 1000 || (size > 0 && size < 0.005)) return significant_text(value, size >= 1000 ? kDigits : 1, bound);
  return number_text(value, {supported_decimals(bound, whole), false});
}

}  // namespace

void RingCells::put(Cell& cell, Slot slot, float value, double bound) const {
  cell.look = CellLook::value;
  cell.value = value;
  cell.shade = scale_of(scales, slot).shade(value);
  if (!exact.empty()) cell.text = brief_text(value, bound);
}

// Of sums over queries whichever query tile is asked: each of its own key tile, so that none forgets another's.
double RingCells::bound(std::int32_t tile, VersionId v, std::size_t n) const {
  if (exact.empty()) return 0;
  return bound_of(rec, &exact[static_cast<std::size_t>(tile) % exact.size()], v, n);
}

RingGrid RingCells::grid(Slot slot, std::size_t rows, std::int64_t cols) {
  RingGrid g;
  g.slot = slot;
  g.rows = static_cast<std::int32_t>(rows);
  g.cols = static_cast<std::int32_t>(cols);
  g.cells.resize(rows * static_cast<std::size_t>(cols));
  return g;
}

RingGrid RingCells::inputs(Slot slot, const Array& from, std::int64_t heads, std::int64_t head, std::int64_t length,
                           const std::vector<std::int32_t>& rows, std::int64_t width) const {
  RingGrid g = grid(slot, rows.size(), width);
  std::vector<float> values(static_cast<std::size_t>(width));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    from.read(((at.b * heads + head) * length + rows[r]) * width, width, values.data());
    for (std::size_t c = 0; c < values.size(); ++c) put(g.cells[r * values.size() + c], slot, values[c], 0);
  }
  return g;
}

void RingCells::fill(RingGrid& g, std::size_t first, std::int32_t tile, VersionId id, CellLook look) const {
  if (id == kNoVersion) return;
  const Version& v = rec.version(id);
  const auto values = rec.values(id);
  for (std::size_t n = 0; n < values.size(); ++n) {
    const std::size_t r = n / static_cast<std::size_t>(v.cols), c = n % static_cast<std::size_t>(v.cols);
    Cell& cell = g.cells[(first + r) * static_cast<std::size_t>(g.cols) + c];
    if (look == CellLook::value)
      put(cell, g.slot, values[n], bound(tile, id, n));
    else
      cell.look = look;
  }
  if (v.made_by == at.event && look == CellLook::value) g.made = {static_cast<std::int32_t>(first), v.rows, 0, v.cols};
}

std::vector<std::int32_t> rows_of_tiles(const std::vector<std::int64_t>& tiles, std::int32_t side,
                                        std::int64_t length) {
  std::vector<std::int32_t> rows;
  for (const std::int64_t t : tiles)
    for (std::int64_t r = t * side; r < std::min<std::int64_t>((t + 1) * side, length); ++r)
      rows.push_back(static_cast<std::int32_t>(r));
  return rows;
}

}  // namespace attn
