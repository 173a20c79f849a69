#include "viz/draw/text_fit.h"

#include <algorithm>

#include "viz/draw/canvas.h"

namespace attn {
namespace {

// Not in the midst of a character of several bytes.
std::string_view without_last(std::string_view words) {
  while (!words.empty() && (static_cast<unsigned char>(words.back()) & 0xC0U) == 0x80U) words.remove_suffix(1);
  if (!words.empty()) words.remove_suffix(1);
  return words;
}

}  // namespace

std::string_view cut_at_word(std::string_view words, std::size_t bytes) {
  std::string_view cut = words.substr(0, bytes);
  if (cut.size() < words.size() && words[cut.size()] != ' ')
    if (const std::size_t space = cut.rfind(' '); space != std::string_view::npos && 2 * space >= cut.size())
      cut = cut.substr(0, space);
  const auto without_end = [](std::string_view text) {
    const std::size_t last = text.find_last_not_of(" ,;:");
    return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  };
  cut = without_end(cut);
  // "L =" says nothing without what it equals, nor does "L".
  const bool sign = cut.size() < words.size() && cut.ends_with(" =");
  if (sign || words.substr(cut.size()).starts_with(" =")) {
    const std::size_t name = (sign ? without_end(cut.substr(0, cut.size() - 2)) : cut).rfind(' ');
    if (name != std::string_view::npos) cut = without_end(cut.substr(0, name));
  }
  return cut;
}

std::string fitted_text(Face face, float size, std::string_view words, float room) {
  if (text_width(face, size, words) <= room) return std::string(words);
  const float dots = text_width(face, size, "…");
  if (dots > room) return {};
  std::string_view fits = words;
  while (!fits.empty() && text_width(face, size, fits) + dots > room) fits = without_last(fits);
  return std::string(cut_at_word(words, fits.size())) + "…";
}

namespace {

// Dear ImGui may break behind a mark that no blank follows.
bool may_break_within(std::string_view words) {
  constexpr std::string_view kMarks = ".,;!?\"", kBlanks = " \n";
  for (std::size_t n = 0; n + 1 < words.size(); ++n)
    if (kMarks.find(words[n]) != kMarks.npos && kBlanks.find(words[n + 1]) == kBlanks.npos) return true;
  return false;
}

}  // namespace

std::string lines_at_spaces(const std::string& words, float width) {
  if (!may_break_within(words)) return words;
  std::string out;
  std::size_t line = 0;  // where in `out` it begins
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find_first_of(" \n", at), words.size()), begin = out.size();
    out.append(words, at, end - at);
    if (begin > line && ImGui::CalcTextSize(out.c_str() + line).x > width) {
      out[begin - 1] = '\n';
      line = begin;
    }
    if (end < words.size()) out += words[end];
    if (out.ends_with('\n')) line = out.size();
    at = end + 1;
  }
  return out;
}

}  // namespace attn
