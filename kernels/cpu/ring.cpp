#include "kernels/cpu/ring.h"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/base/text.h"
#include "kernels/cpu/merge_trace.h"
#include "kernels/orders/split/names.h"

namespace attn::cpu {
namespace {

// m, l and O of a query tile over the keys of a share, chunk after chunk, in the scratch.
void keys_of_share(const Call& call, const RingTile& of_tile, const Ring& ring, std::int64_t tile, std::int64_t share,
                   const Team& team, Call::Scratch& s, Recorder* trace) {
  std::array<TileRange, 2> ranges;
  const auto keys = std::span(ranges).first(static_cast<std::size_t>(ring.chunks_each()));
  for (std::int64_t n = 0; n < ring.chunks_each(); ++n) {
    const std::int64_t chunk = ring.chunk(share, n);
    keys[static_cast<std::size_t>(n)] = {ring.keys().first(chunk), ring.keys().end(chunk)};
  }
  if (call.o.key_order == KeyOrder::right_to_left) std::ranges::reverse(keys);
  of_tile.keys(call, call.rows_of_tile(tile), tile % call.at.ti, ring.first_of(ring.keys(), share).value_or(-1), keys,
               team, s, trace);
}

// Then with what stands in memory: the first of all is put there.
void turn_of_tile(const Call& call, const RingTile& of_tile, const Ring& ring, std::int64_t tile, std::int64_t turn,
                  const Team& team, Call::Scratch& s) {
  const Place2d rows = call.rows_of_tile(tile);
  const std::int64_t i = tile % call.at.ti, share = ring.share(ring.rank_of_queries(i), turn);
  keys_of_share(call, of_tile, ring, tile, share, team, s, nullptr);
  // Nothing to merge with, and no memory kept for it.
  if (ring.ranks == 1) return of_tile.finish(call, rows, i, s, nullptr);
  if (turn == 0) {
    call.keep_part(rows, 0, s);
  } else {
    const Call::PartRows all = call.part_rows(rows, 0);
    merge_rows(call.o.accumulate, {s.o.data, s.o.ld}, s.m_old, s.l_old, rows.rows, call.p.Dv, all.o, all.m, all.l);
  }
}

void finish_ring_tile(const Call& call, const RingTile& of_tile, std::int64_t tile, Call::Scratch& s) {
  const Place2d rows = call.rows_of_tile(tile);
  call.take_part(rows, 0, s);
  of_tile.finish(call, rows, tile % call.at.ti, s, nullptr);
}

Ring ring_of_call(const Call& call) {
  return ring_of(call.o, call.at.ti, call.at.tj);
}

}  // namespace

RingRank::RingRank(const Call& call, RingTile tile, std::int64_t rank)
    : call_(call), tile_(tile), ring_(ring_of_call(call)), rank_(rank) {}

template <class Work>
void RingRank::for_its_tiles(Team& team, const Work& work) const {
  const KeyParts queries = ring_.queries();
  std::int64_t each = 0;
  for (std::int64_t n = 0; n < ring_.chunks_each(); ++n) {
    const std::int64_t chunk = ring_.chunk(rank_, n);
    each += queries.end(chunk) - queries.first(chunk);
  }
  if (each == 0) return;
  team.run(call_.p.B * call_.p.Hq * each, [&](std::int64_t piece, std::int32_t worker) {
    std::int64_t n = 0, i = piece % each;
    for (std::int64_t count = 0; n + 1 < ring_.chunks_each(); ++n, i -= count) {
      const std::int64_t chunk = ring_.chunk(rank_, n);
      count = queries.end(chunk) - queries.first(chunk);
      if (i < count) break;
    }
    Call::Scratch s = call_.scratch(worker);
    work(piece / each * call_.at.ti + queries.first(ring_.chunk(rank_, n)) + i, s);
  });
}

void RingRank::pack(std::int64_t share, Team& team) const {
  for (std::int64_t n = 0; n < ring_.chunks_each(); ++n) {
    const std::int64_t chunk = ring_.chunk(share, n);
    call_.pack(team, ring_.keys().first(chunk), ring_.keys().end(chunk));
  }
}

void RingRank::turn(std::int64_t turn, Team& team) const {
  for_its_tiles(team,
                [&](std::int64_t tile, Call::Scratch& s) { turn_of_tile(call_, tile_, ring_, tile, turn, team, s); });
}

void RingRank::finish(Team& team) const {
  if (ring_.ranks == 1) return;  // its only turn did
  for_its_tiles(team, [&](std::int64_t tile, Call::Scratch& s) { finish_ring_tile(call_, tile_, tile, s); });
}

namespace {

class ForwardRank final : public RankOfRing {
 public:
  ForwardRank(const Plan& plan, const Buffers& buffers, const RingTile& tile, std::int64_t rank, Team& team)
      : call_(plan.problem, plan.options, buffers, Order::flash, Rules::vector),
        work_(call_, tile, rank),
        team_(team) {}

  void turn(std::int64_t turn) override {
    work_.pack(work_.share(turn), team_);
    work_.turn(turn, team_);
  }
  void finish() override { work_.finish(team_); }

 private:
  Call call_;
  RingRank work_;
  Team& team_;
};

}  // namespace

std::unique_ptr<RankOfRing> forward_rank(const Plan& plan, const Buffers& buffers, const RingTile& tile,
                                         std::int64_t rank, Team& team) {
  return std::make_unique<ForwardRank>(plan, buffers, tile, rank, team);
}

void ring_walk(const Call& call, const RingTile& of_tile, Team& team) {
  const Ring ring = ring_of_call(call);
  // A query tile's turns follow one another, and wait for no other tile's.
  team.run(call.p.B * call.p.Hq * call.at.ti, [&](std::int64_t tile, std::int32_t worker) {
    Call::Scratch s = call.scratch(worker);
    for (std::int64_t turn = 0; turn < ring.ranks; ++turn) turn_of_tile(call, of_tile, ring, tile, turn, team, s);
    finish_ring_tile(call, of_tile, tile, s);
  });
}

// ---- recorded

namespace {

constexpr std::int64_t kMerged = 16;  // what a number that is merged costs, in multiply-adds

// The turns of one head's query tiles, and what a recording remembers of each tile between two of them.
class RecordedHead {
 public:
  RecordedHead(const Call& call, const RingTile& of_tile, std::int64_t head, const Team& team, const Call::Scratch& s,
               Recorder& to)
      : call_(call), of_tile_(of_tile), ring_(ring_of_call(call)), head_(head), team_(team), s_(s), to_(to) {
    so_far_.resize(static_cast<std::size_t>(call.at.ti));
  }

  void turn(std::int64_t turn, std::int64_t i) {
    const std::int64_t rank = ring_.rank_of_queries(i), share = ring_.share(rank, turn), tile = head_ * call_.at.ti + i;
    const std::int64_t j = ring_.first_of(ring_.keys(), share).value_or(0);
    const Place2d rows = call_.rows_of_tile(tile);
    const bool last = turn + 1 == ring_.ranks;
    if (!last && ring_.first_of(ring_.queries(), rank) == i) {
      to_.head(rows.b, rows.h);
      to_.event(*phase_named("send"), rows, i, j);
    }
    keys_of_share(call_, of_tile_, ring_, tile, share, team_, s_, &to_);
    PartVersions& so_far = so_far_[static_cast<std::size_t>(i)];
    const auto taken_in = [&] {
      const PartVersions now = shown_part(to_);
      if (turn == 0) call_.keep_part(rows, 0, s_);
      so_far = turn == 0 ? now : merged(rows, i, j, so_far, now);
    };
    to_.once(taken_in, rows.rows * call_.p.Dv * kMerged);
    if (!last) to_.event(Phase::store_state, rows, i, j);
  }

  void finish(std::int64_t i) {
    const Place2d rows = call_.rows_of_tile(head_ * call_.at.ti + i);
    const PartVersions& all = so_far_[static_cast<std::size_t>(i)];
    to_.once([&] { call_.take_part(rows, 0, s_); });
    to_.head(rows.b, rows.h);
    to_.show(Slot::m_new, all.m), to_.show(Slot::l_new, all.l), to_.show(Slot::o_new, all.o);
    of_tile_.finish(call_, rows, i, s_, &to_);
  }

 private:
  // What the turns before made comes back from memory; what this turn made is on chip.
  PartVersions merged(const Place2d& rows, std::int64_t i, std::int64_t j, const PartVersions& before,
                      const PartVersions& now) {
    const Call::PartRows all = call_.part_rows(rows, 0);
    const Call::PartRows turn{s_.o, s_.m_old, s_.l_old};
    show_parts(to_, before, &now);
    to_.event(orders::split_names().load_part, rows, i, j);
    const MergeFactors factors(all, turn, rows.rows);
    merge_rows(call_.o.accumulate, {s_.o.data, s_.o.ld}, s_.m_old, s_.l_old, rows.rows, call_.p.Dv, all.o, all.m,
               all.l);
    return record_merge(to_, rows, i, j, factors, all, call_.p.Dv);
  }

  const Call& call_;
  const RingTile& of_tile_;
  Ring ring_;
  std::int64_t head_;
  const Team& team_;
  Call::Scratch s_;
  Recorder& to_;
  std::vector<PartVersions> so_far_;  // by query tile
};

}  // namespace

void ring_record(const Call& call, const RingTile& of_tile, Team& team, Recorder& trace) {
  team.run(call.p.B * call.p.Hq, [&](std::int64_t head, std::int32_t worker) {
    RecordedHead& recorded = trace.kept<RecordedHead>(call, of_tile, head, team, call.scratch(worker), trace);
    trace.each(0, ranks_of(call.o),
               [&](std::int64_t turn) { trace.each(0, call.at.ti, [&](std::int64_t i) { recorded.turn(turn, i); }); });
    trace.each(0, call.at.ti, [&](std::int64_t i) { recorded.finish(i); });
  });
}

Result<void> check_recorded_ring(const Ring& ring) {
  for (std::int64_t rank = 0; rank < ring.ranks; ++rank) {
    if (ring.first_of(ring.queries(), rank) && ring.first_of(ring.keys(), rank)) continue;
    return bad_input(
        phrase("A recording needs tiles for each rank: {} query tiles and {} key tiles leave rank {} of {} without a "
               "tile. Use fewer ranks or smaller tiles.",
               ring.query_tiles, ring.key_tiles, rank, ring.ranks));
  }
  return ok();
}

}  // namespace attn::cpu
