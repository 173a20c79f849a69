// Words of strangers (names of files and devices, reasons, labels of a session) for terminals and files of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attn {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: no UTF-8 begins here
};
// The first character of a text that is not empty (RFC 3629): the shortest form alone, no half of a pair, at most
// U+10FFFF.
Character first_character(std::string_view text);

// Without what a terminal or a reader obeys instead of showing: escapes and other control characters, C1 as well, marks
// that turn the direction of text, separators of lines that are no line feed, bytes that are no UTF-8. U+FFFD stands in
// their place. Line feeds and tabs stay.
std::string printable(std::string_view text);

}  // namespace attn
