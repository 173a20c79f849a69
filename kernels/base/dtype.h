// Storage types of Q, K, V and O, and their conversion to and from fp32.
// Every rounding is to nearest, ties to even (IEEE 754, section 4.3.1); NaN stays NaN, overflow is ±inf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace attn {

enum class DType : std::uint8_t { f32, f16, bf16 };

constexpr std::size_t size_of(DType t) {
  return t == DType::f32 ? 4 : 2;
}

// "f32", "f16", "bf16": the spelling of the command line, CSV and session files.
std::string_view name_of(DType t);
std::optional<DType> dtype_from_name(std::string_view name);

// Distance from 1 to the next larger value: 2^-23, 2^-10, 2^-7.
double epsilon_of(DType t);

std::uint16_t f16_from_f32(float x);
float f32_from_f16(std::uint16_t bits);
std::uint16_t bf16_from_f32(float x);
float f32_from_bf16(std::uint16_t bits);

// From fp64 in one rounding (two would double-round).
std::uint16_t f16_from_f64(double x);
std::uint16_t bf16_from_f64(double x);

// x rounded to what `t` can hold, as fp32.
float round_to(DType t, float x);
double round_to(DType t, double x);

}  // namespace attn
