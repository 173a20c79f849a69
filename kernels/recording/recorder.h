// Writes a recording while a kernel walks. Kernels are templates over it; NoTrace compiles away.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/arithmetic/vector_ops.h"
#include "kernels/base/pieces.h"
#include "kernels/recording/recording.h"

namespace attn::cpu {

struct NoTrace {
  static constexpr bool kOn = false;
  void head(std::int64_t, std::int64_t) {}
  void put(Slot, ConstTile, const Place2d&, std::int64_t, std::int64_t, Holds = {}) {}
  void column(Slot, const float*, const Place2d&, Holds = {}) {}
  void keys(const Place2d&, std::int64_t) {}
  void values(const Place2d&, std::int64_t) {}
  void clear(Slot) {}
  void shift() {}
  void move(Slot, Slot) {}
  void keep(Slot, std::int64_t, std::int64_t) {}
  void recall(Slot, Slot, std::int64_t, std::int64_t) {}
  void event(Phase, const Place2d&, std::int64_t, std::int64_t, std::int32_t = 0) {}
  template <class Step>
  void once(const Step& step, std::int64_t = 0) const {
    step();
  }
  template <class Body>
  void each(std::int64_t first, std::int64_t last, const Body& body) const {
    for (std::int64_t n = first; n < last; ++n) body(n);
  }
  template <class Body>
  void blocks(std::int64_t n, std::int64_t, const Body& body) const {
    body(std::int64_t{0}, n);
  }
};

// Nothing is written, but the walk may be left in the middle.
struct NoTraceInSteps : NoTrace {
  explicit NoTraceInSteps(WalkMark& of) : mark(of) {}
  template <class Step>
  void once(const Step& step, std::int64_t cost = WalkMark::kStep) const {
    mark.once(step, cost);
  }
  template <class Body>
  void each(std::int64_t first, std::int64_t last, const Body& body) const {
    mark.each(first, last, body);
  }
  template <class Body>
  void blocks(std::int64_t n, std::int64_t cost_each, const Body& body) const {
    mark.blocks(n, cost_each, body);
  }

  WalkMark& mark;
};

class Recorder {
 public:
  static constexpr bool kOn = true;
  // `rec` has its problem, options, order and score_reads; inputs are read for K and V. With a mark each call is a
  // step of the walk.
  Recorder(Recording& rec, const Inputs& in, WalkMark* mark = nullptr);

  // As a mark has them; what a kernel computes between two calls is in one of these.
  template <class Step>
  void once(const Step& step, std::int64_t cost = WalkMark::kStep) {
    mark_ != nullptr ? mark_->once(step, cost) : step();
  }
  template <class Body>
  void each(std::int64_t first, std::int64_t last, const Body& body) {
    if (mark_ != nullptr) return mark_->each(first, last, body);
    for (std::int64_t n = first; n < last; ++n) body(n);
  }
  template <class Body>
  void blocks(std::int64_t n, std::int64_t cost_each, const Body& body) {
    mark_ != nullptr ? mark_->blocks(n, cost_each, body) : body(std::int64_t{0}, n);
  }
  // With a mark alone.
  template <class T, class... Args>
  T& kept(Args&&... args) {
    return mark_->kept<T>(std::forward<Args>(args)...);
  }

  // A new head: nothing is live.
  void head(std::int64_t b, std::int64_t h);
  // Another head, of the same key tile: what is live stays.
  void go_to(std::int64_t b, std::int64_t h);
  // A new version of `slot`: rows x cols of `t`, live from now on. Rows start at at.r0, columns at at.c0 where they are
  // keys.
  void put(Slot slot, ConstTile t, const Place2d& at, std::int64_t rows, std::int64_t cols, Holds holds = {});
  void column(Slot slot, const float* values, const Place2d& at, Holds holds = {});
  // K_j or V_j from the inputs; one version a tile and key/value head, shared by all who load it.
  void keys(const Place2d& at, std::int64_t j);
  void values(const Place2d& at, std::int64_t j);
  void clear(Slot slot) {
    if (!skips()) live(slot) = kNoVersion;
  }
  // The next key tile: what was new is old; S, P, alpha and the order's own slots are not computed yet.
  void shift();
  // What lives in `from`, if anything, lives in `to` instead.
  void move(Slot from, Slot to);
  // Remembers the live version under (i, j), and makes a remembered one live again as `as` (HBM in orders that store).
  void keep(Slot slot, std::int64_t i, std::int64_t j);
  void recall(Slot slot, Slot as, std::int64_t i, std::int64_t j);
  // The version that lives in `slot`, and makes one live again; for walks that remember by more than (i, j).
  VersionId shown(Slot slot) const { return live_[static_cast<std::size_t>(slot)]; }
  void show(Slot slot, VersionId id) {
    if (!skips()) live(slot) = id;
  }
  // The event ends: what is live now is live after it.
  void event(Phase phase, const Place2d& at, std::int64_t i, std::int64_t j, std::int32_t pass = 0);

 private:
  bool skips() { return mark_ != nullptr && mark_->skips(); }
  VersionId& live(Slot slot) { return live_[static_cast<std::size_t>(slot)]; }
  void move_now(Slot from, Slot to);
  float* append(std::int64_t floats);  // to the arena
  // Its numbers are appended next.
  VersionId add(Slot slot, std::int64_t rows, std::int64_t cols, std::int64_t first_row, std::int64_t first_col,
                Holds holds);
  void input_tile(Slot slot, const Array& from, std::vector<VersionId>& known, const Place2d& at, std::int64_t j,
                  std::int64_t width);

  Recording& rec_;
  const Inputs& in_;
  WalkMark* mark_;  // null: nobody pauses
  std::int64_t b_ = 0, h_ = 0;
  std::vector<VersionId> live_;  // by slot
  std::array<std::uint64_t, 8> bytes_{};
  std::vector<VersionId> known_k_, known_v_;  // by (b, kv head, j)
  std::vector<std::vector<VersionId>> kept_;  // by slot: by (i, j), this head
};

}  // namespace attn::cpu
