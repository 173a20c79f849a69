#include "viz/draw/text_runs.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "viz/draw/number_text.h"

namespace attn {
namespace {

constexpr char kPlace = '\x01';  // before the digit of a place; no text has it

}  // namespace

std::string plain_text(const TextRuns& runs) {
  std::string text;
  for (const TextRun& run : runs) text += run.text;
  return text;
}

TextRuns last_line(const TextRuns& runs) {
  for (std::size_t n = runs.size(); n-- > 0;) {
    const std::size_t at = runs[n].text.rfind('\n');
    if (at == std::string::npos) continue;
    TextRuns line(runs.begin() + static_cast<std::ptrdiff_t>(n), runs.end());
    line.front().text.erase(0, at + 1);
    if (line.front().text.empty()) line.erase(line.begin());
    return line;
  }
  return runs;
}

TextRun word(std::string text, Ink ink) {
  return {std::move(text), Face::text, ink, 0, false};
}
TextRun letter(std::string text, Ink ink, int raise) {
  return {std::move(text), Face::maths, ink, raise, false};
}
TextRun subscript(std::string text, Ink ink) {
  return {std::move(text), Face::text, ink, -1, false};
}
TextRun number(std::string text, Ink ink) {
  // The numbers' face draws infinity too small to be told from an equals sign.
  const bool infinite = text.ends_with("∞");
  return {std::move(text), infinite ? Face::text : Face::mono, ink, 0, false};
}
std::string place(std::size_t piece) {
  return {kPlace, static_cast<char>('0' + piece)};
}

TextRuns woven(std::string_view sentence, const TextRuns& pieces, Ink words) {
  TextRuns runs;
  while (!sentence.empty()) {
    const std::size_t end = std::min(sentence.find(kPlace), sentence.size());
    if (end > 0) runs.push_back(word(std::string(sentence.substr(0, end)), words));
    if (end + 1 >= sentence.size()) break;
    runs.push_back(pieces.at(static_cast<std::size_t>(sentence[end + 1] - '0')));
    sentence.remove_prefix(end + 2);
  }
  return runs;
}

TextRun number(double x, Ink ink, int digits) {
  return number(significant_text(x, digits), ink);
}

}  // namespace attn
