#include "kernels/formats/catalogue_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace attn {
namespace {

using json = nlohmann::json;

constexpr std::pair<PluralRule, std::string_view> kRules[] = {{PluralRule::one_other, "one_other"},
                                                              {PluralRule::low_other, "low_other"},
                                                              {PluralRule::only_other, "only_other"},
                                                              {PluralRule::slavic, "slavic"}};

// Where a field of a format string ends, behind its brace; fields within it are part of it.
std::size_t end_of_field(std::string_view text, std::size_t at) {
  int depth = 0;
  for (std::size_t n = at; n < text.size(); ++n) {
    if (text[n] == '{') ++depth;
    if (text[n] == '}' && --depth == 0) return n + 1;
  }
  return text.size();
}

bool is_doubled(std::string_view text, std::size_t at) {
  return at + 1 < text.size() && text[at + 1] == text[at];
}

// The fields of a text, each as it is written: "{1:.1f}".
std::set<std::string> fields_of(std::string_view text) {
  std::set<std::string> fields;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if ((text[n] != '{' && text[n] != '}')) continue;
    if (is_doubled(text, n)) {
      ++n;
      continue;
    }
    const std::size_t end = end_of_field(text, n);
    fields.emplace(text.substr(n, end - n));
    n = end - 1;
  }
  return fields;
}

// `may_count`: {0} is the number that chose the form, which may leave it out ("one row").
Result<void> check_fields(const std::string& english, const std::string& to, bool may_count, std::string_view name) {
  std::set<std::string> asked = fields_of(english), said = fields_of(to);
  if (may_count) {
    const auto is_number = [](const std::string& field) { return field.starts_with("{0"); };
    if (std::ranges::none_of(said, is_number)) std::erase_if(asked, is_number);
  }
  if (asked == said) return ok();
  return bad_input(
      fmt::format("{}: '{}' and '{}' have different arguments; each must appear in both, written the same way.", name,
                  to, english));
}

std::vector<std::string> strings_of(const json& j) {
  return j.is_string() ? std::vector<std::string>{j.get<std::string>()} : j.get<std::vector<std::string>>();
}

Result<void> take_entry(const json& entry, Catalogue& c, std::string_view name) {
  const std::vector<std::string> english = strings_of(entry.at("en"));
  const auto at = entry.find("to");
  if (at == entry.end()) return ok();
  const std::vector<std::string> to = strings_of(*at);
  const bool forms = entry.at("en").is_array();
  if (english.size() != (forms ? 2 : 1) || to.size() != (forms ? plural_forms(c.rule) : 1))
    return bad_input(fmt::format("{}: '{}' has {} forms instead of {}.", name, english.empty() ? "" : english.back(),
                                 to.size(), forms ? plural_forms(c.rule) : 1));
  for (const std::string& form : to)
    if (auto good = check_fields(english.back(), form, forms, name); !good) return good;
  if (forms)
    c.plurals[english.back()] = to;
  else
    c.texts[english.back()] = to.front();
  return ok();
}

Result<Catalogue> catalogue_of(const json& j, std::string_view name) {
  if (const int version = j.at("version"); version != 1)
    return bad_input(fmt::format("{}: unknown catalogue version {}; use 1.", name, version));
  Catalogue c;
  c.language = j.at("language");
  const std::string rule = j.at("plural");
  const auto* const known = std::ranges::find(kRules, rule, [](const auto& r) { return r.second; });
  if (known == std::end(kRules)) return bad_input(fmt::format("{}: unknown plural rule '{}'.", name, rule));
  c.rule = known->first;
  for (const json& entry : j.at("texts"))
    if (auto taken = take_entry(entry, c, name); !taken) return tl::unexpected(taken.error());
  return c;
}

// The file of an English catalogue as that of the language nobody speaks.
json pseudo_of(json j) {
  j["language"] = kPseudoLanguage;
  for (json& entry : j.at("texts")) {
    const json& english = entry.at("en");
    if (english.is_string()) {
      entry["to"] = pseudo_text(english.get<std::string>());
      continue;
    }
    json forms = json::array();
    for (const json& form : english) forms.push_back(pseudo_text(form.get<std::string>()));
    entry["to"] = std::move(forms);
  }
  return j;
}

template <class Work>
Result<Catalogue> guarded(std::string_view name, const Work& work) {
  try {
    return work();
  } catch (const json::exception& error) {
    return bad_input(fmt::format("{} is not a catalogue of texts: {}", name, error.what()));
  }
}

}  // namespace

Result<Catalogue> parse_catalogue(std::string_view text, std::string_view name) {
  return guarded(name, [&] { return catalogue_of(json::parse(text), name); });
}

Result<Catalogue> pseudo_catalogue(std::string_view english_json, std::string_view name) {
  return guarded(name, [&] { return catalogue_of(pseudo_of(json::parse(english_json)), name); });
}

std::string pseudo_text(std::string_view english) {
  // Letters of Latin-1, which every face of the program has.
  static constexpr std::pair<char, std::string_view> kAccents[] = {{'a', "á"}, {'e', "é"}, {'i', "í"}, {'o', "ö"},
                                                                   {'u', "ü"}, {'A', "Å"}, {'E', "É"}, {'O', "Ö"},
                                                                   {'U', "Ü"}, {'n', "ñ"}};
  std::string out = "[";
  std::size_t letters = 0;
  for (std::size_t n = 0; n < english.size(); ++n) {
    const char c = english[n];
    if ((c == '{' || c == '}') && is_doubled(english, n)) {
      out += english.substr(n++, 2);
      continue;
    }
    if (c == '{') {
      const std::size_t end = end_of_field(english, n);
      out += english.substr(n, end - n);
      n = end - 1;
      continue;
    }
    // What follows "##" names a widget and is never seen.
    if (c == '#' && is_doubled(english, n)) return out + "]" + std::string(english.substr(n));
    ++letters;
    const auto* const accent = std::ranges::find(kAccents, c, [](const auto& a) { return a.first; });
    out += accent == std::end(kAccents) ? std::string(1, c) : std::string(accent->second);
  }
  // With the brackets 35 % more; a word more where there is none.
  const std::size_t more = letters * 35 / 100;
  for (std::size_t n = 2; n < more; ++n) out += n % 6 == 2 ? ' ' : '~';
  return out + "]";
}

}  // namespace attn
