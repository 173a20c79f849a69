#include "kernels/recording/recorder.h"

#include <algorithm>
#include <cstring>

#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/traffic.h"

namespace attn::cpu {

Recorder::Recorder(Recording& rec, const Inputs& in) : rec_(rec), in_(in) {
  const Problem& p = rec.problem;
  const auto tiles = static_cast<std::size_t>(p.B * p.Hkv * rec.key_tiles());
  known_k_.assign(tiles, kNoVersion);
  known_v_.assign(tiles, kNoVersion);
  live_.assign(slot_count(), kNoVersion);
  kept_.resize(slot_count());
}

void Recorder::head(std::int64_t b, std::int64_t h) {
  b_ = b;
  h_ = h;
  std::ranges::fill(live_, kNoVersion);
  for (auto& slot : kept_) slot.clear();
}

void Recorder::go_to(std::int64_t b, std::int64_t h) {
  b_ = b;
  h_ = h;
}

VersionId Recorder::add(Slot slot, std::int64_t rows, std::int64_t cols, std::int64_t first_row, std::int64_t first_col,
                        Holds holds) {
  Version v;
  v.offset = rec_.arena.size();
  v.rows = static_cast<std::int32_t>(rows);
  v.cols = static_cast<std::int32_t>(cols);
  v.first_row = static_cast<std::int32_t>(first_row);
  v.first_col = static_cast<std::int32_t>(first_col);
  v.made_by = static_cast<EventIndex>(rec_.events.size());
  v.slot = slot;
  v.holds = holds;
  rec_.arena.resize(rec_.arena.size() + static_cast<std::size_t>(rows * cols));
  rec_.versions.push_back(v);
  return static_cast<VersionId>(rec_.versions.size() - 1);
}

void Recorder::put(Slot slot, ConstTile t, const Place2d& at, std::int64_t rows, std::int64_t cols, Holds holds) {
  const bool scores = slot_row(slot).columns == SlotColumns::keys;
  const VersionId id = add(slot, rows, cols, at.r0, scores ? at.c0 : 0, holds);
  float* to = rec_.arena.data() + rec_.versions[id].offset;
  for (std::int64_t r = 0; r < rows; ++r)
    std::memcpy(to + r * cols, t.data + r * t.ld, static_cast<std::size_t>(cols) * sizeof(float));
  live(slot) = id;
}

void Recorder::column(Slot slot, const float* values, const Place2d& at, Holds holds) {
  put(slot, {values, 1}, at, at.rows, 1, holds);
}

void Recorder::input_tile(Slot slot, const Array& from, std::vector<VersionId>& known, const Place2d& at,
                          std::int64_t j, std::int64_t width) {
  const Problem& p = rec_.problem;
  const std::int64_t kv = p.kv_head(at.h), head = at.b * p.Hkv + kv;
  VersionId& id = known[static_cast<std::size_t>(head * rec_.key_tiles() + j)];
  if (id == kNoVersion) {
    id = add(slot, at.cols, width, at.c0, 0, {});
    read_keys(p, in_, from, {at.b, kv}, at.c0, at.cols, rec_.arena.data() + rec_.versions[id].offset,
              zeroes_tail(rec_.options) ? PageTail::zeroed : PageTail::as_it_lies);
  }
  live(slot) = id;
}

void Recorder::keys(const Place2d& at, std::int64_t j) {
  input_tile(Slot::k, in_.k, known_k_, at, j, rec_.problem.D);
}
void Recorder::values(const Place2d& at, std::int64_t j) {
  input_tile(Slot::v, in_.v, known_v_, at, j, rec_.problem.Dv);
}

void Recorder::move(Slot from, Slot to) {
  if (live(from) != kNoVersion) live(to) = live(from);
  clear(from);
}

void Recorder::shift() {
  move(Slot::m_new, Slot::m_old);
  move(Slot::l_new, Slot::l_old);
  move(Slot::o_new, Slot::o_old);
  clear(Slot::s);
  clear(Slot::p);
  clear(Slot::alpha);
  for (const Slot own : order_row(rec_.order).own_slots) clear(own);
}

void Recorder::keep(Slot slot, std::int64_t i, std::int64_t j) {
  auto& kept = kept_[static_cast<std::size_t>(slot)];
  kept.resize(static_cast<std::size_t>(rec_.query_tiles()) * static_cast<std::size_t>(rec_.key_tiles()), kNoVersion);
  kept[static_cast<std::size_t>(i * rec_.key_tiles() + j)] = live(slot);
}

void Recorder::recall(Slot slot, Slot as, std::int64_t i, std::int64_t j) {
  const auto& kept = kept_[static_cast<std::size_t>(slot)];
  const auto at = static_cast<std::size_t>(i * rec_.key_tiles() + j);
  live(as) = at < kept.size() ? kept[at] : kNoVersion;
}

void Recorder::event(Phase phase, const Place2d& at, std::int64_t i, std::int64_t j, std::int32_t pass) {
  add_traffic(event_traffic(rec_.order, rec_.problem, phase, pass, i, at.rows, at.cols, rec_.score_reads), bytes_);
  Event e;
  e.id = {static_cast<std::int32_t>(b_), static_cast<std::int32_t>(h_), static_cast<std::int32_t>(i),
          static_cast<std::int32_t>(j), phase};
  e.pass = pass;
  std::copy_n(live_.begin(), kSlots, e.after.begin());
  for (const Slot own : order_row(rec_.order).own_slots) rec_.own_after.push_back(live(own));
  e.hbm_bytes = bytes_;
  rec_.events.push_back(e);
}

}  // namespace attn::cpu
