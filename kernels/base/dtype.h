// Storage types of Q, K, V and O, and their conversion to and from fp32.
// Every rounding is to nearest, ties to even (IEEE 754, section 4.3.1); NaN stays NaN, overflow is ±inf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace attn {

enum class DType : std::uint8_t { f32, f16, bf16 };

// What a tensor's elements are: a DType, or the whole numbers of lengths and tables. The first are DType's, in its
// order.
enum class ElementType : std::uint8_t { f32, f16, bf16, i32, i64 };

constexpr ElementType element_type_of(DType t) {
  return static_cast<ElementType>(t);
}

// Bytes of an element.
constexpr std::size_t size_of(ElementType t) {
  constexpr std::size_t kSizes[] = {4, 2, 2, 4, 8};
  return kSizes[static_cast<std::size_t>(t)];
}
constexpr std::size_t size_of(DType t) {
  return size_of(element_type_of(t));
}

// "f32", "f16", "bf16": the spelling of the command line, CSV and session files.
std::string_view name_of(DType t);
std::optional<DType> dtype_from_name(std::string_view name);
// The same, "i32" and "i64".
std::string_view name_of(ElementType t);
std::optional<ElementType> element_type_from_name(std::string_view name);
// None for a whole number.
std::optional<DType> dtype_of(ElementType t);

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
