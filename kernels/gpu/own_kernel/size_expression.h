// Whole numbers as a user's own kernel declares them: of its grid, its block, its shared memory.
//
//   sum      = product { ("+" | "-") product }
//   product  = factor { ("*" | "/" | "%") factor }
//   factor   = number | name | "(" sum ")" | function "(" sum "," sum ")"
//   function = "min" | "max" | "ceil_div"
//
// Exact in 64 bits: what overflows, divides by zero or divides a negative number is an error. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"

namespace attn::gpu {

// What an expression can ask of a problem and its options.
enum class SizeName : std::uint8_t { B, Hq, Hkv, Lq, Lk, D, Dv, br, bc, threads, stages };
constexpr std::size_t kSizeNames = 11;
std::string_view name_of(SizeName name);  // as it is written: "Lq", "Br"
using SizeValues = std::array<std::int64_t, kSizeNames>;

class SizeExpression {
 public:
  // The error names the column, what stands there and what would do.
  static Result<SizeExpression> parse(std::string_view text);
  static SizeExpression constant(std::int64_t value);
  // The error says which operation cannot be done, on which numbers.
  Result<std::int64_t> value(const SizeValues& of) const;
  bool reads(SizeName name) const;
  const std::string& text() const { return text_; }

 private:
  enum class Kind : std::uint8_t { number, name, add, subtract, multiply, divide, remainder, least, most, ceil_div };
  // Operands first: "a + b" is a, b, add.
  struct Step {
    Kind kind = Kind::number;
    std::int64_t number = 0;  // of a name its SizeName
  };
  class Reader;
  Result<std::int64_t> apply(Kind kind, std::int64_t a, std::int64_t b) const;

  std::string text_ = "0";
  std::vector<Step> steps_{Step{}};
};

}  // namespace attn::gpu
