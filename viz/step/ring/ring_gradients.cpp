#include "viz/step/ring/ring_gradients.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/model/order_row.h"
#include "kernels/orders/backward/names.h"
#include "kernels/orders/backward_ring/names.h"

namespace attn {
namespace {

// What a rank's gradients are by a step, found by the events that made them.
class Gradients {
 public:
  Gradients(const RingCells& cells, const Ring& ring, std::int64_t rank)
      : cells_(cells),
        rec_(cells.rec),
        ring_(ring),
        rank_(rank),
        group_(static_cast<std::int32_t>(rec_.problem.Hq / rec_.problem.Hkv)),
        first_head_(cells.at.h / group_ * group_) {}

  VersionId made(Phase phase, Slot slot, std::int32_t h, std::int64_t i, std::int64_t j) const {
    const auto e = rec_.find({cells_.at.b, h, static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), phase});
    return e && *e <= cells_.at.event ? rec_.after(*e, slot) : kNoVersion;
  }
  bool came_home(std::int64_t owner) const {
    const auto j = ring_.first_of(ring_.keys(), owner);
    const auto e =
        j ? rec_.find({cells_.at.b, first_head_, -1, static_cast<std::int32_t>(*j), r_.sums_home}) : std::nullopt;
    return e && *e <= cells_.at.event;
  }
  // dQ of a query tile: as it is written, else with the part of the last key tile so far.
  VersionId of_queries(std::int64_t i) const {
    if (const VersionId done = made(n_.store_dq, n_.dq, cells_.at.h, i, -1); done != kNoVersion) return done;
    for (std::int64_t turn = ring_.ranks - 1; turn >= 0; --turn) {
      const auto tiles = ring_.tiles_of(ring_.keys(), ring_.share(rank_, turn));
      for (auto j = tiles.rbegin(); j != tiles.rend(); ++j)
        if (const VersionId v = made(n_.query_gradient, n_.dq, cells_.at.h, i, *j); v != kNoVersion) return v;
    }
    return kNoVersion;
  }
  // dK or dV of a key tile that the rank's queries made on chip, without what came.
  VersionId part(Slot sum, std::int64_t j) const {
    const auto tiles = ring_.tiles_of(ring_.queries(), rank_);
    const Phase adds = sum == n_.dv ? n_.value_gradient : n_.key_gradient;
    for (std::int32_t h = first_head_ + group_ - 1; h >= first_head_; --h)
      for (auto i = tiles.rbegin(); i != tiles.rend(); ++i)
        if (const VersionId v = made(adds, sum, h, *i, j); v != kNoVersion) return v;
    return kNoVersion;
  }
  // With what a rank and those before it have added.
  VersionId left_by(std::int64_t rank, std::int64_t turn, Slot sum, std::int64_t j) const {
    const auto i = ring_.first_of(ring_.queries(), rank);
    return i ? made(turn == 0 ? r_.keep_sums : r_.add_sums, sum, first_head_, *i, j) : kNoVersion;
  }
  // The sum that the rank has in a turn: with its own part, else as it came.
  VersionId sum_in(std::int64_t turn, Slot sum, std::int64_t j) const {
    const VersionId own = left_by(rank_, turn, sum, j);
    return own != kNoVersion || turn == 0 ? own : left_by(ring_.left_of(rank_), turn - 1, sum, j);
  }
  // As it is written, else as it came home.
  VersionId at_home(Slot sum, std::int64_t j) const {
    const VersionId done = made(n_.store_dkv, sum, first_head_, -1, j);
    return done != kNoVersion ? done : left_by(ring_.left_of(rank_), ring_.ranks - 1, sum, j);
  }
  const orders::BackwardNames& names() const { return n_; }

 private:
  const RingCells& cells_;
  const Recording& rec_;
  const Ring& ring_;
  std::int64_t rank_;
  std::int32_t group_, first_head_;
  const orders::BackwardNames& n_ = orders::backward_names();
  const orders::BackwardRingNames& r_ = orders::backward_ring_names();
};

}  // namespace

void add_gradients(const RingCells& cells, const Ring& ring, bool after_turns, RingRankRow& row) {
  const Gradients of(cells, ring, row.rank);
  const orders::BackwardNames& n = of.names();
  const Problem& p = cells.rec.problem;
  row.home = after_turns && of.came_home(row.rank);
  const std::int64_t turn = (row.rank + ring.ranks - row.here) % ring.ranks;
  const auto tiles = ring.tiles_of(ring.keys(), row.home ? row.rank : row.here);
  row.sum_keys = rows_of_tiles(tiles, cells.at.bc, p.Lk);
  row.delta = RingCells::grid(n.delta, row.rows.size(), 1);
  row.d_o = RingCells::grid(n.d_o, row.rows.size(), p.Dv);
  row.dq = RingCells::grid(n.dq, row.rows.size(), p.D);
  if (cells.rec.inputs.d_o)
    row.d_o = cells.inputs(n.d_o, *cells.rec.inputs.d_o, p.Hq, cells.at.h, p.Lq, row.rows, p.Dv);
  std::size_t first = 0;
  for (const std::int64_t i : ring.tiles_of(ring.queries(), row.rank)) {
    const auto tile = static_cast<std::int32_t>(i);
    cells.fill(row.delta, first, tile, of.made(n.row_dots, n.delta, cells.at.h, i, -1));
    cells.fill(row.dq, first, tile, of.of_queries(i));
    first += static_cast<std::size_t>(std::min<std::int64_t>(cells.at.br, p.Lq - i * cells.at.br));
  }
  for (RingSums* sums : {&row.part, &row.sums}) {
    sums->dk = RingCells::grid(n.dk, row.sum_keys.size(), p.D);
    sums->dv = RingCells::grid(n.dv, row.sum_keys.size(), p.Dv);
  }
  first = 0;
  for (const std::int64_t j : tiles) {
    const auto tile = static_cast<std::int32_t>(j);
    for (const auto& [slot, grid] : {std::pair{n.dk, &RingSums::dk}, {n.dv, &RingSums::dv}}) {
      cells.fill(row.part.*grid, first, tile, of.part(slot, j), after_turns ? CellLook::dropped : CellLook::value);
      cells.fill(row.sums.*grid, first, tile, row.home ? of.at_home(slot, j) : of.sum_in(turn, slot, j));
    }
    first += static_cast<std::size_t>(std::min<std::int64_t>(cells.at.bc, p.Lk - j * cells.at.bc));
  }
  // All of them came in this step.
  if (row.home && cells.rec.events[cells.at.event].id.phase == orders::backward_ring_names().sums_home && row.live)
    for (RingGrid* grid : {&row.sums.dk, &row.sums.dv}) grid->made = {0, grid->rows, 0, grid->cols};
}

}  // namespace attn
