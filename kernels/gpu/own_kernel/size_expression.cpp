#include "kernels/gpu/own_kernel/size_expression.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/formats/expression_grammar.h"

namespace attn::gpu {
namespace {

constexpr std::array<std::string_view, kSizeNames> kNames{"B",  "Hq", "Hkv", "Lq",      "Lk",    "D",
                                                          "Dv", "Br", "Bc",  "threads", "stages"};
constexpr std::size_t kLongest = 1000;

}  // namespace

std::string_view name_of(SizeName name) {
  return kNames.at(static_cast<std::size_t>(name));
}

// Evaluates to steps, operands first: what is read once is worked out for many problems.
struct StepsWritten {};
class SizeExpression::Reader : public ExpressionGrammar<SizeExpression::Reader, StepsWritten> {
 public:
  using ExpressionGrammar::ExpressionGrammar;

  Result<std::vector<Step>> read() {
    if (text_.size() > kLongest)
      return bad_input(phrase("the expression has {} characters; the limit is {}", text_.size(), kLongest));
    if (auto read = whole(); !read) return tl::unexpected(read.error());
    return std::move(steps_);
  }

 private:
  friend ExpressionGrammar;
  struct Sign {
    std::string_view text;
    Kind kind;
  };
  static constexpr std::array<Sign, 0> kComparisons{};
  static constexpr std::array<Sign, 2> kSums{{{"+", Kind::add}, {"-", Kind::subtract}}};
  static constexpr std::array<Sign, 3> kProducts{{{"*", Kind::multiply}, {"/", Kind::divide}, {"%", Kind::remainder}}};
  static constexpr bool kNegates = false;

  tl::unexpected<Error> wanted(std::string_view what) {
    const std::string there = ended() ? tr("end") : phrase("'{}'", text_[at_]);
    return bad_input(phrase("'{0}': unexpected {2} at column {1}; use {3}", text_, at_ + 1, there, what));
  }
  tl::unexpected<Error> missing(ExpressionGap what) {
    switch (what) {
      case ExpressionGap::depth:
        return bad_input(phrase("'{}': more than {} open parentheses", text_, kMaxExpressionDepth));
      case ExpressionGap::bracket:
        return wanted("')'");
      case ExpressionGap::end:
        return wanted(tr("an operator, or end the expression here"));
      case ExpressionGap::quote:  // it has no texts
      case ExpressionGap::atom:
        break;
    }
    return wanted(tr("a number, a name or '('"));
  }
  StepsWritten put(Kind kind, std::int64_t number = 0) {
    steps_.push_back({kind, number});
    return {};
  }
  Result<StepsWritten> joined(const Sign& sign, StepsWritten /*a*/, StepsWritten /*b*/) { return put(sign.kind); }
  Result<StepsWritten> number() {
    std::int64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, wrong] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (wrong != std::errc()) return bad_input(phrase("'{}': the number at column {} is too large", text_, at_ + 1));
    at_ += static_cast<std::size_t>(end - begin);
    return put(Kind::number, value);
  }
  Result<StepsWritten> word() {
    const std::size_t begin = at_;
    const std::string_view word = name();
    if (const auto* const known = std::ranges::find(kNames, word); known != kNames.end())
      return put(Kind::name, known - kNames.begin());
    const Kind kind = word == "min"        ? Kind::least
                      : word == "max"      ? Kind::most
                      : word == "ceil_div" ? Kind::ceil_div
                                           : Kind::number;
    if (kind != Kind::number) return pair(kind);
    return bad_input(phrase("'{}': unknown name {} at column {}; use {}, or min, max or ceil_div of two values", text_,
                            word, begin + 1, fmt::join(kNames, ", ")));
  }
  Result<StepsWritten> pair(Kind kind) {
    if (!take("(")) return wanted("'('");
    if (auto first = sum(); !first) return first;
    if (!take(",")) return wanted("','");
    if (auto second = sum(); !second) return second;
    if (!take(")")) return wanted("')'");
    return put(kind);
  }

  std::vector<Step> steps_;
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
  constexpr std::string_view kTooLarge = marked("does not fit in 64 bits");
  std::int64_t result = 0;
  switch (kind) {
    case Kind::add:
      if (__builtin_add_overflow(a, b, &result)) return refuse("+", tr_of(kTooLarge));
      return result;
    case Kind::subtract:
      if (__builtin_sub_overflow(a, b, &result)) return refuse("-", tr_of(kTooLarge));
      return result;
    case Kind::multiply:
      if (__builtin_mul_overflow(a, b, &result)) return refuse("*", tr_of(kTooLarge));
      return result;
    case Kind::least:
      return std::min(a, b);
    case Kind::most:
      return std::max(a, b);
    default:
      break;
  }
  const std::string_view sign = kind == Kind::remainder ? "%" : "/";
  if (b == 0) return refuse(sign, tr("divides by zero"));
  if (a < 0 || b < 0) return refuse(sign, tr("divides negative numbers, and the rounding differs between systems"));
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
