// The one grammar of expressions: those by which a user's kernel declares its sizes (exact whole numbers,
// kernels/gpu/own_kernel/size_expression.h) and those by which a lesson asks of its runs (doubles,
// viz/learn/lesson/lesson_expression.h).
//
//   expression = sum [comparison sum]
//   sum        = product {sign product}
//   product    = factor {sign factor}
//   factor     = {"-"} atom
//   atom       = number | "(" expression ")" | word ...
//
// What it comes to is the evaluator's affair, as are the words of an error. It derives from the grammar and has
//   Value                           of what was read so far
//   kComparisons, kSums, kProducts  arrays of its Sign, "<=" before "<"; Sign::text is what is written
//   kNegates                        whether "-" may stand before an atom
//   number(), word()                from a digit, from a letter on
//   joined(sign, a, b)              negated(a) where kNegates
//   missing(what)                   the error where the grammar cannot go on
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/base/result.h"

namespace attn {

constexpr int kMaxExpressionDepth = 32;  // of brackets, each a call: a hostile file must not end the program's stack

enum class ExpressionGap : std::uint8_t { atom, bracket, end, depth };

// Where a reader stands in its text. Spaces mean nothing.
class ExpressionText {
 public:
  explicit ExpressionText(std::string_view text) : text_(text) {}
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

 protected:
  bool ended() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ == text_.size();
  }
  char peek() { return ended() ? '\0' : text_[at_]; }
  bool take(std::string_view sign) {
    if (ended() || !text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  std::string_view name() {
    const std::size_t from = ended() ? text_.size() : at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || (at_ > from && is_digit(text_[at_])))) ++at_;
    return text_.substr(from, at_ - from);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

template <class Evaluator, class V>
class ExpressionGrammar : protected ExpressionText {
 public:
  using Value = V;
  using ExpressionText::ExpressionText;

  Result<Value> whole() {
    auto value = expression();
    if (value && !ended()) return self().missing(ExpressionGap::end);
    return value;
  }

 protected:
  Result<Value> expression() {
    auto left = sum();
    if (!left) return left;
    const auto* sign = taken(Evaluator::kComparisons);
    if (sign == nullptr) return left;
    auto right = sum();
    if (!right) return right;
    return self().joined(*sign, *left, *right);
  }
  Result<Value> sum() {
    return chain(Evaluator::kSums, [this] { return product(); });
  }

 private:
  Evaluator& self() { return static_cast<Evaluator&>(*this); }
  template <class Signs>
  auto taken(const Signs& signs) -> decltype(signs.data()) {
    for (const auto& sign : signs)
      if (take(sign.text)) return &sign;
    return nullptr;
  }
  template <class Signs, class Operand>
  Result<Value> chain(const Signs& signs, const Operand& operand) {
    auto left = operand();
    while (left) {
      const auto* sign = taken(signs);
      if (sign == nullptr) break;
      auto right = operand();
      if (!right) return right;
      left = self().joined(*sign, *left, *right);
    }
    return left;
  }
  Result<Value> product() {
    return chain(Evaluator::kProducts, [this] { return factor(); });
  }
  Result<Value> factor() {
    if constexpr (Evaluator::kNegates) {
      bool negative = false;
      while (take("-")) negative = !negative;
      auto value = atom();
      return value && negative ? self().negated(*value) : value;
    } else {
      return atom();
    }
  }
  Result<Value> atom() {
    if (++depth_ > kMaxExpressionDepth) return self().missing(ExpressionGap::depth);
    auto value = inner_atom();
    --depth_;
    return value;
  }
  Result<Value> inner_atom() {
    const char c = peek();
    if (is_digit(c)) return self().number();
    if (is_letter(c)) return self().word();
    if (!take("(")) return self().missing(ExpressionGap::atom);
    auto value = expression();
    if (value && !take(")")) return self().missing(ExpressionGap::bracket);
    return value;
  }

  int depth_ = 0;
};

}  // namespace attn
