// Words of strangers (names of files and devices, reasons, labels of a session) for terminals and files of text.
#pragma once

#include <string>
#include <string_view>

namespace attn {

// Without what a terminal or a reader obeys instead of showing: escapes and other control characters, C1 as well, marks
// that turn the direction of text, separators of lines that are no line feed, bytes that are no UTF-8. U+FFFD stands in
// their place. Line feeds and tabs stay.
std::string printable(std::string_view text);

}  // namespace attn
