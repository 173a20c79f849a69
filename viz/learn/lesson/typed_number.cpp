#include "viz/learn/lesson/typed_number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "kernels/base/text.h"
#include "viz/learn/lesson/lesson_expression.h"

namespace attn {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_number(char c) {
  return (c >= '0' && c <= '9') || c == '.';
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::optional<double> plain_number(std::string_view part) {
  double value = 0;
  if (part.empty()) return std::nullopt;
  const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (code != std::errc() || end != part.data() + part.size() || std::isnan(value)) return std::nullopt;
  return value;
}

// "SIGN12.5" becomes "NAME(12.5)", and "SIGN(" becomes "NAME(": e^ and √ need no brackets on paper.
void call_instead(std::string& text, std::string_view sign, std::string_view name) {
  for (std::size_t at = text.find(sign); at != text.npos; at = text.find(sign, at + 1)) {
    text.replace(at, sign.size(), name);
    const std::size_t from = at + name.size();
    if (from < text.size() && text[from] == '(') continue;
    std::size_t end = from;
    while (end < text.size() && (is_number(text[end]) || (end == from && text[end] == '-'))) ++end;
    text.insert(end, ")");
    text.insert(from, "(");
  }
}

// Names of the run's tensors would be the answer itself.
bool knows_its_words(std::string_view text) {
  constexpr std::array<std::string_view, 3> kKnown{"exp", "ln", "sqrt"};
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end == at) {
      ++at;
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    const bool exponent = word == "e" && at > 0 && is_number(text[at - 1]);
    bool known = exponent;
    for (const std::string_view k : kKnown) known = known || word == k;
    if (!known) return false;
    at = end;
  }
  return true;
}

std::optional<double> worked_out(std::string text) {
  replace(text, "\u00b7", "*");
  replace(text, "\u00d7", "*");
  call_instead(text, "e^", "exp");
  call_instead(text, "\u221a", "sqrt");
  if (!knows_its_words(text)) return std::nullopt;
  ExpressionScope nothing;
  nothing.recording_of = [](std::string_view) -> Result<const Recording*> {
    return bad_input(tr("expected a number"));
  };
  const auto value = evaluate_number(text, nothing);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return *value;
}

}  // namespace

std::optional<double> typed_number(std::string_view text) {
  std::string plain(text);
  for (const std::string_view space : {" ", "\t", "\u00a0", "\u2009"}) replace(plain, space, "");
  replace(plain, "\u2212", "-");
  for (const std::string_view times : {"\u00b710^", "\u00d710^", "*10^", "x10^"}) replace(plain, times, "e");
  replace(plain, ",", ".");
  if (plain == "\u221e" || plain == "inf" || plain == "infinity") return HUGE_VAL;
  if (plain == "-\u221e" || plain == "-inf" || plain == "-infinity") return -HUGE_VAL;
  const bool percent = plain.ends_with("%");
  if (percent) plain.pop_back();
  if (plain.starts_with("+")) plain.erase(0, 1);
  auto value = plain_number(plain);
  if (!value && !plain.empty()) value = worked_out(plain);
  if (value && percent) *value /= 100;
  return value;
}

}  // namespace attn
