#include "kernels/gpu/compile/ptxas_log.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace attn::gpu {
namespace {

// The whole number that ends right before `unit`: "96 bytes spill stores".
std::int32_t number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int32_t value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

// Between the first pair of quotes behind `word`.
std::optional<std::string> quoted_after(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t open = line.find('\'', at);
  const std::size_t close = line.find('\'', open + 1);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(open + 1, close - open - 1));
}

// "file(12): error: words" -> "file:12: words"
std::string place_first(std::string_view line) {
  const std::size_t mark = line.find("): error");
  const std::size_t open = line.rfind('(', mark);
  const std::size_t words = line.find(": ", mark + 3);
  if (mark == std::string_view::npos || open == std::string_view::npos || words == std::string_view::npos) {
    return std::string(line);
  }
  return std::string(line.substr(0, open)) + ":" + std::string(line.substr(open + 1, mark - open - 1)) +
         std::string(line.substr(words));
}

// Where the function that a loss speaks of begins in `text`: its name and a bracket, for the first time. 0: nowhere.
std::int32_t line_of_loss(std::string_view line, std::string_view text) {
  const auto function = quoted_after(line, "function");
  const std::size_t at = function ? text.find(*function + "(") : std::string_view::npos;
  if (at == std::string_view::npos) return 0;
  return 1 + static_cast<std::int32_t>(std::ranges::count(text.substr(0, at), '\n'));
}

// "FILE<open>NUMBER<close> words"; nothing where the line is none of that.
std::optional<SourceMark> mark_at(std::string_view line, char open, std::string_view close) {
  for (std::size_t at = line.find(open); at != std::string_view::npos; at = line.find(open, at + 1)) {
    std::int32_t number = 0;
    const auto [end, code] = std::from_chars(line.data() + at + 1, line.data() + line.size(), number);
    const std::size_t behind = static_cast<std::size_t>(end - line.data());
    if (code != std::errc() || number < 1 || at == 0 || line.substr(behind, close.size()) != close) continue;
    std::string_view words = line.substr(behind + close.size());
    words.remove_prefix(std::min(words.size(), words.find_first_not_of(' ')));
    return SourceMark{std::string(line.substr(0, at)), number, true, std::string(words)};
  }
  return std::nullopt;
}

}  // namespace

PtxasLog parse_ptxas_log(std::string_view log) {
  PtxasLog parsed;
  EntryFigures* now = nullptr;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string_view line = log.substr(begin, end - begin);
    begin = end + 1;
    if (auto entry = quoted_after(line, "Compiling entry function")) {
      parsed.entries.push_back({std::move(*entry), 0, 0, 0, 0, 0});
      now = &parsed.entries.back();
    } else if (is_loss(line)) {
      parsed.losses.emplace_back(line);
    } else if (line.find(" error") != std::string_view::npos &&
               line.find("errors detected") == std::string_view::npos &&
               line.find("error detected") == std::string_view::npos) {
      parsed.errors.push_back(place_first(line));
    } else if (line.find("warning") != std::string_view::npos || line.find("Overriding") != std::string_view::npos) {
      // "ptxas info : Overriding maximum register limit ...": an option of the user's that came to nothing.
      parsed.warnings.emplace_back(line);
    } else if (now != nullptr && line.find("bytes stack frame") != std::string_view::npos) {
      now->stack_bytes = number_before(line, " bytes stack frame");
      now->spill_store_bytes = number_before(line, " bytes spill stores");
      now->spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (now != nullptr && line.find("Used ") != std::string_view::npos) {
      now->registers = number_before(line, " registers");
      now->shared_bytes = number_before(line, " bytes smem");
      now = nullptr;  // the line that ends an entry; functions that were not inlined follow with lines of their own
    }
  }
  std::ranges::sort(parsed.entries, {}, &EntryFigures::name);
  return parsed;
}

bool is_loss(std::string_view line) {
  return line.find("Potential Performance Loss") != std::string_view::npos;
}

std::vector<SourceMark> marks_of(std::string_view errors, const std::vector<std::string>& warnings,
                                 std::string_view text) {
  std::vector<SourceMark> marks;
  while (!errors.empty()) {
    const std::string_view line = errors.substr(0, errors.find('\n'));
    errors.remove_prefix(std::min(errors.size(), line.size() + 1));
    if (auto mark = mark_at(line, ':', ":")) marks.push_back(*std::move(mark));
  }
  for (const std::string& line : warnings) {
    auto mark = mark_at(line, '(', "):").value_or(SourceMark{"", 0, false, line});
    if (mark.line == 0 && is_loss(line)) mark.line = line_of_loss(line, text);
    mark.error = false;
    marks.push_back(std::move(mark));
  }
  return marks;
}

}  // namespace attn::gpu
