#include "kernels/gpu/compile/includes.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <system_error>
#include <vector>

#include "kernels/base/cuda_library.h"
#include "kernels/base/text.h"

namespace attn::gpu {
namespace {

namespace fs = std::filesystem;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

// A line as the preprocessor has it: without comments, what was split by a backslash put together. Texts in quotes
// stay, for a header's name may be one.
struct LogicalLine {
  std::string text;
  std::int32_t number = 1;  // of the line in which it begins
};

// The text as lines of the preprocessor (C++17, [lex.phases] 2 and 3).
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  std::optional<LogicalLine> next() {
    if (at_ >= text_.size()) return std::nullopt;
    LogicalLine line{{}, line_};
    while (at_ < text_.size()) {
      const char c = take();
      if (c == '\n') break;
      if (c == '/' && peek() == '/') {
        while (at_ < text_.size() && peek() != '\n') take();
      } else if (c == '/' && peek() == '*') {
        block_comment();
        line.text += ' ';
      } else if (c == '"' && ends_in_raw_prefix(line.text)) {
        raw_text();
        line.text += "\"\"";
      } else if (c == '"' || (c == '\'' && !is_separator(line.text))) {
        quoted(c, line.text);
      } else {
        line.text += c;
      }
    }
    return line;
  }

 private:
  // Over a backslash at the end of a line, with spaces behind it or not: compilers differ.
  void over_splices() {
    while (at_ < text_.size() && text_[at_] == '\\') {
      std::size_t end = at_ + 1;
      while (end < text_.size() && (text_[end] == ' ' || text_[end] == '\t' || text_[end] == '\r')) ++end;
      if (end >= text_.size() || text_[end] != '\n') return;
      at_ = end + 1;
      ++line_;
    }
  }
  char peek() {
    over_splices();
    return at_ < text_.size() ? text_[at_] : '\n';
  }
  char take() {
    const char c = peek();
    if (at_ < text_.size()) ++at_;
    if (c == '\n') ++line_;
    return c == '\r' ? ' ' : c;
  }
  void block_comment() {
    take();
    for (char last = ' '; at_ < text_.size();) {
      const char c = take();
      if (last == '*' && c == '/') return;
      last = c;
    }
  }
  static bool ends_in_raw_prefix(std::string_view text) {
    if (!text.ends_with('R')) return false;
    text.remove_suffix(1);
    for (const std::string_view prefix : {"u8", "u", "U", "L"}) {
      if (!text.ends_with(prefix)) continue;
      text.remove_suffix(prefix.size());
      break;
    }
    return text.empty() || !is_word(text.back());
  }
  // R"delimiter( ... )delimiter": nothing inside is joined or left out.
  void raw_text() {
    const std::size_t open = std::min(text_.find('(', at_), text_.size());
    const std::string end = ")" + std::string(text_.substr(at_, open - at_)) + "\"";
    const std::size_t close = text_.find(end, open);
    const std::size_t stop = close == std::string_view::npos ? text_.size() : close + end.size();
    line_ += static_cast<std::int32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                  text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
    at_ = stop;
  }
  // 1'000 is a number.
  static bool is_separator(const std::string& text) { return !text.empty() && is_word(text.back()); }
  void quoted(char quote, std::string& text) {
    text += quote;
    while (at_ < text_.size() && peek() != '\n') {
      const char c = take();
      text += c;
      if (c == quote) return;
      if (c == '\\' && at_ < text_.size() && peek() != '\n') text += take();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int32_t line_ = 1;
};

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  return text;
}

// What stands behind the # of a directive; # may be written in two other ways.
std::optional<std::string_view> directive(std::string_view line) {
  line = without_spaces(line);
  for (const std::string_view mark : {"#", "%:", "?\?="})
    if (line.starts_with(mark)) return without_spaces(line.substr(mark.size()));
  return std::nullopt;
}

bool takes_in_a_file(std::string_view directive) {
  constexpr std::string_view kNames[] = {"include_next", "include", "import", "embed"};
  return std::ranges::any_of(kNames, [&](std::string_view name) {
    return directive.starts_with(name) && (directive.size() == name.size() || !is_word(directive[name.size()]));
  });
}

// The name between the quotes or brackets; empty: it is none, or what stands behind it is more.
std::string_view header_name(std::string_view directive) {
  directive = without_spaces(directive.substr(std::min(
      directive.size(), static_cast<std::size_t>(std::ranges::find_if_not(directive, is_word) - directive.begin()))));
  if (directive.empty() || (directive.front() != '"' && directive.front() != '<')) return {};
  const std::size_t end = directive.find(directive.front() == '"' ? '"' : '>', 1);
  if (end == std::string_view::npos || !without_spaces(directive.substr(end + 1)).empty()) return {};
  return directive.substr(1, end - 1);
}

bool has_has_include(std::string_view line) {
  for (std::size_t at = 0; (at = line.find("__has", at)) != std::string_view::npos; ++at) {
    if (at > 0 && is_word(line[at - 1])) continue;
    std::size_t end = at;
    while (end < line.size() && is_word(line[end])) ++end;
    const std::string_view word = line.substr(at, end - at);
    if (word.find("include") != std::string_view::npos || word.find("embed") != std::string_view::npos ||
        word.size() <= std::string_view("__has_").size())
      return true;
  }
  return false;
}

// An own name of CUDA's, or ours: no way out of the folders.
bool stays_inside(std::string_view name) {
  const fs::path path(name);
  return !name.empty() && !path.is_absolute() && name.find('\\') == std::string_view::npos &&
         std::ranges::none_of(path, [](const fs::path& part) { return part == ".."; });
}

}  // namespace

Result<void> check_includes(std::string_view text, std::string_view name, ScoreLines lines,
                            const IsOfCuda& is_of_cuda) {
  const auto ours = [&](std::string_view header) {
    const auto sources = embedded_sources(lines);
    return std::ranges::any_of(sources, [&](const SourceText& s) { return s.name == header; });
  };
  const auto refuse = [&](std::int32_t line, const std::string& what) {
    return bad_input(
        phrase("{}, line {}: {}. Your own kernel may include only AttnScope and CUDA headers.", name, line, what));
  };
  Lines all(text);
  while (const auto line = all.next()) {
    if (has_has_include(line->text))
      return refuse(line->number, tr("__has_include is not allowed: it reveals which files exist"));
    const auto words = directive(line->text);
    if (!words || !takes_in_a_file(*words)) continue;
    const std::string_view header = header_name(*words);
    if (header.empty())
      return refuse(line->number, tr("the included name must be in quotes or angle brackets, not a macro"));
    if (ours(header)) continue;
    if (!stays_inside(header) || !is_of_cuda(header)) return refuse(line->number, phrase("it includes {}", header));
  }
  return ok();
}

Result<void> check_includes(const KernelSource& source) {
  if (!source.of_user) return ok();
  const std::vector<fs::path> folders = cuda_include_folders();
  return check_includes(source.text, source.name, source.score_lines, [&](std::string_view header) {
    std::error_code error;
    // Without CUDA's headers the compiler says what is missing, and which command brings it.
    if (folders.empty()) return true;
    return std::ranges::any_of(folders, [&](const fs::path& f) { return fs::is_regular_file(f / header, error); });
  });
}

}  // namespace attn::gpu
