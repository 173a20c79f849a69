// The merge in fp64 with a running bound (kernels/recording/replay/exact.cpp has the letters).
//   m            the larger bound of the two
//   a = exp(m_1 - m)      as every exponential; 1 where they are the same
//   l = a l_1 + b l_2     a b(l_1) + b(a) (l_1 + b(l_1)) and the same of the second, g(4) (a l_1 + b l_2)
//   O                     likewise
#include <algorithm>
#include <cmath>

#include "kernels/orders/split/names.h"
#include "kernels/recording/replay/exact_walk.h"

namespace attn::orders::split {
namespace {

using Num = ExactNumber;

const SplitNames& names() {
  return split_names();
}

Num factor(ExactWalk& w, Slot own) {
  const Num m = w.first(w.live(own)), both = w.first(w.live(Slot::m_new));
  // Both -inf, or the maximum's own part: what the kernel does not subtract. A sum may be off by m's bounds.
  if (m.exact == both.exact) return {1, std::expm1(m.bound + both.bound)};
  return exp_of_difference(w.arithmetic(), m, both);
}

Num times(Num a, Num x) {
  return {a.exact * x.exact, std::fabs(a.exact) * x.bound + a.bound * (std::fabs(x.exact) + x.bound)};
}

Num sum_of(const ExactWalk& w, Num a, Num x, Num b, Num y) {
  constexpr double kRoundings = 4;
  const Num first = times(a, x), second = times(b, y);
  const double bound = first.bound + second.bound, size = std::fabs(first.exact) + std::fabs(second.exact);
  return {first.exact + second.exact, bound + gamma_of(kRoundings, w.sum_unit()) * (size + bound)};
}

}  // namespace

void exact_max(ExactWalk& w) {
  const Num first = w.first(w.live(Slot::m_old)), second = w.first(w.live(names().m_part));
  const Num both{std::max(first.exact, second.exact), std::max(first.bound, second.bound)};
  w.make(Slot::m_new, [&](std::int64_t) { return both; });
}

void exact_first(ExactWalk& w) {
  const Num a = factor(w, Slot::m_old);
  w.make(Slot::alpha, [&](std::int64_t) { return a; });
}

void exact_second(ExactWalk& w) {
  const Num b = factor(w, names().m_part);
  w.make(names().alpha_part, [&](std::int64_t) { return b; });
}

void exact_sum(ExactWalk& w) {
  const Num l = sum_of(w, w.first(w.live(Slot::alpha)), w.first(w.live(Slot::l_old)),
                       w.first(w.live(names().alpha_part)), w.first(w.live(names().l_part)));
  w.make(Slot::l_new, [&](std::int64_t) { return l; });
}

void exact_output(ExactWalk& w) {
  const Num a = w.first(w.live(Slot::alpha)), b = w.first(w.live(names().alpha_part));
  const ExactRow &first = w.operand(w.live(Slot::o_old)), &second = w.operand(w.live(names().o_part));
  w.make(Slot::o_new, [&](std::int64_t c) {
    const auto n = static_cast<std::size_t>(c);
    return sum_of(w, a, first[n], b, second[n]);
  });
}

}  // namespace attn::orders::split
