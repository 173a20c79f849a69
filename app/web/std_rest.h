// What libc++ 19 has not yet of C++20: std::from_chars of floating point. Included before every source of the page.
#pragma once

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>
#include <type_traits>

namespace std {

// As the standard has it, but for hexadecimal digits, which the program asks for nowhere.
template <class T>
requires is_floating_point_v<T> from_chars_result from_chars(const char* first, const char* last, T& value,
                                                             chars_format = chars_format::general) {
  const string text(first, last);
  const size_t digits = text.starts_with('-') ? 1 : 0;
  const bool begins = text.size() > digits && text[digits] != ' ' && text[digits] != '+' && text[digits] != '-' &&
                      !(text[digits] == '0' && text.size() > digits + 1 && (text[digits + 1] | 32) == 'x');
  if (!begins && !(text.size() > digits && text[digits] == '0')) return {first, errc::invalid_argument};
  // Of "0x1" the number is 0, as C++ reads it without a prefix.
  if (!begins) {
    value = digits == 1 ? -T(0) : T(0);
    return {first + digits + 1, errc()};
  }
  char* end = nullptr;
  T read{};
  if constexpr (is_same_v<T, float>) {
    read = strtof(text.c_str(), &end);
  } else {
    read = static_cast<T>(strtod(text.c_str(), &end));
  }
  if (end == text.c_str()) return {first, errc::invalid_argument};
  const auto* to = first + (end - text.c_str());
  const bool word = text.find_first_of("0123456789") >= static_cast<size_t>(end - text.c_str());
  if (!word && (read > numeric_limits<T>::max() || read < numeric_limits<T>::lowest()))
    return {to, errc::result_out_of_range};
  value = read;
  return {to, errc()};
}

}  // namespace std
