#include "viz/draw/runs.h"

#include <utility>

#include "viz/draw/number_text.h"

namespace attn {

std::string plain_text(const Runs& runs) {
  std::string text;
  for (const Run& run : runs) text += run.text;
  return text;
}

Run word(std::string text, Ink ink) {
  return {std::move(text), Face::text, ink, 0, false};
}
Run letter(std::string text, Ink ink, int raise) {
  return {std::move(text), Face::maths, ink, raise, false};
}
Run subscript(std::string text, Ink ink) {
  return {std::move(text), Face::text, ink, -1, false};
}
Run number(std::string text, Ink ink) {
  // The numbers' face draws infinity too small to be told from an equals sign.
  const bool infinite = text.ends_with("∞");
  return {std::move(text), infinite ? Face::text : Face::mono, ink, 0, false};
}
Run number(double x, Ink ink, int digits) {
  return number(significant_text(x, digits), ink);
}

}  // namespace attn
