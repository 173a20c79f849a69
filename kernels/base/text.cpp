#include "kernels/base/text.h"

#include <atomic>
#include <cstddef>

namespace attn {
namespace {

std::atomic<const Catalogue*>& holder() {
  static std::atomic<const Catalogue*> catalogue{nullptr};
  return catalogue;
}

// How many InEnglish this thread has around it.
int& english_depth() {
  static thread_local int depth = 0;
  return depth;
}

std::string formatted(std::string_view format, fmt::format_args args) {
  return fmt::vformat(fmt::string_view(format.data(), format.size()), args);
}

}  // namespace

std::size_t plural_forms(PluralRule rule) {
  switch (rule) {
    case PluralRule::only_other:
      return 1;
    case PluralRule::slavic:
      return 3;
    default:
      return 2;
  }
}

std::size_t plural_form(PluralRule rule, std::int64_t n) {
  const std::int64_t size = n < 0 ? -n : n;
  switch (rule) {
    case PluralRule::only_other:
      return 0;
    case PluralRule::low_other:
      return size <= 1 ? 0 : 1;
    case PluralRule::slavic: {
      const std::int64_t last = size % 10, two = size % 100;
      if (last == 1 && two != 11) return 0;
      return last >= 2 && last <= 4 && (two < 12 || two > 14) ? 1 : 2;
    }
    case PluralRule::one_other:
      break;
  }
  return size == 1 ? 0 : 1;
}

void speak(const Catalogue* catalogue) {
  holder().store(catalogue, std::memory_order_release);
}

const Catalogue* spoken() {
  const Catalogue* const catalogue = holder().load(std::memory_order_acquire);
  return catalogue == nullptr || english_depth() > 0 ? nullptr : catalogue;
}

std::string with_places(std::string_view format) {
  std::string out;
  std::size_t next = 0;
  for (std::size_t n = 0; n < format.size(); ++n) {
    out += format[n];
    if (format[n] != '{' && format[n] != '}') continue;
    if (n + 1 < format.size() && format[n + 1] == format[n]) {
      out += format[++n];  // "{{": a brace
      continue;
    }
    // A field without a place gets the next one; so does a width or precision that is an argument, which stands within.
    if (format[n] == '{' && n + 1 < format.size() && (format[n + 1] == '}' || format[n + 1] == ':'))
      out += fmt::format("{}", next++);
  }
  return out;
}

const char* tr(Literal english) {
  return tr_of(english.text);
}

const char* tr_of(const char* english) {
  const Catalogue* c = spoken();
  if (c == nullptr) return english;
  const auto found = c->texts.find(std::string_view(english));
  return found == c->texts.end() ? english : found->second.c_str();
}

std::string_view tr_of(std::string_view english) {
  const Catalogue* c = spoken();
  if (c == nullptr) return english;
  const auto found = c->texts.find(english);
  return found == c->texts.end() ? english : std::string_view(found->second);
}

InEnglish::InEnglish() {
  ++english_depth();
}

InEnglish::~InEnglish() {
  --english_depth();
}

namespace text {

std::string said(std::string_view english, fmt::format_args args) {
  const Catalogue* c = spoken();
  if (c == nullptr) return formatted(english, args);
  const auto found = c->texts.find(with_places(english));
  return formatted(found == c->texts.end() ? english : std::string_view(found->second), args);
}

std::string said(std::int64_t n, std::string_view one, std::string_view other, fmt::format_args args) {
  const Catalogue* c = spoken();
  const auto english = [&] { return formatted(plural_form(PluralRule::one_other, n) == 0 ? one : other, args); };
  if (c == nullptr) return english();
  const auto found = c->plurals.find(with_places(other));
  return found == c->plurals.end() ? english() : formatted(found->second.at(plural_form(c->rule, n)), args);
}

}  // namespace text
}  // namespace attn
