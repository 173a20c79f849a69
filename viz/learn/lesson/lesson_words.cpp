#include "viz/learn/lesson/lesson_words.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "viz/draw/number_text.h"
#include "viz/step/facts/letters.h"
#include "viz/step/facts/values.h"

namespace attn {
namespace {

constexpr int kTextDigits = 5;

}  // namespace

std::string short_number(double value) {
  for (int digits = 1; digits < kTextDigits; ++digits) {
    std::string text = significant_text(value, digits);
    if (static_cast<float>(value_of(text)) == static_cast<float>(value)) return text;
  }
  return significant_text(value, kTextDigits);
}

Result<std::string> lesson_number(double value, std::string_view format) {
  if (format.empty()) return short_number(value);
  if (format == "i") {
    if (!std::isfinite(value)) return number_text(value, {0, false});
    std::string digits = fmt::format("{:.0f}", std::abs(value));
    // A narrow space between thousands, from five digits on, as bytes have them elsewhere.
    for (std::size_t at = digits.size(); digits.size() > 4 && at > 3;) digits.insert(at -= 3, "\u2009");
    return (value <= -0.5 ? "\u2212" : "") + digits;
  }
  const bool decimals = format[0] == 'd';
  int count = 0;
  const std::string_view number = decimals ? format.substr(1) : format;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), count);
  if (code != std::errc() || end != number.data() + number.size() || count < 0 || count > 9 ||
      (!decimals && count == 0)) {
    return bad_input(phrase("unknown number format '{}'; use 3, d2 or i, for example", format));
  }
  return decimals ? number_text(value, {count, false}) : significant_text(value, count);
}

Result<TextRuns> filled(std::string_view words, ExpressionScope& scope, Face face, Ink ink) {
  std::string text;
  StepValues values;
  for (std::size_t n = 0; n < words.size();) {
    if (words[n] != '{') {
      text += words[n++];
      continue;
    }
    const std::size_t end = words.find('}', n);
    if (end == words.npos) return bad_input(phrase("'{}' lacks '}}'", words.substr(n)));
    const std::string_view inside = words.substr(n + 1, end - n - 1);
    const std::size_t colon = inside.rfind(':');
    scope.first_slot.reset();
    const auto value = evaluate_number(inside.substr(0, colon), scope);
    if (!value) return tl::unexpected(value.error());
    auto number = lesson_number(*value, colon == inside.npos ? "" : inside.substr(colon + 1));
    if (!number) return tl::unexpected(number.error());
    const std::string name = fmt::format("n{}", values.numbers.size());
    const Ink hue = scope.first_slot ? Ink(tensor_of(*scope.first_slot)) : Ink(Token::text);
    values.numbers[name] = {*std::move(number), hue, true};
    text += "{" + name + "}";
    n = end + 1;
  }
  return runs_of(text, values, face, ink);
}

TextRuns origins_of(const Lesson& lesson, const Beat& beat, ExpressionScope scope, std::string_view language) {
  if (lesson.assumptions.empty() && lesson.session.empty() && beat.session.empty()) return {};
  scope.assumed.clear();
  scope.figures.clear();
  // What cannot be read has been refused by the check, or waits for an answer.
  for (const char* part : {"title", "say", "hint", "right"})
    (void)filled(lesson.words(text_key(beat, part), language), scope, Face::text, Token::dim);
  if (beat.ask) {
    (void)evaluate(beat.ask->value, scope);
    for (const PickOption& option : beat.ask->options) (void)evaluate(option.truth, scope);
  }
  std::string words;
  for (const std::string& name : scope.assumed)
    words += (words.empty() ? tr("Given: ") : "; ") + lesson.words(assumption_key(name), language);
  if (!words.empty()) words += ".";
  for (const auto& [whose, origins] : scope.figures) {
    std::string how = fmt::format("{}", fmt::join(origins, ", "));
    how.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(how.front())));
    words += fmt::format("{}{}: {}.", words.empty() ? "" : " ", how, whose);
  }
  auto runs = filled(words, scope, Face::text, Token::dim);
  return runs ? *std::move(runs) : TextRuns();
}

}  // namespace attn
