#include "viz/step/ring/ring_scene.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "kernels/orders/backward/names.h"
#include "kernels/orders/split/names.h"
#include "kernels/recording/lanes.h"
#include "viz/step/ring/ring_cells.h"
#include "viz/step/ring/ring_gradients.h"

namespace attn {
namespace {

// "2 to 3, 12 to 13"; brief: "2–3, 12–13".
std::string spans_words(const std::vector<std::int32_t>& rows, bool brief) {
  std::string words;
  for (std::size_t n = 0; n < rows.size();) {
    std::size_t end = n + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    const std::string span = end - n == 1 ? std::to_string(rows[n])
                             : brief      ? fmt::format("{}–{}", rows[n], rows[end - 1])
                                          : phrase("{} to {}", rows[n], rows[end - 1]);
    words = words.empty() ? span : phrase("{}, {}", words, span);
    n = end;
  }
  return words;
}

// In the sequence in which a query tile makes them of a key tile.
std::array<Slot, 4> score_kinds() {
  return {Slot::s, Slot::p, orders::backward_names().dp, orders::backward_names().ds};
}

class Builder {
 public:
  Builder(const Recording& rec, const StepPlace& at, const TensorScales& scales, const std::vector<ExactTile>& exact)
      : rec_(rec), at_(at), cells_{rec, at, scales, exact}, names_(orders::split_names()) {
    scene_.at = at;
    scene_.ring = ring_of(rec.options, rec.query_tiles(), rec.key_tiles());
    scene_.turn = turn_of(rec, rec.events[at.event].id);
    scene_.dividing = scene_.turn == scene_.ring.ranks;
    scene_.backward = order_row(rec.order).pass == Pass::backward;
    phase_ = rec.events[at.event].id.phase;
    find_last();
    constexpr std::int64_t kMostCells = 16384;  // of all ranks
    const Problem& p = rec.problem;
    if (p.Lq * (p.Lk / ring().ranks + p.D + 2 * p.Dv) + p.Lk * (p.D + p.Dv) > kMostCells)
      scene_.dense =
          phrase("{} queries and {} keys are too many to draw as cells. The map shows the turns.", p.Lq, p.Lk);
  }

  RingScene made() {
    for (std::int64_t rank = 0; rank < ring().ranks; ++rank) add_rank(rank);
    add_map();
    add_words();
    return std::move(scene_);
  }

 private:
  const Ring& ring() const { return scene_.ring; }
  std::int64_t turn_here() const { return std::min(scene_.turn, ring().ranks - 1); }

  // Of each query tile of this head its last step so far; key tile outside, only where its rank has done nothing since.
  void find_last() {
    last_.assign(static_cast<std::size_t>(rec_.query_tiles()), kNoEvent);
    const bool one_a_rank = order_row(rec_.order).keys_outside;
    std::vector<bool> found(static_cast<std::size_t>(ring().ranks));
    for (EventIndex e = at_.event + 1; e-- > 0;) {
      const EventId& id = rec_.events[e].id;
      if (id.b != at_.b || (id.h != at_.h && !one_a_rank)) break;
      const auto rank = static_cast<std::size_t>(rec_.lane_of(e).value_or(0));
      if (one_a_rank && (found[rank] || id.h != at_.h || id.i < 0)) {
        found[rank] = true;
        if (std::ranges::find(found, false) == found.end()) break;
        continue;
      }
      found[rank] = true;
      EventIndex& last = last_[static_cast<std::size_t>(id.i)];
      if (last == kNoEvent) last = e;
    }
  }

  VersionId newest(EventIndex e, Slot fresh, Slot old) const {
    return rec_.after(e, fresh) != kNoVersion ? rec_.after(e, fresh) : rec_.after(e, old);
  }
  // What the turns before this one left in memory of a query tile; none: there was none.
  std::optional<EventIndex> left_before(std::int64_t rank, std::int32_t i, std::int64_t turn) const {
    if (turn == 0) return std::nullopt;
    const auto j = ring().first_of(ring().keys(), ring().share(rank, turn - 1));
    return j ? rec_.find({at_.b, at_.h, i, static_cast<std::int32_t>(*j), Phase::store_state}) : std::nullopt;
  }

  struct Sources {
    EventIndex event = kNoEvent;
    bool parts = false;  // of the second of two that are merged
  };
  void fill_state(RingState& state, std::size_t first, std::int32_t i, const Sources& from) const {
    if (from.event == kNoEvent) return;
    const EventIndex e = from.event;
    if (from.parts) {
      cells_.fill(state.m, first, i, rec_.after(e, names_.m_part));
      cells_.fill(state.l, first, i, rec_.after(e, names_.l_part));
      cells_.fill(state.o, first, i, rec_.after(e, names_.o_part));
      return;
    }
    cells_.fill(state.m, first, i, newest(e, Slot::m_new, Slot::m_old));
    cells_.fill(state.l, first, i, newest(e, Slot::l_new, Slot::l_old));
    cells_.fill(state.o, first, i, newest(e, Slot::o_new, Slot::o_old));
  }

  void add_states(RingRankRow& row, std::size_t first, std::int32_t i) const {
    const EventIndex last = last_[static_cast<std::size_t>(i)];
    fill_states(row, first, i, last);
    // What is stored was made before.
    if (phase_ != Phase::store_state || last != at_.event) return;
    for (RingGrid* grid : {&row.so_far.m, &row.so_far.l, &row.so_far.o})
      grid->made = {static_cast<std::int32_t>(first), at_.rows, 0, grid->cols};
  }
  void fill_states(RingRankRow& row, std::size_t first, std::int32_t i, EventIndex last) const {
    if (last == kNoEvent) return;
    const EventId& id = rec_.events[last].id;
    const std::int64_t turn = turn_of(rec_, id);
    if (turn == ring().ranks) return fill_state(row.so_far, first, i, {last, false});
    const OrderRow& order = order_row(rec_.order);
    const bool in_lane = order.in_lane[static_cast<std::size_t>(id.phase)];
    const bool stored_first = id.phase == Phase::store_state && turn == 0;
    if (in_lane || order.sends(id.phase) || stored_first) {
      if (const auto before = left_before(row.rank, i, turn)) fill_state(row.so_far, first, i, {*before, false});
      if (turn == scene_.turn) fill_state(row.turn, first, i, {last, false});
      if (stored_first) fill_state(row.so_far, first, i, {last, false});
      return;
    }
    if (turn == scene_.turn) fill_state(row.turn, first, i, {last, true});
    fill_state(row.so_far, first, i, {last, false});
  }

  // S, or P, of a query tile against the keys that are here.
  void add_scores(RingRankRow& row, std::size_t first, std::int32_t i,
                  const std::vector<std::int64_t>& key_tiles) const {
    const EventIndex last = last_[static_cast<std::size_t>(i)];
    std::size_t left = 0;
    for (const std::int64_t j : key_tiles) {
      const std::int64_t r0 = std::int64_t{i} * at_.br, r1 = std::min<std::int64_t>(r0 + at_.br, rec_.problem.Lq),
                         c0 = j * at_.bc, c1 = std::min<std::int64_t>(c0 + at_.bc, rec_.problem.Lk);
      const auto cols = static_cast<std::size_t>(c1 - c0);
      VersionId live = kNoVersion;
      // A slot keeps what it had of a tile before until this one's is there.
      for (const Slot slot : kinds_) {
        const VersionId held = last == kNoEvent ? kNoVersion : rec_.after(last, slot);
        if (held != kNoVersion && rec_.version(held).first_row == r0 && rec_.version(held).first_col == c0) live = held;
      }
      // Beside a query tile that has weighed already another may hold scores still.
      if (live != kNoVersion) {
        std::fill_n(row.scores.row_slots.begin() + static_cast<std::ptrdiff_t>(first), r1 - r0,
                    rec_.version(live).slot);
        if (rec_.version(live).made_by == at_.event)
          row.scores.made = {static_cast<std::int32_t>(first), static_cast<std::int32_t>(r1 - r0),
                             static_cast<std::int32_t>(left), static_cast<std::int32_t>(cols)};
      }
      const bool skipped = rec_.problem.cover(at_.b, r0, r1, c0, c1) == TileCover::skipped;
      const bool gone = live == kNoVersion && rec_.tile_version(Slot::s, at_.b, at_.h, i, static_cast<std::int32_t>(j),
                                                                at_.event) != kNoVersion;
      const bool masked = live != kNoVersion && (rec_.version(live).slot != Slot::s || rec_.version(live).holds.masked);
      for (std::int64_t r = r0; r < r1; ++r) {
        for (std::int64_t c = c0; c < c1; ++c) {
          Cell& cell =
              row.scores.cells[(first + static_cast<std::size_t>(r - r0)) * static_cast<std::size_t>(row.scores.cols) +
                               left + static_cast<std::size_t>(c - c0)];
          const auto n = static_cast<std::size_t>(r - r0) * cols + static_cast<std::size_t>(c - c0);
          if (skipped || (masked && !rec_.problem.visible(at_.b, r, c)))
            cell.look = CellLook::masked;
          else if (live != kNoVersion)
            cells_.put(cell, rec_.version(live).slot, rec_.values(live)[n], cells_.bound(i, live, n));
          else if (gone)
            cell.look = CellLook::dropped;
        }
      }
      left += cols;
    }
  }

  bool at_work(std::int64_t rank, std::int64_t turn) const {
    for (const std::int64_t i : ring().tiles_of(ring().queries(), rank))
      for (const std::int64_t j : ring().tiles_of(ring().keys(), ring().share(rank, turn)))
        if (rec_.problem.cover(at_.b, i * at_.br, std::min<std::int64_t>((i + 1) * at_.br, rec_.problem.Lq), j * at_.bc,
                               std::min<std::int64_t>((j + 1) * at_.bc, rec_.problem.Lk)) != TileCover::skipped)
          return true;
    return false;
  }

  void add_rank(std::int64_t rank) {
    const Problem& p = rec_.problem;
    RingRankRow row;
    row.rank = rank;
    row.here = ring().share(rank, turn_here());
    if (scene_.turn + 1 < ring().ranks) row.next = ring().share(rank, scene_.turn + 1);
    row.live = rec_.lane_of(at_.event) == rank;
    row.idle = !scene_.dividing && !at_work(rank, scene_.turn);
    const std::vector<std::int64_t> queries = ring().tiles_of(ring().queries(), rank),
                                    keys = ring().tiles_of(ring().keys(), row.here);
    row.rows = rows_of_tiles(queries, at_.br, p.Lq);
    row.keys = rows_of_tiles(keys, at_.bc, p.Lk);
    row.name = phrase("Rank {}", rank);
    row.chunks = ring().zigzag ? phrase("chunks {} and {}", ring().chunk(rank, 0), ring().chunk(rank, 1))
                               : phrase("chunk {}", ring().chunk(rank, 0));
    row.row_words = phrase("rows {}", spans_words(row.rows, false));
    row.row_brief = spans_words(row.rows, true);
    if (!scene_.dense.empty()) return scene_.ranks.push_back(std::move(row));
    row.q = cells_.inputs(Slot::q, rec_.inputs.q, p.Hq, at_.h, p.Lq, row.rows, p.D);
    const std::int64_t kv = p.kv_head(at_.h);
    row.k = cells_.inputs(Slot::k, rec_.inputs.k, p.Hkv, kv, p.Lk, row.keys, p.D);
    row.v = cells_.inputs(Slot::v, rec_.inputs.v, p.Hkv, kv, p.Lk, row.keys, p.Dv);
    row.scores = RingCells::grid(scores_slot(), row.rows.size(), static_cast<std::int64_t>(row.keys.size()));
    row.scores.row_slots.assign(row.rows.size(), row.scores.slot);
    for (RingState* state : {&row.turn, &row.so_far}) {
      state->m = RingCells::grid(Slot::m_new, row.rows.size(), 1);
      state->l = RingCells::grid(Slot::l_new, row.rows.size(), 1);
      state->o = RingCells::grid(Slot::o_new, row.rows.size(), p.Dv);
    }
    // What the last turn made of its keys was used.
    if (scene_.dividing && !scene_.backward)
      for (RingGrid* grid : {&row.turn.m, &row.turn.l, &row.turn.o})
        for (Cell& cell : grid->cells) cell.look = CellLook::dropped;
    if (scene_.backward) add_gradients(cells_, ring(), scene_.dividing, row);
    std::size_t first = 0;
    for (const std::int64_t tile : queries) {
      const auto i = static_cast<std::int32_t>(tile);
      add_scores(row, first, i, keys);
      if (!scene_.backward) add_states(row, first, i);
      first += static_cast<std::size_t>(std::min<std::int64_t>(at_.br, p.Lq - std::int64_t{i} * at_.br));
    }
    scene_.ranks.push_back(std::move(row));
  }

  // The last of S, P, dP and dS that stands in the grids: of those that have come to this phase, else of any.
  Slot scores_slot() const {
    for (const bool here : {true, false}) {
      for (auto slot = kinds_.rbegin(); slot != kinds_.rend(); ++slot)
        for (const EventIndex last : last_)
          if (last != kNoEvent && (!here || rec_.events[last].id.phase == phase_) &&
              rec_.after(last, *slot) != kNoVersion)
            return *slot;
    }
    return Slot::s;
  }

  void add_map() {
    scene_.chunks = static_cast<std::int32_t>(ring().chunks());
    const KeyParts queries = ring().queries(), keys = ring().keys();
    const Problem& p = rec_.problem;
    for (std::int64_t a = 0; a < scene_.chunks; ++a) {
      const std::int64_t rank = ring().rank_of_chunk(a);
      const std::int64_t r0 = queries.first(a) * at_.br, r1 = std::min(queries.end(a) * at_.br, p.Lq);
      for (std::int64_t k = 0; k < scene_.chunks; ++k) {
        const std::int64_t c0 = keys.first(k) * at_.bc, c1 = std::min(keys.end(k) * at_.bc, p.Lk);
        RingSquare square;
        square.rank = rank;
        square.turn = (rank + ring().ranks - ring().rank_of_chunk(k)) % ring().ranks;
        const TileCover cover = r0 < r1 && c0 < c1 ? p.cover(at_.b, r0, r1, c0, c1) : TileCover::skipped;
        square.cut = cover == TileCover::partial;
        if (cover != TileCover::skipped) {
          square.look = ring_turn_look(scene_, ring().zigzag, square.turn);
          square.event = first_event(queries.first(a), queries.end(a), keys.first(k), keys.end(k));
        }
        scene_.squares.push_back(square);
      }
    }
  }

  // Key tile outside, K and V come for all of a rank's queries.
  Phase begins_square() const { return scene_.backward ? order_row(rec_.order).begins_tile() : Phase::load_kv; }
  std::optional<EventIndex> first_event(std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) const {
    std::optional<EventIndex> first;
    for (std::int64_t i = i0; i < i1; ++i)
      for (std::int64_t j = j0; j < j1; ++j)
        if (const auto e =
                rec_.find({at_.b, at_.h, static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), begins_square()});
            e && (!first || *e < *first))
          first = e;
    return first;
  }

  void add_words() {
    const auto ranks = static_cast<int>(ring().ranks);
    scene_.title = scene_.dividing ? plural(ranks, "{} rank, after the last turn", "{} ranks, after the last turn")
                                   : phrase("{} ranks, turn {} of {}", ranks, scene_.turn, ranks);
    scene_.map_title = tr("Who computes what, in which turn");
    scene_.scores = scores_slot();
    scene_.dealt = ring_work(rec_.problem, rec_.options, at_.b, ring().zigzag);
    scene_.otherwise = ring_work(rec_.problem, rec_.options, at_.b, !ring().zigzag);
    scene_.bytes = ring_bytes(rec_.problem, rec_.options);
    scene_.sent_words = phrase("Each rank sends {} B of K and V per turn, for a total of {} B.",
                               scene_.bytes.largest_share, scene_.bytes.total);
    if (scene_.backward)
      scene_.sent_words = phrase(
          "Each rank sends {} B of K and V per turn, and {} B of dK and dV in f32. All together "
          "send {} B.",
          scene_.bytes.largest_share, scene_.bytes.largest_sums, scene_.bytes.total + scene_.bytes.total_sums);
    if (scene_.dividing) return;
    std::int64_t least = scene_.dealt.most(), most = 0;
    for (const auto& turns : scene_.dealt.by_rank) {
      least = std::min(least, turns[static_cast<std::size_t>(scene_.turn)]);
      most = std::max(most, turns[static_cast<std::size_t>(scene_.turn)]);
    }
    scene_.map_words = least == most
                           ? plural(most, "Turn {1}: {0} pair of tiles for each rank",
                                    "Turn {1}: {0} pairs of tiles for each rank", scene_.turn)
                           : phrase("Turn {}: {} to {} pairs of tiles for each rank", scene_.turn, least, most);
  }

  const Recording& rec_;
  const StepPlace& at_;
  const RingCells cells_;
  const orders::SplitNames& names_;
  const std::array<Slot, 4> kinds_ = score_kinds();
  RingScene scene_;
  Phase phase_ = Phase::load_q;
  std::vector<EventIndex> last_;  // by query tile
};

}  // namespace

std::int64_t RingWork::of_rank(std::size_t rank) const {
  return std::accumulate(by_rank[rank].begin(), by_rank[rank].end(), std::int64_t{0});
}

std::int64_t RingWork::most() const {
  std::int64_t most = 0;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) most = std::max(most, of_rank(rank));
  return most;
}

RingSquareLook ring_turn_look(const RingScene& scene, bool zigzag, std::int64_t turn) {
  if (zigzag != scene.ring.zigzag) return RingSquareLook::hidden;
  return turn < scene.turn ? RingSquareLook::done : turn == scene.turn ? RingSquareLook::now : RingSquareLook::later;
}

TextRuns scores_heading(const std::vector<const RingGrid*>& scores, Slot otherwise) {
  const auto holds = [&](Slot kind) {
    return std::ranges::any_of(scores, [&](const RingGrid* grid) {
      for (std::int32_t r = 0; r < grid->rows; ++r)
        for (std::int32_t c = 0; c < grid->cols; ++c)
          if (grid->slot_of(r) == kind && grid->cell(r, c).look == CellLook::value) return true;
      return false;
    });
  };
  const auto sign = [](Slot slot) { return letter(std::string(letter_of_slot(slot)), tensor_of(slot)); };
  TextRuns runs;
  for (const Slot kind : score_kinds()) {
    if (!holds(kind)) continue;
    if (!runs.empty()) runs.push_back(word(tr(", then ")));
    runs.push_back(sign(kind));
  }
  return runs.empty() ? TextRuns{sign(otherwise)} : runs;
}

RingWork ring_work(const Problem& p, const Options& o, std::int32_t b, bool zigzag) {
  const auto [br, bc, ti, tj] = tiling_of(p, o);
  const Ring ring{ranks_of(o), zigzag, ti, tj};
  RingWork work;
  work.by_rank.assign(static_cast<std::size_t>(ring.ranks),
                      std::vector<std::int64_t>(static_cast<std::size_t>(ring.ranks)));
  for (std::int64_t i = 0; i < ring.query_tiles; ++i) {
    const std::int64_t rank = ring.rank_of_queries(i);
    for (std::int64_t j = 0; j < ring.key_tiles; ++j) {
      if (p.cover(b, i * br, std::min((i + 1) * br, p.Lq), j * bc, std::min((j + 1) * bc, p.Lk)) == TileCover::skipped)
        continue;
      ++work.by_rank[static_cast<std::size_t>(rank)][static_cast<std::size_t>(ring.turn_of(rank, j))];
    }
  }
  return work;
}

RingScene ring_scene(const Recording& rec, const StepPlace& at, const TensorScales& scales,
                     const std::vector<ExactTile>& exact) {
  return Builder(rec, at, scales, exact).made();
}

}  // namespace attn
