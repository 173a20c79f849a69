// Numbers as text. A text is always the value correctly rounded to the digits that it shows; a number that is not
// zero never prints as zero; the digits shown never promise more than the value's error bound allows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

constexpr int kCellDigits = 5;  // significant digits of a cell, at most
constexpr int kFullDigits = 9;  // an fp32 value is told from its neighbours by nine

// How a number is written: `decimals` after the point, or a mantissa with `decimals` after its point and an exponent.
struct NumberFormat {
  int decimals = 0;
  bool exponent = false;
  bool operator==(const NumberFormat&) const = default;
};

// Written in that format, correctly rounded; not-zero that would print as zero takes an exponent with two decimals.
// The minus sign is U+2212; infinities and NaN are "∞", "−∞", "nan".
std::string number_text(double value, NumberFormat format);

// Significant digits that `bound` allows: the bound is at most half a unit of the last one. At least 1, at most
// `most`. A bound of 0 allows `most`.
int supported_digits(double value, double bound, int max);
// Decimals of fixed notation that `bound` allows (may be 0), at most `most`.
int supported_decimals(double bound, int max);

// The format that shows `digits` significant digits of `value`: fixed where that takes at most four zeros after the
// point or before it, else with an exponent.
NumberFormat format_of(double value, int digits);
// number_text(value, format_of(value, digits)) with what the bound allows.
std::string significant_text(double value, int digits, double bound = 0);
// Where the terms of a number or its full digits stand beside it, it has at least these, whatever its bound: with fewer
// it would read as another number than they give.
constexpr int kLeastDigits = 3;
std::string spelled_text(double value, int digits, double bound);

// A count: "999", "12.3k", "4.19M", "-1.07G": three digits, and the sign.
std::string brief_count(std::int64_t n);

// Characters on the screen (UTF-8 sequences, not bytes).
int text_length(std::string_view text);

// The value of a text made by number_text.
double value_of(std::string_view text);

// One column of numbers whose decimal points stand in line: as many decimals as every value's bound, `most_digits`
// significant digits of the largest, and `room` characters allow. Values too small for that many decimals to show
// two of their digits take an exponent when it fits. `natural` >= 0: the decimals the values need, no more.
struct ColumnFormat {
  int decimals = 0;
  int room = 0;
  int max_digits = kCellDigits;
  bool exact = false;  // inputs that these decimals print exactly
};
ColumnFormat column_format(std::span<const float> values, std::span<const double> bounds, int room, int natural);
std::string cell_text(double value, double bound, const ColumnFormat& column);

// The fewest decimals (0 to 4) with which every finite value prints so that it reads back as the same fp32, or -1.
int natural_decimals(std::span<const float> values);

// Printed inputs give the printed result: the texts of `operands` with the fewest significant digits (at least
// `least`) for which `formula`, fed with what the texts say, rounds to the text of `result`: with as
// many as its bound allows, kLeastDigits at the least, one fewer where only those agree.
struct WorkedFormula {
  std::vector<std::string> operands;
  std::string result;
  bool agrees = true;  // false: even full precision gives another last digit
};
template <class Formula>
WorkedFormula worked_formula(const Formula& formula, std::span<const double> operands, double result,
                             double result_bound, int result_digits, int min = 3) {
  WorkedFormula out;
  const int most = std::max(supported_digits(result, result_bound, result_digits), kLeastDigits);
  for (int digits = std::min(most, result_digits); digits >= std::min(kLeastDigits - 1, result_digits); --digits) {
    const NumberFormat format = format_of(result, digits);
    out.result = number_text(result, format);
    for (int n = min; n <= kFullDigits; ++n) {
      out.operands.clear();
      std::vector<double> printed;
      for (const double x : operands) {
        out.operands.push_back(significant_text(x, n));
        printed.push_back(value_of(out.operands.back()));
      }
      const auto agrees = [&] { return number_text(formula(std::span<const double>(printed)), format) == out.result; };
      if (!agrees()) continue;
      // Enough digits for all; each one then gives up those that it does not need.
      for (std::size_t k = 0; k < operands.size(); ++k) {
        for (int fewer = min; fewer < n; ++fewer) {
          const std::string text = significant_text(operands[k], fewer);
          const double kept = printed[k];
          printed[k] = value_of(text);
          if (agrees()) {
            out.operands[k] = text;
            break;
          }
          printed[k] = kept;
        }
      }
      return out;
    }
  }
  out.agrees = false;
  return out;
}

}  // namespace attn
