#include "kernels/gpu/own/expression.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn::gpu {
namespace {

constexpr std::array<std::string_view, kSizeNames> kNames{"B",  "Hq", "Hkv", "Lq",      "Lk",    "D",
                                                          "Dv", "Br", "Bc",  "threads", "stages"};
constexpr std::size_t kLongest = 1000;
constexpr int kDeepest = 32;  // parentheses: each is a call of the reader

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string_view name_of(SizeName name) {
  return kNames.at(static_cast<std::size_t>(name));
}

// One pass from left to right. After the first error everything returns at once.
class SizeExpression::Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<Step>> read() {
    if (text_.size() > kLongest) {
      return bad_input(fmt::format("it has {} characters; {} are the most", text_.size(), kLongest));
    }
    sum();
    if (!error_ && !ended()) refuse("an operator or the end");
    if (error_) return tl::unexpected(*error_);
    return std::move(steps_);
  }

 private:
  bool ended() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ == text_.size();
  }
  bool take(char c) {
    if (error_ || ended() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void refuse(std::string_view wanted) {
    if (error_) return;
    const std::string there = ended() ? "it ends" : fmt::format("'{}' stands", text_[at_]);
    error_ = Error{ErrorKind::bad_input,
                   fmt::format("'{}': at column {} {} where {} is wanted", text_, at_ + 1, there, wanted)};
  }
  void put(Kind kind, std::int64_t number = 0) { steps_.push_back({kind, number}); }

  void sum() {
    product();
    while (!error_) {
      const Kind kind = take('+') ? Kind::add : take('-') ? Kind::subtract : Kind::number;
      if (kind == Kind::number) return;
      product();
      put(kind);
    }
  }
  void product() {
    factor();
    while (!error_) {
      const Kind kind = take('*')   ? Kind::multiply
                        : take('/') ? Kind::divide
                        : take('%') ? Kind::remainder
                                    : Kind::number;
      if (kind == Kind::number) return;
      factor();
      put(kind);
    }
  }
  void close() {
    if (!take(')')) refuse("')'");
  }
  void factor() {
    if (++depth_ > kDeepest) {
      error_ = Error{ErrorKind::bad_input, fmt::format("'{}': more than {} parentheses are open", text_, kDeepest)};
    } else if (take('(')) {
      sum();
      close();
    } else if (!error_ && !ended() && is_digit(text_[at_])) {
      number();
    } else if (!error_ && !ended() && is_letter(text_[at_])) {
      word();
    } else {
      refuse("a number, a name or '('");
    }
    --depth_;
  }
  void number() {
    std::int64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, wrong] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (wrong != std::errc()) {
      error_ = Error{ErrorKind::bad_input, fmt::format("'{}': the number at column {} is too large", text_, at_ + 1)};
      return;
    }
    at_ += static_cast<std::size_t>(end - begin);
    put(Kind::number, value);
  }
  void word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (const auto name = std::ranges::find(kNames, word); name != kNames.end()) {
      return put(Kind::name, name - kNames.begin());
    }
    const Kind kind = word == "min"        ? Kind::least
                      : word == "max"      ? Kind::most
                      : word == "ceil_div" ? Kind::ceil_div
                                           : Kind::number;
    if (kind != Kind::number) return pair(kind);
    error_ = Error{ErrorKind::bad_input,
                   fmt::format("'{}': {} at column {} is no name; there are {}, and min, max and ceil_div of two",
                               text_, word, begin + 1, fmt::join(kNames, ", "))};
  }
  void pair(Kind kind) {
    if (!take('(')) refuse("'('");
    sum();
    if (!take(',')) refuse("','");
    sum();
    close();
    put(kind);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Step> steps_;
  std::optional<Error> error_;
};

Result<SizeExpression> SizeExpression::parse(std::string_view text) {
  auto steps = Reader(text).read();
  if (!steps) return tl::unexpected(steps.error());
  SizeExpression e;
  e.text_ = text;
  e.steps_ = *std::move(steps);
  return e;
}

SizeExpression SizeExpression::constant(std::int64_t value) {
  SizeExpression e;
  e.text_ = std::to_string(value);
  e.steps_ = {{Kind::number, value}};
  return e;
}

bool SizeExpression::reads(SizeName name) const {
  return std::ranges::any_of(
      steps_, [&](const Step& s) { return s.kind == Kind::name && s.number == static_cast<std::int64_t>(name); });
}

Result<std::int64_t> SizeExpression::apply(Kind kind, std::int64_t a, std::int64_t b) const {
  const auto refuse = [&](std::string_view sign, std::string_view why) {
    return bad_input(fmt::format("'{}': {} {} {} {}", text_, a, sign, b, why));
  };
  constexpr std::string_view kTooLarge = "does not fit 64 bits";
  std::int64_t result = 0;
  switch (kind) {
    case Kind::add:
      if (__builtin_add_overflow(a, b, &result)) return refuse("+", kTooLarge);
      return result;
    case Kind::subtract:
      if (__builtin_sub_overflow(a, b, &result)) return refuse("-", kTooLarge);
      return result;
    case Kind::multiply:
      if (__builtin_mul_overflow(a, b, &result)) return refuse("*", kTooLarge);
      return result;
    case Kind::least:
      return std::min(a, b);
    case Kind::most:
      return std::max(a, b);
    default:
      break;
  }
  const std::string_view sign = kind == Kind::remainder ? "%" : "/";
  if (b == 0) return refuse(sign, "divides by zero");
  if (a < 0 || b < 0) return refuse(sign, "divides negative numbers, which round differently everywhere");
  if (kind == Kind::remainder) return a % b;
  return kind == Kind::divide ? a / b : a / b + (a % b != 0 ? 1 : 0);
}

Result<std::int64_t> SizeExpression::value(const SizeValues& of) const {
  std::vector<std::int64_t> stack;
  for (const Step& step : steps_) {
    if (step.kind == Kind::number) {
      stack.push_back(step.number);
    } else if (step.kind == Kind::name) {
      stack.push_back(of.at(static_cast<std::size_t>(step.number)));
    } else {
      const std::int64_t b = stack.back();
      stack.pop_back();
      auto result = apply(step.kind, stack.back(), b);
      if (!result) return result;
      stack.back() = *result;
    }
  }
  return stack.back();
}

}  // namespace attn::gpu
