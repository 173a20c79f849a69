// The recording's numbers again in fp64, each with a bound on how far the kernel's fp32 number may be from it.
//
// u = 2^-24 is the unit roundoff of fp32, g(n) = n u / (1 - n u) (Higham, Accuracy and Stability of Numerical
// Algorithms, section 3.1). With b(x) the bound of x, to first order and then enlarged by 1 %:
//   S = scale q.k        g(D + 2) |scale| sum |q_d k_d|;  a bias adds u |S|;  c tanh(S / c) is no steeper than S and
//                        adds (2^-21 + 4 u) |S|, ALiBi u (|S| + 3 |slope distance|)
//   m                    the largest b(S) of the row so far (|max a - max b| <= max |a - b|)
//   exp(x), x = a - b    e = b(a) + b(b) + u |x|;  exp(x) (exp(e) - 1 + kExpError exp(e)) + 2^-126
//   l = alpha l + sum P  alpha b(l) + b(alpha) (l + b(l)) + sum b(P) + g(n + 3) (alpha l + sum P)
//   O = f O + P V        f b(O) + b(f) (|O| + b(O)) + sum b(P) |V| + g(n + 3) (f |O| + sum P |V|)
//   x / l                (b(x) + |x / l| b(l)) / (l - b(l)) + u |x / l|
//   LSE = m + ln l       b(m) + b(l) / (l - b(l)) + u (|LSE| + |ln l| + |m|)
//   rounded to a dtype   half its epsilon times the value, and half its least subnormal
// fp64's own errors are 2^-29 of these and lie in the 1 %. l and O accumulated in a narrower type t (what-if) take
// epsilon(t) / 2 for u. A bound is +inf where the recorded number or the exact one is not finite.
// A GPU's run takes 2^-22 for kExpError (ex2.approx, expf: two units in the last place), and u twice as large: its
// scores are in units of ln 2 and rounded once more for the formulas' reading; where P enters the product in 16 bits it
// is rounded to them first, and u is taken four times, since tensor cores cut what they add; eight times where a
// product is three of TF32 (replay_gpu.cpp). Where m need not be the maximum, it is the m before if the kernel left it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/arithmetic/math.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/pages.h"
#include "kernels/recording/replay/bounds.h"
#include "kernels/recording/replay/exact.h"
#include "kernels/recording/replay/exact_keys.h"
#include "kernels/recording/replay/exact_walk.h"

namespace attn {

namespace {

constexpr double kUnit = kUnitRoundoff;
constexpr double kInf = std::numeric_limits<double>::infinity();

using Num = ExactNumber;
using Row = ExactRow;
using Arithmetic = ExactWalk::Arithmetic;

Num divided(const Arithmetic& by, Num x, Num l) {
  if (l.exact == 0) return {0, 0};
  const double q = x.exact / l.exact;
  const double rest = l.exact - l.bound;
  return {q, rest > 0 ? (x.bound + std::fabs(q) * l.bound) / rest + by.unit * std::fabs(q) : kInf};
}

Num shift(Num m) {
  return m.exact == -kInf ? Num{0, 0} : m;
}

Num at(const Row& x, std::int64_t i) {
  return x[static_cast<std::size_t>(i)];
}

}  // namespace

Num exp_of_difference(const Arithmetic& by, Num a, Num c) {
  const double x = a.exact - c.exact;
  if (a.exact == -kInf) return {0, 0};
  const double e = a.bound + c.bound + by.unit * std::fabs(x);
  const double y = std::exp(x);
  return {y, y * (std::expm1(e) + by.exp_error * std::exp(e)) + 0x1p-126};
}

Num rounded_to(DType t, Num x) {
  if (t == DType::f32) return x;
  const double min = t == DType::f16 ? 0x1p-24 : 0x1p-133;
  return {x.exact, x.bound + epsilon_of(t) / 2 * (std::fabs(x.exact) + x.bound) + min / 2};
}

ExactWalk::ExactWalk(const Recording& rec, DType t, std::int32_t row, RowNumbers& out)
    : rec_(rec), order_(order_row(rec.order)), row_(row), out_(out) {
  by_ = {kUnit, kExpError};
  if (rec.gpu) by_ = {(rec.gpu->tf32x3 ? 8 : rec.gpu->p == DType::f32 ? 2 : 4) * kUnit, 0x1p-22};
  accumulate_unit_ = t == DType::f32 ? by_.unit : epsilon_of(t) / 2;
  if (rec.inputs.bias) bias_ = &*rec.inputs.bias;
}

void ExactWalk::event(EventIndex e) {
  e_ = e;
  const OrderPhase* as = order_.phase(rec_.events[e].id.phase);
  if (as != nullptr && as->exact != nullptr) as->exact(*this);  // the others compute nothing
}

// The walk's row of a version that was recorded by query row; empty where a ragged tile has none.
std::span<const float> ExactWalk::recorded(VersionId id) const {
  const Version& v = rec_.version(id);
  const std::int32_t r = row_ - v.first_row;
  if (r < 0 || r >= v.rows) return {};
  return rec_.values(id).subspan(static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols),
                                 static_cast<std::size_t>(v.cols));
}
// Operand as fp64 with bound; what the run set itself (m, l, O before the first key tile) is exact.
const ExactRow& ExactWalk::operand(VersionId id) {
  const auto [at, fresh] = out_.try_emplace(id);
  if (fresh) {
    for (const float x : recorded(id)) at->second.push_back({static_cast<double>(x), 0});
  }
  return at->second;
}
Num ExactWalk::first(VersionId id) {
  const Row& row = operand(id);
  return row.empty() ? Num{} : row[0];
}

void ExactWalk::scores() {
  const std::span<const float> q = recorded(live(Slot::q)), k = rec_.values(live(Slot::k));
  const auto d = static_cast<std::size_t>(rec_.problem.D);
  const double scale = rec_.problem.effective_scale();
  const bool masks = rec_.version(rec_.after(e_, Slot::s)).holds.masked;  // a GPU that stores S masks it before
  make(Slot::s, [&](std::int64_t c) {
    const std::span<const float> key = k.subspan(static_cast<std::size_t>(c) * d, d);
    double sum = 0;
    double size = 0;
    for (std::size_t x = 0; x < d; ++x) {
      const double product = static_cast<double>(q[x]) * static_cast<double>(key[x]);
      sum += product;
      size += std::fabs(product);
    }
    const Num n{scale * sum, gamma_of(static_cast<double>(d) + 2, by_.unit) * std::fabs(scale) * size};
    return masks ? masked(rec_.version(rec_.after(e_, Slot::s)), c, n) : n;
  });
}

// c tanh(x / c): no steeper than x, and never beyond c.
Num ExactWalk::capped(double c, Num x) const {
  const double y = c * std::tanh(x.exact / c);
  const double moved = x.bound < 2 * c ? x.bound : 2 * c;
  return {y, moved + (kTanhfError + 4 * by_.unit) * std::fabs(y)};
}
// Column c of a tile of S with softcap, bias, ALiBi and mask.
Num ExactWalk::masked(const Version& v, std::int64_t c, Num n) const {
  const EventId& id = rec_.events[e_].id;
  const std::int64_t key = v.first_col + c;
  const Problem& p = rec_.problem;
  if (!p.visible(id.b, row_, key)) return {-kInf, 0};
  if (p.softcap) n = capped(*p.softcap, n);
  if (bias_ != nullptr) {
    const auto bias = static_cast<double>(bias_->get(p.bias_index(id.b, id.h, row_, key)));
    if (bias == -kInf) return {-kInf, 0};
    n.exact += bias;
    n.bound += by_.unit * std::fabs(n.exact);
  }
  if (p.alibi) {
    const double taken = p.alibi_at(id.b, id.h, row_, key);
    n.exact -= taken;
    n.bound += by_.unit * (std::fabs(n.exact) + 3 * std::fabs(taken));
  }
  return n;
}
void ExactWalk::mask() {
  if (rec_.after(e_, Slot::s) == rec_.before(e_, Slot::s)) return;
  const Row& s = operand(rec_.before(e_, Slot::s));
  const Version& v = rec_.version(rec_.after(e_, Slot::s));
  make(Slot::s, [&](std::int64_t c) { return masked(v, c, at(s, c)); });
}

void ExactWalk::max() {
  if (!rec_.options.subtract_max) {
    make(Slot::m_new, [](std::int64_t) { return Num{0, 0}; });
    return;
  }
  const VersionId old = live(Slot::m_old), now = rec_.after(e_, Slot::m_new);
  // A kernel whose m need not be the maximum let it stand.
  const auto same = [](std::span<const float> a, std::span<const float> b) {
    return !a.empty() && !b.empty() && a[0] == b[0];
  };
  if (rec_.gpu && rec_.gpu->slack > 0 && same(recorded(old), recorded(now))) {
    const Num kept = first(old);
    make(Slot::m_new, [&](std::int64_t) { return kept; });
    return;
  }
  Num best = first(old);
  for (const VersionId read : rec_.scores_read(e_)) {
    for (const Num& n : operand(read)) {
      best.exact = n.exact > best.exact ? n.exact : best.exact;
      best.bound = std::max(best.bound, n.bound);
    }
  }
  make(Slot::m_new, [&](std::int64_t) { return best; });
}

void ExactWalk::rescale() {
  const Num m_old = first(live(Slot::m_old)), m_new = first(live(Slot::m_new));
  // Where the kernel saw no change, its alpha is 1; the exact one is as close as m's bounds.
  make(Slot::alpha, [&](std::int64_t) {
    if (m_old.exact == m_new.exact) return Num{1, std::expm1(m_old.bound + m_new.bound)};
    return exp_of_difference(by_, m_old, m_new);
  });
}

void ExactWalk::weights() {
  const Row& s = operand(live(Slot::s));
  const Num m = shift(first(live(Slot::m_new)));
  const bool stored = order_.stores_scores;
  const Num l = stored ? first(live(Slot::l_new)) : Num{};
  make(Slot::p, [&](std::int64_t c) {
    const Num p = exp_of_difference(by_, at(s, c), m);
    return stored ? rounded_to(rec_.problem.dtype, divided(by_, p, l)) : p;
  });
}

void ExactWalk::sum() {
  const bool stored = order_.stores_scores;
  const Num l = first(live(Slot::l_old));
  const std::vector<VersionId> read = stored ? rec_.scores_read(e_) : std::vector{live(Slot::p)};
  const Num m = stored ? shift(first(live(Slot::m_new))) : Num{};
  const Num alpha = stored ? Num{1, 0} : first(live(Slot::alpha));
  make(Slot::l_new, [&](std::int64_t) {
    Num out{alpha.exact * l.exact, alpha.exact * l.bound + alpha.bound * (l.exact + l.bound)};
    std::size_t terms = 0;
    for (const VersionId v : read) {
      for (const Num& term : operand(v)) {
        const Num p = stored ? exp_of_difference(by_, term, m) : term;
        out.exact += p.exact;
        out.bound += p.bound;
        ++terms;
      }
    }
    out.bound += gamma_of(static_cast<double>(terms) + 3, accumulate_unit_) * out.exact;
    return out;
  });
}

void ExactWalk::output() {
  const Row& old = operand(live(Slot::o_old));
  const auto dv = static_cast<std::size_t>(rec_.problem.Dv);
  const bool divides = order_.divides_each_turn;
  Num f = order_.stores_scores ? Num{1, 0} : first(live(Slot::alpha));
  if (divides) {
    const Num l = first(live(Slot::l_old));
    f = {f.exact * l.exact, f.exact * l.bound + f.bound * (l.exact + l.bound) + by_.unit * f.exact * l.exact};
  }
  Row sums(old.size());
  std::vector<double> sizes(old.size());
  for (std::size_t d = 0; d < old.size(); ++d) {
    sums[d] = {f.exact * old[d].exact,
               std::fabs(f.exact) * old[d].bound + f.bound * (std::fabs(old[d].exact) + old[d].bound)};
    sizes[d] = std::fabs(sums[d].exact);
  }
  const bool narrow = rec_.gpu && !order_.stores_scores;
  std::size_t keys = 0;
  const bool zeroed = zeroes_tail(rec_.options) || rec_.problem.storage.kind() == Storage::dense;
  const std::int64_t there = keys_of_batch(rec_.problem, rec_.events[e_].id.b);
  for (const auto& [p_id, v_id] : rec_.factors_read(e_)) {
    const Row& p = operand(p_id);
    const std::span<const float> v = rec_.values(v_id);
    keys += p.size();
    // Keys outside: rows of V lie side by side.
    for (std::size_t c = 0; c < p.size(); ++c) {
      // No key of the batch: what a run that does not zero its tail makes of it is no part of the answer.
      if (!zeroed && rec_.version(v_id).first_row + static_cast<std::int64_t>(c) >= there) continue;
      const Num weight = narrow ? rounded_to(rec_.gpu->p, p[c]) : p[c];
      const std::span<const float> values = v.subspan(c * dv, dv);
      for (std::size_t d = 0; d < sums.size(); ++d) {
        const auto value = static_cast<double>(values[d]);
        sums[d].exact += weight.exact * value;
        sums[d].bound += weight.bound * std::fabs(value);
        sizes[d] += weight.exact * std::fabs(value);
      }
    }
  }
  const double growth = gamma_of(static_cast<double>(keys) + 3, accumulate_unit_);
  const Num l_new = divides ? first(live(Slot::l_new)) : Num{};
  make(Slot::o_new, [&](std::int64_t d) {
    Num out = at(sums, d);
    out.bound += growth * (sizes[static_cast<std::size_t>(d)] + out.bound);
    return divides ? divided(by_, out, l_new) : out;
  });
}

VersionId ExactWalk::newest(Slot new_slot, Slot old_slot) const {
  const VersionId id = rec_.before(e_, new_slot);
  return id != kNoVersion ? id : rec_.before(e_, old_slot);
}

void ExactWalk::lse(Num m, Num l) {
  make(Slot::lse, [&](std::int64_t) {
    if (l.exact == 0) return Num{-kInf, 0};
    const double ln = std::log(l.exact);
    const double rest = l.exact - l.bound;
    const double sizes = std::fabs(m.exact + ln) + std::fabs(ln) + std::fabs(m.exact);
    return Num{m.exact + ln, m.bound + (rest > 0 ? l.bound / rest : kInf) + by_.unit * sizes};
  });
}

void ExactWalk::normalise() {
  const Row& o = operand(newest(Slot::o_new, Slot::o_old));
  const Num l = first(newest(Slot::l_new, Slot::l_old));
  make(Slot::o_new, [&](std::int64_t d) { return divided(by_, at(o, d), l); });
  lse(first(newest(Slot::m_new, Slot::m_old)), l);
}

void ExactWalk::store_o() {
  const VersionId stored = rec_.after(e_, Slot::o_new);
  const VersionId before = rec_.before(e_, Slot::o_new);
  VersionId from = before != kNoVersion ? before : rec_.before(e_, Slot::o_old);
  if (order_.state_in_memory) from = rec_.after(e_, Slot::o_old);
  if (stored != kNoVersion && stored != from) {
    const Row& o = operand(from);
    make(Slot::o_new, [&](std::int64_t d) { return rounded_to(rec_.problem.dtype, at(o, d)); });
  }
  if (order_.ends_with_lse) return;
  const auto pick = [&](Slot fresh, Slot old) {
    const VersionId id = rec_.after(e_, fresh);
    return first(id != kNoVersion ? id : rec_.after(e_, old));
  };
  lse(pick(Slot::m_new, Slot::m_old), pick(Slot::l_new, Slot::l_old));
}

struct ExactTile::Rows {
  const Recording* rec;
  DType accumulate;
  std::vector<EventIndex> events;         // of the query tile, in their order
  std::map<std::int32_t, RowNumbers> of;  // by row of the whole tensor
  std::optional<ExactKeys> keys;          // of the key tile that was asked for last

  // What is summed over queries is of a key tile, whichever query tile this is.
  std::span<const ExactNumber> key_row(VersionId v, std::int32_t r) {
    const EventId& made = rec->events[rec->version(v).made_by].id;
    const auto kv = static_cast<std::int32_t>(rec->problem.kv_head(made.h));
    if (!keys || !keys->covers(made.b, kv, made.j)) keys.emplace(*rec, made.b, kv, made.j);
    return keys->row(v, r);
  }
  const RowNumbers& row(std::int32_t r) {
    const auto [at, fresh] = of.try_emplace(r);
    if (fresh) {
      ExactWalk walk(*rec, accumulate, r, at->second);
      for (const EventIndex e : events) walk.event(e);
    }
    return at->second;
  }
};

ExactTile::ExactTile(const Recording& rec, std::int32_t b, std::int32_t h, std::int32_t i,
                     std::optional<DType> accumulate)
    : b_(b), h_(h), i_(i), rows_(std::make_unique<Rows>()) {
  rows_->rec = &rec;
  rows_->accumulate = accumulate.value_or(rec.options.accumulate);
  rows_->events = rec.events_of(b, h, i);
}

ExactTile::~ExactTile() = default;
ExactTile::ExactTile(ExactTile&&) noexcept = default;
ExactTile& ExactTile::operator=(ExactTile&&) noexcept = default;

bool ExactTile::covers(std::int32_t b, std::int32_t h, std::int32_t i) const {
  return b == b_ && h == h_ && i == i_;
}

std::span<const ExactNumber> ExactTile::row(VersionId v, std::int32_t row) const {
  const Version& version = rows_->rec->version(v);
  const EventId& made = rows_->rec->events[version.made_by].id;
  if (is_input(version.slot)) return {};
  if (slot_row(version.slot).rows == SlotRows::keys) return rows_->key_row(v, row);
  if (!covers(made.b, made.h, made.i) || row < 0 || row >= version.rows) return {};
  const RowNumbers& numbers = rows_->row(version.first_row + row);
  const auto at = numbers.find(v);
  return at != numbers.end() ? std::span<const ExactNumber>(at->second) : std::span<const ExactNumber>();
}

std::optional<ExactNumber> ExactTile::at(VersionId v, std::size_t element) const {
  const auto cols = static_cast<std::size_t>(rows_->rec->version(v).cols);
  if (cols == 0) return std::nullopt;
  const auto numbers = row(v, static_cast<std::int32_t>(element / cols));
  if (numbers.empty()) return std::nullopt;
  return numbers[element % cols];
}

}  // namespace attn
