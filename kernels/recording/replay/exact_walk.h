// The formulas in fp64 with a running error bound, one event at a time for one row: what the steps of its phases are
// written with. How the bounds of the steps that orders share are made stands in exact.cpp; an order's row names which
// of them a phase takes, or a function of the order's.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "kernels/model/order_row.h"
#include "kernels/recording/recording.h"
#include "kernels/recording/replay/bounds.h"
#include "kernels/recording/replay/exact_number.h"
#include "kernels/recording/replay/shared_steps.h"

namespace attn {

// One row of a version, by column.
using ExactRow = std::vector<ExactNumber>;
// A row's numbers by version. A map: what was computed stays where it is while more is added.
using RowNumbers = std::map<VersionId, ExactRow>;

// Walks the events of one query tile in their order, for one of its rows.
class ExactWalk {
 public:
  // `t`: the type whose rounding the bounds allow l and O. `row` counts in the whole tensor.
  ExactWalk(const Recording& rec, DType t, std::int32_t row, RowNumbers& out);
  void event(EventIndex e);

  // ---- what a step reads
  const Recording& recording() const { return rec_; }
  EventIndex index() const { return e_; }
  std::int32_t row() const { return row_; }  // in the whole tensor
  VersionId live(Slot s) const {
    const VersionId now = rec_.after(e_, s);
    return now != kNoVersion ? now : rec_.before(e_, s);
  }
  // The walk's row of a version that was recorded by query row; empty where a ragged tile has none.
  std::span<const float> recorded(VersionId id) const;
  // An operand as fp64 with its bound; what the run set itself (m, l, O before the first key tile) is exact.
  const ExactRow& operand(VersionId id);
  ExactNumber first(VersionId id);

  // ---- what it says
  // Numbers of the version that slot `s` got in this event: `number(column)`.
  template <class F>
  void make(Slot s, const F& number) {
    constexpr double kEnlarge = 1.01, kInf = std::numeric_limits<double>::infinity();
    const VersionId id = rec_.after(e_, s);
    const std::span<const float> kernel = recorded(id);
    ExactRow out;
    out.reserve(kernel.size());
    for (std::size_t c = 0; c < kernel.size(); ++c) {
      const ExactNumber n = number(static_cast<std::int64_t>(c));
      const bool finite = std::isfinite(n.exact) && std::isfinite(kernel[c]);
      out.push_back({n.exact, finite ? n.bound * kEnlarge : (n.exact == -kInf ? 0 : kInf)});
    }
    out_[id] = std::move(out);
  }

  // What a processor's arithmetic is good for: its unit of rounding, and the relative error of its exponential.
  struct Arithmetic {
    double unit = kUnitRoundoff, exp_error = 0;
  };
  const Arithmetic& arithmetic() const { return by_; }
  // The unit in which l and O are rounded.
  double sum_unit() const { return accumulate_unit_; }

  ATTN_SHARED_STEPS;

 private:
  ExactNumber capped(double c, ExactNumber x) const;
  ExactNumber masked(const Version& v, std::int64_t c, ExactNumber n) const;
  VersionId newest(Slot new_slot, Slot old_slot) const;
  void lse(ExactNumber m, ExactNumber l);

  const Recording& rec_;
  const OrderRow& order_;
  std::int32_t row_;  // in the whole tensor
  RowNumbers& out_;
  Arithmetic by_;
  double accumulate_unit_ = kUnitRoundoff;
  const Array* bias_ = nullptr;
  EventIndex e_ = 0;
};

// exp(a - c), and a number rounded to a type, with their bounds.
ExactNumber exp_of_difference(const ExactWalk::Arithmetic& by, ExactNumber a, ExactNumber c);
ExactNumber rounded_to(DType t, ExactNumber x);

}  // namespace attn
