#include "profiling/session/csv_field.h"

#include <charconv>
#include <system_error>

#include "kernels/base/printable.h"

namespace attn {
namespace {

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

// A spreadsheet computes a cell that begins so: names of devices and reasons come from outside. An apostrophe in front
// makes it text; numbers stay.
bool begins_a_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos && !is_number(text);
}

}  // namespace

std::string csv_field(std::string_view words) {
  const std::string text = printable(words);
  const bool formula = begins_a_formula(text);
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return (formula ? "'" : "") + text;
  std::string field = formula ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

}  // namespace attn
