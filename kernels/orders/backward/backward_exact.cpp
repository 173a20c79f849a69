// A backward's numbers in fp64 with a running bound (kernels/recording/replay/exact.cpp has the letters). Q, K, V, O,
// dO and LSE are given, so they are exact. A what-if's number is held against the right one, whatever the run did.
//   delta = dO . O        g(Dv + 2) sum |dO O|
//   P = exp(S - LSE)      as every exponential
//   dP = dO V^T           g(Dv + 2) sum |dO V|
//   dS = P (dP - delta)   with x = dP - delta: |P| b(x) + b(P) (|x| + b(x)) + u |dS|; a softcap's slope is no steeper
//                         in S than 0.77 / c, and adds 2^-20 + 8 u
//   dQ += dS K            b(dQ) + sum b(dS) |K| + g(n + 3) (|dQ| + sum |dS K| + b); dV and dK the same over rows
//   at the end            times the scale, 2 u; rounded to the dtype
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/orders/backward/names.h"
#include "kernels/orders/backward/sums.h"
#include "kernels/recording/replay/exact_keys.h"
#include "kernels/recording/replay/exact_walk.h"

namespace attn::orders::backward {
namespace {

using Num = ExactNumber;

const BackwardNames& names() {
  return backward_names();
}

Num at(const ExactRow& x, std::int64_t i) {
  return x[static_cast<std::size_t>(i)];
}

// A product of given numbers, which are exact.
Num dot(std::span<const float> a, std::span<const float> b, double unit) {
  double sum = 0, size = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    const double term = static_cast<double>(a[n]) * static_cast<double>(b[n]);
    sum += term;
    size += std::fabs(term);
  }
  return {sum, gamma_of(static_cast<double>(a.size()) + 2, unit) * size};
}

Num times(Num a, Num b, double unit) {
  const double x = a.exact * b.exact;
  return {x, std::fabs(a.exact) * b.bound + a.bound * (std::fabs(b.exact) + b.bound) + unit * std::fabs(x)};
}

Num minus(Num a, Num b, double unit) {
  const double x = a.exact - b.exact;
  return {x, a.bound + b.bound + unit * std::fabs(x)};
}

// How a capped score answers the scaled one.
Num slope_of_cap(double cap, Num s, double unit) {
  constexpr double kSteepest = 0.77;  // of 1 - tanh^2
  const double t = std::tanh(s.exact / cap);
  const double moved = kSteepest / cap * s.bound;
  return {1 - t * t, (moved < 1 ? moved : 1) + 2 * kTanhfError + 8 * unit};
}

// A sum that grows: what it was, and terms of which each is a number with its bound times a given one.
class Sum {
 public:
  explicit Sum(Num old) : sum_(old), size_(std::fabs(old.exact)) {}
  void add(Num a, float given) {
    const auto b = static_cast<double>(given);
    sum_.exact += a.exact * b;
    sum_.bound += a.bound * std::fabs(b);
    size_ += std::fabs(a.exact * b);
    ++terms_;
  }
  Num total(double unit) const { return {sum_.exact, sum_.bound + gamma_of(terms_ + 3, unit) * (size_ + sum_.bound)}; }

 private:
  Num sum_;
  double size_, terms_ = 0;
};

// Scaled and rounded as it is written.
Num written(const Problem& p, Num x, double scale, double unit) {
  const double y = scale * x.exact;
  return rounded_to(p.dtype, {y, std::fabs(scale) * x.bound * (1 + 2 * unit) + 2 * unit * std::fabs(y)});
}

// dV += P^T dO, dK += dS^T Q
void exact_key_sum(ExactKeys& w, Slot sum, Slot weights, Slot rows) {
  const VersionId made = w.recording().after(w.index(), sum), weight = w.live(weights), given = w.live(rows);
  const Version& v = w.recording().version(made);
  const VersionId before = key_sum_before(w.recording(), w.index(), sum);
  const std::span<const Num> old = before == kNoVersion ? std::span<const Num>() : w.sum(before);
  std::vector<Sum> sums;
  const auto count = static_cast<std::size_t>(v.rows) * static_cast<std::size_t>(v.cols);
  sums.reserve(count);
  for (std::size_t n = 0; n < count; ++n) sums.emplace_back(n < old.size() ? old[n] : Num{});
  const std::span<const float> values = w.recording().values(given);
  for (std::int32_t r = 0; r < w.recording().version(given).rows; ++r) {
    const ExactRow& of_row = w.query_row(weight, r);
    const auto row = values.subspan(static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols),
                                    static_cast<std::size_t>(v.cols));
    for (std::size_t key = 0; key < of_row.size(); ++key)
      for (std::size_t d = 0; d < row.size(); ++d) sums[key * row.size() + d].add(of_row[key], row[d]);
  }
  w.make(sum, [&](std::int32_t r, std::int32_t c) {
    return sums[static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c)].total(
        w.unit());
  });
}

}  // namespace

// As the forward gave it.
void exact_load_rows(ExactWalk& w) {
  const Recording& rec = w.recording();
  if (!rec.inputs.lse) return;
  const EventId& id = rec.events[w.index()].id;
  const auto lse =
      static_cast<double>(rec.inputs.lse->get((std::int64_t{id.b} * rec.problem.Hq + id.h) * rec.problem.Lq + w.row()));
  w.make(Slot::lse, [&](std::int64_t) { return Num{lse, 0}; });
}

void exact_row_dots(ExactWalk& w) {
  const Num delta = dot(w.recorded(w.live(names().d_o)), w.recorded(w.live(names().o)), w.arithmetic().unit);
  w.make(names().delta, [&](std::int64_t) { return delta; });
}

void exact_weights(ExactWalk& w) {
  const ExactRow& s = w.operand(w.live(Slot::s));
  Num lse = w.first(w.live(Slot::lse));
  if (std::isinf(lse.exact) && lse.exact < 0) lse = {};  // a row that sees no key
  w.make(Slot::p, [&](std::int64_t c) { return exp_of_difference(w.arithmetic(), at(s, c), lse); });
}

void exact_weight_gradient(ExactWalk& w) {
  const std::span<const float> d_o = w.recorded(w.live(names().d_o)), v = w.recording().values(w.live(Slot::v));
  w.make(names().dp, [&](std::int64_t c) {
    return dot(d_o, v.subspan(static_cast<std::size_t>(c) * d_o.size(), d_o.size()), w.arithmetic().unit);
  });
}

void exact_score_gradient(ExactWalk& w) {
  const ExactRow &p = w.operand(w.live(Slot::p)), &dp = w.operand(w.live(names().dp));
  const Num delta = w.first(w.live(names().delta));
  const double unit = w.arithmetic().unit;
  const std::optional<double>& cap = w.recording().problem.softcap;
  const VersionId bare = scores_before_mask(w.recording(), w.index());
  const ExactRow* const s = cap && bare != kNoVersion ? &w.operand(bare) : nullptr;
  w.make(names().ds, [&](std::int64_t c) {
    const Num ds = times(at(p, c), minus(at(dp, c), delta, unit), unit);
    return s == nullptr ? ds : times(ds, slope_of_cap(*cap, at(*s, c), unit), unit);
  });
}

void exact_query_gradient(ExactWalk& w) {
  const ExactRow& ds = w.operand(w.live(names().ds));
  const std::span<const float> k = w.recording().values(w.live(Slot::k));
  const auto d = static_cast<std::size_t>(w.recording().problem.D);
  const VersionId before = query_sum_before(w.recording(), w.index(), names().dq);
  std::vector<Sum> sums;
  sums.reserve(d);
  for (std::size_t c = 0; c < d; ++c)
    sums.emplace_back(before == kNoVersion ? Num{} : at(w.operand(before), static_cast<std::int64_t>(c)));
  for (std::size_t key = 0; key < ds.size(); ++key)
    for (std::size_t c = 0; c < d; ++c) sums[c].add(ds[key], k[key * d + c]);
  w.make(names().dq, [&](std::int64_t c) { return sums[static_cast<std::size_t>(c)].total(w.arithmetic().unit); });
}

void exact_store_dq(ExactWalk& w) {
  const Problem& p = w.recording().problem;
  const VersionId before = query_sum_before(w.recording(), w.index(), names().dq);
  const ExactRow* const sum = before == kNoVersion ? nullptr : &w.operand(before);
  w.make(names().dq, [&](std::int64_t c) {
    return written(p, sum == nullptr ? Num{} : at(*sum, c), p.effective_scale(), w.arithmetic().unit);
  });
}

void exact_value_gradient(ExactKeys& w) {
  exact_key_sum(w, names().dv, Slot::p, names().d_o);
}

void exact_key_gradient(ExactKeys& w) {
  exact_key_sum(w, names().dk, names().ds, Slot::q);
}

void exact_store_dkv(ExactKeys& w) {
  const Problem& p = w.recording().problem;
  for (const Slot slot : {names().dk, names().dv}) {
    const VersionId before = key_sum_before(w.recording(), w.index(), slot);
    const std::span<const Num> sum = before == kNoVersion ? std::span<const Num>() : w.sum(before);
    const auto cols = static_cast<std::size_t>(slot == names().dk ? p.D : p.Dv);
    const double scale = slot == names().dk ? p.effective_scale() : 1;
    w.make(slot, [&](std::int32_t r, std::int32_t c) {
      const std::size_t n = static_cast<std::size_t>(r) * cols + static_cast<std::size_t>(c);
      return written(p, sum.empty() ? Num{} : sum[n], scale, w.unit());
    });
  }
}

}  // namespace attn::orders::backward
