// Compiled once a vector target: Highway includes this file again for each of them.
#include "profiling/measure/cpu/fma_loop.h"

#include "kernels/base/clock.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "profiling/measure/cpu/fma_loop.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

double FmaGflops(double seconds) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kRounds = 4096;
  constexpr int kChains = 12;
  // Twelve chains hide four cycles of latency on three units and fit 16 registers beside x and y. Each is a variable
  // of its own: compilers keep the elements of an array in memory, and then this measures loads and stores.
  const V x = hn::Set(d, 0.999999F);
  const V y = hn::Set(d, 1e-6F);
  // Chains that begin alike would be computed once.
  V a0 = hn::Iota(d, 0.0F), a1 = hn::Iota(d, 1.0F), a2 = hn::Iota(d, 2.0F), a3 = hn::Iota(d, 3.0F);
  V a4 = hn::Iota(d, 4.0F), a5 = hn::Iota(d, 5.0F), a6 = hn::Iota(d, 6.0F), a7 = hn::Iota(d, 7.0F);
  V a8 = hn::Iota(d, 8.0F), a9 = hn::Iota(d, 9.0F), a10 = hn::Iota(d, 10.0F), a11 = hn::Iota(d, 11.0F);
  double rounds = 0;
  double elapsed = 0;
  const double begin = steady_seconds();
  do {
    for (int i = 0; i < kRounds; ++i) {
      a0 = hn::MulAdd(a0, x, y);
      a1 = hn::MulAdd(a1, x, y);
      a2 = hn::MulAdd(a2, x, y);
      a3 = hn::MulAdd(a3, x, y);
      a4 = hn::MulAdd(a4, x, y);
      a5 = hn::MulAdd(a5, x, y);
      a6 = hn::MulAdd(a6, x, y);
      a7 = hn::MulAdd(a7, x, y);
      a8 = hn::MulAdd(a8, x, y);
      a9 = hn::MulAdd(a9, x, y);
      a10 = hn::MulAdd(a10, x, y);
      a11 = hn::MulAdd(a11, x, y);
    }
    rounds += kRounds;
    elapsed = steady_seconds() - begin;
  } while (elapsed < seconds);
  // All chains must be used, or nothing of the loop stays.
  const V half = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), hn::Add(a4, a5));
  const V rest = hn::Add(hn::Add(hn::Add(a6, a7), hn::Add(a8, a9)), hn::Add(a10, a11));
  volatile float keep = hn::GetLane(hn::Add(half, rest));
  static_cast<void>(keep);
  return rounds * kChains * static_cast<double>(hn::Lanes(d)) * 2.0 / elapsed * 1e-9;
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {

HWY_EXPORT(FmaGflops);
double fma_gflops(double seconds) {
  return HWY_DYNAMIC_DISPATCH(FmaGflops)(seconds);
}

}  // namespace attn
#endif  // HWY_ONCE
