#include "kernels/recording/recorder.h"

#include <algorithm>
#include <cstring>

#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/traffic.h"

namespace attn::cpu {

namespace {

constexpr std::int64_t kCopied = 4;  // what a number that is written costs, the memory's first touch included

}  // namespace

Recorder::Recorder(Recording& rec, const Inputs& in, WalkMark* mark) : rec_(rec), in_(in), mark_(mark) {
  const Problem& p = rec.problem;
  const auto tiles = static_cast<std::size_t>(p.B * p.Hkv * rec.key_tiles());
  known_k_.assign(tiles, kNoVersion);
  known_v_.assign(tiles, kNoVersion);
  live_.assign(slot_count(), kNoVersion);
  kept_.resize(slot_count());
}

void Recorder::head(std::int64_t b, std::int64_t h) {
  if (skips()) return;
  b_ = b;
  h_ = h;
  std::ranges::fill(live_, kNoVersion);
  for (auto& slot : kept_) slot.clear();
}

void Recorder::go_to(std::int64_t b, std::int64_t h) {
  if (skips()) return;
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
  rec_.versions.push_back(v);
  return static_cast<VersionId>(rec_.versions.size() - 1);
}

float* Recorder::append(std::int64_t floats) {
  const std::size_t at = rec_.arena.size();
  rec_.arena.resize(at + static_cast<std::size_t>(floats));
  return rec_.arena.data() + at;
}

void Recorder::put(Slot slot, ConstTile t, const Place2d& at, std::int64_t rows, std::int64_t cols, Holds holds) {
  const bool scores = slot_row(slot).columns == SlotColumns::keys;
  once([&] { live(slot) = add(slot, rows, cols, at.r0, scores ? at.c0 : 0, holds); });
  blocks(rows, cols * kCopied, [&](std::int64_t first, std::int64_t n) {
    float* to = append(n * cols);
    for (std::int64_t r = first; r < first + n; ++r, to += cols)
      std::memcpy(to, t.data + r * t.ld, static_cast<std::size_t>(cols) * sizeof(float));
  });
}

void Recorder::column(Slot slot, const float* values, const Place2d& at, Holds holds) {
  put(slot, {values, 1}, at, at.rows, 1, holds);
}

void Recorder::input_tile(Slot slot, const Array& from, std::vector<VersionId>& known, const Place2d& at,
                          std::int64_t j, std::int64_t width) {
  const Problem& p = rec_.problem;
  const std::int64_t kv = p.kv_head(at.h), head = at.b * p.Hkv + kv;
  VersionId& id = known[static_cast<std::size_t>(head * rec_.key_tiles() + j)];
  once([&] {
    if (id == kNoVersion) id = add(slot, at.cols, width, at.c0, 0, {});
    live(slot) = id;
  });
  blocks(at.cols, width * kCopied, [&](std::int64_t first, std::int64_t n) {
    if (rec_.arena.size() != rec_.versions[id].offset + static_cast<std::size_t>(first * width))
      return;  // they are there
    read_keys(p, in_, from, {at.b, kv}, at.c0 + first, n, append(n * width),
              zeroes_tail(rec_.options) ? PageTail::zeroed : PageTail::as_it_lies);
  });
}

void Recorder::keys(const Place2d& at, std::int64_t j) {
  input_tile(Slot::k, in_.k, known_k_, at, j, rec_.problem.D);
}
void Recorder::values(const Place2d& at, std::int64_t j) {
  input_tile(Slot::v, in_.v, known_v_, at, j, rec_.problem.Dv);
}

void Recorder::move(Slot from, Slot to) {
  if (skips()) return;
  move_now(from, to);
}

void Recorder::move_now(Slot from, Slot to) {
  if (live(from) != kNoVersion) live(to) = live(from);
  live(from) = kNoVersion;
}

void Recorder::shift() {
  if (skips()) return;
  move_now(Slot::m_new, Slot::m_old);
  move_now(Slot::l_new, Slot::l_old);
  move_now(Slot::o_new, Slot::o_old);
  for (const Slot slot : {Slot::s, Slot::p, Slot::alpha}) live(slot) = kNoVersion;
  for (const Slot own : order_row(rec_.order).own_slots) live(own) = kNoVersion;
}

void Recorder::keep(Slot slot, std::int64_t i, std::int64_t j) {
  if (skips()) return;
  auto& kept = kept_[static_cast<std::size_t>(slot)];
  kept.resize(static_cast<std::size_t>(rec_.query_tiles()) * static_cast<std::size_t>(rec_.key_tiles()), kNoVersion);
  kept[static_cast<std::size_t>(i * rec_.key_tiles() + j)] = live(slot);
}

void Recorder::recall(Slot slot, Slot as, std::int64_t i, std::int64_t j) {
  if (skips()) return;
  const auto& kept = kept_[static_cast<std::size_t>(slot)];
  const auto at = static_cast<std::size_t>(i * rec_.key_tiles() + j);
  live(as) = at < kept.size() ? kept[at] : kNoVersion;
}

void Recorder::event(Phase phase, const Place2d& at, std::int64_t i, std::int64_t j, std::int32_t pass) {
  if (skips()) return;
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
