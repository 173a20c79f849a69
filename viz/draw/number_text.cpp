#include "viz/draw/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace attn {
namespace {

constexpr std::string_view kMinus = "\u2212";
constexpr std::string_view kInfinity = "\u221e";

// glibc's printf rounds the exact binary value, ties to even: correct rounding at every number of digits.
std::string printed(const char* pattern, int decimals, double value) {
  char buffer[400];
  const int n = std::snprintf(buffer, sizeof buffer, pattern, decimals, value);
  return std::string(buffer, static_cast<std::size_t>(std::clamp(n, 0, 399)));
}

std::string with_minus(std::string text) {
  if (!text.empty() && text[0] == '-') text.replace(0, 1, kMinus);
  return text;
}

// "2.06e-04" -> "2.06e−4".
std::string exponent_text(double value, int decimals) {
  const std::string raw = printed("%.*e", decimals, value);
  const std::size_t e = raw.find('e');
  if (e == std::string::npos) return with_minus(raw);
  const int power = std::atoi(raw.c_str() + e + 1);
  return with_minus(raw.substr(0, e)) + "e" + with_minus(std::to_string(power));
}

bool reads_as_zero(std::string_view text) {
  return text.find_first_of("123456789") == std::string_view::npos;
}

// Power of ten of the leading digit after rounding to `digits` significant digits.
int leading_power(double value, int digits) {
  const std::string raw = printed("%.*e", std::max(digits - 1, 0), value);
  const std::size_t e = raw.find('e');
  return e == std::string::npos ? 0 : std::atoi(raw.c_str() + e + 1);
}

}  // namespace

std::string number_text(double value, NumberFormat format) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? std::string(kInfinity) : std::string(kMinus) + std::string(kInfinity);
  if (value == 0) value = 0;  // -0 is written 0
  if (format.exponent && value != 0) return exponent_text(value, format.decimals);
  std::string text = printed("%.*f", format.decimals, value);
  if (value != 0 && reads_as_zero(text)) return exponent_text(value, 2);
  return with_minus(std::move(text));
}

int supported_digits(double value, double bound, int max) {
  if (!std::isfinite(value) || value == 0 || bound == 0) return max;
  if (!std::isfinite(bound)) return 1;
  for (int digits = max; digits > 1; --digits) {
    if (bound <= 0.5 * std::pow(10.0, leading_power(value, digits) - digits + 1)) return digits;
  }
  return 1;
}

int supported_decimals(double bound, int max) {
  if (!std::isfinite(bound)) return 0;
  for (int decimals = max; decimals > 0; --decimals) {
    if (bound <= 0.5 * std::pow(10.0, -decimals)) return decimals;
  }
  return 0;
}

NumberFormat format_of(double value, int digits) {
  if (!std::isfinite(value) || value == 0) return {0, false};
  const int power = leading_power(value, digits);
  if (power < -3 || power >= 7) return {std::max(digits - 1, 0), true};
  return {std::max(digits - 1 - power, 0), false};
}

std::string significant_text(double value, int digits, double bound) {
  return number_text(value, format_of(value, supported_digits(value, bound, digits)));
}

std::string spelled_text(double value, int digits, double bound) {
  const int allowed = std::max(supported_digits(value, bound, digits), std::min(kLeastDigits, digits));
  return number_text(value, format_of(value, allowed));
}

std::string brief_count(std::int64_t n) {
  static constexpr std::array<const char*, 5> kUnits{"", "k", "M", "G", "T"};
  double value = std::abs(static_cast<double>(n));
  std::size_t unit = 0;
  // What would be written as 1000 of a unit is 1 of the next.
  while (value >= (unit == 0 ? 1000 : 999.5) && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  const int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{}{:.{}f}{}", n < 0 ? "-" : "", value, digits, kUnits.at(unit));
}

int text_length(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

double value_of(std::string_view text) {
  std::string plain(text);
  for (std::size_t at; (at = plain.find(kMinus)) != std::string::npos;) plain.replace(at, kMinus.size(), "-");
  for (std::size_t at; (at = plain.find(kInfinity)) != std::string::npos;) plain.replace(at, kInfinity.size(), "inf");
  return std::strtod(plain.c_str(), nullptr);
}

ColumnFormat column_format(std::span<const float> values, std::span<const double> bounds, int room, int natural) {
  ColumnFormat column;
  column.room = room;
  int decimals = natural >= 0 ? natural : kCellDigits - 1;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double x = values[n];
    if (!std::isfinite(x)) continue;
    const int before = std::max(leading_power(x, kCellDigits), 0) + 1;  // digits before the point
    decimals = std::min(decimals, std::max(kCellDigits - before, 0));
    decimals = std::min(decimals, std::max(room - before - (x < 0 ? 1 : 0) - 1, 0));
    // A value whose bound allows no decimal at all (say 16-bit sums) is spelt on its own, not the whole column.
    if (n < bounds.size() && bounds[n] > 0) {
      const int allowed = supported_decimals(bounds[n], decimals);
      if (allowed > 0) decimals = allowed;
    }
  }
  column.decimals = decimals;
  column.exact = natural >= 0 && decimals == natural;
  return column;
}

std::string cell_text(double value, double bound, const ColumnFormat& column) {
  if (column.exact) return number_text(value, {column.decimals, false});
  // Exactly zero is told from what is merely small: no decimals.
  if (!std::isfinite(value) || value == 0) return number_text(value, {0, false});
  const int digits = supported_digits(value, bound, column.max_digits);
  const int power = leading_power(value, digits);
  const int shown = power + 1 + column.decimals;  // significant digits that the column's decimals would show
  if (shown > digits) {
    // Fewer than the column: the bound does not carry them, nor, of a large one, the cell.
    for (int n = digits; n > 0; --n) {
      std::string text = number_text(value, format_of(value, n));
      if (column.room == 0 || text_length(text) <= column.room) return text;
    }
    return number_text(value, power >= 4 ? NumberFormat{0, true} : format_of(value, digits));
  }
  std::string fixed = number_text(value, {column.decimals, false});
  if (shown >= 2 || column.room == 0) {
    if (column.room == 0 || text_length(fixed) <= column.room) return fixed;
    // Rounded up to one digit more before the point: with one fewer behind it.
    std::string fewer = number_text(value, {std::max(column.decimals - 1, 0), false});
    if (text_length(fewer) <= column.room) return fewer;
  }
  // Of a column without decimals, because of a large number, a small one has its own; both signs as many.
  if (column.decimals == 0 && power <= 0 && power >= -2 && digits >= 2) {
    const int decimals = power == 0 ? 1 : std::min(column.room - 2, digits - 1 - power);
    std::string text = number_text(value, {decimals, false});
    if (const std::size_t zero = power < 0 ? text.find("0.") : text.npos; zero != text.npos) text.erase(zero, 1);
    if (decimals >= 1 - power && text_length(text) <= column.room) return text;
  }
  // In thousandths: as few characters as a power of ten takes.
  if (power == -3 && column.room < 6) {
    const int most = std::min(column.room - (value < 0 ? 2 : 1), digits - 1 - power);
    std::string text = number_text(value, {std::max(most, -power), false});
    if (const std::size_t zero = text.find("0."); zero != text.npos) return text.erase(zero, 1);
  }
  // Without the zero before the point both signs have one form: ".06" and "−.06".
  const bool bare = power < 0 && column.room - 2 >= -power;
  for (int mantissa = std::min(digits - 1, 2); mantissa >= (bare ? 1 : 0); --mantissa) {
    std::string text = exponent_text(value, mantissa);
    if (text_length(text) <= column.room) {
      const bool better = power < -column.decimals || text_length(fixed) > column.room || power >= 7 || mantissa >= 1;
      return better ? text : fixed;
    }
  }
  // No room for a power of ten: without the zero before the point, if that shows anything, else as it comes.
  const int sign = value < 0 ? 1 : 0;
  if (power < 0 && column.room - sign - 1 >= -power) {
    std::string text = number_text(value, {std::min(column.room - sign - 1, digits - 1 - power), false});
    const std::size_t zero = text.find("0.");
    if (zero != std::string::npos && text.find('e') == std::string::npos) return text.erase(zero, 1);
    // Rounded to these decimals it is 1.
    if (zero == std::string::npos) return number_text(value, {std::max(column.room - sign - 2, 0), false});
  }
  return exponent_text(value, 0);
}

// As many decimals as read back as the same number. A float's product with at most 10^4 is exact in a double, and so is
// where it is rounded; the quotient is too near to k / 10^n for the float nearest to it to be another.
int natural_decimals(std::span<const float> values) {
  static constexpr std::array<double, 5> kPowers{1, 10, 100, 1000, 10000};
  std::size_t most = 0;
  for (const float x : values) {
    if (!std::isfinite(x)) continue;
    const auto reads_back = [x](double power) {
      return static_cast<float>(std::nearbyint(static_cast<double>(x) * power) / power) == x;
    };
    while (most < kPowers.size() && !reads_back(kPowers.at(most))) ++most;
    if (most == kPowers.size()) return -1;
  }
  return static_cast<int>(most);
}

}  // namespace attn
