// The replay of a GPU's recording against fp64, one event at a time: what the steps of its phases are written with. The
// bounds of the steps that orders share stand in replay_gpu.cpp; an order's row names which of them a phase takes, or a
// function of the order's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/base/stop.h"
#include "kernels/model/order_row.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/replay/replay_difference.h"
#include "kernels/recording/replay/shared_steps.h"

namespace attn {

// A number and how far a right kernel's may be from it.
struct Within {
  double exact = 0, bound = 0;
};
// +inf as a bound agrees with everything; NaN and infinities agree with themselves.
bool agrees(float recorded, const Within& w);

class GpuReplayer {
 public:
  explicit GpuReplayer(const Recording& rec);
  std::optional<ReplayDifference> run(const Stop& stop);

  // ---- what a step reads
  using Values = std::span<const float>;
  const Recording& recording() const { return rec_; }
  const EventId& id() const { return rec_.events[e_].id; }
  VersionId after(Slot s) const { return rec_.after(e_, s); }
  VersionId before(Slot s) const { return rec_.before(e_, s); }
  VersionId live(Slot s) const { return after(s) != kNoVersion ? after(s) : before(s); }
  // One row of a version.
  Values row(VersionId v, std::int32_t r) const {
    const auto cols = static_cast<std::size_t>(rec_.version(v).cols);
    return rec_.values(v).subspan(static_cast<std::size_t>(r) * cols, cols);
  }
  double number(VersionId v, std::int32_t r) const { return static_cast<double>(row(v, r)[0]); }

  // ---- what it says
  // Holds the version that slot `s` has after this event against `number(row, column)`, a Within.
  template <class F>
  void compare(Slot slot, const F& number) {
    if (difference_) return;
    const VersionId made = after(slot);
    const Version& v = rec_.version(made);
    for (std::int32_t r = 0; r < v.rows; ++r) {
      const Values recorded = row(made, r);
      for (std::int32_t c = 0; c < v.cols; ++c) {
        const Within w = number(r, c);
        const float x = recorded[static_cast<std::size_t>(c)];
        if (agrees(x, w)) continue;
        if (!difference_) differs(slot, r, c, x, w);
        difference_->numbers.push_back({r, c, static_cast<double>(x), w.exact});
      }
    }
  }

  ATTN_SHARED_STEPS;

 private:
  void phase();
  void first_state();
  void loaded(Slot slot);
  void differs(Slot slot, std::int32_t r, std::int32_t c, float recorded, const Within& w);
  double exp_of(double x) const;
  double exp_error(double x) const;
  Within exp_within(double x, double scaled = 0) const;
  double sum_error(double n) const;
  bool on_halves() const;
  double size_of_factor(double x) const;
  Within shaped(const Version& s, std::int32_t r, std::int32_t c, Within x, double bias) const;
  double bias_of(const Version& s, std::int32_t r, std::int32_t c) const;
  bool warp_sees_none(const Version& s, std::int32_t r, std::int32_t c) const;
  double units_of_m(Slot m) const;
  bool has_column(std::int32_t lanes, std::int32_t lane, std::int32_t c) const;
  void sum_of_lanes();
  void sum_of_row();
  VersionId newest(Slot fresh, Slot old) const;
  VersionId live_either(Slot fresh, Slot old) const;
  double l_of(VersionId v, std::int32_t r) const;
  Within lse_within(VersionId m, VersionId l, std::int32_t r) const;
  void wrote(Slot slot, std::int32_t r, std::int32_t c, float written, float replayed);

  const Recording& rec_;
  const OrderRow& order_;
  const Problem& p_;
  const Array* bias_ = nullptr;
  EventIndex e_ = 0;
  std::optional<ReplayDifference> difference_;
};

}  // namespace attn
