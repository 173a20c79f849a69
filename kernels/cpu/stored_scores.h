// The orders that store S: three passes, one head at a time. Shared by cpu_sequential and cpu_multicore (naive order,
// scalar rules) and cpu_tiled (tiled order, vector rules).
//
//   pass 0   S = scale Q K^T, masked                        S written
//   pass 1   m = rowmax S;  l = rowsum exp(S - m);  P = exp(S - m) / l     S read three times, P written
//   pass 2   O = P V                                        P read
//
// Each pass is cut into tiles. In naive order a tile is only a place to pause: sums run on in index order, so the
// tile does not change the result.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cpu/call.h"
#include "kernels/model/order_row.h"
#include "kernels/recording/recorder.h"

namespace attn::cpu {

template <class Trace>
class StoredScores {
 public:
  StoredScores(const Call& call, Team& team, Trace& trace, Order order)
      : call_(call), team_(team), trace_(trace), tiled_(order_row(order).skips_hidden) {}

  void run() {
    const Problem& p = call_.p;
    trace_.each(0, p.B * p.Hq, [&](std::int64_t head) {
      if (team_.stopped()) return;
      b_ = head / p.Hq;
      h_ = head % p.Hq;
      trace_.head(b_, h_);
      team_.run(call_.at.ti, [this](std::int64_t i, std::int32_t worker) { scores_pass(i, worker); });
      team_.run(call_.at.ti, [this](std::int64_t i, std::int32_t worker) { softmax_pass(i, worker); });
      team_.run(call_.at.ti, [this](std::int64_t i, std::int32_t worker) { output_pass(i, worker); });
    });
  }

 private:
  static constexpr Holds kNormalised{.normalised = true};
  static constexpr Holds kMasked{.masked = true};
  // In multiply-adds of a vector: of an exponential, of a masked score, and of one in index order.
  static constexpr std::int64_t kExp = 16, kShaped = 32;
  std::int64_t scalar_cost() const { return vector() ? 1 : 8; }
  bool vector() const { return call_.rules == Rules::vector; }
  static ConstTile read(MutTile t) { return {t.data, t.ld}; }
  // Tiled order skips what the mask skips; the definition computes it and throws it away.
  bool skips(const Place2d& t) const { return tiled_ && call_.cover(t) == TileCover::skipped; }

  template <class Body>
  void each_key_tile(const Body& body) {
    trace_.each(0, call_.at.tj, [&](std::int64_t j) {
      if (!team_.stopped()) body(j);
    });
  }

  void scores_pass(std::int64_t i, std::int32_t worker) {
    const Call::Scratch s = call_.scratch(worker);
    const Place2d rows = call_.place(b_, h_, i, -1);
    const ConstTile q = call_.load_q(rows, s);
    trace_.clear(Slot::s);
    trace_.clear(Slot::k);
    trace_.put(Slot::q, q, rows, rows.rows, call_.p.D);
    trace_.keep(Slot::q, i, 0);
    if (!tiled_) trace_.event(Phase::load_q, rows, i, -1);
    each_key_tile([&](std::int64_t j) { scores_tile(i, j, q); });
  }

  void scores_tile(std::int64_t i, std::int64_t j, ConstTile q) {
    const Place2d t = call_.place(b_, h_, i, j);
    const MutTile s = call_.s_tile(t, j);
    trace_.clear(Slot::s);
    if (skips(t)) {
      trace_.once([&] {
        for (std::int64_t r = 0; r < t.rows; ++r)
          std::fill(s.data + r * s.ld, s.data + r * s.ld + padded(t.cols), kMinusInfinity);
      });
      trace_.put(Slot::s, read(s), t, t.rows, t.cols, kMasked);
      trace_.keep(Slot::s, i, j);
      trace_.event(Phase::skipped, t, i, j, 0);
      return;
    }
    if (tiled_) trace_.event(Phase::load_q, t, i, j);
    trace_.keys(t, j);
    trace_.event(Phase::load_k, t, i, j);
    trace_.blocks(t.rows, t.cols * call_.p.D * scalar_cost(), [&](std::int64_t first, std::int64_t n) {
      const auto product = vector() ? scaled_product : scalar_scores;
      product(from_row(q, first), call_.k_tile(t), from_row(s, first), n, t.cols, call_.p.D, call_.scale);
      pad_scores(from_row(s, first), n, t.cols);
    });
    trace_.put(Slot::s, read(s), t, t.rows, t.cols);
    trace_.event(Phase::scores, t, i, j);
    if (call_.needs_mask(t)) {
      trace_.blocks(t.rows, t.cols * kShaped, [&](std::int64_t first, std::int64_t n) {
        apply_mask(call_.p, call_.bias, rows_of(t, first, n), from_row(s, first));
      });
      trace_.put(Slot::s, read(s), t, t.rows, t.cols, kMasked);
      trace_.event(Phase::mask, t, i, j);
    }
    trace_.keep(Slot::s, i, j);
    trace_.event(Phase::store_s, t, i, j);
  }

  // One row tile's m, then l, then P: each reads S again, so each is a walk over the key tiles.
  void softmax_pass(std::int64_t i, std::int32_t worker) {
    const Call::Scratch s = call_.scratch(worker);
    const Place2d rows = call_.place(b_, h_, i, -1);
    trace_.once([&] {
      std::fill(s.m_old, s.m_old + rows.rows, kMinusInfinity);
      std::fill(s.l_old, s.l_old + rows.rows, 0.0F);
    });
    for (const Slot slot : {Slot::k, Slot::s, Slot::p, Slot::m_new, Slot::l_new, Slot::l_old}) trace_.clear(slot);
    trace_.recall(Slot::q, Slot::q, i, 0);
    trace_.column(Slot::m_old, s.m_old, rows);
    each_key_tile([&](std::int64_t j) { max_tile(i, j, s); });
    trace_.column(Slot::l_old, s.l_old, rows);
    each_key_tile([&](std::int64_t j) { sum_tile(i, j, s); });
    weights_walk(i, s);
  }

  void max_tile(std::int64_t i, std::int64_t j, const Call::Scratch& s) {
    const Place2d t = call_.place(b_, h_, i, j);
    const ConstTile scores = read(call_.s_tile(t, j));
    advance(Slot::m_old, Slot::m_new, i, j);
    trace_.blocks(t.rows, t.cols * scalar_cost(), [&](std::int64_t first, std::int64_t n) {
      const auto max = vector() ? row_max : scalar_max;
      max(from_row(scores, first), n, t.cols, s.m_old + first, s.m_new + first);
    });
    trace_.column(Slot::m_new, s.m_new, t);
    trace_.keep(Slot::m_new, i, 0);
    trace_.event(Phase::max, t, i, j, 1);
    trace_.once([&] { std::copy(s.m_new, s.m_new + t.rows, s.m_old); });
  }

  void sum_tile(std::int64_t i, std::int64_t j, const Call::Scratch& s) {
    const Place2d t = call_.place(b_, h_, i, j);
    const ConstTile scores = read(call_.s_tile(t, j));
    advance(Slot::l_old, Slot::l_new, i, j);
    trace_.blocks(t.rows, t.cols * kExp, [&](std::int64_t first, std::int64_t n) {
      const ConstTile x = from_row(scores, first);
      float *const m = s.m_old + first, *const l = s.l_old + first, *const to = s.l_new + first;
      vector() ? vector_exp_sums(x, n, t.cols, m, l, to, from_row(s.p, first))
               : scalar_exp_sums(x, n, t.cols, m, l, to);
    });
    trace_.column(Slot::l_new, s.l_new, t);
    trace_.keep(Slot::l_new, i, 0);
    trace_.event(Phase::sum, t, i, j, 1);
    trace_.once([&] { std::copy(s.l_new, s.l_new + t.rows, s.l_old); });
  }

  void weights_walk(std::int64_t i, const Call::Scratch& s) {
    each_key_tile([&](std::int64_t j) {
      const Place2d t = call_.place(b_, h_, i, j);
      trace_.recall(Slot::s, Slot::s, i, j);
      trace_.blocks(t.rows, t.cols * kExp, [&](std::int64_t first, std::int64_t n) {
        const Place2d some = rows_of(t, first, n);
        const MutTile p = from_row(s.p, first);
        stored_weights(call_.p.dtype, read(call_.s_tile(some, j)), n, t.cols, s.m_old + first, s.l_old + first, p);
        call_.store_p(some, j, read(p));
      });
      trace_.put(Slot::p, read(s.p), t, t.rows, t.cols, kNormalised);
      trace_.keep(Slot::p, i, j);
      trace_.event(Phase::weights, t, i, j, 1);
    });
    const Place2d rows = call_.place(b_, h_, i, -1);
    trace_.once([&] {
      std::copy(s.m_old, s.m_old + rows.rows, call_.m_rows(rows.r0));
      std::copy(s.l_old, s.l_old + rows.rows, call_.l_rows(rows.r0));
    });
  }

  // What was new is old, and S_ij is read back.
  void advance(Slot old_slot, Slot new_slot, std::int64_t i, std::int64_t j) {
    if (j > 0) trace_.recall(new_slot, old_slot, i, 0);
    trace_.clear(new_slot);
    trace_.recall(Slot::s, Slot::s, i, j);
  }

  void output_pass(std::int64_t i, std::int32_t worker) {
    const Call::Scratch s = call_.scratch(worker);
    const Place2d rows = call_.place(b_, h_, i, -1);
    trace_.once([&] { std::fill(s.o.data, s.o.data + rows.rows * s.o.ld, 0.0F); });
    for (const Slot slot : {Slot::k, Slot::v, Slot::s, Slot::p, Slot::o_new, Slot::lse, Slot::m_old, Slot::l_old})
      trace_.clear(slot);
    trace_.recall(Slot::q, Slot::q, i, 0);
    trace_.recall(Slot::m_new, Slot::m_new, i, 0);
    trace_.recall(Slot::l_new, Slot::l_new, i, 0);
    trace_.put(Slot::o_old, read(s.o), rows, rows.rows, call_.p.Dv, kNormalised);
    each_key_tile([&](std::int64_t j) { output_tile(i, j, s); });

    trace_.once([&] {
      log_sum_exp(call_.m_rows(rows.r0), call_.l_rows(rows.r0), rows.rows, s.alpha);
      round_tile(call_.p.dtype, s.o, rows.rows, call_.p.Dv);
    });
    if (call_.p.dtype != DType::f32) trace_.put(Slot::o_new, read(s.o), rows, rows.rows, call_.p.Dv, kNormalised);
    trace_.column(Slot::lse, s.alpha, rows);
    trace_.event(Phase::store_o, rows, i, -1, 2);
    trace_.clear(Slot::lse);
    trace_.once([&] { call_.store_out(rows, read(s.o), s.alpha); });
  }

  void output_tile(std::int64_t i, std::int64_t j, const Call::Scratch& s) {
    const Place2d t = call_.place(b_, h_, i, j);
    if (skips(t)) {
      trace_.event(Phase::skipped, t, i, j, 2);
      return;
    }
    trace_.recall(Slot::p, Slot::p, i, j);
    trace_.values(t, j);
    trace_.move(Slot::o_new, Slot::o_old);
    trace_.event(Phase::load_v, t, i, j, 2);
    trace_.blocks(t.rows, t.cols * call_.p.Dv * scalar_cost(), [&](std::int64_t first, std::int64_t n) {
      const MutTile p = from_row(s.p, first), o = from_row(s.o, first);
      call_.load_p(rows_of(t, first, n), j, p);
      vector() ? rescaled_product(read(p), call_.v_tile(t), o, n, call_.p.Dv, t.cols, nullptr)
               : scalar_output(read(p), call_.v_tile(t), o, n, call_.p.Dv, t.cols);
    });
    trace_.put(Slot::o_new, read(s.o), t, t.rows, call_.p.Dv, kNormalised);
    trace_.event(Phase::output, t, i, j, 2);
  }

  const Call& call_;
  Team& team_;
  Trace& trace_;
  const bool tiled_;
  std::int64_t b_ = 0, h_ = 0;
};

}  // namespace attn::cpu
