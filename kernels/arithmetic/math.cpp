#include "kernels/arithmetic/math.h"

#include <cmath>

#include "kernels/arithmetic/exp_constants.h"

namespace attn {
namespace {

constexpr float kTanhBend = 0.625F;  // above it 1 - 2 / (e^2x + 1) loses nothing

}  // namespace

float exp_f32(float x) {
  using namespace cpu::exp_constants;
  if (!(x >= kMin)) return x != x ? x : 0.0F;
  if (x > kMax) return INFINITY;
  // Adding and subtracting 1.5 * 2^23 rounds to the nearest whole number, ties to even, with no libm.
  const float n = (x * kLog2e + kRound) - kRound;
  const float r = (x - n * kLn2Hi) - n * kLn2Lo;
  float y = kP0;
  y = y * r + kP1;
  y = y * r + kP2;
  y = y * r + kP3;
  y = y * r + kP4;
  y = y * r + kP5;
  y = (y * (r * r) + r) + 1.0F;
  // 2^n in two factors: n = 128 has no fp32 of its own.
  const auto half = static_cast<std::int32_t>(n) >> 1;
  const auto rest = static_cast<std::int32_t>(n) - half;
  return y * power_of_two(half) * power_of_two(rest);
}

float tanh_f32(float x) {
  const float size = std::fabs(x);
  if (!(size >= kTanhBend)) {
    // x + x^3 Q(x^2): the best Q of degree 4 in the sense of Chebyshev, off by 0.32 of fp32's rounding.
    const float z = size * size;
    float y = -6.104947999119759e-3F;
    y = y * z + 2.1003641188144684e-2F;
    y = y * z + -5.385249853134155e-2F;
    y = y * z + 0.13332782685756683F;
    y = y * z + -0.333333283662796F;
    return std::copysign(y * z * size + size, x);
  }
  const float y = 1.0F - 2.0F / (exp_f32(2.0F * size) + 1.0F);
  return std::copysign(y, x);
}

float log_f32(float x) {
  return static_cast<float>(std::log(static_cast<double>(x)));
}

}  // namespace attn
