// cpu_flash: FlashAttention-2 on the CPU (Dao 2023, algorithm 1).
//
// The idea. Keep one tile of queries Q_i with its running maximum m, sum l and output O; walk over the keys tile by
// tile; whenever a larger score arrives, multiply what was summed so far by alpha = exp(m_old - m_new). S and P exist
// for one tile at a time and never go back to memory.
//
// New against the rung before (cpu_flash1): the query tile is outside, so O, m and l stay on chip from the first key
// to the last, and O is divided by l once, at the end. Query tiles are independent: they are the parallel pieces.
//
// Split. Option `splits` cuts the keys into parts, whole key tiles each: other parallel pieces where there are few
// queries. A part keeps its m, l and O in memory, and a second pass merges them in the order of the keys or as a tree
// (kernels/arithmetic/merge.h), so repeats give the same bits whatever the number of threads.
//
// Ring. Option `ranks` deals queries and keys to ranks: a rank's queries meet the keys of one rank after the other, in
// the order in which these come round (kernels/model/ring.h), and merge what each gives. Here all ranks are in one
// process; `attnscope ring` runs a process each, with the same bits.
//
// What limits it now: the two products run near the multiply-add rate of the cores; exp and the row maximum and sum
// between them do not.
#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/cpu/call.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/merge_trace.h"
#include "kernels/cpu/rank_of_ring.h"
#include "kernels/cpu/ring.h"
#include "kernels/cpu/rows.h"
#include "kernels/model/options.h"
#include "kernels/model/ring.h"
#include "kernels/orders/hopper/pipelined.h"
#include "kernels/recording/recorder.h"
#include "kernels/recording/recording_run.h"

namespace attn::cpu {

namespace {

constexpr Holds kNormalised{.normalised = true};
constexpr Holds kMasked{.masked = true};

// What a product of one number costs where it is an exponential or a mask, in multiply-adds.
constexpr std::int64_t kExp = 16, kShaped = 32;

// Of some rows of a tile: S on chip, with the padding columns at -inf.
void score_rows(const Call& call, const Place2d& t, ConstTile q, const Call::Scratch& s) {
  scaled_product(q, call.k_tile(t), s.s, t.rows, t.cols, call.p.D, call.scale);
  pad_scores(s.s, t.rows, t.cols);
}

void mask_rows(const Call& call, const Place2d& t, const Call::Scratch& s) {
  apply_mask(call.p, call.bias, t, s.s);
}

// m = max(m_old, rowmax S); without the subtraction it stays 0
void max_rows(const Call& call, const Place2d& t, ConstTile scores, const Call::Scratch& s) {
  if (call.o.subtract_max) {
    row_max(scores, t.rows, t.cols, s.m_old, s.m_new);
  } else {
    std::fill(s.m_new, s.m_new + t.rows, 0.0F);
  }
}

void rescale_rows(const Place2d& t, const Call::Scratch& s) {
  rescale_factors(s.m_old, s.m_new, t.rows, s.alpha);
}

// P = exp(S - m), in the place of S
void weight_rows(const Place2d& t, ConstTile scores, const Call::Scratch& s) {
  shifts(s.m_new, t.rows, s.shift);
  exp_rows(scores, t.rows, t.cols, s.shift, s.s, s.sums);
}

// l = alpha l + rowsum P
void sum_rows(const Call& call, const Place2d& t, ConstTile scores, const Call::Scratch& s) {
  if (call.o.accumulate == DType::f32) {
    running_sums(s.alpha, s.l_old, s.sums, t.rows, s.l_new);
  } else {
    running_sums_rounded(call.o.accumulate, s.alpha, s.l_old, scores, t.rows, t.cols, s.l_new);
  }
}

// O = alpha O + P V
void output_rows(const Call& call, const Place2d& t, ConstTile scores, const Call::Scratch& s) {
  const ConstTile v = call.v_tile(t);
  if (call.o.accumulate == DType::f32) {
    rescaled_product(scores, v, s.o, t.rows, call.p.Dv, t.cols, s.alpha);
  } else {
    rescaled_product_rounded(call.o.accumulate, scores, v, s.o, t.rows, call.p.Dv, t.cols, s.alpha);
  }
}

template <class Trace>
void key_tile(const Call& call, const Place2d& t, std::int64_t i, std::int64_t j, ConstTile q, Call::Scratch& s,
              Trace& trace) {
  const ConstTile scores{s.s.data, s.s.ld};
  // of(rows, their part of the scratch, of S): all rows, or some after the other
  const auto rows = [&](std::int64_t cost, const auto& of) {
    trace.blocks(t.rows, t.cols * cost, [&](std::int64_t first, std::int64_t n) {
      of(rows_of(t, first, n), from_row(s, first), from_row(scores, first), first);
    });
  };
  using Rows = const Place2d&;
  using Part = const Call::Scratch&;
  const std::int64_t rounded = call.o.accumulate == DType::f32 ? 1 : kExp;
  trace.shift();
  trace.keys(t, j);
  trace.values(t, j);
  trace.event(Phase::load_kv, t, i, j);

  rows(call.p.D,
       [&](Rows some, Part of, ConstTile, std::int64_t first) { score_rows(call, some, from_row(q, first), of); });
  trace.put(Slot::s, scores, t, t.rows, t.cols);
  trace.event(Phase::scores, t, i, j);
  if (call.needs_mask(t)) {
    rows(kShaped, [&](Rows some, Part of, ConstTile, std::int64_t) { mask_rows(call, some, of); });
    trace.put(Slot::s, scores, t, t.rows, t.cols, kMasked);
    trace.event(Phase::mask, t, i, j);
  }
  rows(1, [&](Rows some, Part of, ConstTile x, std::int64_t) { max_rows(call, some, x, of); });
  trace.column(Slot::m_new, s.m_new, t);
  trace.event(Phase::max, t, i, j);
  rows(1, [&](Rows some, Part of, ConstTile, std::int64_t) { rescale_rows(some, of); });
  trace.column(Slot::alpha, s.alpha, t);
  trace.event(Phase::rescale, t, i, j);
  rows(kExp, [&](Rows some, Part of, ConstTile x, std::int64_t) { weight_rows(some, x, of); });
  trace.put(Slot::p, scores, t, t.rows, t.cols);
  trace.event(Phase::weights, t, i, j);
  rows(rounded, [&](Rows some, Part of, ConstTile x, std::int64_t) { sum_rows(call, some, x, of); });
  trace.column(Slot::l_new, s.l_new, t);
  trace.event(Phase::sum, t, i, j);
  rows(call.p.Dv * rounded, [&](Rows some, Part of, ConstTile x, std::int64_t) { output_rows(call, some, x, of); });
  trace.put(Slot::o_new, {s.o.data, s.o.ld}, t, t.rows, call.p.Dv);
  trace.event(Phase::output, t, i, j);
  trace.once([&] {
    std::copy(s.m_new, s.m_new + t.rows, s.m_old);
    std::copy(s.l_new, s.l_new + t.rows, s.l_old);
  });
}

// A query tile that has seen no key yet: m = -inf, l = 0, O = 0. `j` is of the event.
template <class Trace>
ConstTile begin_tile(const Call& call, const Place2d& rows, std::int64_t i, std::int64_t j, Call::Scratch& s,
                     Trace& trace) {
  const ConstTile q = call.load_q(rows, s);
  const ConstTile o{s.o.data, s.o.ld};
  trace.once([&] {
    std::fill(s.m_old, s.m_old + rows.rows, kMinusInfinity);
    std::fill(s.l_old, s.l_old + rows.rows, 0.0F);
    std::fill(s.o.data, s.o.data + rows.rows * s.o.ld, 0.0F);
  });
  trace.head(rows.b, rows.h);
  trace.put(Slot::q, q, rows, rows.rows, call.p.D);
  trace.column(Slot::m_old, s.m_old, rows);
  trace.column(Slot::l_old, s.l_old, rows);
  trace.put(Slot::o_old, o, rows, rows.rows, call.p.Dv);
  trace.event(Phase::load_q, rows, i, j);
  return q;
}

// And some key tiles for it: all, or those of a part.
template <class Trace>
void walk_keys(const Call& call, const Place2d& rows, std::int64_t i, TileRange keys, ConstTile q, const Team& team,
               Call::Scratch& s, Trace& trace) {
  trace.each(keys.first, keys.last, [&](std::int64_t step) {
    if (team.stopped()) return;
    const std::int64_t j = call.o.key_order == KeyOrder::left_to_right ? step : keys.first + keys.last - 1 - step;
    const Place2d t = call.place(rows.b, rows.h, i, j);
    if (call.cover(t) == TileCover::skipped) {
      trace.shift();  // nothing of the tile before is on show
      trace.clear(Slot::k);
      trace.clear(Slot::v);
      trace.event(Phase::skipped, t, i, j);
      return;
    }
    key_tile(call, t, i, j, q, s, trace);
  });
}

// m, l and O of a query tile over some key tiles, in the scratch.
template <class Trace>
void key_tiles(const Call& call, const Place2d& rows, std::int64_t i, TileRange keys, const Team& team,
               Call::Scratch& s, Trace& trace) {
  const ConstTile q = begin_tile(call, rows, i, call.at.splits > 1 ? keys.first : -1, s, trace);
  walk_keys(call, rows, i, keys, q, team, s, trace);
}

// O / l and LSE, once.
template <class Trace>
void finish_tile(const Call& call, const Place2d& rows, std::int64_t i, Call::Scratch& s, Trace& trace) {
  const ConstTile o{s.o.data, s.o.ld};
  trace.shift();
  trace.once([&] {
    divide_rows(s.o, rows.rows, call.p.Dv, s.l_old);
    log_sum_exp(s.m_old, s.l_old, rows.rows, s.alpha);
  });
  trace.put(Slot::o_new, o, rows, rows.rows, call.p.Dv, kNormalised);
  trace.column(Slot::lse, s.alpha, rows);
  trace.event(Phase::normalise, rows, i, -1);
  trace.once([&] { round_tile(call.p.output_dtype(), s.o, rows.rows, call.p.Dv); });
  if (call.p.output_dtype() != DType::f32) trace.put(Slot::o_new, o, rows, rows.rows, call.p.Dv, kNormalised);
  trace.event(Phase::store_o, rows, i, -1);
  trace.once([&] { call.store_out(rows, o, s.alpha); });
}

// ---- parts of the keys

template <class Trace>
void part_of_tile(const Call& call, const Place2d& rows, std::int64_t i, std::int64_t part, const Team& team,
                  Call::Scratch& s, Trace& trace) {
  const KeyParts parts = parts_of(call);
  key_tiles(call, rows, i, {parts.first(part), parts.end(part)}, team, s, trace);
  trace.once([&] { call.keep_part(rows, part, s); });
  trace.event(Phase::store_state, rows, i, parts.first(part));
}

// Two at a time, the first of both in place; the first of all is the whole at the end.
template <class Trace>
void merged_tile(const Call& call, const Place2d& rows, std::int64_t i, Call::Scratch& s, Trace& trace,
                 MergeTrace* recorded = nullptr) {
  for_each_merge(call.at.splits, merges_as_tree(call.o), [&](const MergeStep& step) {
    const Call::PartRows into = call.part_rows(rows, step.into), from = call.part_rows(rows, step.from);
    const auto merged = [&] {
      if (recorded != nullptr) recorded->begin(step);
      merge_rows(call.o.accumulate, {from.o.data, from.o.ld}, from.m, from.l, rows.rows, call.p.Dv, into.o, into.m,
                 into.l);
      if (recorded != nullptr) recorded->end(step);
    };
    trace.once(merged, rows.rows * call.p.Dv * kExp);
  });
  trace.once([&] { call.take_part(rows, 0, s); });
  finish_tile(call, rows, i, s, trace);
}

void split_walk(const Call& call, Team& team) {
  const std::int64_t tiles = call.p.B * call.p.Hq * call.at.ti;
  NoTrace none;
  team.run(tiles * call.at.splits, [&](std::int64_t piece, std::int32_t worker) {
    const std::int64_t tile = piece / call.at.splits;
    Call::Scratch s = call.scratch(worker);
    part_of_tile(call, call.rows_of_tile(tile), tile % call.at.ti, piece % call.at.splits, team, s, none);
  });
  if (team.stopped()) return;
  team.run(tiles, [&](std::int64_t tile, std::int32_t worker) {
    Call::Scratch s = call.scratch(worker);
    merged_tile(call, call.rows_of_tile(tile), tile % call.at.ti, s, none);
  });
}

// Part after part of a query tile, then their merge: interleave_lanes() brings the parts side by side.
void split_record(const Call& call, Team& team, Recorder& trace) {
  team.run(call.p.B * call.p.Hq * call.at.ti, [&](std::int64_t tile, std::int32_t worker) {
    Call::Scratch s = call.scratch(worker);
    const Place2d rows = call.rows_of_tile(tile);
    const std::int64_t i = tile % call.at.ti;
    MergeTrace& parts = trace.kept<MergeTrace>(call, rows, i, trace);
    trace.each(0, call.at.splits, [&](std::int64_t part) {
      part_of_tile(call, rows, i, part, team, s, trace);
      trace.once([&] { parts.made(part); });
    });
    merged_tile(call, rows, i, s, trace, &parts);
  });
}

template <class Trace>
void query_tile(const Call& call, std::int64_t b, std::int64_t h, std::int64_t i, std::int32_t worker, const Team& team,
                Trace& trace) {
  Call::Scratch s = call.scratch(worker);
  const Place2d rows = call.place(b, h, i, -1);
  key_tiles(call, rows, i, {0, call.at.tj}, team, s, trace);
  finish_tile(call, rows, i, s, trace);
}

template <class Trace>
void walk(const Call& call, Team& team, Trace& trace) {
  const Problem& p = call.p;
  const std::int64_t ti = call.at.ti;
  // Causal: later query tiles see more keys, so the longest start first. A recording keeps the natural order.
  const bool backwards = !Trace::kOn && (p.mask.causal || p.mask.window_right >= 0);
  team.run(p.B * p.Hq * ti, [&](std::int64_t piece, std::int32_t worker) {
    const std::int64_t head = piece / ti;
    const std::int64_t i = backwards ? ti - 1 - piece % ti : piece % ti;
    query_tile(call, head / p.Hq, head % p.Hq, i, worker, team, trace);
  });
}

// Parts and ranks both cut the keys.
Result<void> check_cuts(const Problem& p, const Options& o) {
  const std::int64_t splits = splits_of(o), ranks = ranks_of(o);
  if (ranks > 1 && splits > 1)
    return bad_input(phrase(
        "ranks={} and splits={}: keys are either distributed over ranks or split into parts, so one of the two must be "
        "1.",
        ranks, splits));
  if (ranks > 1 && p.storage.kind() == Storage::paged)
    return bad_input(phrase("ranks={}: a ring needs dense K and V, but {} is paged.", ranks, describe(p)));
  return ok();
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  Result<Options> resolved = resolve(row, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto good = check_cuts(p, *resolved); !good) return tl::unexpected(good.error());
  const std::int64_t ti = (p.Lq + resolved->br - 1) / resolved->br;
  const std::int64_t splits = chosen(*resolved, kSplits).value_or(1);
  if (splits == 1) return cpu_plan(row, p, *resolved, Rules::vector, marked("query tiles"), p.B * p.Hq * ti);
  Plan plan = cpu_plan(row, p, *resolved, Rules::vector, marked("parts of query tiles"), p.B * p.Hq * ti * splits);
  plan.launches.push_back(plan.launches.front());
  plan.launches.back().name = marked("query tiles");
  plan.launches.back().grid[0] = p.B * p.Hq * ti;
  return plan;
}

// What a rank of a ring makes of a query tile.
template <class Trace>
void ring_keys(const Call& call, const Place2d& rows, std::int64_t i, std::int64_t j, std::span<const TileRange> keys,
               const Team& team, Call::Scratch& s, Trace& trace) {
  const ConstTile q = begin_tile(call, rows, i, j, s, trace);
  for (const TileRange& range : keys) walk_keys(call, rows, i, range, q, team, s, trace);
}

std::unique_ptr<RankOfRing> rank_of_ring(const Plan& plan, const Buffers& buffers, std::int64_t rank, Team& team);

const RingTile kRingTile{rank_of_ring,
                         [](const Call& call, const Place2d& rows, std::int64_t i, std::int64_t j,
                            std::span<const TileRange> keys, const Team& team, Call::Scratch& s, Recorder* trace) {
                           NoTrace none;
                           trace != nullptr ? ring_keys(call, rows, i, j, keys, team, s, *trace)
                                            : ring_keys(call, rows, i, j, keys, team, s, none);
                         },
                         [](const Call& call, const Place2d& rows, std::int64_t i, Call::Scratch& s, Recorder* trace) {
                           NoTrace none;
                           trace != nullptr ? finish_tile(call, rows, i, s, *trace)
                                            : finish_tile(call, rows, i, s, none);
                         }};

std::unique_ptr<RankOfRing> rank_of_ring(const Plan& plan, const Buffers& buffers, std::int64_t rank, Team& team) {
  return forward_rank(plan, buffers, kRingTile, rank, team);
}

void record_ring(const Call& call, Team& team, Recorder& trace) {
  ring_record(call, kRingTile, team, trace);
}

Result<void> launch(const Prepared& ready, const Stream& stream) {
  Team team(ready.plan.options.threads, stream);
  const Problem p = problem_now(ready);
  const Call call(p, ready.plan.options, ready.buffers, Order::flash, Rules::vector);
  call.pack(team);
  NoTrace none;
  if (call.at.splits > 1) {
    split_walk(call, team);
  } else if (ranks_of(call.o) > 1) {
    ring_walk(call, kRingTile, team);
  } else if (stream.mark != nullptr) {
    NoTraceInSteps steps(*stream.mark);
    walk(call, team, steps);
  } else {
    walk(call, team, none);
  }
  return finish(team, ready.plan.kernel->id);
}

Result<std::unique_ptr<RecordingRun>> begin_recording(const KernelRow& row, const Problem& p, const Options& o,
                                                      Inputs in, Stop stop) {
  const auto resolved = resolve(row, o, cpu_device());
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto good = check_cuts(p, *resolved); !good) return tl::unexpected(good.error());
  if (follows_pipeline(o)) return orders::hopper::begin_pipelined(row, p, *resolved, std::move(in), std::move(stop));
  const std::int64_t splits = splits_of(*resolved), tiles = (p.Lk + resolved->bc - 1) / resolved->bc;
  const bool ring = ranks_of(*resolved) > 1;
  if (splits == 1 && !ring)
    return begin_walk(row, {Rules::vector, walk<Recorder>}, p, o, std::move(in), std::move(stop));
  if (splits > tiles)
    return bad_input(
        phrase("In a recording, each part of the keys has its own key tiles, so {} tiles allow at most {} parts, not "
               "{}.",
               tiles, tiles, splits));
  if (ring) {
    const std::int64_t query_tiles = (p.Lq + resolved->br - 1) / resolved->br;
    if (auto good = check_recorded_ring(ring_of(*resolved, query_tiles, tiles)); !good)
      return tl::unexpected(good.error());
  }
  const RecordedWalk lanes{Rules::vector, ring ? record_ring : split_record, true};
  return begin_walk(row, lanes, p, o, std::move(in), std::move(stop));
}

}  // namespace

KernelRow cpu_flash_row() {
  static constexpr OptionSpec kOptions[] = {
      {&Option::br, 1, 4096, 1, 64},
      {&Option::bc, 1, 4096, 1, 64},
      {&Option::threads, 1, 1024, 1, 0},
      {&Option::subtract_max, 0, 1, 1, 1},
      {&Option::key_order, 0, 1, 1, 0},
      {&Option::accumulate, 0, 2, 1, 0},
      {&kSplits, 1, 64, 1, 1},
      {&kMerge, 0, 1, 1, 0},
      {&kRanks, 1, kMostRanksOfRing, 1, 1},
      {&kDeal, 0, 1, 1, 0},
      {&kPipeline, 0, 4, 1, 0},
      {&kZeroTail, 0, 1, 1, 1},
  };
  static const OrderChoice kOrders[] = {{&kPipeline, 1, *order_named("hopper")},
                                        {&kSplits, 2, *order_named("split")},
                                        {&kRanks, 2, *order_named("ring")}};
  KernelRow row;
  row.id = "cpu_flash";
  row.title = marked("flash, FlashAttention-2 order");
  row.rung = "2";
  row.order = Order::flash;
  row.other_orders = kOrders;
  row.dtypes = kAllDTypes;
  row.outputs = kAnyOutput;
  row.storages = kDenseOrPaged;
  row.options = kOptions;
  row.what = marked("The tiled online softmax on the vector units of all cores.");
  row.teaches = marked("The outer loop runs over query tiles: O, m and l stay on chip, and O is divided by l once.");
  row.source = marked("Dao 2023, FlashAttention-2, algorithm 1");
  row.supports = cpu_supports;
  row.plan = plan;
  row.prepare = cpu_prepare;
  row.launch = launch;
  row.begin_recording = begin_recording;
  row.record = record_at_once;
  row.ring = &kRingTile;
  return row;
}

}  // namespace attn::cpu
