// English where it is read, marked so that it can be said in another language.
//
//   tr("Measure")                                a text as it is
//   phrase("{} of {} points", done, all)         checked against its arguments when it is compiled, as fmt::format is
//   plural(n, "{} row", "{} rows")               by n, which is the first argument of both
//   marked("Time"), later tr_of(metric.name)     in constant data, and where it is shown
//
// app/setup/texts.py collects what is marked into assets/texts/en.json, by its arguments' places ("{0} of {1} points"),
// so that a translation may put them in another order. Where a process speaks English nothing is looked up or copied.
//
// What a file keeps is English in every language, for another reader may open it: InEnglish around what makes it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace attn {

// Which form of a text stands beside a number. `one_other`: 1, and all else. `low_other`: 0 and 1, and all else
// (French). `only_other`: one form (Chinese). `slavic`: 1, 21; 2 to 4, 22 to 24; all else (Russian).
enum class PluralRule : std::uint8_t { one_other, low_other, only_other, slavic };
std::size_t plural_forms(PluralRule rule);                 // how many there are
std::size_t plural_form(PluralRule rule, std::int64_t n);  // which of them is n's, from 0

// What a language says for each English text; kernels/formats/catalogue_file.h reads one. Keys are English with the
// places of its arguments; a text with forms is known by its English `other`.
struct Catalogue {
  std::string language = "en";
  PluralRule rule = PluralRule::one_other;
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, std::vector<std::string>, std::less<>> plurals;  // a form for each of the rule's
};

// The language of this process: set once, before its first command or frame and before it has a second thread, as Dear
// ImGui's context is. It outlives all that speaks. Null: English, as it stands in the sources. This is the program's
// one value that is reached without being handed on: every sentence of every room would carry it otherwise.
void speak(const Catalogue* catalogue);
const Catalogue* spoken();  // by this thread: null within InEnglish

// "{} of {:.1f}" as "{0} of {1:.1f}": what catalogues know a text by.
std::string with_places(std::string_view format);

// A text that is known when it is compiled.
struct Literal {
  consteval Literal(const char* words) : text(words) {}
  const char* text;
};
const char* tr(Literal english);

// A text in constant data stays English there: a table is made once, before anything is spoken.
consteval const char* marked(const char* english) {
  return english;
}

// A text out of such data in the language that is spoken; what is in no catalogue as it is. The view is the catalogue's
// or the argument's own: hand it a string that lives as long.
const char* tr_of(const char* english);
std::string_view tr_of(std::string_view english);

// While one lives, its thread speaks English.
class InEnglish {
 public:
  InEnglish();
  InEnglish(const InEnglish&) = delete;
  InEnglish& operator=(const InEnglish&) = delete;
  ~InEnglish();
};

namespace text {
std::string said(std::string_view english, fmt::format_args args);
std::string said(std::int64_t n, std::string_view one, std::string_view other, fmt::format_args args);
}  // namespace text

template <class... Args>
std::string phrase(fmt::format_string<Args...> english, Args&&... args) {
  const fmt::string_view format = english;
  return text::said({format.data(), format.size()}, fmt::make_format_args(args...));
}

// The count is {0} of both, what follows {1} and on.
template <std::integral Count, class... Args>
std::string plural(Count count, fmt::format_string<std::int64_t&, Args...> one,
                   fmt::format_string<std::int64_t&, Args...> other, Args&&... args) {
  auto n = static_cast<std::int64_t>(count);
  const fmt::string_view of_one = one, of_other = other;
  return text::said(n, {of_one.data(), of_one.size()}, {of_other.data(), of_other.size()},
                    fmt::make_format_args(n, args...));
}

}  // namespace attn
