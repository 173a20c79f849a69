#include "kernels/gpu/compile/score_lines.h"

#include <algorithm>

namespace attn::gpu {
namespace {

enum class Rest : bool { nothing, line_end };

std::string kept(std::string_view text, Rest rest) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = std::min(text.size(), text.find('\n'));
    const std::string_view line = text.substr(0, size), end = text.substr(size, 1);
    text.remove_prefix(line.size() + end.size());
    const bool score = is_score_line(line);
    if (!score) out += line;
    if (!score || rest == Rest::line_end) out += end;
  }
  return out;
}

}  // namespace

ScoreLines score_lines_for(std::span<const std::string> defines) {
  const bool any = std::ranges::any_of(defines, [](const std::string& d) { return d.starts_with("ATTN_SOFTCAP="); });
  return any ? ScoreLines::in : ScoreLines::out;
}

bool is_score_line(std::string_view line) {
  constexpr std::string_view kMark = "// @score";
  const std::size_t at = line.find(kMark);
  if (at == std::string_view::npos) return false;
  const std::string_view behind = line.substr(at + kMark.size());
  return behind.empty() || behind.front() == ' ' || behind.front() == '\r';
}

bool has_score_lines(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (is_score_line(line)) return true;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return false;
}

bool is_score_header(std::string_view source_name) {
  return source_name == "kernels/gpu/score.cuh" || source_name == "kernels/gpu/score_tile.cuh";
}

std::string without_score_lines(std::string_view text) {
  return kept(text, Rest::nothing);
}

std::string with_blank_score_lines(std::string_view text) {
  return kept(text, Rest::line_end);
}

}  // namespace attn::gpu
