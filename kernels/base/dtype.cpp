#include "kernels/base/dtype.h"

#include <bit>

namespace attn {
namespace {

// An IEEE 754 binary format: one sign bit, then exponent, then fraction.
struct Format {
  int exponent_bits;
  int fraction_bits;

  constexpr std::int64_t bias() const { return (std::int64_t{1} << (exponent_bits - 1)) - 1; }
  constexpr std::uint64_t exponent_mask() const { return (std::uint64_t{1} << exponent_bits) - 1; }
  constexpr std::uint64_t fraction_mask() const { return (std::uint64_t{1} << fraction_bits) - 1; }
  constexpr std::uint64_t infinity() const { return exponent_mask() << fraction_bits; }
};

constexpr Format kF64{11, 52};
constexpr Format kF32{8, 23};
constexpr Format kF16{5, 10};
constexpr Format kBf16{8, 7};

// x / 2^shift, to nearest, ties to even.
constexpr std::uint64_t shift_right_rounding(std::uint64_t x, int shift) {
  const std::uint64_t kept = x >> shift;
  const std::uint64_t rest = x & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const bool up = rest > half || (rest == half && (kept & 1) != 0);
  return kept + (up ? 1 : 0);
}

// Integers only, so that signalling NaNs pass unchanged and no rounding mode or flush-to-zero
// matters.
constexpr std::uint64_t narrow(std::uint64_t bits, Format from, Format to) {
  const std::uint64_t sign = (bits >> (from.exponent_bits + from.fraction_bits))
                             << (to.exponent_bits + to.fraction_bits);
  const std::uint64_t exponent = (bits >> from.fraction_bits) & from.exponent_mask();
  const std::uint64_t fraction = bits & from.fraction_mask();
  int shift = from.fraction_bits - to.fraction_bits;

  if (exponent == from.exponent_mask()) {
    if (fraction == 0) return sign | to.infinity();
    // A payload that lies wholly in the bits that are cut must not turn into infinity.
    const std::uint64_t payload = fraction >> shift;
    const std::uint64_t quiet = std::uint64_t{1} << (to.fraction_bits - 1);
    return sign | to.infinity() | (payload == 0 ? quiet : payload);
  }

  // Value = significand * 2^(max(exponent, 1) - bias - fraction_bits).
  const std::uint64_t significand = exponent == 0 ? fraction : fraction | (std::uint64_t{1} << from.fraction_bits);
  const std::int64_t biased = static_cast<std::int64_t>(exponent == 0 ? 1 : exponent);
  const std::int64_t target = biased - from.bias() + to.bias();
  std::uint64_t base = 0;
  if (target >= 1) {
    // The significand's leading one adds the last step of the exponent; a carry adds one more.
    base = static_cast<std::uint64_t>(target - 1) << to.fraction_bits;
  } else {
    if (1 - target > from.fraction_bits) return sign;
    shift += static_cast<int>(1 - target);
    if (shift > from.fraction_bits + 1) return sign;
  }
  const std::uint64_t magnitude = base + shift_right_rounding(significand, shift);
  return sign | (magnitude < to.infinity() ? magnitude : to.infinity());
}

}  // namespace

std::string_view name_of(ElementType t) {
  constexpr std::string_view kNames[] = {"f32", "f16", "bf16", "i32", "i64"};
  return kNames[static_cast<std::size_t>(t)];
}

std::optional<ElementType> element_type_from_name(std::string_view name) {
  using enum ElementType;
  for (const ElementType t : {f32, f16, bf16, i32, i64}) {
    if (name == name_of(t)) return t;
  }
  return std::nullopt;
}

std::optional<DType> dtype_of(ElementType t) {
  if (t > element_type_of(DType::bf16)) return std::nullopt;
  return static_cast<DType>(t);
}

std::string_view name_of(DType t) {
  return name_of(element_type_of(t));
}

std::optional<DType> dtype_from_name(std::string_view name) {
  const std::optional<ElementType> t = element_type_from_name(name);
  return t ? dtype_of(*t) : std::nullopt;
}

double epsilon_of(DType t) {
  switch (t) {
    case DType::f32:
      return 0x1p-23;
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
  }
  return 0;
}

std::uint16_t f16_from_f32(float x) {
  return static_cast<std::uint16_t>(narrow(std::bit_cast<std::uint32_t>(x), kF32, kF16));
}

float f32_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7fffU;
  if (magnitude >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
  if (magnitude >= 0x0400U) return std::bit_cast<float>(sign | ((magnitude << 13) + ((127U - 15U) << 23)));
  // Subnormal: magnitude * 2^-24, exact in fp32.
  const float value = static_cast<float>(magnitude) * 0x1p-24F;
  return sign != 0 ? -value : value;
}

std::uint16_t bf16_from_f32(float x) {
  return static_cast<std::uint16_t>(narrow(std::bit_cast<std::uint32_t>(x), kF32, kBf16));
}

float f32_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t f16_from_f64(double x) {
  return static_cast<std::uint16_t>(narrow(std::bit_cast<std::uint64_t>(x), kF64, kF16));
}

std::uint16_t bf16_from_f64(double x) {
  return static_cast<std::uint16_t>(narrow(std::bit_cast<std::uint64_t>(x), kF64, kBf16));
}

float round_to(DType t, float x) {
  switch (t) {
    case DType::f32:
      return x;
    case DType::f16:
      return f32_from_f16(f16_from_f32(x));
    case DType::bf16:
      return f32_from_bf16(bf16_from_f32(x));
  }
  return x;
}

double round_to(DType t, double x) {
  switch (t) {
    case DType::f32:
      return static_cast<double>(static_cast<float>(x));
    case DType::f16:
      return static_cast<double>(f32_from_f16(f16_from_f64(x)));
    case DType::bf16:
      return static_cast<double>(f32_from_bf16(bf16_from_f64(x)));
  }
  return x;
}

}  // namespace attn
