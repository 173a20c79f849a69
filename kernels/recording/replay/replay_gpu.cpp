// A recording that a GPU made, held against fp64: each phase is computed again from the operands that it holds, so an
// error does not grow from phase to phase and the first place that differs is where it arose.
//
// With u = 2^-24 and g(n) = n u / (1 - n u) (Higham, section 3.1), E = 2^-22 for the hardware's ex2.approx and CUDA's
// expf (two units in the last place; CUDA C++ Programming Guide, "Mathematical Functions"), x the exponent:
//   S          g(D + 4) |scale| sum |q_d k_d| + 3 u |S|       the sum, the scale rounded to fp32, the bias
//   softcap    (2^-21 + 8 u) |c tanh(S / c)|: CUDA's tanhf errs by two units in the last place, its argument and factor
//              by 8 u; c tanh is no steeper than S, so S's own error does not grow.  ALiBi: 4 u |slope distance| + u
//                |S|
//   mask       hidden: -inf. Without any of these every other score is the very one before, or with the scale that it
//              lacked: 2 u (|S| + |scale S| + |bias|)
//   m          the very maximum; where it may lie below (slack) the m before, bit for bit, while no score is further
//              above it; else the maximum times the scale: 3 u |m|
//   alpha      1 where m did not change; else (e^(2 u |x|) - 1 + E) alpha
//   P          the same of exp(S - m); divided by l and rounded to the dtype: half its epsilon on top
//   l          a lane's part: g(n + 2) of its n terms; a row's from S: (E + 4 u |x|) of each term, and g(2 Lk + 8) of
//              all
//   O          g(n + 4) (|alpha O| + sum P |V|)
//   O / l      g(lanes + 8) |O / l|
//   LSE        8 u (|m| + |ln l|), and g(lanes + 8)
//   stored     O rounded to the dtype, bit for bit; what is loaded is the inputs' very bits
// Where P enters the product in 16 bits the recorded P is rounded first, and tensor cores sum: they cut what they add,
// so 4 u stands for u in S and O. They align what they add by the exponents of the factors, and every number of f16
// below its least normal one, 2^-14, has that one's: a factor counts as no less in the size of a sum.
// Where a product is three of TF32 (flash_tf32x3): high is x rounded to 11 bits, low the rest, of which 11 bits are
// read, so a product lacks low low (4 u |x y|) and the cut ends of two lows (4 u). The tensor cores sum 32 products, in
// 12 steps of 9 addends, each cut by 2 u at most: 216 u of their size. Both are below g(32 + 4) with 8 u for u, and
// below g(n + 4) where there are n < 32, n / 8 steps. These sums are added up with rounding: g(n / 32 + 2).
// Where the scale enters with the exponential, x has 2 u of the scaled score more.
// An absolute 2^-125 on top: results below 2^-126 are flushed to zero.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/recording/replay/bounds.h"
#include "kernels/recording/replay/gpu_replayer.h"
#include "kernels/recording/replay/replay.h"

namespace attn {
namespace {

constexpr double kUnit = kUnitRoundoff;
constexpr double kExp = 0x1p-22;
constexpr double kTiny = 0x1p-125;
constexpr double kLeastNormalHalf = 0x1p-14;
constexpr double kTf32Sum = 32;  // products that a tensor core sums by itself in flash_tf32x3
constexpr double kInf = HUGE_VAL;
constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

double unit_of(const Holds& h) {
  return h.base2 ? kLog2E : 1;
}

double shift_of(double m) {
  return m == -kInf ? 0 : m;
}

Within rounded(DType t, Within x) {
  if (t == DType::f32) return x;
  const double min = t == DType::f16 ? 0x1p-24 : 0x1p-133;
  return {x.exact, x.bound + epsilon_of(t) / 2 * (std::fabs(x.exact) + x.bound) + min / 2};
}

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a != a && b != b);
}

}  // namespace

bool agrees(float recorded, const Within& w) {
  if (w.bound == kInf) return true;
  const auto x = static_cast<double>(recorded);
  if (std::isnan(w.exact) || std::isnan(x)) return std::isnan(w.exact) && std::isnan(x);
  if (!std::isfinite(w.exact) || !std::isfinite(x)) return x == w.exact;
  return std::fabs(x - w.exact) <= w.bound + (w.bound > 0 ? kTiny : 0);
}

GpuReplayer::GpuReplayer(const Recording& rec) : rec_(rec), order_(order_row(rec.order)), p_(rec.problem) {
  if (rec.inputs.bias) bias_ = &*rec.inputs.bias;
}

std::optional<ReplayDifference> GpuReplayer::run(const Stop& stop) {
  for (e_ = 0; e_ < rec_.events.size() && !stop.stop_requested() && !difference_; ++e_) {
    first_state();
    if (!difference_) phase();
  }
  return difference_;
}

// 2^x or e^x, as the run's exponents are.
double GpuReplayer::exp_of(double x) const {
  return rec_.gpu->exp2 ? std::exp2(x) : std::exp(x);
}
double GpuReplayer::exp_error(double x) const {
  return std::expm1(2 * kUnit * std::fabs(x) * (rec_.gpu->exp2 ? kLn2 : 1)) + kExp;
}
// `scaled`: of the exponent, what was multiplied by the scale on its way.
Within GpuReplayer::exp_within(double x, double scaled) const {
  const double y = exp_of(x);
  if (y == 0) return {0, x == -kInf ? 0 : kTiny};
  return {y, y * exp_error(std::fabs(x) + std::fabs(scaled)) + kTiny};
}

void GpuReplayer::differs(Slot slot, std::int32_t r, std::int32_t c, float recorded, const Within& w) {
  difference_ = ReplayDifference{
      e_,
      slot,
      r,
      c,
      recorded,
      static_cast<float>(w.exact),
      difference_words(e_, id(), slot, r, c, recorded, w.exact) + phrase(" and allows {:.2g}", w.bound),
      w.bound,
      {}};
}

void GpuReplayer::phase() {
  const OrderPhase* as = order_.phase(id().phase);
  if (as == nullptr) return;
  for (const Slot slot : as->loads) {
    if (!difference_) loaded(slot);
  }
  if (!difference_ && as->replay_gpu != nullptr) as->replay_gpu(*this);
}

void GpuReplayer::first_state() {
  for (const Slot slot : order_.starts) {
    const SlotRow& facts = slot_row(slot);
    const VersionId v = after(slot);
    if (difference_ || !facts.start || v == kNoVersion) continue;
    if (rec_.version(v).slot != slot || rec_.version(v).made_by != e_) continue;
    const auto start = static_cast<double>(facts.score ? rec_.gpu->first_m : *facts.start);
    compare(slot, [start](std::int32_t, std::int32_t) { return Within{start, 0}; });
  }
}

void GpuReplayer::loaded(Slot slot) {
  const std::optional<std::vector<float>> rows = tile_of_input(rec_, id(), slot, after(slot));
  if (!rows) return;  // as the bitwise replay has it
  const Version& v = rec_.version(after(slot));
  compare(slot, [&](std::int32_t r, std::int32_t c) {
    return Within{(*rows)[static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c)],
                  0};
  });
}

// How far a sum of n products may be from the exact one, by the sum of their sizes.
double GpuReplayer::sum_error(double n) const {
  if (rec_.gpu->tf32x3) return gamma_of(std::min(n, kTf32Sum) + 4, 8 * kUnit) + gamma_of(n / kTf32Sum + 2);
  return gamma_of(n + 4, on_halves() ? 4 * kUnit : kUnit);
}
// Tensor cores take the products, of factors in 16 bits.
bool GpuReplayer::on_halves() const {
  return !order_.stores_scores && rec_.gpu->p != DType::f32;
}
// What a factor counts as in the size of its sum.
double GpuReplayer::size_of_factor(double x) const {
  const bool half = on_halves() && rec_.gpu->p == DType::f16;
  return half ? std::max(std::fabs(x), kLeastNormalHalf) : std::fabs(x);
}
// A scaled score in the units of S with softcap, bias and ALiBi, `bias` as bias_of() gives it.
Within GpuReplayer::shaped(const Version& s, std::int32_t r, std::int32_t c, Within x, double bias) const {
  const double unit = unit_of(s.holds), cap = p_.softcap.value_or(0) * unit;
  if (p_.softcap) {
    const double y = unit * p_.capped(x.exact / unit);
    const double moved = std::isinf(x.exact) ? 0 : x.bound < 2 * cap ? x.bound : 2 * cap;
    x = {y, moved + (kTanhfError + 8 * kUnit) * std::fabs(y)};
  }
  const double taken = unit * p_.alibi_at(id().b, id().h, s.first_row + r, s.first_col + c);
  const double exact = x.exact + bias - taken;
  return {exact,
          x.bound + (p_.alibi ? 4 * kUnit * std::fabs(taken) + kUnit * (std::fabs(exact) + std::fabs(bias)) : 0)};
}
// The bias of an element in the units of S; -inf where the mask or the bias hides it.
double GpuReplayer::bias_of(const Version& s, std::int32_t r, std::int32_t c) const {
  const std::int64_t query = s.first_row + r, key = s.first_col + c;
  if (!p_.visible(id().b, query, key)) return -kInf;
  if (bias_ == nullptr) return 0;
  return static_cast<double>(bias_->get(p_.bias_index(id().b, id().h, query, key))) * unit_of(s.holds);
}

// Of kernels that keep S in fragments: no row of this row's warp sees the key, and it may have left it out.
bool GpuReplayer::warp_sees_none(const Version& s, std::int32_t r, std::int32_t c) const {
  if (rec_.gpu->slack == 0) return false;
  const Options& launched = rec_.gpu->launched;
  const std::int32_t rows = std::max(1, launched.br / std::max(1, launched.threads / 32));
  const std::int64_t first = s.first_row + r / rows * rows;
  return p_.cover(id().b, first, std::min<std::int64_t>(first + rows, p_.Lq), s.first_col + c, s.first_col + c + 1) ==
         TileCover::skipped;
}

void GpuReplayer::scores() {
  const Version& s = rec_.version(after(Slot::s));
  const double scale = rec_.factor_of_product(s.holds);
  compare(Slot::s, [&](std::int32_t r, std::int32_t c) {
    const double bias = s.holds.masked ? bias_of(s, r, c) : 0;
    if (bias == -kInf) return Within{-kInf, 0};
    if (row(after(Slot::s), r)[static_cast<std::size_t>(c)] == -HUGE_VALF && warp_sees_none(s, r, c)) {
      return Within{-kInf, 0};
    }
    const Values q = row(before(Slot::q), r), k = row(before(Slot::k), c);
    double sum = 0, size = 0;
    for (std::size_t d = 0; d < q.size(); ++d) {
      const double product = static_cast<double>(q[d]) * static_cast<double>(k[d]);
      sum += product;
      size += size_of_factor(static_cast<double>(q[d])) * size_of_factor(static_cast<double>(k[d]));
    }
    const double scaled = scale * sum, of_sum = sum_error(static_cast<double>(p_.D)) * std::fabs(scale) * size;
    if (s.holds.masked && p_.shapes_scores()) {
      Within x = shaped(s, r, c, {scaled, of_sum + 2 * kUnit * std::fabs(scaled)}, bias);
      return Within{x.exact, x.bound + 3 * kUnit * (std::fabs(x.exact) + std::fabs(bias))};
    }
    const double exact = scaled + bias;
    return Within{exact, of_sum + 3 * kUnit * (std::fabs(exact) + std::fabs(bias))};
  });
}

void GpuReplayer::mask() {
  const Version& s = rec_.version(after(Slot::s));
  // Orders that store S apply it before they do: the version is the same.
  if (after(Slot::s) == before(Slot::s)) return;
  const Holds& had = rec_.version(before(Slot::s)).holds;
  const double factor = rec_.factor_to_formula(had) / rec_.factor_to_formula(s.holds);
  compare(Slot::s, [&](std::int32_t r, std::int32_t c) {
    const double bias = bias_of(s, r, c);
    if (bias == -kInf) return Within{-kInf, 0};
    const double score = static_cast<double>(row(before(Slot::s), r)[static_cast<std::size_t>(c)]);
    const double scaled = score * factor;
    if (p_.shapes_scores()) {
      const Within x = shaped(s, r, c, {scaled, 2 * kUnit * std::fabs(scaled)}, bias);
      return Within{x.exact, x.bound + 2 * kUnit * (std::fabs(x.exact) + std::fabs(bias))};
    }
    if (bias_ == nullptr && factor == 1) return Within{score, 0};
    return Within{scaled + bias, 2 * kUnit * (std::fabs(scaled + bias) + std::fabs(bias) + std::fabs(scaled))};
  });
}

void GpuReplayer::max() {
  const std::vector<VersionId> read = rec_.scores_read(e_);
  const double slack = static_cast<double>(rec_.gpu->slack), factor = units_of_m(Slot::m_new);
  compare(Slot::m_new, [&](std::int32_t r, std::int32_t) {
    const double old = number(after(Slot::m_old), r);
    double best = -kInf;
    for (const VersionId v : read) {
      for (const float x : row(v, r)) best = static_cast<double>(x) > best ? static_cast<double>(x) : best;
    }
    best *= factor;
    if (slack == 0) return Within{best > old ? best : old, 0};
    const bool may_stay = !(best > old + slack + 4 * kUnit * (std::fabs(best) + slack));
    if (may_stay && number(after(Slot::m_new), r) == old) return Within{old, 0};
    return best > old ? Within{best, 3 * kUnit * std::fabs(best)} : Within{old, 0};
  });
}

void GpuReplayer::rescale() {
  compare(Slot::alpha, [&](std::int32_t r, std::int32_t) {
    const double m_old = number(before(Slot::m_old), r), m_new = number(before(Slot::m_new), r);
    return m_old == m_new ? Within{1, 0} : exp_within(m_old - m_new);
  });
}

// What S must be multiplied by to be in the units of m: the scale, where it enters with the exponential.
double GpuReplayer::units_of_m(Slot m) const {
  return rec_.factor_to_formula(rec_.version(live(Slot::s)).holds) /
         rec_.factor_to_formula(rec_.version(live(m)).holds);
}

void GpuReplayer::weights() {
  const bool stored = order_.stores_scores;
  const double factor = units_of_m(Slot::m_new);
  compare(Slot::p, [&](std::int32_t r, std::int32_t c) {
    const double m = shift_of(number(live(Slot::m_new), r));
    const double s = factor * static_cast<double>(row(live(Slot::s), r)[static_cast<std::size_t>(c)]);
    Within p = exp_within(s - m, factor == 1 ? 0 : s);
    if (!stored) return p;
    const double l = number(live(Slot::l_new), r);
    if (l == 0) return Within{0, 0};
    p = {p.exact / l, p.bound / l + 2 * kUnit * p.exact / l};
    return rounded(rec_.gpu->p, p);
  });
}

// A lane's part of l: of the columns that it has. Of two lanes that share a row each has one half of the tile's
// columns; of four, two of each eight (a fragment's); of sixteen, every sixteenth.
bool GpuReplayer::has_column(std::int32_t lanes, std::int32_t lane, std::int32_t c) const {
  if (lanes == 2) return 2 * c / rec_.options.bc == lane;
  return lanes == 4 ? c % 8 / 2 == lane : c % lanes == lane;
}
void GpuReplayer::sum() {
  return order_.stores_scores ? sum_of_row() : sum_of_lanes();
}
void GpuReplayer::sum_of_lanes() {
  const std::int32_t lanes = rec_.version(after(Slot::l_new)).cols;
  compare(Slot::l_new, [&](std::int32_t r, std::int32_t lane) {
    const double old = static_cast<double>(row(after(Slot::l_old), r)[static_cast<std::size_t>(lane)]);
    double sum = number(before(Slot::alpha), r) * old;
    const Values p = row(before(Slot::p), r);
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(p.size()); ++c) {
      if (has_column(lanes, lane, c)) sum += static_cast<double>(p[static_cast<std::size_t>(c)]);
    }
    return Within{sum, gamma_of(static_cast<double>(p.size()) + 4) * sum};
  });
}
void GpuReplayer::sum_of_row() {
  const std::vector<VersionId> read = rec_.scores_read(e_);
  compare(Slot::l_new, [&](std::int32_t r, std::int32_t) {
    const double m = shift_of(number(live(Slot::m_new), r));
    Within l;
    for (const VersionId v : read) {
      for (const float s : row(v, r)) {
        const Within term = exp_within(static_cast<double>(s) - m);
        l.exact += term.exact;
        l.bound += 2 * term.bound;  // tiled's threads keep a maximum of their own: one factor more
      }
    }
    l.bound += (gamma_of(2 * static_cast<double>(p_.Lk) + 8) + kExp) * l.exact;
    return l;
  });
}

void GpuReplayer::output() {
  const auto read = rec_.factors_read(e_);
  const bool stored = order_.stores_scores;
  const auto n = static_cast<double>(stored ? p_.Lk : rec_.version(before(Slot::p)).cols);
  compare(Slot::o_new, [&](std::int32_t r, std::int32_t d) {
    double sum = static_cast<double>(row(before(Slot::o_old), r)[static_cast<std::size_t>(d)]);
    if (!stored) sum *= number(before(Slot::alpha), r);
    double size = std::fabs(sum);
    for (const auto& [p, v] : read) {
      const Values weights = row(p, r);
      for (std::size_t c = 0; c < weights.size(); ++c) {
        const auto weight = static_cast<double>(stored ? weights[c] : round_to(rec_.gpu->p, weights[c]));
        const auto value = static_cast<double>(row(v, static_cast<std::int32_t>(c))[static_cast<std::size_t>(d)]);
        sum += weight * value;
        size += size_of_factor(weight) * size_of_factor(value);
      }
    }
    return Within{sum, sum_error(n) * size + kTiny};
  });
}

VersionId GpuReplayer::newest(Slot fresh, Slot old) const {
  return before(fresh) != kNoVersion ? before(fresh) : before(old);
}
// l of a row: its lanes' parts together.
double GpuReplayer::l_of(VersionId v, std::int32_t r) const {
  double l = 0;
  for (const float x : row(v, r)) l += static_cast<double>(x);
  return l;
}
Within GpuReplayer::lse_within(VersionId m, VersionId l, std::int32_t r) const {
  const double sum = l_of(l, r);
  if (sum == 0) return {-kInf, 0};
  const double max = number(m, r) * rec_.factor_to_formula(rec_.version(m).holds), ln = std::log(sum);
  return {max + ln, 8 * kUnit * (std::fabs(max) + std::fabs(ln)) + gamma_of(rec_.version(l).cols + 8)};
}

void GpuReplayer::normalise() {
  const VersionId o = newest(Slot::o_new, Slot::o_old), l = newest(Slot::l_new, Slot::l_old);
  const VersionId m = newest(Slot::m_new, Slot::m_old);
  compare(Slot::o_new, [&](std::int32_t r, std::int32_t d) {
    const double sum = l_of(l, r), held = static_cast<double>(row(o, r)[static_cast<std::size_t>(d)]);
    // Without a key of weight O is 0; a kernel that multiplies by 0 leaves a NaN that was there.
    if (sum == 0) return Within{0, std::isfinite(held) ? 0 : kInf};
    const double exact = held / sum;
    return Within{exact, gamma_of(rec_.version(l).cols + 8) * std::fabs(exact) + kTiny};
  });
  if (!difference_) compare(Slot::lse, [&](std::int32_t r, std::int32_t) { return lse_within(m, l, r); });
}

void GpuReplayer::store_o() {
  const VersionId from = newest(Slot::o_new, Slot::o_old);
  const VersionId stored = after(Slot::o_new) != kNoVersion ? after(Slot::o_new) : after(Slot::o_old);
  const Version& v = rec_.version(stored);
  Array rounded(p_.dtype, {v.rows, v.cols});
  for (std::int64_t n = 0; n < rounded.size(); ++n) rounded.set(n, rec_.values(from)[static_cast<std::size_t>(n)]);
  const std::int64_t first = (id().b * p_.Hq + id().h) * p_.Lq + v.first_row;
  for (std::int32_t r = 0; r < v.rows; ++r) {
    for (std::int32_t c = 0; c < v.cols; ++c) {
      const float written = rec_.outputs.out.get((first + r) * v.cols + c);
      if (!same(written, rounded.get(std::int64_t{r} * v.cols + c))) {
        return wrote(Slot::o_new, r, c, written, rounded.get(std::int64_t{r} * v.cols + c));
      }
    }
    const float lse = rec_.outputs.lse.get(first + r), held = row(after(Slot::lse), r)[0];
    if (!same(lse, held)) return wrote(Slot::lse, r, 0, lse, held);
  }
  if (order_.ends_with_lse) return;
  const VersionId m = live_either(Slot::m_new, Slot::m_old), l = live_either(Slot::l_new, Slot::l_old);
  compare(Slot::lse, [&](std::int32_t r, std::int32_t) { return lse_within(m, l, r); });
}
VersionId GpuReplayer::live_either(Slot fresh, Slot old) const {
  return after(fresh) != kNoVersion ? after(fresh) : after(old);
}
void GpuReplayer::wrote(Slot slot, std::int32_t r, std::int32_t c, float written, float replayed) {
  difference_ = ReplayDifference{e_,
                                 slot,
                                 r,
                                 c,
                                 written,
                                 replayed,
                                 phrase("step {}: the kernel wrote {:.9g} at row {}, column {} of its tile, but the "
                                        "replay gives {:.9g}",
                                        e_ + 1, written, r, c, replayed)};
}

std::optional<ReplayDifference> replay_of_gpu(const Recording& rec, const Stop& stop) {
  return GpuReplayer(rec).run(stop);
}

}  // namespace attn
