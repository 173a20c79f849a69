#include "viz/bench/charts/line_looks_draw.h"

#include <array>

#include "viz/draw/kernel_looks.h"
#include "viz/draw/theme.h"

namespace attn {

ImU32 ink_of(const BenchLine& line) {
  return line.kernel.empty() ? colour(style().theme, Token::dim) : kernel_colour(style().theme, line.kernel);
}

MarkFill fill_of(const BenchLine& line) {
  if (line.hollow) return MarkFill::hollow;
  return line.open ? MarkFill::open : MarkFill::solid;
}

float thickness_of(const BenchLine& line) {
  if (line.bound) return 1;
  if (line.ideal) return 1.5F;
  if (line.dotted) return line.baseline ? 3.0F : 2.0F;
  const float loaded = line.hollow ? 0.6F : 1.0F;
  if (line.baseline) return 4 * loaded;
  return (line.emphasised ? 2.75F : 1.75F) * loaded;
}

std::size_t pattern_of(const BenchLine& line) {
  constexpr std::size_t kShortDashes = 2, kThreeDashes = 8;
  if (line.ideal || (line.peer && line.order == 0)) return kShortDashes;
  return line.peer && line.order == kShortDashes ? kThreeDashes : line.order;  // of each run its own, and none unbroken
}

bool is_hidden(const BenchCache& cache, const BenchLine& line) {
  return cache.hidden.contains(line.id);
}

bool is_pointed_at(const BenchCache& cache, const BenchLine& line) {
  return cache.pointed && !line.kernel.empty() && cache.pointed->line == line.id;
}

void draw_line_mark(ImDrawList& list, ImVec2 centre, const BenchLine& line, float radius) {
  const Style& s = style();
  draw_mark(list, centre,
            {look_of(line.kernel).mark, fill_of(line), ink_of(line), colour(s.theme, Token::card), radius, s.px(1.5F)});
}

void draw_line_swatch(ImDrawList& list, ImVec2 left, float width, const BenchLine& line) {
  const Style& s = style();
  const std::array<ImVec2, 2> ends{left, ImVec2(left.x + width, left.y)};
  const float thickness = s.px(thickness_of(line));
  if (line.dotted)
    draw_dotted(list, ends, ink_of(line), thickness);
  else
    draw_patterned(list, ends, ink_of(line), thickness, pattern_of(line));
  if (!line.kernel.empty() && !line.bare) draw_line_mark(list, {left.x + width / 2, left.y}, line, s.px(4.5F));
}

}  // namespace attn
