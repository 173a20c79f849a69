// Reads the formulas that are printed.
#pragma once

#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "viz/draw/number_text.h"

namespace attn {

// What a person with a calculator makes of "max(−∞, 2.5)" or "0.5 × 3 + 2": IEEE arithmetic in fp64. None for what is
// not all numbers.
class Calculator {
 public:
  explicit Calculator(std::string_view text) : text_(text) {}
  std::optional<double> value() {
    const double x = sum();
    skip();
    if (failed_ || !text_.empty()) return std::nullopt;
    return x;
  }

 private:
  void skip() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  bool take(std::string_view what) {
    skip();
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }
  double sum() {
    double x = product();
    while (!failed_) {
      if (take("+"))
        x += product();
      else if (take("−"))
        x -= product();
      else
        break;
    }
    return x;
  }
  double product() {
    double x = factor();
    while (!failed_) {
      if (take("×"))
        x *= factor();
      else if (take("/"))
        x /= factor();
      else
        break;
    }
    return x;
  }
  double close(double x) {
    if (!take(")")) failed_ = true;
    return x;
  }
  double factor() {
    if (take("exp(")) return std::exp(close(sum()));
    if (take("tanh(")) return std::tanh(close(sum()));
    if (take("ln")) return std::log(factor());
    if (take("max(")) {
      const double a = sum();
      if (!take(",")) failed_ = true;
      return close(std::fmax(a, sum()));
    }
    if (take("(")) return close(sum());
    if (take("−")) return -factor();
    if (take("∞")) return std::numeric_limits<double>::infinity();
    if (take("nan")) return std::numeric_limits<double>::quiet_NaN();
    return number();
  }
  double number() {
    std::string digits;
    while (!text_.empty() && (std::isdigit(static_cast<unsigned char>(text_.front())) != 0 || text_.front() == '.')) {
      digits += text_.front();
      text_.remove_prefix(1);
    }
    if (digits.empty()) {
      failed_ = true;
      return 0;
    }
    if (text_.starts_with("e")) {
      text_.remove_prefix(1);
      digits += 'e';
      if (text_.starts_with("−")) {
        digits += '-';
        text_.remove_prefix(std::string_view("−").size());
      }
      while (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_.front())) != 0) {
        digits += text_.front();
        text_.remove_prefix(1);
      }
    }
    return std::stod(digits);
  }

  std::string_view text_;
  bool failed_ = false;
};

inline std::optional<double> calculated(std::string_view text) {
  return Calculator(text).value();
}

// Half a unit of the last digit that is printed.
inline double resolution(std::string_view text) {
  const std::size_t e = text.find('e');
  const std::string_view mantissa = text.substr(0, e);
  const std::size_t point = mantissa.find('.');
  const double decimals = point == std::string_view::npos ? 0 : static_cast<double>(mantissa.size() - point - 1);
  const double power = e == std::string_view::npos ? 0 : value_of(text.substr(e + 1));
  return std::pow(10.0, power - decimals) / 2;
}

// The last two sides of "a = b = c", or of "a = b ≈ c".
struct Equation {
  std::string terms, result;
  bool about = false;
};
inline std::optional<Equation> equation_of(const std::string& formula) {
  constexpr std::string_view kEqual = " = ", kAbout = " ≈ ";
  const std::size_t about = formula.rfind(kAbout), equal = formula.rfind(kEqual);
  Equation out;
  out.about = about != std::string::npos && (equal == std::string::npos || about > equal);
  const std::size_t last = out.about ? about : equal;
  if (last == std::string::npos) return std::nullopt;
  const std::size_t before = last == 0 ? std::string::npos : formula.rfind(kEqual, last - 1),
                    first = before == std::string::npos ? 0 : before + kEqual.size();
  out.terms = formula.substr(first, last - first);
  out.result = formula.substr(last + (out.about ? kAbout.size() : kEqual.size()));
  return out;
}

}  // namespace attn
