#include "app/state/string/key_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"

namespace attn {
namespace {

constexpr std::int64_t kMax = INT64_MAX;

Result<Bookmark> read_bookmark(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 6) return bad_input(phrase("invalid bookmark '{}'; use BATCH:HEAD:I:J:PHASE:PASS", text));
  Bookmark mark;
  const std::tuple<std::size_t, std::int32_t*, std::int64_t, std::int64_t> numbers[] = {{0, &mark.id.b, 0, INT32_MAX},
                                                                                        {1, &mark.id.h, 0, INT32_MAX},
                                                                                        {2, &mark.id.i, -1, INT32_MAX},
                                                                                        {3, &mark.id.j, -1, INT32_MAX},
                                                                                        {5, &mark.pass, 0, 2}};
  for (const auto& [at, field, min, max] : numbers) {
    const auto value = whole(parts[at], min, max);
    if (!value) return tl::unexpected(value.error());
    *field = static_cast<std::int32_t>(*value);
  }
  if (const auto phase = phase_named(parts[4])) {
    mark.id.phase = *phase;
    return mark;
  }
  return bad_input(phrase("unknown phase '{}'", parts[4]));
}

}  // namespace

Result<std::int64_t> whole(std::string_view text, std::int64_t min, std::int64_t max) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < min || value > max) {
    return bad_input(phrase("'{}' is not an integer from {} to {}", text, min, max));
  }
  return value;
}

Result<double> number(std::string_view text, bool finite) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || (finite && !std::isfinite(value))) {
    return bad_input(phrase("'{}' is not a {}number", text, finite ? "finite " : ""));
  }
  return value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<std::vector<std::int64_t>> whole_list(std::string_view text, std::int64_t min, std::size_t max_items) {
  const auto parts = split(text, '/');
  if (parts.size() > max_items)
    return bad_input(phrase("the list has {} entries, but the limit is {}", parts.size(), max_items));
  std::vector<std::int64_t> values;
  for (const std::string_view part : parts) {
    const auto value = whole(part, min, kMax);
    if (!value) return tl::unexpected(value.error());
    values.push_back(*value);
  }
  return values;
}

std::string further_options_text(const Options& o) {
  std::string text;
  for (const Setting& s : o.further) {
    const auto option = find_option(s.name);  // a name that no kernel declares is no choice of this program
    if (option) text += fmt::format("{}{}:{}", text.empty() ? "" : "/", s.name, value_text(**option, s.value));
  }
  return text.empty() ? "none" : text;
}

Result<void> read_further_options(Options& o, std::string_view text) {
  o.further.clear();
  if (text == "none") return ok();
  for (const std::string_view item : split(text, '/')) {
    const std::size_t colon = item.find(':');
    if (colon == item.npos) return bad_input(phrase("invalid option '{}'; use NAME:VALUE", item));
    const std::string_view name = item.substr(0, colon);
    const auto option = find_option(name);
    if (!option) return tl::unexpected(option.error());
    if ((*option)->get != nullptr) return bad_input(phrase("{} has its own key", name));
    if (chosen(o, **option)) return bad_input(phrase("{} appears twice", name));
    const auto value = value_from_text(**option, item.substr(colon + 1));
    if (!value) return tl::unexpected(value.error());
    choose(o, **option, *value);
  }
  return ok();
}

bool declares_further_options() {
  return std::ranges::any_of(declared_options(), [](const Option* o) { return o->get == nullptr; });
}

std::string bookmarks_text(const std::vector<Bookmark>& bookmarks) {
  if (bookmarks.empty()) return "none";
  std::string text;
  for (const Bookmark& m : bookmarks) {
    text += fmt::format("{}{}:{}:{}:{}:{}:{}", text.empty() ? "" : "/", m.id.b, m.id.h, m.id.i, m.id.j,
                        name_of(m.id.phase), m.pass);
  }
  return text;
}

Result<std::vector<Bookmark>> parse_bookmarks(std::string_view text) {
  std::vector<Bookmark> marks;
  if (text == "none") return marks;
  for (const std::string_view part : split(text, '/')) {
    const auto mark = read_bookmark(part);
    if (!mark) return tl::unexpected(mark.error());
    if (std::find(marks.begin(), marks.end(), *mark) != marks.end()) {
      return bad_input(phrase("'{}' appears twice", part));
    }
    if (marks.size() >= kMaxBookmarks) return bad_input(phrase("more than {} bookmarks", kMaxBookmarks));
    marks.push_back(*mark);
  }
  return marks;
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '.' || c == '-' || c == '/';
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return encoded;
}

Result<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || code != std::errc() || end != digits.data() + 2 || value == 0) {
      return bad_input(phrase("'%{}' is not a character", digits));
    }
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

}  // namespace attn
