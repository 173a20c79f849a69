// The arithmetic that every CPU kernel and its replay share. No libm in exp: the result is the same on every
// machine. All of it is compiled without contraction; a fused multiply-add stands only where it is written.
#pragma once

namespace attn {

// e^x: Cody-Waite reduction in two constants, Cephes' polynomial of degree 5, multiply and add only.
// |exp_f32(x) - e^x| <= kExpError * e^x for -87.33 <= x <= 88.37; below, 0 (absolute error < 1.2e-38);
// above 88.72, +inf. exp_f32(-inf) = 0, exp_f32(NaN) = NaN. The vector version gives the same bits.
float exp_f32(float x);
constexpr double kExpError = 2.4e-7;  // 2 ulp

// tanh x for the softcap, of exp_f32 and a polynomial: no libm. |tanh_f32(x) - tanh x| <= kTanhError |tanh x|; +-inf
// gives +-1, NaN stays NaN, 0 keeps its sign.
float tanh_f32(float x);
constexpr double kTanhError = 2.4e-7;  // 4 roundings of fp32

// ln x for the LSE: one rounding of the fp64 logarithm; 0 gives -inf.
float log_f32(float x);

}  // namespace attn
