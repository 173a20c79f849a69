#include "tests/orders/late_scale.h"

#include <algorithm>
#include <utility>

#include "kernels/base/stop.h"
#include "kernels/cpu/call.h"
#include "kernels/cpu/rows.h"
#include "kernels/recording/recorder.h"
#include "kernels/recording/recording_run.h"

namespace attn {
namespace {

using namespace cpu;

constexpr Holds kNormalised{.normalised = true};

void key_tile(const Call& call, const Place2d& t, std::int64_t i, std::int64_t j, ConstTile q, Call::Scratch& s,
              Recorder& trace) {
  const ConstTile scores{s.s.data, s.s.ld};
  const Slot raw = *slot_named("raw");
  trace.shift();
  trace.keys(t, j);
  trace.values(t, j);
  trace.event(Phase::load_kv, t, i, j);
  scaled_product(q, call.k_tile(t), s.s, t.rows, t.cols, call.p.D, 1);
  trace.put(raw, scores, t, t.rows, t.cols);
  trace.event(*phase_named("product"), t, i, j);
  for (std::int64_t r = 0; r < t.rows; ++r) {
    for (std::int64_t c = 0; c < t.cols; ++c) s.s.data[r * s.s.ld + c] *= call.scale;
  }
  pad_scores(s.s, t.rows, t.cols);
  trace.put(Slot::s, scores, t, t.rows, t.cols);
  trace.event(*phase_named("scale"), t, i, j);
  if (call.needs_mask(t)) {
    apply_mask(call.p, call.bias, t, s.s);
    trace.put(Slot::s, scores, t, t.rows, t.cols, {.masked = true});
    trace.event(Phase::mask, t, i, j);
  }
  row_max(scores, t.rows, t.cols, s.m_old, s.m_new);
  trace.column(Slot::m_new, s.m_new, t);
  trace.event(Phase::max, t, i, j);
  rescale_factors(s.m_old, s.m_new, t.rows, s.alpha);
  trace.column(Slot::alpha, s.alpha, t);
  trace.event(Phase::rescale, t, i, j);
  shifts(s.m_new, t.rows, s.shift);
  exp_rows(scores, t.rows, t.cols, s.shift, s.s, s.sums);
  trace.put(Slot::p, scores, t, t.rows, t.cols);
  trace.event(Phase::weights, t, i, j);
  running_sums(s.alpha, s.l_old, s.sums, t.rows, s.l_new);
  trace.column(Slot::l_new, s.l_new, t);
  trace.event(Phase::sum, t, i, j);
  rescaled_product(scores, call.v_tile(t), s.o, t.rows, call.p.Dv, t.cols, s.alpha);
  trace.put(Slot::o_new, {s.o.data, s.o.ld}, t, t.rows, call.p.Dv);
  trace.event(Phase::output, t, i, j);
  std::swap(s.m_old, s.m_new);
  std::swap(s.l_old, s.l_new);
}

void query_tile(const Call& call, std::int64_t b, std::int64_t h, std::int64_t i, Recorder& trace) {
  Call::Scratch s = call.scratch(0);
  const Place2d rows = call.place(b, h, i, -1);
  const ConstTile q = call.load_q(rows, s);
  const ConstTile o{s.o.data, s.o.ld};
  std::fill(s.m_old, s.m_old + rows.rows, kMinusInfinity);
  std::fill(s.l_old, s.l_old + rows.rows, 0.0F);
  std::fill(s.o.data, s.o.data + rows.rows * s.o.ld, 0.0F);
  trace.head(b, h);
  trace.put(Slot::q, q, rows, rows.rows, call.p.D);
  trace.column(Slot::m_old, s.m_old, rows);
  trace.column(Slot::l_old, s.l_old, rows);
  trace.put(Slot::o_old, o, rows, rows.rows, call.p.Dv);
  trace.event(Phase::load_q, rows, i, -1);
  for (std::int64_t j = 0; j < call.at.tj; ++j) {
    const Place2d t = call.place(b, h, i, j);
    if (call.cover(t) != TileCover::skipped) {
      key_tile(call, t, i, j, q, s, trace);
      continue;
    }
    trace.shift();
    trace.clear(Slot::k);
    trace.clear(Slot::v);
    trace.event(Phase::skipped, t, i, j);
  }
  trace.shift();
  divide_rows(s.o, rows.rows, call.p.Dv, s.l_old);
  log_sum_exp(s.m_old, s.l_old, rows.rows, s.alpha);
  trace.put(Slot::o_new, o, rows, rows.rows, call.p.Dv, kNormalised);
  trace.column(Slot::lse, s.alpha, rows);
  trace.event(Phase::normalise, rows, i, -1);
  round_tile(call.p.dtype, s.o, rows.rows, call.p.Dv);
  if (call.p.dtype != DType::f32) trace.put(Slot::o_new, o, rows, rows.rows, call.p.Dv, kNormalised);
  trace.event(Phase::store_o, rows, i, -1);
  call.store_out(rows, o, s.alpha);
}

Result<Recording> record(const KernelRow& row, const Problem& p, const Options& o, const Inputs& in, Stop stop) {
  const auto walk = [](const Call& call, Team&, Recorder& trace) {
    for (std::int64_t head = 0; head < call.p.B * call.p.Hq; ++head) {
      for (std::int64_t i = 0; i < call.at.ti; ++i) query_tile(call, head / call.p.Hq, head % call.p.Hq, i, trace);
    }
  };
  auto run = begin_walk(row, {Rules::vector, walk}, p, o, in, std::move(stop));
  if (!run) return tl::unexpected(run.error());
  if (const auto whole = (*run)->go_on({}); !whole) return tl::unexpected(whole.error());
  return (*run)->take();
}

}  // namespace

KernelRow late_scale_row() {
  KernelRow row = cpu::cpu_flash_row();
  row.id = "test_late_scale";
  row.order = *order_named("late-scale");
  row.begin_recording = nullptr;  // its walk is not cut into steps
  row.record = record;
  return row;
}

}  // namespace attn
