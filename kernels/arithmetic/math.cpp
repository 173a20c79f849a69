#include "kernels/arithmetic/math.h"

#include <cmath>

#include "kernels/arithmetic/exp_constants.h"

namespace attn {

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

float log_f32(float x) {
  return static_cast<float>(std::log(static_cast<double>(x)));
}

}  // namespace attn
