#include "viz/draw/text_fit.h"

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

std::string fitted_text(Face face, float size, std::string_view words, float room) {
  if (text_width(face, size, words) <= room) return std::string(words);
  const float dots = text_width(face, size, "…");
  if (dots > room) return {};
  while (!words.empty() && text_width(face, size, words) + dots > room) words = without_last(words);
  while (!words.empty() && words.back() == ' ') words.remove_suffix(1);
  return std::string(words) + "…";
}

}  // namespace attn
