// Constants of exp_f32, shared by its scalar and vector form. Reduction: Cody and Waite (1980); polynomial: Cephes'
// expf (Moshier).
#pragma once

#include <bit>
#include <cstdint>

namespace attn::cpu::exp_constants {

constexpr float kMin = -87.33654F;  // below: 0, since the result would be subnormal
constexpr float kMax = 88.72283F;   // above: +inf
constexpr float kLog2e = 1.44269504088896341F;
constexpr float kRound = 12582912.0F;   // 1.5 * 2^23
constexpr float kLn2Hi = 0.693359375F;  // 355/512: 9 bits, so n * kLn2Hi is exact
constexpr float kLn2Lo = -2.12194440e-4F;
constexpr float kP0 = 1.9875691500e-4F;
constexpr float kP1 = 1.3981999507e-3F;
constexpr float kP2 = 8.3334519073e-3F;
constexpr float kP3 = 4.1665795894e-2F;
constexpr float kP4 = 1.6666665459e-1F;
constexpr float kP5 = 5.0000001201e-1F;

constexpr float power_of_two(std::int32_t n) {
  return std::bit_cast<float>((n + 127) << 23);
}

}  // namespace attn::cpu::exp_constants
