// The bitwise replay of a CPU's recording, one event at a time: what the steps of its phases are written with. The
// steps that orders share are its own; an order's row names which of them a phase takes, or a function of the order's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/base/stop.h"
#include "kernels/model/order_row.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/replay/replay_difference.h"
#include "kernels/recording/replay/shared_steps.h"

namespace attn {

// A tile with its rows padded as the kernels keep them.
class Padded {
 public:
  Padded(std::int64_t rows, std::int64_t cols, float fill = 0);
  cpu::MutTile tile() { return {store_.data() + shift_, ld_}; }
  cpu::ConstTile read() const { return {store_.data() + shift_, ld_}; }

 private:
  std::int64_t ld_;
  std::size_t shift_ = 0;
  std::vector<float> store_;
};

class Replayer {
 public:
  explicit Replayer(const Recording& rec);
  std::optional<ReplayDifference> run(const Stop& stop);

  // ---- what a step reads
  const Recording& recording() const { return rec_; }
  EventIndex index() const { return e_; }
  const Event& event() const { return rec_.events[e_]; }
  // The version that slot `s` has after the event.
  const Version& made(Slot s) const { return rec_.version(rec_.after(e_, s)); }
  // The version live before this event, padded; the padding of scores is -inf.
  Padded operand(Slot s) const { return load(rec_.before(e_, s)); }
  Padded load(VersionId id) const;
  // A column is kept contiguous, not padded row by row: as it was before the event, and after it.
  std::vector<float> column(Slot s) const;
  std::vector<float> column_after(Slot s) const;
  // Vector rules, else scalar ones.
  bool vector() const { return rec_.rules == Rules::vector; }

  // ---- what it says
  // Holds what slot `s` has after the event against `values`, rows `ld` apart: bit for bit, NaN to NaN.
  void compare(Slot slot, const float* values, std::int64_t ld);
  void compare(Slot slot, const Padded& values) { compare(slot, values.read().data, values.read().ld); }
  // What the kernel wrote to memory, [batch, head, row, column], against the version that slot `s` has after the event.
  void compare_written(Slot slot, const Array& written);

  ATTN_SHARED_STEPS;

 private:
  void phase();
  void first_state();
  void loaded(Slot slot);
  std::vector<float> last(Slot fresh, Slot old) const;
  void check_written(Slot slot, float written, float replayed, std::int64_t r, std::int64_t c);

  const Recording& rec_;
  const OrderRow& order_;
  const float scale_;
  const float* bias_ = nullptr;
  EventIndex e_ = 0;
  std::optional<ReplayDifference> difference_;
};

}  // namespace attn
