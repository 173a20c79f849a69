#include "kernels/cpu/backward/trace.h"

#include <algorithm>
#include <vector>

#include "kernels/model/order_row.h"

namespace attn::cpu {
namespace {

constexpr std::int32_t kDeltaPass = 0;
constexpr std::int64_t kPut = 8;  // what a number costs that is read and written, in multiply-adds

// Of an order, by its walk.
std::int32_t pass_of(const Recording& rec, Phase phase) {
  const std::vector<WalkStep>& walk = order_row(rec.order).walk;
  const auto at = std::ranges::find(walk, phase, &WalkStep::phase);
  return at == walk.end() ? kDeltaPass : at->pass;
}

// Where rows of keys lie.
Place2d by_key(const Place2d& t) {
  Place2d at = t;
  at.r0 = t.c0;
  return at;
}

}  // namespace

BackwardTrace::BackwardTrace(Recording& rec, const Inputs& in, WalkMark& mark)
    : rec_(rec),
      in_(in),
      to_(rec, in, &mark),
      keys_outside_(order_row(rec.order).keys_outside),
      tile_pass_(pass_of(rec, Phase::scores)),
      keys_pass_(pass_of(rec, n_.store_dkv)),
      rows_pass_(pass_of(rec, n_.store_dq)) {
  const Problem& p = rec.problem;
  kept_keys_.resize(static_cast<std::size_t>(p.B * p.Hkv * rec.key_tiles()));
  kept_.resize(static_cast<std::size_t>(p.B * p.Hq * rec.query_tiles()));
}

BackwardTrace::RowTile& BackwardTrace::rows_of(const Place2d& t, std::int64_t i) {
  return kept_[static_cast<std::size_t>((t.b * rec_.problem.Hq + t.h) * rec_.query_tiles() + i)];
}

BackwardTrace::KeyTile& BackwardTrace::keys_of(const Place2d& t, std::int64_t j) {
  const Problem& p = rec_.problem;
  return kept_keys_[static_cast<std::size_t>((t.b * p.Hkv + p.kv_head(t.h)) * rec_.key_tiles() + j)];
}

void BackwardTrace::clear(std::initializer_list<Slot> slots) {
  for (const Slot slot : slots) to_.clear(slot);
}

void BackwardTrace::clear_tile() {
  clear({Slot::s, Slot::p, n_.dp, n_.ds});
}

void BackwardTrace::clear_rows() {
  clear_tile();
  clear({Slot::q, Slot::lse, n_.o, n_.d_o, n_.delta, n_.dq});
}

void BackwardTrace::clear_keys() {
  clear_tile();
  clear({Slot::k, Slot::v, n_.dk, n_.dv, r_.dk_came, r_.dv_came});
}

void BackwardTrace::clear_all() {
  clear_rows();
  clear_keys();
}

std::int64_t BackwardTrace::columns_of(Slot slot) const {
  return slot_row(slot).columns == SlotColumns::head ? rec_.problem.D : rec_.problem.Dv;
}

void BackwardTrace::delta(const Place2d& t, std::int64_t i, ConstTile d_o, const float* delta) {
  const Problem& p = rec_.problem;
  RowTile& kept = rows_of(t, i);
  to_.go_to(t.b, t.h);
  clear_all();
  to_.once([&] { work_.resize(static_cast<std::size_t>(t.rows * p.Dv)); });
  to_.blocks(t.rows, p.Dv * kPut, [&](std::int64_t first, std::int64_t n) {
    in_.o->read(((t.b * p.Hq + t.h) * p.Lq + t.r0 + first) * p.Dv, n * p.Dv, work_.data() + first * p.Dv);
  });
  to_.put(n_.o, {work_.data(), p.Dv}, t, t.rows, p.Dv);
  to_.put(n_.d_o, d_o, t, t.rows, p.Dv);
  to_.once([&] { kept.d_o = to_.shown(n_.d_o); });
  to_.event(n_.load_o, t, i, -1, kDeltaPass);
  to_.column(n_.delta, delta, t);
  to_.once([&] { kept.delta = to_.shown(n_.delta); });
  to_.event(n_.row_dots, t, i, -1, kDeltaPass);
}

void BackwardTrace::put_keys(const Place2d& t, std::int64_t j, ConstTile k, ConstTile v_panel) {
  const Problem& p = rec_.problem;
  KeyTile& kept = keys_of(t, j);
  if (to_.kept<bool>(kept.k == kNoVersion)) {
    to_.put(Slot::k, k, by_key(t), t.cols, p.D);
    const std::int64_t ld = padded(p.Dv);
    to_.once([&] { work_.resize(static_cast<std::size_t>(padded(t.cols) * ld)); });
    to_.blocks(t.cols, ld * kPut, [&](std::int64_t first, std::int64_t n) {
      transpose({v_panel.data + first, v_panel.ld}, {work_.data() + first * ld, ld}, p.Dv, n);
    });
    to_.put(Slot::v, {work_.data(), ld}, by_key(t), t.cols, p.Dv);
    to_.once([&] {
      kept.k = to_.shown(Slot::k);
      kept.v = to_.shown(Slot::v);
    });
  }
  to_.show(Slot::k, kept.k);
  to_.show(Slot::v, kept.v);
}

void BackwardTrace::keys(const Place2d& t, std::int64_t i, std::int64_t j, ConstTile k, ConstTile v_panel) {
  to_.go_to(t.b, t.h);
  keys_outside_ ? clear_all() : clear_keys();
  put_keys(t, j, k, v_panel);
  to_.event(Phase::load_kv, t, i, j, tile_pass_);
}

void BackwardTrace::skipped(const Place2d& t, std::int64_t i, std::int64_t j) {
  to_.go_to(t.b, t.h);
  keys_outside_ ? clear_rows() : clear_keys();
  to_.event(Phase::skipped, t, i, j, tile_pass_);
}

void BackwardTrace::rows(const Place2d& t, std::int64_t i, std::int64_t j, ConstTile q, const float* lse) {
  RowTile& kept = rows_of(t, i);
  to_.go_to(t.b, t.h);
  clear_rows();
  if (to_.kept<bool>(kept.q == kNoVersion)) {
    to_.put(Slot::q, q, t, t.rows, rec_.problem.D);
    to_.column(Slot::lse, lse, t);
    to_.once([&] {
      kept.q = to_.shown(Slot::q);
      kept.lse = to_.shown(Slot::lse);
    });
  }
  to_.show(Slot::q, kept.q);
  to_.show(Slot::lse, kept.lse);
  to_.show(n_.d_o, kept.d_o);
  to_.show(n_.delta, kept.delta);
  to_.event(n_.load_rows, t, i, j, tile_pass_);
}

void BackwardTrace::tile(Phase phase, Slot slot, ConstTile x, const Place2d& t, std::int64_t i, std::int64_t j,
                         Holds holds) {
  to_.put(slot, x, t, t.rows, t.cols, holds);
  to_.event(phase, t, i, j, tile_pass_);
}

void BackwardTrace::key_sum(Phase phase, Slot slot, ConstTile x, const Place2d& t, std::int64_t i, std::int64_t j) {
  to_.put(slot, x, by_key(t), t.cols, columns_of(slot));
  to_.event(phase, t, i, j, tile_pass_);
}

void BackwardTrace::query_sum(ConstTile dq, const Place2d& t, std::int64_t i, std::int64_t j) {
  to_.put(n_.dq, dq, t, t.rows, rec_.problem.D);
  to_.event(n_.query_gradient, t, i, j, tile_pass_);
}

void BackwardTrace::travels(Phase phase, const Place2d& t, std::int64_t i, std::int64_t j) {
  to_.go_to(t.b, t.h);
  clear_all();
  to_.event(phase, t, i, j, pass_of(rec_, phase));
}

void BackwardTrace::sums(bool first, const Place2d& t, std::int64_t i, std::int64_t j, ConstTile dk, ConstTile dv) {
  KeyTile& kept = keys_of(t, j);
  to_.go_to(t.b, t.h);
  clear_rows();
  if (!first) {
    to_.show(r_.dk_came, kept.dk);
    to_.show(r_.dv_came, kept.dv);
  }
  to_.put(n_.dk, dk, by_key(t), t.cols, rec_.problem.D);
  to_.put(n_.dv, dv, by_key(t), t.cols, rec_.problem.Dv);
  to_.once([&] {
    kept.dk = to_.shown(n_.dk);
    kept.dv = to_.shown(n_.dv);
  });
  to_.event(first ? r_.keep_sums : r_.add_sums, t, i, j, tile_pass_);
}

void BackwardTrace::keys_done(const Place2d& t, std::int64_t j, ConstTile dk, ConstTile dv) {
  to_.go_to(t.b, t.h);
  keys_outside_ ? clear_rows() : clear_all();
  to_.put(n_.dk, dk, by_key(t), t.cols, rec_.problem.D);
  to_.put(n_.dv, dv, by_key(t), t.cols, rec_.problem.Dv);
  to_.event(n_.store_dkv, t, -1, j, keys_pass_);
  clear_all();
}

void BackwardTrace::rows_done(const Place2d& t, std::int64_t i, ConstTile dq) {
  to_.go_to(t.b, t.h);
  clear_all();
  to_.put(n_.dq, dq, t, t.rows, rec_.problem.D);
  to_.event(n_.store_dq, t, i, -1, rows_pass_);
}

}  // namespace attn::cpu
