// The one grammar of expressions: those by which a user's kernel declares its sizes (exact whole numbers,
// kernels/gpu/own_kernel/size_expression.h), those by which a lesson asks of its runs (doubles,
// viz/learn/lesson/lesson_expression.h), and those by which Bench's rows are chosen (viz/bench/runs/row_filter.h).
//
//   expression = condition, or where kJoins: all {"or" all}, all = each {"and" each}, each = {"not"} condition
//   condition  = sum [comparison sum]
//   sum        = product {sign product}
//   product    = factor {sign factor}
//   factor     = {"-"} atom
//   atom       = number | "(" expression ")" | word ... | where kTexts: text in double quotes
//
// What it comes to is the evaluator's affair, as are the words of an error. It derives from the grammar and has
//   Value                           of what was read so far
//   kComparisons, kSums, kProducts  arrays of its Sign, "<=" before "<"; Sign::text is what is written
//   kNegates                        whether "-" may stand before an atom
//   number(), word()                from a digit, from a letter on
//   joined(sign, a, b)              negated(a) where kNegates
//   missing(what)                   the error where the grammar cannot go on
// and where it wants them
//   kOrs, kAnds, refuted(a)         with kJoins = true; Signs as the others
//   quoted(text)                    with kTexts = true
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/base/result.h"

namespace attn {

constexpr int kMaxExpressionDepth = 32;  // of brackets, each a call: a hostile file must not end the program's stack

enum class ExpressionGap : std::uint8_t { atom, bracket, quote, end, depth };

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
  // A sign that is a word: "or" does not begin "order".
  bool take_word(std::string_view word) {
    if (ended() || !text_.substr(at_).starts_with(word)) return false;
    const std::size_t after = at_ + word.size();
    if (after < text_.size() && (is_letter(text_[after]) || is_digit(text_[after]))) return false;
    at_ = after;
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
    if constexpr (joins())
      return chain(Evaluator::kOrs, [this] { return all(); });
    else
      return condition();
  }
  Result<Value> condition() {
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
  static constexpr bool joins() {
    if constexpr (requires { Evaluator::kJoins; }) return Evaluator::kJoins;
    return false;
  }
  static constexpr bool has_texts() {
    if constexpr (requires { Evaluator::kTexts; }) return Evaluator::kTexts;
    return false;
  }
  Evaluator& self() { return static_cast<Evaluator&>(*this); }
  template <class Signs>
  auto taken(const Signs& signs) -> decltype(signs.data()) {
    for (const auto& sign : signs)
      if (is_letter(sign.text.front()) ? take_word(sign.text) : take(sign.text)) return &sign;
    return nullptr;
  }
  Result<Value> all() {
    return chain(Evaluator::kAnds, [this] { return each(); });
  }
  Result<Value> each() {
    bool refuted = false;
    while (take_word("not")) refuted = !refuted;
    auto value = condition();
    return value && refuted ? self().refuted(*value) : value;
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
    if constexpr (has_texts()) {
      if (take("\"")) {
        const std::size_t end = text_.find('"', at_);
        if (end == std::string_view::npos) return self().missing(ExpressionGap::quote);
        const std::string_view text = text_.substr(at_, end - at_);
        at_ = end + 1;
        return self().quoted(text);
      }
    }
    if (!take("(")) return self().missing(ExpressionGap::atom);
    auto value = expression();
    if (value && !take(")")) return self().missing(ExpressionGap::bracket);
    return value;
  }

  int depth_ = 0;
};

}  // namespace attn
