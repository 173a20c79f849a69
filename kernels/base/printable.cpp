#include "kernels/base/printable.h"

#include <array>
#include <cstddef>

namespace attn {
namespace {

bool is_obeyed(char32_t c) {
  const bool control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c <= 0x9F);
  const bool turns =
      c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return control || turns || c == 0x2028 || c == 0x2029 || c == 0xFEFF;
}

}  // namespace

Character first_character(std::string_view text) {
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 0;
  if (bytes == 0 || first > 0xF4 || text.size() < bytes) return {};
  char32_t code = first & (0xFFU >> (bytes + 1));
  for (std::size_t n = 1; n < bytes; ++n) {
    const auto more = static_cast<unsigned char>(text[n]);
    if ((more & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (more & 0x3FU);
  }
  const bool half = code >= 0xD800 && code <= 0xDFFF;
  return code < kLeast.at(bytes) || half || code > 0x10FFFF ? Character{} : Character{code, bytes};
}

std::string printable(std::string_view text) {
  constexpr std::string_view kInstead = "\xEF\xBF\xBD";
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_character(text);
    if (c.bytes == 0 || is_obeyed(c.code))
      shown += kInstead;
    else
      shown += text.substr(0, c.bytes);
    text.remove_prefix(c.bytes == 0 ? 1 : c.bytes);
  }
  return shown;
}

}  // namespace attn
