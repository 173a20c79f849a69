// What a step of a recorded run had at hand: the numbers that a likely cause is computed from. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/model/order_row.h"
#include "kernels/model/problem/pages.h"
#include "kernels/recording/recording.h"

namespace attn::causes {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What a formula gives, and the sum of the sizes of what was added up for it: rounding goes by that.
struct Value {
  double x = kNan;
  double size = 0;
};

// The operands of one step as the recording holds them, by row and column of its tile.
class Operands {
 public:
  Operands(const Recording& rec, EventIndex e) : rec_(rec), e_(e) {}

  // Orders that store S read it back, and have the old m and l, with the event itself.
  VersionId version(Slot s) const {
    const bool with_event =
        order_row(rec_.order).stores_scores && (s == Slot::s || s == Slot::m_old || s == Slot::l_old);
    return with_event ? rec_.after(e_, s) : rec_.before(e_, s);
  }
  bool has(Slot s) const { return version(s) != kNoVersion; }
  double at(Slot s, std::int32_t row, std::int32_t col = 0) const { return number(version(s), row, col); }
  // What the event itself made.
  double made(Slot s, std::int32_t row, std::int32_t col = 0) const { return number(rec_.after(e_, s), row, col); }
  std::int32_t cols(Slot s) const { return has(s) ? rec_.version(version(s)).cols : 0; }
  std::int32_t rows(Slot s) const { return has(s) ? rec_.version(version(s)).rows : 0; }

  double row_max(std::int32_t row) const {
    double best = -kInf;
    for (std::int32_t c = 0; c < cols(Slot::s); ++c) best = std::max(best, at(Slot::s, row, c));
    return best;
  }
  double row_sum(std::int32_t row) const {
    double sum = 0;
    if (!order_row(rec_.order).stores_scores) {
      for (std::int32_t c = 0; c < cols(Slot::p); ++c) sum += at(Slot::p, row, c);
      return sum;
    }
    const double m = at(Slot::m_new, row);
    for (std::int32_t c = 0; c < cols(Slot::s); ++c) sum += std::exp(at(Slot::s, row, c) - (m == -kInf ? 0 : m));
    return sum;
  }
  Value weighted(std::int32_t row, std::int32_t col) const {
    return weighted_with(row, [&](std::int32_t c) { return at(Slot::v, c, col); });
  }
  // The row's weights times what `value_of` gives for each column of theirs.
  Value weighted_with(std::int32_t row, const std::function<double(std::int32_t)>& value_of) const {
    Value v{0, 0};
    for (std::int32_t c = 0; c < cols(Slot::p); ++c) {
      const double term = at(Slot::p, row, c) * value_of(c);
      v.x += term;
      v.size += std::fabs(term);
    }
    return v;
  }
  // What the event made of this slot holds `value` everywhere.
  bool all_are(Slot s, float value) const {
    const VersionId id = rec_.after(e_, s);
    return id != kNoVersion && std::ranges::all_of(rec_.values(id), [value](float x) { return x == value; });
  }
  // No tile before has raised m of any row.
  bool first_tile_of_row() const {
    const VersionId id = version(Slot::m_old);
    return id == kNoVersion ||
           std::ranges::all_of(rec_.values(id), [](float x) { return static_cast<double>(x) == -kInf; });
  }
  // All keys of the step's head, of K or V as the inputs hold them.
  std::vector<float> all_keys(const Array& from) const {
    const Problem& p = rec_.problem;
    const EventId& id = rec_.events[e_].id;
    std::vector<float> keys(static_cast<std::size_t>(p.Lk * from.extent(3)));
    read_keys(p, rec_.inputs, from, {id.b, p.kv_head(id.h)}, 0, p.Lk, keys.data());
    return keys;
  }
  const Recording& recording() const { return rec_; }
  EventIndex event() const { return e_; }

 private:
  double number(VersionId id, std::int32_t row, std::int32_t col) const {
    if (id == kNoVersion) return kNan;
    const Version& v = rec_.version(id);
    if (row >= v.rows || col >= v.cols) return kNan;
    return static_cast<double>(rec_.values(
        id)[static_cast<std::size_t>(row) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(col)]);
  }

  const Recording& rec_;
  EventIndex e_;
};

}  // namespace attn::causes
