// Compiled once a vector target: Highway includes this file again for each of them. The loops keep every element's
// own chain of operations in one fixed order (vector_ops.h), so only speed depends on the target.
#include "kernels/arithmetic/vector_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/arithmetic/exp_constants.h"

// Sizeless vectors cannot stand in arrays, which the register tile below needs.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/arithmetic/vector_ops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attn::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::CappedTag<float, kLanes>;
using V = hn::Vec<F>;
constexpr std::int64_t kWidth = HWY_MAX_BYTES >= 64 ? 16 : HWY_MAX_BYTES / 4;  // lanes of F
constexpr int kBlock = static_cast<int>(kLanes / kWidth);                      // vectors of one padded block
// Columns of a register tile: four vectors where registers allow (32 of them), else one padded block.
constexpr int kPanel = kBlock == 1 ? 4 : kBlock;
constexpr int kRows = kBlock == 4 ? 2 : 4;

// WebAssembly's vectors have no fused multiply-add; in a page, too, the bits are those of a CPU's.
template <class D, class X>
HWY_INLINE X fused(D d, X a, X b, X c) {
#if HWY_ARCH_WASM
  HWY_ALIGN float lanes[3][16];
  hn::Store(a, d, lanes[0]);
  hn::Store(b, d, lanes[1]);
  hn::Store(c, d, lanes[2]);
  for (std::size_t n = 0; n < hn::Lanes(d); ++n) lanes[2][n] = std::fma(lanes[0][n], lanes[1][n], lanes[2][n]);
  return hn::Load(d, lanes[2]);
#else
  static_cast<void>(d);
  return hn::MulAdd(a, b, c);
#endif
}

enum class Start { zero, c, c_times_factor };
// How the left factor lies: as it is multiplied, or transposed.
enum class Left { plain, transposed };

// One register tile: kR rows x kNv vectors, the whole inner loop.
template <int kR, int kNv, Start kStart, Left kLeft>
HWY_INLINE void micro(ConstTile a, ConstTile b, MutTile c, std::int64_t k, float scale, const float* factor) {
  const F d;
  V acc[kR][kNv];
  for (int r = 0; r < kR; ++r) {
    for (int v = 0; v < kNv; ++v) {
      if constexpr (kStart == Start::zero) {
        acc[r][v] = hn::Zero(d);
      } else {
        acc[r][v] = hn::Load(d, c.data + r * c.ld + v * kWidth);
        if constexpr (kStart == Start::c_times_factor) acc[r][v] = hn::Mul(acc[r][v], hn::Set(d, factor[r]));
      }
    }
  }
  for (std::int64_t x = 0; x < k; ++x) {
    V row[kNv];
    for (int v = 0; v < kNv; ++v) row[v] = hn::Load(d, b.data + x * b.ld + v * kWidth);
    for (int r = 0; r < kR; ++r) {
      const V left = hn::Set(d, kLeft == Left::plain ? a.data[r * a.ld + x] : a.data[x * a.ld + r]);
      for (int v = 0; v < kNv; ++v) acc[r][v] = fused(d, left, row[v], acc[r][v]);
    }
  }
  const V by = hn::Set(d, scale);
  for (int r = 0; r < kR; ++r) {
    for (int v = 0; v < kNv; ++v) {
      if constexpr (kStart == Start::zero) acc[r][v] = hn::Mul(acc[r][v], by);
      hn::Store(acc[r][v], d, c.data + r * c.ld + v * kWidth);
    }
  }
}

template <int kNv, Start kStart, Left kLeft>
HWY_INLINE void panel(ConstTile a, ConstTile b, MutTile c, std::int64_t m, std::int64_t k, float scale,
                      const float* factor) {
  std::int64_t r = 0;
  const auto at = [&](std::int64_t row) { return ConstTile{a.data + (kLeft == Left::plain ? row * a.ld : row), a.ld}; };
  const auto to = [&](std::int64_t row) { return MutTile{c.data + row * c.ld, c.ld}; };
  for (; r + kRows <= m; r += kRows)
    micro<kRows, kNv, kStart, kLeft>(at(r), b, to(r), k, scale, factor ? factor + r : nullptr);
  for (; r < m; ++r) micro<1, kNv, kStart, kLeft>(at(r), b, to(r), k, scale, factor ? factor + r : nullptr);
}

template <Start kStart, Left kLeft = Left::plain>
void product(ConstTile a, ConstTile b, MutTile c, std::int64_t m, std::int64_t n, std::int64_t k, float scale,
             const float* factor) {
  const std::int64_t vectors = padded(n) / kWidth;
  std::int64_t v = 0;
  const auto from = [&] { return ConstTile{b.data + v * kWidth, b.ld}; };
  const auto to = [&] { return MutTile{c.data + v * kWidth, c.ld}; };
  for (; v + kPanel <= vectors; v += kPanel) panel<kPanel, kStart, kLeft>(a, from(), to(), m, k, scale, factor);
  // Only a target whose block is one vector leaves a rest.
  if (vectors - v >= 2) {
    panel<2, kStart, kLeft>(a, from(), to(), m, k, scale, factor);
    v += 2;
  }
  if (vectors - v == 1) panel<1, kStart, kLeft>(a, from(), to(), m, k, scale, factor);
}

void ScaledProduct(ConstTile a, ConstTile b, MutTile c, std::int64_t m, std::int64_t n, std::int64_t k, float scale) {
  product<Start::zero>(a, b, c, m, n, k, scale, nullptr);
}

void RescaledProduct(ConstTile a, ConstTile b, MutTile c, std::int64_t m, std::int64_t n, std::int64_t k,
                     const float* factor) {
  if (factor != nullptr) {
    product<Start::c_times_factor>(a, b, c, m, n, k, 1.0F, factor);
  } else {
    product<Start::c>(a, b, c, m, n, k, 1.0F, nullptr);
  }
}

void TransposedProduct(ConstTile a, ConstTile b, MutTile c, std::int64_t m, std::int64_t n, std::int64_t k) {
  product<Start::c, Left::transposed>(a, b, c, m, n, k, 1.0F, nullptr);
}

// One lane: the chain of a product's element, so that where both are the same numbers both give the same bits.
void RowDots(ConstTile a, ConstTile b, std::int64_t m, std::int64_t n, float* out) {
  const hn::CappedTag<float, 1> d;
  for (std::int64_t r = 0; r < m; ++r) {
    auto sum = hn::Zero(d);
    for (std::int64_t x = 0; x < n; ++x)
      sum = fused(d, hn::Set(d, a.data[r * a.ld + x]), hn::Set(d, b.data[r * b.ld + x]), sum);
    out[r] = hn::GetLane(sum);
  }
}

void SoftmaxGradient(ConstTile p, ConstTile dp, std::int64_t m, std::int64_t n, const float* delta, MutTile ds) {
  const F d;
  for (std::int64_t r = 0; r < m; ++r) {
    const V mean = hn::Set(d, delta[r]);
    for (std::int64_t c = 0; c < padded(n); c += kWidth) {
      const V less = hn::Sub(hn::Load(d, dp.data + r * dp.ld + c), mean);
      hn::Store(hn::Mul(hn::Load(d, p.data + r * p.ld + c), less), d, ds.data + r * ds.ld + c);
    }
  }
}

// NaN in x never wins; of two zeros the first stays.
HWY_INLINE V Larger(V x, V best) {
  return hn::IfThenElse(hn::Gt(x, best), x, best);
}

void RowMax(ConstTile s, std::int64_t m, std::int64_t n, const float* in, float* out) {
  const F d;
  for (std::int64_t r = 0; r < m; ++r) {
    V best[kBlock];
    for (V& b : best) b = hn::Set(d, -HUGE_VALF);
    const float* row = s.data + r * s.ld;
    for (std::int64_t c = 0; c < n; c += kLanes) {
      for (int v = 0; v < kBlock; ++v) best[v] = Larger(hn::Load(d, row + c + v * kWidth), best[v]);
    }
    HWY_ALIGN float lane[kLanes];
    for (int v = 0; v < kBlock; ++v) hn::Store(best[v], d, lane + v * kWidth);
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::int64_t x = 0; x < half; ++x) lane[x] = lane[x + half] > lane[x] ? lane[x + half] : lane[x];
    }
    out[r] = lane[0] > in[r] ? lane[0] : in[r];
  }
}

HWY_INLINE float TreeSum(const V* partial) {
  const F d;
  HWY_ALIGN float lane[kLanes];
  for (int v = 0; v < kBlock; ++v) hn::Store(partial[v], d, lane + v * kWidth);
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t x = 0; x < half; ++x) lane[x] = lane[x] + lane[x + half];
  }
  return lane[0];
}

// exp_f32, lane by lane (kernels/arithmetic/math.cpp): multiply and add, never fused.
HWY_INLINE V Exp(V x) {
  using namespace exp_constants;
  const F d;
  const hn::Rebind<std::int32_t, F> di;
  const V round = hn::Set(d, kRound);
  const V n = hn::Sub(hn::Add(hn::Mul(x, hn::Set(d, kLog2e)), round), round);
  const V r = hn::Sub(hn::Sub(x, hn::Mul(n, hn::Set(d, kLn2Hi))), hn::Mul(n, hn::Set(d, kLn2Lo)));
  V y = hn::Set(d, kP0);
  y = hn::Add(hn::Mul(y, r), hn::Set(d, kP1));
  y = hn::Add(hn::Mul(y, r), hn::Set(d, kP2));
  y = hn::Add(hn::Mul(y, r), hn::Set(d, kP3));
  y = hn::Add(hn::Mul(y, r), hn::Set(d, kP4));
  y = hn::Add(hn::Mul(y, r), hn::Set(d, kP5));
  y = hn::Add(hn::Add(hn::Mul(y, hn::Mul(r, r)), r), hn::Set(d, 1.0F));
  const auto whole = hn::ConvertTo(di, n);
  const auto half = hn::ShiftRight<1>(whole);
  const auto bias = hn::Set(di, 127);
  const V first = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V second = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, half), bias)));
  y = hn::Mul(hn::Mul(y, first), second);
  y = hn::IfThenElse(hn::Gt(x, hn::Set(d, kMax)), hn::Set(d, HUGE_VALF), y);
  y = hn::IfThenElse(hn::Lt(x, hn::Set(d, kMin)), hn::Zero(d), y);
  return hn::IfThenElse(hn::Ne(x, x), x, y);
}

void ExpRows(ConstTile s, std::int64_t m, std::int64_t n, const float* shift, MutTile p, float* sums) {
  const F d;
  for (std::int64_t r = 0; r < m; ++r) {
    const V by = hn::Set(d, shift[r]);
    V partial[kBlock];
    for (V& x : partial) x = hn::Zero(d);
    const float* from = s.data + r * s.ld;
    float* to = p.data + r * p.ld;
    for (std::int64_t c = 0; c < n; c += kLanes) {
      for (int v = 0; v < kBlock; ++v) {
        const V e = Exp(hn::Sub(hn::Load(d, from + c + v * kWidth), by));
        hn::Store(e, d, to + c + v * kWidth);
        partial[v] = hn::Add(partial[v], e);
      }
    }
    if (sums != nullptr) sums[r] = TreeSum(partial);
  }
}

void RowSums(ConstTile p, std::int64_t m, std::int64_t n, float* sums) {
  const F d;
  for (std::int64_t r = 0; r < m; ++r) {
    V partial[kBlock];
    for (V& x : partial) x = hn::Zero(d);
    const float* row = p.data + r * p.ld;
    for (std::int64_t c = 0; c < n; c += kLanes) {
      for (int v = 0; v < kBlock; ++v) partial[v] = hn::Add(partial[v], hn::Load(d, row + c + v * kWidth));
    }
    sums[r] = TreeSum(partial);
  }
}

void DivideRows(MutTile p, std::int64_t m, std::int64_t n, const float* divisor) {
  const F d;
  for (std::int64_t r = 0; r < m; ++r) {
    float* row = p.data + r * p.ld;
    const bool none = divisor[r] == 0.0F;
    const V by = hn::Set(d, divisor[r]);
    for (std::int64_t c = 0; c < padded(n); c += kWidth) {
      hn::Store(none ? hn::Zero(d) : hn::Div(hn::Load(d, row + c), by), d, row + c);
    }
  }
}

const char* TargetName() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace HWY_NAMESPACE
}  // namespace attn::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::cpu {

HWY_EXPORT(ScaledProduct);
HWY_EXPORT(RescaledProduct);
HWY_EXPORT(TransposedProduct);
HWY_EXPORT(RowDots);
HWY_EXPORT(SoftmaxGradient);
HWY_EXPORT(RowMax);
HWY_EXPORT(ExpRows);
HWY_EXPORT(RowSums);
HWY_EXPORT(DivideRows);
HWY_EXPORT(TargetName);

void scaled_product(ConstTile a, ConstTile b, MutTile c, std::int64_t m, std::int64_t n, std::int64_t k, float scale) {
  HWY_DYNAMIC_DISPATCH(ScaledProduct)(a, b, c, m, n, k, scale);
}
void rescaled_product(ConstTile a, ConstTile b, MutTile c, std::int64_t m, std::int64_t n, std::int64_t k,
                      const float* factor) {
  HWY_DYNAMIC_DISPATCH(RescaledProduct)(a, b, c, m, n, k, factor);
}
void transposed_product(ConstTile a, ConstTile b, MutTile c, std::int64_t m, std::int64_t n, std::int64_t k) {
  HWY_DYNAMIC_DISPATCH(TransposedProduct)(a, b, c, m, n, k);
}
void row_dots(ConstTile a, ConstTile b, std::int64_t m, std::int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(RowDots)(a, b, m, n, out);
}
void softmax_gradient(ConstTile p, ConstTile dp, std::int64_t m, std::int64_t n, const float* delta, MutTile ds) {
  HWY_DYNAMIC_DISPATCH(SoftmaxGradient)(p, dp, m, n, delta, ds);
}
void row_max(ConstTile s, std::int64_t m, std::int64_t n, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(RowMax)(s, m, n, in, out);
}
void exp_rows(ConstTile s, std::int64_t m, std::int64_t n, const float* shift, MutTile p, float* sums) {
  HWY_DYNAMIC_DISPATCH(ExpRows)(s, m, n, shift, p, sums);
}
void row_sums(ConstTile p, std::int64_t m, std::int64_t n, float* sums) {
  HWY_DYNAMIC_DISPATCH(RowSums)(p, m, n, sums);
}
void divide_rows(MutTile p, std::int64_t m, std::int64_t n, const float* divisor) {
  HWY_DYNAMIC_DISPATCH(DivideRows)(p, m, n, divisor);
}
std::string target_name() {
  return HWY_DYNAMIC_DISPATCH(TargetName)();
}

void transpose(ConstTile a, MutTile c, std::int64_t m, std::int64_t n) {
  // 16 x 16 blocks, so that both sides stay in the first-level cache.
  for (std::int64_t x0 = 0; x0 < n; x0 += kLanes) {
    for (std::int64_t r0 = 0; r0 < padded(m); r0 += kLanes) {
      for (std::int64_t x = x0; x < std::min(n, x0 + kLanes); ++x) {
        for (std::int64_t r = r0; r < r0 + kLanes; ++r) c.data[x * c.ld + r] = r < m ? a.data[r * a.ld + x] : 0.0F;
      }
    }
  }
}

void widen(DType t, const void* from, std::int64_t first, std::int64_t n, float* to) {
  if (t == DType::f32) {
    std::memcpy(to, static_cast<const float*>(from) + first, static_cast<std::size_t>(n) * sizeof(float));
    return;
  }
  const auto* bits = static_cast<const std::uint16_t*>(from) + first;
  for (std::int64_t i = 0; i < n; ++i) to[i] = t == DType::f16 ? f32_from_f16(bits[i]) : f32_from_bf16(bits[i]);
}

}  // namespace attn::cpu
#endif  // HWY_ONCE
