#include "profiling/session/json/number_groups.h"

#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr std::int64_t kMaxLine = 1000000;
constexpr std::size_t kMaxLines = 256;  // that an instruction stands for

}  // namespace

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > kLargestNumber)
    return std::nullopt;
  return number;
}

std::optional<std::vector<std::int64_t>> groups_of(std::string_view text, std::size_t size, std::size_t most) {
  std::vector<std::int64_t> numbers;
  if (text == "-") return numbers;
  for (const std::string_view group : parts_of(text, ',')) {
    const auto members = parts_of(group, ':');
    if (members.size() != size || numbers.size() >= most * size) return std::nullopt;
    for (const std::string_view member : members) {
      const auto number = number_of(member);
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    }
  }
  return numbers;
}

std::string lines_text(const std::vector<gpu::SourceFrame>& lines) {
  std::string text;
  for (const gpu::SourceFrame& line : lines)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", line.file, line.line);
  return text.empty() ? "-" : text;
}

std::string read_lines(std::string_view text, std::size_t files, std::vector<gpu::SourceFrame>& lines) {
  const auto numbers = groups_of(text, 2, kMaxLines);
  if (!numbers) return tr("has lines that are not pairs of integers");
  for (std::size_t n = 0; n < numbers->size(); n += 2) {
    const std::int64_t file = (*numbers)[n], line = (*numbers)[n + 1];
    if (file >= static_cast<std::int64_t>(files) || line < 1 || line > kMaxLine)
      return tr("refers to a line that is not in any of the files");
    lines.push_back({static_cast<std::uint32_t>(file), static_cast<std::uint32_t>(line)});
  }
  return {};
}

}  // namespace attn
