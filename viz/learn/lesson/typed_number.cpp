#include "viz/learn/lesson/typed_number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

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

std::optional<double> evaluated(std::string_view text) {
  ExpressionScope nothing;
  nothing.recording_of = [](std::string_view) -> Result<const Recording*> {
    return bad_input(tr("expected a number"));
  };
  const auto value = evaluate_number(text, nothing);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return *value;
}

// Where what ends before `end` begins: a number, or a pair of brackets with the function before it.
std::size_t base_before(std::string_view text, std::size_t end) {
  std::size_t at = end;
  if (at > 0 && text[at - 1] == ')') {
    int open = 0;
    do {
      --at;
      open += text[at] == ')' ? 1 : text[at] == '(' ? -1 : 0;
    } while (at > 0 && open > 0);
    while (at > 0 && is_letter(text[at - 1])) --at;
    return at;
  }
  while (at > 0 && is_number(text[at - 1])) --at;
  return at;
}

// Where the exponent that begins at `from` ends: a number with its sign, or a pair of brackets.
std::size_t exponent_after(std::string_view text, std::size_t from) {
  std::size_t at = from;
  if (at < text.size() && text[at] == '-') ++at;
  if (at < text.size() && text[at] == '(') {
    int open = 0;
    for (; at < text.size(); ++at) {
      open += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
      if (open == 0) return at + 1;
    }
    return at;
  }
  while (at < text.size() && is_number(text[at])) ++at;
  return at;
}

// The expressions know no powers: each becomes its value, the last first, since 2^3^2 is 2^(3^2). False where one has
// no base, no exponent or no value. An exponent of ten (2e-5^2) is no base.
bool powers_worked_out(std::string& text) {
  for (std::size_t sign = text.rfind('^'); sign != text.npos; sign = text.rfind('^')) {
    const std::size_t from = base_before(text, sign), to = exponent_after(text, sign + 1);
    if (from > 1 && (text[from - 1] == '-' || text[from - 1] == '+') && is_letter(text[from - 2])) return false;
    if (from > 0 && is_letter(text[from - 1])) return false;
    const auto base = evaluated(std::string_view(text).substr(from, sign - from)),
               exponent = evaluated(std::string_view(text).substr(sign + 1, to - sign - 1));
    if (!base || !exponent) return false;
    const double value = std::pow(*base, *exponent);
    if (!std::isfinite(value)) return false;
    text.replace(from, to - from, fmt::format("({:.17g})", value));
  }
  return true;
}

std::optional<double> worked_out(std::string text) {
  replace(text, "\u00b7", "*");
  replace(text, "\u00d7", "*");
  replace(text, "\u00b2", "^2");
  replace(text, "\u00b3", "^3");
  call_instead(text, "e^", "exp");
  call_instead(text, "\u221a", "sqrt");
  if (!knows_its_words(text) || !powers_worked_out(text)) return std::nullopt;
  return evaluated(text);
}

}  // namespace

std::optional<double> typed_number(std::string_view text) {
  std::string plain(text);
  for (const std::string_view space : {" ", "\t", "\u00a0", "\u2009"}) replace(plain, space, "");
  replace(plain, "\u2212", "-");
  replace(plain, ",", ".");
  if (plain == "\u221e" || plain == "inf" || plain == "infinity") return HUGE_VAL;
  if (plain == "-\u221e" || plain == "-inf" || plain == "-infinity") return -HUGE_VAL;
  const bool percent = plain.ends_with("%");
  if (percent) plain.pop_back();
  if (plain.starts_with("+")) plain.erase(0, 1);
  // A number by a power of ten is read as one: its product would be rounded twice.
  std::string scientific = plain;
  for (const std::string_view times : {"\u00b710^", "\u00d710^", "*10^", "x10^"}) replace(scientific, times, "e");
  replace(plain, "x10^", "*10^");
  auto value = plain_number(scientific);
  if (!value && !plain.empty()) value = worked_out(plain);
  if (value && percent) *value /= 100;
  return value;
}

}  // namespace attn
