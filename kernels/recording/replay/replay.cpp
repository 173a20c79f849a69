// Recomputes each event from the versions that were live before it, with the functions the kernels call.
#include "kernels/recording/replay/replay.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/arithmetic/vector_ops.h"
#include "kernels/base/text.h"
#include "kernels/recording/replay/bounds.h"
#include "kernels/recording/replay/replayer.h"

namespace attn {

Padded::Padded(std::int64_t rows, std::int64_t cols, float fill) : ld_(cpu::padded(cols)) {
  store_.assign(static_cast<std::size_t>(rows * ld_ + cpu::kLanes), fill);
  const auto address = reinterpret_cast<std::uintptr_t>(store_.data());
  shift_ = (64 - address % 64) % 64 / sizeof(float);
}

Replayer::Replayer(const Recording& rec)
    : rec_(rec), order_(order_row(rec.order)), scale_(static_cast<float>(rec.problem.effective_scale())) {
  if (rec.inputs.bias) bias_ = reinterpret_cast<const float*>(rec.inputs.bias->data());
}

std::optional<ReplayDifference> Replayer::run(const Stop& stop) {
  for (e_ = 0; e_ < rec_.events.size() && !stop.stop_requested(); ++e_) {
    first_state();
    if (!difference_) phase();
    if (difference_) return difference_;
  }
  return std::nullopt;
}

Padded Replayer::load(VersionId id) const {
  const Version& v = rec_.version(id);
  Padded out(v.rows, v.cols, v.slot == Slot::s ? cpu::kMinusInfinity : 0.0F);
  const std::span<const float> values = rec_.values(id);
  for (std::int64_t r = 0; r < v.rows; ++r)
    std::memcpy(out.tile().data + r * out.tile().ld, values.data() + r * v.cols,
                static_cast<std::size_t>(v.cols) * sizeof(float));
  return out;
}
// A column is kept contiguous, not padded row by row.
std::vector<float> Replayer::column(Slot s) const {
  const std::span<const float> v = rec_.values(rec_.before(e_, s));
  return {v.begin(), v.end()};
}

void Replayer::compare(Slot slot, const float* values, std::int64_t ld) {
  const Version& v = made(slot);
  const std::span<const float> recorded = rec_.values(rec_.after(e_, slot));
  for (std::int32_t r = 0; r < v.rows; ++r) {
    for (std::int32_t c = 0; c < v.cols; ++c) {
      const float a =
          recorded[static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c)];
      const float b = values[r * ld + c];
      if (std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a != a && b != b)) continue;
      difference_ = ReplayDifference{e_, slot, r, c, a, b, difference_words(e_, event().id, slot, r, c, a, b)};
      return;
    }
  }
}

void Replayer::phase() {
  const OrderPhase* as = order_.phase(event().id.phase);
  if (as == nullptr) return;
  for (const Slot slot : as->loads) {
    if (!difference_) loaded(slot);
  }
  if (!difference_ && as->replay != nullptr) as->replay(*this);  // stores and skips compute nothing
}

// What stands before the first key tile: nothing was seen yet.
void Replayer::first_state() {
  for (const Slot slot : order_.starts) {
    const std::optional<float> start = slot_row(slot).start;
    const VersionId id = rec_.after(e_, slot);
    if (difference_ || !start || id == kNoVersion) continue;
    const Version& v = rec_.version(id);
    if (v.slot != slot || v.made_by != e_) continue;
    const std::vector<float> values(rec_.values(id).size(), *start);
    compare(slot, values.data(), v.cols);
  }
}

// A tile is the rows of its tensor, widened. What is cut from no tensor is taken as it was recorded.
void Replayer::loaded(Slot slot) {
  std::optional<std::vector<float>> cut = tile_of_input(rec_, event().id, slot, rec_.after(e_, slot));
  if (!cut) return;
  const Version& v = made(slot);
  std::vector<float>& rows = *cut;
  const std::vector<std::int64_t>& lengths = rec_.problem.mask.key_lengths;
  if (order_.absent_keys_zero && !lengths.empty() && slot_row(slot).rows == SlotRows::keys) {
    const std::int64_t there = lengths[static_cast<std::size_t>(event().id.b)] - v.first_row;
    const std::int64_t kept = std::clamp<std::int64_t>(there, 0, v.rows) * v.cols;
    std::fill(rows.begin() + kept, rows.end(), 0.0F);
  }
  compare(slot, rows.data(), v.cols);
}

void Replayer::scores() {
  const Version& s = made(Slot::s);
  const Padded q = operand(Slot::q);
  const Padded k = operand(Slot::k);
  const std::int64_t d = rec_.problem.D;
  Padded out(s.rows, s.cols);
  if (vector()) {
    Padded kt(d, s.cols);
    cpu::transpose(k.read(), kt.tile(), s.cols, d);
    cpu::scaled_product(q.read(), kt.read(), out.tile(), s.rows, s.cols, d, scale_);
  } else {
    cpu::scalar_scores(q.read(), k.read(), out.tile(), s.rows, s.cols, d, scale_);
  }
  compare(Slot::s, out.read().data, out.read().ld);
}

void Replayer::mask() {
  const Version& s = made(Slot::s);
  Padded out = operand(Slot::s);
  cpu::apply_mask(rec_.problem, bias_, {event().id.b, event().id.h, s.first_row, s.rows, s.first_col, s.cols},
                  out.tile());
  compare(Slot::s, out.read().data, out.read().ld);
}

void Replayer::max() {
  const Version& m = made(Slot::m_new);
  std::vector<float> out(static_cast<std::size_t>(m.rows), 0.0F);
  if (rec_.options.subtract_max) {
    const VersionId s = rec_.before(e_, Slot::s);
    const VersionId now = rec_.after(e_, Slot::s);
    // Orders that store S read it back with this event.
    const Padded scores = load(order_.stores_scores ? now : s);
    const std::vector<float> old = column_after(Slot::m_old);
    const std::int64_t cols = rec_.version(now).cols;
    if (vector()) {
      cpu::row_max(scores.read(), m.rows, cols, old.data(), out.data());
    } else {
      cpu::scalar_max(scores.read(), m.rows, cols, old.data(), out.data());
    }
  }
  compare(Slot::m_new, out.data(), 1);
}

// m_old and l_old become live with the event in orders that store S.
std::vector<float> Replayer::column_after(Slot s) const {
  const std::span<const float> v = rec_.values(rec_.after(e_, s));
  return {v.begin(), v.end()};
}

void Replayer::rescale() {
  const std::vector<float> m_old = column(Slot::m_old);
  const std::vector<float> m_new = column(Slot::m_new);
  std::vector<float> alpha(m_old.size());
  cpu::rescale_factors(m_old.data(), m_new.data(), static_cast<std::int64_t>(m_old.size()), alpha.data());
  compare(Slot::alpha, alpha.data(), 1);
}

void Replayer::weights() {
  const Version& p = made(Slot::p);
  const std::vector<float> m = column(Slot::m_new);
  Padded out(p.rows, p.cols);
  if (order_.stores_scores) {
    const std::vector<float> l = column(Slot::l_new);
    const Padded s = load(rec_.after(e_, Slot::s));
    cpu::stored_weights(rec_.problem.dtype, s.read(), p.rows, p.cols, m.data(), l.data(), out.tile());
  } else {
    std::vector<float> shift(m.size());
    cpu::shifts(m.data(), p.rows, shift.data());
    cpu::exp_rows(operand(Slot::s).read(), p.rows, p.cols, shift.data(), out.tile(), nullptr);
  }
  compare(Slot::p, out.read().data, out.read().ld);
}

void Replayer::sum() {
  const Version& l = made(Slot::l_new);
  const std::vector<float> old = column_after(Slot::l_old);
  std::vector<float> out(static_cast<std::size_t>(l.rows));
  if (order_.stores_scores) {
    const VersionId id = rec_.after(e_, Slot::s);
    const Padded s = load(id);
    const std::vector<float> m = column(Slot::m_new);
    const std::int64_t cols = rec_.version(id).cols;
    Padded work(l.rows, cols);
    if (vector()) {
      cpu::vector_exp_sums(s.read(), l.rows, cols, m.data(), old.data(), out.data(), work.tile());
    } else {
      cpu::scalar_exp_sums(s.read(), l.rows, cols, m.data(), old.data(), out.data());
    }
  } else {
    const std::vector<float> alpha = column(Slot::alpha);
    const Padded p = operand(Slot::p);
    const std::int64_t cols = rec_.version(rec_.before(e_, Slot::p)).cols;
    if (rec_.options.accumulate == DType::f32) {
      std::vector<float> sums(out.size());
      cpu::row_sums(p.read(), l.rows, cols, sums.data());
      cpu::running_sums(alpha.data(), old.data(), sums.data(), l.rows, out.data());
    } else {
      cpu::running_sums_rounded(rec_.options.accumulate, alpha.data(), old.data(), p.read(), l.rows, cols, out.data());
    }
  }
  compare(Slot::l_new, out.data(), 1);
}

void Replayer::output() {
  const Version& o = made(Slot::o_new);
  Padded out = load(rec_.before(e_, Slot::o_old));
  const Padded p = operand(Slot::p);
  const Padded v = operand(Slot::v);
  const std::int64_t keys = rec_.version(rec_.before(e_, Slot::p)).cols;
  if (order_.divides_each_turn) {
    const std::vector<float> alpha = column(Slot::alpha);
    const std::vector<float> l_old = column(Slot::l_old);
    const std::vector<float> l_new = column(Slot::l_new);
    std::vector<float> factor(alpha.size());
    cpu::flash1_output(p.read(), v.read(), out.tile(), o.rows, o.cols, keys, alpha.data(), l_old.data(), l_new.data(),
                       factor.data());
  } else if (!vector()) {
    cpu::scalar_output(p.read(), v.read(), out.tile(), o.rows, o.cols, keys);
  } else if (order_.stores_scores) {
    cpu::rescaled_product(p.read(), v.read(), out.tile(), o.rows, o.cols, keys, nullptr);
  } else if (rec_.options.accumulate == DType::f32) {
    cpu::rescaled_product(p.read(), v.read(), out.tile(), o.rows, o.cols, keys, column(Slot::alpha).data());
  } else {
    cpu::rescaled_product_rounded(rec_.options.accumulate, p.read(), v.read(), out.tile(), o.rows, o.cols, keys,
                                  column(Slot::alpha).data());
  }
  compare(Slot::o_new, out.read().data, out.read().ld);
}

// m and l before the end of a query tile: the newest there are.
std::vector<float> Replayer::last(Slot new_slot, Slot old_slot) const {
  const VersionId newest = rec_.before(e_, new_slot);
  return column(newest != kNoVersion ? new_slot : old_slot);
}

void Replayer::normalise() {
  const Version& o = made(Slot::o_new);
  const VersionId newest = rec_.before(e_, Slot::o_new);
  Padded out = load(newest != kNoVersion ? newest : rec_.before(e_, Slot::o_old));
  const std::vector<float> l = last(Slot::l_new, Slot::l_old);
  const std::vector<float> m = last(Slot::m_new, Slot::m_old);
  cpu::divide_rows(out.tile(), o.rows, o.cols, l.data());
  compare(Slot::o_new, out.read().data, out.read().ld);
  std::vector<float> lse(l.size());
  cpu::log_sum_exp(m.data(), l.data(), o.rows, lse.data());
  if (!difference_) compare(Slot::lse, lse.data(), 1);
}

// O in the dtype, and what the kernel wrote to memory.
void Replayer::store_o() {
  const VersionId stored =
      rec_.after(e_, Slot::o_new) != kNoVersion ? rec_.after(e_, Slot::o_new) : rec_.after(e_, Slot::o_old);
  const VersionId newest = rec_.before(e_, Slot::o_new);
  const Version& o = rec_.version(stored);
  // An order whose O lies in memory brings it back from memory with this event, so the operand is live after it.
  VersionId from = newest != kNoVersion ? newest : rec_.before(e_, Slot::o_old);
  if (order_.state_in_memory) from = rec_.after(e_, Slot::o_old);
  Padded out = load(from);
  cpu::round_tile(rec_.problem.dtype, out.tile(), o.rows, o.cols);
  if (rec_.after(e_, Slot::o_new) != kNoVersion) compare(Slot::o_new, out.read().data, out.read().ld);
  if (difference_) return;
  const std::int64_t row = (event().id.b * rec_.problem.Hq + event().id.h) * rec_.problem.Lq + o.first_row;
  for (std::int64_t r = 0; r < o.rows; ++r) {
    for (std::int64_t c = 0; c < o.cols; ++c) {
      check_written(Slot::o_new, rec_.outputs.out.get((row + r) * o.cols + c), out.read().data[r * out.read().ld + c],
                    r, c);
      if (difference_) return;
    }
  }
  for (std::int64_t r = 0; r < o.rows; ++r) {
    const float lse = rec_.values(rec_.after(e_, Slot::lse))[static_cast<std::size_t>(r)];
    check_written(Slot::lse, rec_.outputs.lse.get(row + r), lse, r, 0);
  }
}

void Replayer::check_written(Slot slot, float written, float replayed, std::int64_t r, std::int64_t c) {
  if (std::bit_cast<std::uint32_t>(written) == std::bit_cast<std::uint32_t>(replayed) ||
      (written != written && replayed != replayed))
    return;
  difference_ = ReplayDifference{e_,
                                 slot,
                                 static_cast<std::int32_t>(r),
                                 static_cast<std::int32_t>(c),
                                 written,
                                 replayed,
                                 phrase("step {}: the kernel wrote {:.9g} at row {}, column {} of its tile, "
                                        "but the replay gives {:.9g}",
                                        e_ + 1, written, r, c, replayed)};
}

void Replayer::compare_written(Slot slot, const Array& written) {
  const Problem& p = rec_.problem;
  const EventId& id = event().id;
  const Version& v = made(slot);
  const std::span<const float> values = rec_.values(rec_.after(e_, slot));
  const bool keys = slot_row(slot).rows == SlotRows::keys;
  const std::int64_t first =
      (keys ? (id.b * p.Hkv + p.kv_head(id.h)) * p.Lk : (id.b * p.Hq + id.h) * p.Lq) + v.first_row;
  for (std::int64_t r = 0; r < v.rows; ++r) {
    for (std::int64_t c = 0; c < v.cols; ++c) {
      if (difference_) return;
      check_written(slot, written.get((first + r) * v.cols + c), values[static_cast<std::size_t>(r * v.cols + c)], r,
                    c);
    }
  }
}

std::optional<ReplayDifference> replay(const Recording& rec, const Stop& stop) {
  return rec.gpu ? replay_of_gpu(rec, stop) : Replayer(rec).run(stop);
}

}  // namespace attn
