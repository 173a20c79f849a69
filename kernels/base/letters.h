// Texts as somebody types them: blanks around them and the case of ASCII's letters mean nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

constexpr std::string_view kBlanks = " \t\r\n";

inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

constexpr char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower_case, lower_case);
}

// What all texts begin with, letter for letter: as far as completing goes. `texts` is not empty.
inline std::string common_start(const std::vector<std::string>& texts) {
  std::string common = texts.front();
  for (const std::string& text : texts) common.erase(std::ranges::mismatch(common, text).in1, common.end());
  return common;
}

}  // namespace attn
