// cpu_flash1: FlashAttention-1 on the CPU (Dao et al. 2022, algorithm 1).
//
// The idea. The key tile is outside: K_j and V_j are loaded once and meet every query tile. Between two key tiles the
// running O_i, m_i and l_i of each query tile go back to memory, and O is kept divided by l:
//   O = (alpha l_old O_old + P V) / l_new
//
// New against the rung before (cpu_tiled): no S and no P in memory, one pass instead of three.
//
// What limits it now: O, m and l travel at every turn, and the division is done once a tile instead of once.
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/cpu/call.h"
#include "kernels/cpu/rows.h"
#include "kernels/recording/recorder.h"
#include "kernels/recording/recording_run.h"

namespace attn::cpu {

namespace {

constexpr Holds kNormalised{.normalised = true};
constexpr Holds kMasked{.masked = true};
constexpr std::int64_t kExp = 16, kShaped = 32;  // what an exponential and a masked score cost, in multiply-adds

// Nothing of a query tile is on chip.
template <class Trace>
void clear_query_tile(Trace& trace) {
  for (const Slot slot : {Slot::q, Slot::s, Slot::p, Slot::alpha, Slot::m_old, Slot::m_new, Slot::l_old, Slot::l_new,
                          Slot::o_old, Slot::o_new})
    trace.clear(slot);
}

// O_i, m_i, l_i, Q_i: from memory to the chip.
template <class Trace>
ConstTile load_state(const Call& call, const Place2d& t, std::int64_t i, std::int64_t j, const Call::Scratch& s,
                     Trace& trace) {
  const ConstTile q = call.load_q(t, s);
  trace.once([&] {
    std::copy(call.m_rows(t.r0), call.m_rows(t.r0) + t.rows, s.m_old);
    std::copy(call.l_rows(t.r0), call.l_rows(t.r0) + t.rows, s.l_old);
    std::copy(call.o_rows(t.r0), call.o_rows(t.r0) + t.rows * call.at.ldv, s.o.data);
  });
  clear_query_tile(trace);
  trace.recall(Slot::q, Slot::q, i, 0);
  trace.recall(Slot::m_new, Slot::m_old, i, 0);
  trace.recall(Slot::l_new, Slot::l_old, i, 0);
  trace.recall(Slot::o_new, Slot::o_old, i, 0);
  trace.event(Phase::load_state, t, i, j);
  return q;
}

template <class Trace>
void tile(const Call& call, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, std::int32_t worker,
          Trace& trace) {
  const Place2d t = call.place(b, h, i, j);
  if (call.cover(t) == TileCover::skipped) {
    clear_query_tile(trace);
    trace.event(Phase::skipped, t, i, j);
    return;
  }
  const Call::Scratch s = call.scratch(worker);
  const ConstTile scores{s.s.data, s.s.ld};
  const ConstTile o{s.o.data, s.o.ld};
  const ConstTile q = load_state(call, t, i, j, s, trace);

  trace.blocks(t.rows, t.cols * call.p.D, [&](std::int64_t first, std::int64_t n) {
    scaled_product(from_row(q, first), call.k_tile(t), from_row(s.s, first), n, t.cols, call.p.D, call.scale);
    pad_scores(from_row(s.s, first), n, t.cols);
  });
  trace.put(Slot::s, scores, t, t.rows, t.cols);
  trace.event(Phase::scores, t, i, j);
  if (call.needs_mask(t)) {
    trace.blocks(t.rows, t.cols * kShaped, [&](std::int64_t first, std::int64_t n) {
      apply_mask(call.p, call.bias, rows_of(t, first, n), from_row(s.s, first));
    });
    trace.put(Slot::s, scores, t, t.rows, t.cols, kMasked);
    trace.event(Phase::mask, t, i, j);
  }
  trace.once([&] { row_max(scores, t.rows, t.cols, s.m_old, s.m_new); }, t.rows * t.cols);
  trace.column(Slot::m_new, s.m_new, t);
  trace.event(Phase::max, t, i, j);
  trace.once([&] { rescale_factors(s.m_old, s.m_new, t.rows, s.alpha); });
  trace.column(Slot::alpha, s.alpha, t);
  trace.event(Phase::rescale, t, i, j);
  trace.blocks(t.rows, t.cols * kExp, [&](std::int64_t first, std::int64_t n) {
    shifts(s.m_new + first, n, s.shift + first);
    exp_rows(from_row(scores, first), n, t.cols, s.shift + first, from_row(s.s, first), s.sums + first);
  });
  trace.put(Slot::p, scores, t, t.rows, t.cols);
  trace.event(Phase::weights, t, i, j);
  trace.once([&] { running_sums(s.alpha, s.l_old, s.sums, t.rows, s.l_new); });
  trace.column(Slot::l_new, s.l_new, t);
  trace.event(Phase::sum, t, i, j);
  trace.blocks(t.rows, t.cols * call.p.Dv, [&](std::int64_t first, std::int64_t n) {
    flash1_output(from_row(scores, first), call.v_tile(t), from_row(s.o, first), n, call.p.Dv, t.cols, s.alpha + first,
                  s.l_old + first, s.l_new + first, s.factor + first);
  });
  trace.put(Slot::o_new, o, t, t.rows, call.p.Dv, kNormalised);
  trace.event(Phase::output, t, i, j);

  trace.once([&] {
    std::copy(s.m_new, s.m_new + t.rows, call.m_rows(t.r0));
    std::copy(s.l_new, s.l_new + t.rows, call.l_rows(t.r0));
    std::copy(s.o.data, s.o.data + t.rows * call.at.ldv, call.o_rows(t.r0));
  });
  for (const Slot slot : {Slot::m_new, Slot::l_new, Slot::o_new}) trace.keep(slot, i, 0);
  trace.event(Phase::store_state, t, i, j);
}

// m = -inf, l = 0, O = 0 in memory before the first key tile.
template <class Trace>
void start_head(const Call& call, std::int64_t b, std::int64_t h, Trace& trace) {
  trace.head(b, h);
  trace.once([&] {
    std::fill(call.m_rows(0), call.m_rows(0) + call.p.Lq, kMinusInfinity);
    std::fill(call.l_rows(0), call.l_rows(0) + call.p.Lq, 0.0F);
    std::fill(call.o_rows(0), call.o_rows(0) + call.p.Lq * call.at.ldv, 0.0F);
  });
  if constexpr (Trace::kOn) {
    trace.each(0, call.at.ti, [&](std::int64_t i) {
      const Place2d t = call.place(b, h, i, -1);
      trace.put(Slot::q, call.load_q(t, call.scratch(0)), t, t.rows, call.p.D);
      trace.column(Slot::m_new, call.m_rows(t.r0), t);
      trace.column(Slot::l_new, call.l_rows(t.r0), t);
      trace.put(Slot::o_new, {call.o_rows(t.r0), call.at.ldv}, t, t.rows, call.p.Dv, kNormalised);
      for (const Slot slot : {Slot::q, Slot::m_new, Slot::l_new, Slot::o_new}) trace.keep(slot, i, 0);
      for (const Slot slot : {Slot::q, Slot::m_new, Slot::l_new, Slot::o_new}) trace.clear(slot);
    });
  }
}

// O in the dtype and LSE of the state in memory, once a query tile, after the last key tile.
template <class Trace>
void store(const Call& call, std::int64_t b, std::int64_t h, std::int64_t i, std::int32_t worker, Trace& trace) {
  const Place2d t = call.place(b, h, i, -1);
  const Call::Scratch s = call.scratch(worker);
  const ConstTile o{s.o.data, s.o.ld};
  trace.once([&] {
    std::copy(call.o_rows(t.r0), call.o_rows(t.r0) + t.rows * call.at.ldv, s.o.data);
    log_sum_exp(call.m_rows(t.r0), call.l_rows(t.r0), t.rows, s.alpha);
  });
  for (const Slot slot : {Slot::q, Slot::k, Slot::v, Slot::s, Slot::p, Slot::alpha, Slot::m_new, Slot::l_new})
    trace.clear(slot);
  trace.recall(Slot::m_new, Slot::m_old, i, 0);
  trace.recall(Slot::l_new, Slot::l_old, i, 0);
  trace.recall(Slot::o_new, Slot::o_old, i, 0);
  trace.recall(Slot::o_new, Slot::o_new, i, 0);
  trace.once([&] { round_tile(call.p.dtype, s.o, t.rows, call.p.Dv); });
  if (call.p.dtype != DType::f32) trace.put(Slot::o_new, o, t, t.rows, call.p.Dv, kNormalised);
  trace.column(Slot::lse, s.alpha, t);
  trace.event(Phase::store_o, t, i, -1);
  trace.clear(Slot::lse);
  trace.once([&] { call.store_out(t, o, s.alpha); });
}

template <class Trace>
void walk(const Call& call, Team& team, Trace& trace) {
  const Problem& p = call.p;
  trace.each(0, p.B * p.Hq, [&](std::int64_t head) {
    if (team.stopped()) return;
    const std::int64_t b = head / p.Hq;
    const std::int64_t h = head % p.Hq;
    start_head(call, b, h, trace);
    trace.each(0, call.at.tj, [&](std::int64_t j) {
      if (team.stopped()) return;
      Place2d keys = call.place(b, h, -1, j);
      keys.rows = p.Lq;
      if (call.cover(keys) != TileCover::skipped) {
        clear_query_tile(trace);
        trace.keys(keys, j);
        trace.values(keys, j);
        trace.event(Phase::load_kv, call.place(b, h, -1, j), -1, j);
      }
      team.run(call.at.ti, [&](std::int64_t i, std::int32_t worker) { tile(call, b, h, i, j, worker, trace); });
    });
    team.run(call.at.ti, [&](std::int64_t i, std::int32_t worker) { store(call, b, h, i, worker, trace); });
  });
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  Result<Options> resolved = resolve(row, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  const std::int64_t ti = (p.Lq + resolved->br - 1) / resolved->br;
  return cpu_plan(row, p, *resolved, Rules::vector, marked("query tiles of one key tile"), ti);
}

Result<void> launch(const Prepared& ready, const Stream& stream) {
  Team team(ready.plan.options.threads, stream);
  const Problem p = problem_now(ready);
  const Call call(p, ready.plan.options, ready.buffers, Order::flash1, Rules::vector);
  call.pack(team);
  NoTrace none;
  walk(call, team, none);
  return finish(team, ready.plan.kernel->id);
}

Result<std::unique_ptr<RecordingRun>> begin_recording(const KernelRow& row, const Problem& p, const Options& o,
                                                      Inputs in, Stop stop) {
  return begin_walk(row, {Rules::vector, walk<Recorder>}, p, o, std::move(in), std::move(stop));
}

}  // namespace

KernelRow cpu_flash1_row() {
  static constexpr OptionSpec kOptions[] = {
      {&Option::br, 1, 4096, 1, 64}, {&Option::bc, 1, 4096, 1, 64}, {&Option::threads, 1, 1024, 1, 0}};
  KernelRow row;
  row.id = "cpu_flash1";
  row.title = marked("flash-1, FlashAttention-1 order");
  row.rung = "1c";
  row.order = Order::flash1;
  row.dtypes = kAllDTypes;
  row.options = kOptions;
  row.what =
      marked("The online softmax with an outer loop over key tiles. O, m and l return to memory after every tile.");
  row.teaches = marked("S and P are not in memory, and there is one pass over the keys instead of three.");
  row.source = marked("Dao et al. 2022, FlashAttention, algorithm 1");
  row.supports = cpu_supports;
  row.plan = plan;
  row.prepare = cpu_prepare;
  row.launch = launch;
  row.begin_recording = begin_recording;
  row.record = record_at_once;
  return row;
}

}  // namespace attn::cpu
