// The recording's numbers again in fp64, each with a bound on how far the kernel's fp32 number may be from it.
//
// u = 2^-24 is the unit roundoff of fp32, g(n) = n u / (1 - n u) (Higham, Accuracy and Stability of Numerical
// Algorithms, section 3.1). With b(x) the bound of x, to first order and then enlarged by 1 %:
//   S = scale q.k        g(D + 2) |scale| sum |q_d k_d|;  a bias adds u |S|
//   m                    the largest b(S) of the row so far (|max a - max b| <= max |a - b|)
//   exp(x), x = a - b    e = b(a) + b(b) + u |x|;  exp(x) (exp(e) - 1 + kExpError exp(e)) + 2^-126
//   l = alpha l + sum P  alpha b(l) + b(alpha) (l + b(l)) + sum b(P) + g(n + 3) (alpha l + sum P)
//   O = f O + P V        f b(O) + b(f) (|O| + b(O)) + sum b(P) |V| + g(n + 3) (f |O| + sum P |V|)
//   x / l                (b(x) + |x / l| b(l)) / (l - b(l)) + u |x / l|
//   LSE = m + ln l       b(m) + b(l) / (l - b(l)) + u (|LSE| + |ln l| + |m|)
//   rounded to a dtype   half its epsilon times the value, and half its least subnormal
// fp64's own errors are 2^-29 of these and lie in the 1 %. l and O accumulated in a narrower type t (what-if) take
// epsilon(t) / 2 for u. A bound is +inf where the recorded number or the exact one is not finite.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/math.h"
#include "kernels/replay.h"

namespace attn {

namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kEnlarge = 1.01;
constexpr double kInf = std::numeric_limits<double>::infinity();

double gamma_of(double n, double unit) {
  return n * unit < 0.5 ? n * unit / (1 - n * unit) : kInf;
}

// Value and bound.
struct Num {
  double x = 0;
  double b = 0;
};

Num exp_of_difference(Num a, Num c) {
  const double x = a.x - c.x;
  if (a.x == -kInf) return {0, 0};
  const double e = a.b + c.b + kUnit * std::fabs(x);
  const double y = std::exp(x);
  return {y, y * (std::expm1(e) + kExpError * std::exp(e)) + 0x1p-126};
}

Num divided(Num x, Num l) {
  if (l.x == 0) return {0, 0};
  const double q = x.x / l.x;
  const double rest = l.x - l.b;
  return {q, rest > 0 ? (x.b + std::fabs(q) * l.b) / rest + kUnit * std::fabs(q) : kInf};
}

Num rounded(DType t, Num x) {
  if (t == DType::f32) return x;
  const double least = t == DType::f16 ? 0x1p-24 : 0x1p-133;
  return {x.x, x.b + epsilon_of(t) / 2 * (std::fabs(x.x) + x.b) + least / 2};
}

}  // namespace

// Walks the events of one query tile in their order; the exact number of a version is kept under its id.
class ExactWalk {
 public:
  ExactWalk(const Recording& rec, DType t, std::vector<std::pair<VersionId, ExactVersion>>& out)
      : rec_(rec), out_(out) {
    accumulate_unit_ = t == DType::f32 ? kUnit : epsilon_of(t) / 2;
    if (rec.inputs.bias) bias_ = &*rec.inputs.bias;
  }

  void event(EventIndex e) {
    e_ = e;
    switch (rec_.events[e].id.phase) {
      case Phase::scores:
        return scores();
      case Phase::mask:
        return mask();
      case Phase::max:
        return max();
      case Phase::rescale:
        return rescale();
      case Phase::weights:
        return weights();
      case Phase::sum:
        return sum();
      case Phase::output:
        return output();
      case Phase::normalise:
        return normalise();
      case Phase::store_o:
        return store_o();
      default:
        return;
    }
  }

 private:
  bool stores_scores() const { return rec_.order == Order::naive || rec_.order == Order::tiled; }
  VersionId live(Slot s) const {
    const VersionId now = rec_.after(e_, s);
    return now != kNoVersion ? now : rec_.before(e_, s);
  }
  // Operand as fp64 with bound; what the recording took from inputs or set itself is exact.
  ExactVersion& operand(VersionId id) {
    const auto at =
        std::lower_bound(out_.begin(), out_.end(), id, [](const auto& entry, VersionId v) { return entry.first < v; });
    if (at != out_.end() && at->first == id) return at->second;
    const std::span<const float> values = rec_.values(id);
    ExactVersion exact;
    exact.exact.assign(values.begin(), values.end());
    exact.bound.assign(values.size(), 0);
    return out_.insert(at, {id, std::move(exact)})->second;
  }
  // By value: inserting another operand moves the vector's elements.
  ExactVersion get(VersionId id) { return operand(id); }

  // Numbers of the version that slot `s` got in this event.
  template <class F>
  void make(Slot s, const F& number) {
    const VersionId id = rec_.after(e_, s);
    const Version& v = rec_.version(id);
    const std::span<const float> recorded = rec_.values(id);
    ExactVersion out;
    out.exact.reserve(recorded.size());
    out.bound.reserve(recorded.size());
    for (std::int32_t r = 0; r < v.rows; ++r) {
      for (std::int32_t c = 0; c < v.cols; ++c) {
        const Num n = number(r, c);
        const bool finite = std::isfinite(n.x) && std::isfinite(recorded[out.exact.size()]);
        out.exact.push_back(n.x);
        out.bound.push_back(finite ? n.b * kEnlarge : (n.x == -kInf ? 0 : kInf));
      }
    }
    operand(id) = std::move(out);
  }
  static Num at(const ExactVersion& x, std::int64_t i) {
    return {x.exact[static_cast<std::size_t>(i)], x.bound[static_cast<std::size_t>(i)]};
  }

  void scores() {
    const ExactVersion q = get(live(Slot::q));
    const ExactVersion k = get(live(Slot::k));
    const std::int64_t d = rec_.problem.D;
    const double scale = rec_.problem.effective_scale();
    make(Slot::s, [&](std::int64_t r, std::int64_t c) {
      double sum = 0;
      double size = 0;
      for (std::int64_t x = 0; x < d; ++x) {
        const double product =
            q.exact[static_cast<std::size_t>(r * d + x)] * k.exact[static_cast<std::size_t>(c * d + x)];
        sum += product;
        size += std::fabs(product);
      }
      return Num{scale * sum, gamma_of(static_cast<double>(d) + 2, kUnit) * std::fabs(scale) * size};
    });
  }

  void mask() {
    const ExactVersion s = get(rec_.before(e_, Slot::s));
    const Version& v = rec_.version(rec_.after(e_, Slot::s));
    const EventId& id = rec_.events[e_].id;
    make(Slot::s, [&](std::int64_t r, std::int64_t c) {
      const std::int64_t row = v.first_row + r;
      const std::int64_t key = v.first_col + c;
      if (!rec_.problem.visible(id.b, row, key)) return Num{-kInf, 0};
      Num n = at(s, r * v.cols + c);
      if (bias_ != nullptr) {
        const auto bias = static_cast<double>(bias_->get(rec_.problem.bias_index(id.b, id.h, row, key)));
        if (bias == -kInf) return Num{-kInf, 0};
        n.x += bias;
        n.b += kUnit * std::fabs(n.x);
      }
      return n;
    });
  }

  void max() {
    if (!rec_.options.subtract_max) {
      make(Slot::m_new, [](std::int64_t, std::int64_t) { return Num{0, 0}; });
      return;
    }
    const ExactVersion s = get(live(Slot::s));
    const ExactVersion old = get(live(Slot::m_old));
    const std::int64_t cols = rec_.version(live(Slot::s)).cols;
    make(Slot::m_new, [&](std::int64_t r, std::int64_t) {
      Num best = at(old, r);
      for (std::int64_t c = 0; c < cols; ++c) {
        const Num n = at(s, r * cols + c);
        best.x = n.x > best.x ? n.x : best.x;
        best.b = std::max(best.b, n.b);
      }
      return best;
    });
  }

  static Num shift(Num m) { return m.x == -kInf ? Num{0, 0} : m; }

  void rescale() {
    const ExactVersion m_old = get(live(Slot::m_old));
    const ExactVersion m_new = get(live(Slot::m_new));
    // Where the kernel saw no change, its alpha is 1; the exact one is as close as m's bounds.
    make(Slot::alpha, [&](std::int64_t r, std::int64_t) {
      if (at(m_old, r).x == at(m_new, r).x) return Num{1, std::expm1(at(m_old, r).b + at(m_new, r).b)};
      return exp_of_difference(at(m_old, r), at(m_new, r));
    });
  }

  void weights() {
    const ExactVersion s = get(live(Slot::s));
    const ExactVersion m = get(live(Slot::m_new));
    const std::int64_t cols = rec_.version(live(Slot::s)).cols;
    const ExactVersion l = stores_scores() ? get(live(Slot::l_new)) : ExactVersion{};
    make(Slot::p, [&](std::int64_t r, std::int64_t c) {
      const Num p = exp_of_difference(at(s, r * cols + c), shift(at(m, r)));
      return stores_scores() ? rounded(rec_.problem.dtype, divided(p, at(l, r))) : p;
    });
  }

  void sum() {
    const ExactVersion old = get(live(Slot::l_old));
    const VersionId operand_id = stores_scores() ? live(Slot::s) : live(Slot::p);
    const ExactVersion terms = get(operand_id);
    const std::int64_t cols = rec_.version(operand_id).cols;
    const ExactVersion other = stores_scores() ? get(live(Slot::m_new)) : get(live(Slot::alpha));
    make(Slot::l_new, [&](std::int64_t r, std::int64_t) {
      const Num l = at(old, r);
      const Num alpha = stores_scores() ? Num{1, 0} : at(other, r);
      Num out{alpha.x * l.x, alpha.x * l.b + alpha.b * (l.x + l.b)};
      for (std::int64_t c = 0; c < cols; ++c) {
        Num p = at(terms, r * cols + c);
        if (stores_scores()) p = exp_of_difference(p, shift(at(other, r)));
        out.x += p.x;
        out.b += p.b;
      }
      out.b += gamma_of(static_cast<double>(cols) + 3, accumulate_unit_) * out.x;
      return out;
    });
  }

  void output() {
    const ExactVersion old = get(live(Slot::o_old));
    const ExactVersion p = get(live(Slot::p));
    const ExactVersion v = get(live(Slot::v));
    const std::int64_t keys = rec_.version(live(Slot::p)).cols;
    const std::int64_t dv = rec_.problem.Dv;
    const ExactVersion alpha = stores_scores() ? ExactVersion{} : get(live(Slot::alpha));
    const bool flash1 = rec_.order == Order::flash1;
    const ExactVersion l_old = flash1 ? get(live(Slot::l_old)) : ExactVersion{};
    const ExactVersion l_new = flash1 ? get(live(Slot::l_new)) : ExactVersion{};
    make(Slot::o_new, [&](std::int64_t r, std::int64_t d) {
      const Num o = at(old, r * dv + d);
      Num f = stores_scores() ? Num{1, 0} : at(alpha, r);
      if (flash1) {
        const Num l = at(l_old, r);
        f = {f.x * l.x, f.x * l.b + f.b * (l.x + l.b) + kUnit * f.x * l.x};
      }
      Num out{f.x * o.x, std::fabs(f.x) * o.b + f.b * (std::fabs(o.x) + o.b)};
      double size = std::fabs(out.x);
      for (std::int64_t c = 0; c < keys; ++c) {
        const Num w = at(p, r * keys + c);
        const double value = v.exact[static_cast<std::size_t>(c * dv + d)];
        out.x += w.x * value;
        out.b += w.b * std::fabs(value);
        size += w.x * std::fabs(value);
      }
      out.b += gamma_of(static_cast<double>(keys) + 3, accumulate_unit_) * (size + out.b);
      return flash1 ? divided(out, at(l_new, r)) : out;
    });
  }

  Num newest(Slot new_slot, Slot old_slot, std::int64_t i) {
    const VersionId id = rec_.before(e_, new_slot);
    return at(operand(id != kNoVersion ? id : rec_.before(e_, old_slot)), i);
  }

  void lse(Slot new_m, Slot old_m, Slot new_l, Slot old_l, bool from_after) {
    make(Slot::lse, [&](std::int64_t r, std::int64_t) {
      const auto pick = [&](Slot fresh, Slot old) {
        if (!from_after) return newest(fresh, old, r);
        const VersionId id = rec_.after(e_, fresh);
        return at(operand(id != kNoVersion ? id : rec_.after(e_, old)), r);
      };
      const Num m = pick(new_m, old_m);
      const Num l = pick(new_l, old_l);
      if (l.x == 0) return Num{-kInf, 0};
      const double ln = std::log(l.x);
      const double rest = l.x - l.b;
      return Num{m.x + ln,
                 m.b + (rest > 0 ? l.b / rest : kInf) + kUnit * (std::fabs(m.x + ln) + std::fabs(ln) + std::fabs(m.x))};
    });
  }

  void normalise() {
    const std::int64_t dv = rec_.problem.Dv;
    make(Slot::o_new, [&](std::int64_t r, std::int64_t d) {
      return divided(newest(Slot::o_new, Slot::o_old, r * dv + d), newest(Slot::l_new, Slot::l_old, r));
    });
    lse(Slot::m_new, Slot::m_old, Slot::l_new, Slot::l_old, false);
  }

  void store_o() {
    const VersionId stored = rec_.after(e_, Slot::o_new);
    const VersionId before = rec_.before(e_, Slot::o_new);
    VersionId from = before != kNoVersion ? before : rec_.before(e_, Slot::o_old);
    if (rec_.order == Order::flash1) from = rec_.after(e_, Slot::o_old);
    if (stored != kNoVersion && stored != from) {
      const ExactVersion o = get(from);
      const std::int64_t dv = rec_.problem.Dv;
      make(Slot::o_new, [&](std::int64_t r, std::int64_t d) { return rounded(rec_.problem.dtype, at(o, r * dv + d)); });
    }
    // flash made its LSE with `normalise`.
    if (rec_.order != Order::flash) lse(Slot::m_new, Slot::m_old, Slot::l_new, Slot::l_old, true);
  }

  const Recording& rec_;
  std::vector<std::pair<VersionId, ExactVersion>>& out_;
  double accumulate_unit_ = kUnit;
  const Array* bias_ = nullptr;
  EventIndex e_ = 0;
};

ExactTile::ExactTile(const Recording& rec, std::int32_t b, std::int32_t h, std::int32_t i,
                     std::optional<DType> accumulate)
    : b_(b), h_(h), i_(i) {
  std::vector<EventIndex> events;
  for (std::int32_t j = -1; j < rec.key_tiles(); ++j) {
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
      if (const auto e = rec.find({b, h, i, j, static_cast<Phase>(phase)})) events.push_back(*e);
    }
  }
  std::sort(events.begin(), events.end());
  ExactWalk walk(rec, accumulate.value_or(rec.options.accumulate), versions_);
  for (const EventIndex e : events) walk.event(e);
}

bool ExactTile::covers(std::int32_t b, std::int32_t h, std::int32_t i) const {
  return b == b_ && h == h_ && i == i_;
}

const ExactVersion* ExactTile::find(VersionId v) const {
  const auto at = std::lower_bound(versions_.begin(), versions_.end(), v,
                                   [](const auto& entry, VersionId id) { return entry.first < id; });
  return at != versions_.end() && at->first == v ? &at->second : nullptr;
}

}  // namespace attn
