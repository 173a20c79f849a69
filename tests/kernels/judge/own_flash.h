// FlashAttention-2 as a hand would write it for a first try: plain loops, one thread, one mistake if asked for. It
// shares no arithmetic with the kernels of the ladder. The finder of the first wrong step is tried on what it records.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/model/inputs/inputs.h"
#include "kernels/recording/recorder.h"

namespace attn::test {

enum class Slip : std::uint8_t {
  none,
  causal_from_the_left,  // the mask and the choice of tiles leave Lk - Lq out
  tail_never_visited,    // for (j = 0; j < Lk / Bc; ++j)
  bound_of_first_row,    // key tiles that the first row of a query tile sees not are skipped
  one_tile_too_many,     // one key tile beyond the last that is seen, without a mask
  no_mask_but_the_last,  // of the key tiles that are cut only the last is masked
  head_by_modulo,        // kv head = h % Hkv
  state_kept,            // m and l are not set back for the next query tile
  scale_in_mask,         // where something is hidden the scale is applied once more
  hidden_by_number,      // -1e9 in place of -inf
  half_of_the_sum,       // l takes columns 0 to 3 of every 8
  half_of_the_maximum,   // m too
  alpha_of_another_row,  // O of row r is multiplied by alpha of row r XOR 4
  half_of_the_product,   // S of the first D / 2 numbers
  exchanged,             // S transposed
  width_of_keys,         // V's rows are taken D apart
  nan_past_the_end,      // 0 * NaN from behind V's last row
  exponent_apart,        // exp(S) * exp(-m)
  mask_as_product,       // S + hidden * -inf
  // None: slower, and right.
  hidden_tiles_computed,  // every key tile is visited and masked
  whole_tiles_masked,     // the mask runs over tiles that it does not cut
};

class OwnFlash {
 public:
  OwnFlash(Slip slip, const Problem& p, std::int64_t br, std::int64_t bc, const InputSpec& spec) : slip_(slip), p_(p) {
    rec_.problem = p;
    rec_.options.br = static_cast<std::int32_t>(br);
    rec_.options.bc = static_cast<std::int32_t>(bc);
    rec_.kernel = "own";
    rec_.order = Order::flash;
    rec_.inputs = *make_inputs(p, spec);
    rec_.outputs = {Array(p.dtype, {p.B, p.Hq, p.Lq, p.Dv}), Array(DType::f32, {p.B, p.Hq, p.Lq})};
    br_ = br;
    bc_ = bc;
  }

  Recording run() {
    cpu::Recorder trace(rec_, rec_.inputs);
    for (std::int64_t b = 0; b < p_.B; ++b)
      for (std::int64_t h = 0; h < p_.Hq; ++h)
        for (std::int64_t i = 0; i * br_ < p_.Lq; ++i) query_tile(b, h, i, trace);
    rec_.build_index();
    return std::move(rec_);
  }

 private:
  using Place2d = cpu::Place2d;
  using Matrix = std::vector<float>;
  static constexpr float kHidden = -std::numeric_limits<float>::infinity();

  bool slips(Slip slip) const { return slip_ == slip; }
  float input(const Array& a, std::int64_t head, std::int64_t length, std::int64_t row, std::int64_t width,
              std::int64_t col) const {
    return static_cast<float>(a.get((head * length + row) * width + col));
  }
  bool sees(std::int64_t b, std::int64_t r, std::int64_t c) const {
    if (slips(Slip::causal_from_the_left)) return c <= r;
    const KeyRange k = p_.visible_keys(b, r);
    return c >= k.first && c < k.last;
  }
  std::int64_t seen_in(const Place2d& t) const {
    std::int64_t n = 0;
    for (std::int64_t r = t.r0; r < t.r0 + t.rows; ++r)
      for (std::int64_t c = t.c0; c < t.c0 + t.cols; ++c) n += sees(t.b, r, c) ? 1 : 0;
    return n;
  }
  Place2d place(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return {b, h, i * br_, std::min(br_, p_.Lq - i * br_), j * bc_, std::min(bc_, p_.Lk - j * bc_)};
  }
  bool skipped(const Place2d& t) const {
    const std::int64_t shift = p_.Lk - p_.Lq, j = t.c0 / bc_;
    if (slips(Slip::bound_of_first_row)) return j > (t.r0 + shift) / bc_;
    if (slips(Slip::one_tile_too_many)) return j > (t.r0 + t.rows - 1 + shift) / bc_ + 1;
    return !slips(Slip::hidden_tiles_computed) && seen_in(t) == 0;
  }
  bool masked(const Place2d& t) const {
    if (slips(Slip::one_tile_too_many) && seen_in(t) == 0) return false;
    if (slips(Slip::no_mask_but_the_last)) {
      Place2d next = t;
      next.c0 += bc_;
      next.cols = std::min(bc_, p_.Lk - next.c0);
      if (next.cols > 0 && seen_in(next) > 0) return false;
    }
    return slips(Slip::whole_tiles_masked) || seen_in(t) < t.rows * t.cols;
  }
  void put(Slot slot, const Matrix& x, const Place2d& t, std::int64_t cols, cpu::Recorder& trace, Holds holds = {}) {
    trace.put(slot, {x.data(), cols}, t, t.rows, cols, holds);
  }

  void query_tile(std::int64_t b, std::int64_t h, std::int64_t i, cpu::Recorder& trace) {
    const Place2d rows = place(b, h, i, 0);
    const auto n = static_cast<std::size_t>(rows.rows), width = static_cast<std::size_t>(p_.Dv);
    q_.clear();
    for (std::int64_t r = 0; r < rows.rows; ++r)
      for (std::int64_t d = 0; d < p_.D; ++d)
        q_.push_back(input(rec_.inputs.q, b * p_.Hq + h, p_.Lq, rows.r0 + r, p_.D, d));
    if (!slips(Slip::state_kept) || m_.size() != n) {
      m_.assign(n, kHidden);
      l_.assign(n, 0);
    }
    o_.assign(n * width, 0);
    trace.head(b, h);
    put(Slot::q, q_, rows, p_.D, trace);
    trace.column(Slot::m_old, m_.data(), rows);
    trace.column(Slot::l_old, l_.data(), rows);
    put(Slot::o_old, o_, rows, p_.Dv, trace);
    trace.event(Phase::load_q, rows, i, -1);
    const std::int64_t tiles = slips(Slip::tail_never_visited) ? p_.Lk / bc_ : (p_.Lk + bc_ - 1) / bc_;
    for (std::int64_t j = 0; j < tiles; ++j) {
      const Place2d t = place(b, h, i, j);
      if (!skipped(t)) {
        key_tile(t, i, j, trace);
        continue;
      }
      trace.shift();
      trace.clear(Slot::k);
      trace.clear(Slot::v);
      trace.event(Phase::skipped, t, i, j);
    }
    finish(rows, i, trace);
  }

  void key_tile(const Place2d& t, std::int64_t i, std::int64_t j, cpu::Recorder& trace) {
    Place2d kv = t;
    if (slips(Slip::head_by_modulo)) kv.h = t.h % p_.Hkv * (p_.Hq / p_.Hkv);
    trace.shift();
    trace.keys(kv, j);
    trace.values(kv, j);
    trace.event(Phase::load_kv, t, i, j);
    scores(kv);
    put(Slot::s, s_, t, t.cols, trace);
    trace.event(Phase::scores, t, i, j);
    if (masked(t)) {
      mask(t);
      put(Slot::s, s_, t, t.cols, trace, {.masked = true});
      trace.event(Phase::mask, t, i, j);
    }
    softmax(t, i, j, trace);
    output(kv);
    put(Slot::o_new, o_, t, p_.Dv, trace);
    trace.event(Phase::output, t, i, j);
  }

  void scores(const Place2d& kv) {
    const std::int64_t head = kv.b * p_.Hkv + p_.kv_head(kv.h);
    const auto scale = static_cast<float>(p_.effective_scale());
    const std::int64_t most = slips(Slip::half_of_the_product) ? p_.D / 2 : p_.D;
    s_.assign(static_cast<std::size_t>(kv.rows * kv.cols), 0);
    for (std::int64_t r = 0; r < kv.rows; ++r) {
      for (std::int64_t c = 0; c < kv.cols; ++c) {
        float sum = 0;
        for (std::int64_t d = most - 1; d >= 0; --d)
          sum += q_[static_cast<std::size_t>(r * p_.D + d)] * scale *
                 input(rec_.inputs.k, head, p_.Lk, kv.c0 + c, p_.D, d);
        const bool exchange = slips(Slip::exchanged) && kv.rows == kv.cols;
        s_[static_cast<std::size_t>(exchange ? c * kv.cols + r : r * kv.cols + c)] = sum;
      }
    }
  }

  void mask(const Place2d& t) {
    for (std::int64_t r = 0; r < t.rows; ++r) {
      for (std::int64_t c = 0; c < t.cols; ++c) {
        float& x = s_[static_cast<std::size_t>(r * t.cols + c)];
        const bool hidden = !sees(t.b, t.r0 + r, t.c0 + c);
        if (slips(Slip::scale_in_mask)) x *= static_cast<float>(p_.effective_scale());
        if (slips(Slip::mask_as_product)) x += (hidden ? 1.0F : 0.0F) * kHidden;
        if (hidden) x = slips(Slip::hidden_by_number) ? -1e9F : kHidden;
      }
    }
  }

  // 2^(x log2 e), as GPU kernels take it.
  static float exp_of(float x) { return std::exp2(x * 1.44269504F); }

  void softmax(const Place2d& t, std::int64_t i, std::int64_t j, cpu::Recorder& trace) {
    const auto n = static_cast<std::size_t>(t.rows), cols = static_cast<std::size_t>(t.cols);
    const Matrix old = m_;
    alpha_.assign(n, 1);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < cols; ++c)
        if (!slips(Slip::half_of_the_maximum) || c % 8 < 4) m_[r] = std::max(m_[r], s_[r * cols + c]);
      if (m_[r] != old[r]) alpha_[r] = exp_of(old[r] - m_[r]);
    }
    trace.column(Slot::m_new, m_.data(), t);
    trace.event(Phase::max, t, i, j);
    trace.column(Slot::alpha, alpha_.data(), t);
    trace.event(Phase::rescale, t, i, j);
    for (std::size_t r = 0; r < n; ++r) {
      const float from = m_[r] == kHidden ? 0 : m_[r];
      float sum = 0;
      for (std::size_t c = 0; c < cols; ++c) {
        float& x = s_[r * cols + c];
        x = slips(Slip::exponent_apart) ? std::exp(x) * std::exp(-from) : exp_of(x - from);
        if (!slips(Slip::half_of_the_sum) || c % 8 < 4) sum += x;
      }
      l_[r] = alpha_[r] * l_[r] + sum;
    }
    put(Slot::p, s_, t, t.cols, trace);
    trace.event(Phase::weights, t, i, j);
    trace.column(Slot::l_new, l_.data(), t);
    trace.event(Phase::sum, t, i, j);
  }

  void output(const Place2d& kv) {
    const std::int64_t head = kv.b * p_.Hkv + p_.kv_head(kv.h);
    const std::int64_t apart = slips(Slip::width_of_keys) ? p_.D : p_.Dv;
    const bool past = slips(Slip::nan_past_the_end) && kv.cols < bc_;
    for (std::int64_t r = 0; r < kv.rows; ++r) {
      const std::int64_t other = r ^ 4;
      const bool wrong = slips(Slip::alpha_of_another_row) && other < kv.rows;
      const float alpha = alpha_[static_cast<std::size_t>(wrong ? other : r)];
      for (std::int64_t d = 0; d < p_.Dv; ++d) {
        float sum = past ? 0 * std::numeric_limits<float>::quiet_NaN() : 0;
        for (std::int64_t c = kv.cols - 1; c >= 0; --c) {
          const std::int64_t at = kv.c0 * p_.Dv + c * apart + d;
          sum += s_[static_cast<std::size_t>(r * kv.cols + c)] *
                 static_cast<float>(rec_.inputs.v.get(head * p_.Lk * p_.Dv + at));
        }
        float& x = o_[static_cast<std::size_t>(r * p_.Dv + d)];
        x = alpha * x + sum;
      }
    }
  }

  void finish(const Place2d& rows, std::int64_t i, cpu::Recorder& trace) {
    trace.shift();
    Matrix lse(l_.size());
    const std::int64_t head = rows.b * p_.Hq + rows.h;
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      const auto n = static_cast<std::size_t>(r);
      lse[n] = l_[n] == 0 ? kHidden : m_[n] + std::log(l_[n]);
      rec_.outputs.lse.set(head * p_.Lq + rows.r0 + r, lse[n]);
      for (std::int64_t d = 0; d < p_.Dv; ++d) {
        float& x = o_[static_cast<std::size_t>(r * p_.Dv + d)];
        if (l_[n] != 0) x /= l_[n];
        rec_.outputs.out.set((head * p_.Lq + rows.r0 + r) * p_.Dv + d, x);
      }
    }
    put(Slot::o_new, o_, rows, p_.Dv, trace, {.normalised = true});
    trace.column(Slot::lse, lse.data(), rows);
    trace.event(Phase::normalise, rows, i, -1);
    trace.event(Phase::store_o, rows, i, -1);
  }

  Slip slip_;
  Problem p_;
  std::int64_t br_ = 0, bc_ = 0;
  Recording rec_;
  Matrix q_, s_, m_, l_, alpha_, o_;  // of the query tile
};

}  // namespace attn::test
