#include "viz/step/strip_draw.h"

#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"

namespace attn {

void draw_step_strip(ImDrawList* list, const Box& box, const StripScene& scene) {
  const Style& s = style();
  draw_card(list, box);
  list->AddRectFilled(box.min, {box.min.x + s.px(5), box.max.y}, colour_of(scene.accent), s.px(8),
                      ImDrawFlags_RoundCornersLeft);
  const float left = box.min.x + s.px(24), right = box.max.x - s.px(24);
  // A low strip has its three lines closer to the top edge.
  const float lift = box.height() < s.px(80) ? s.px(4) : 0;
  draw_text(list, {left, box.min.y + s.px(12) - lift}, Face::text, 13, colour_of(Token::dim), scene.position);
  const float headline_end = draw_runs(list, {left, box.min.y + s.px(31) - lift}, 20, scene.headline);
  // The formula stands at the right of headline and position; where it would touch the headline it shrinks, then
  // the part before the numbers is enough for the eye, so it is left out.
  float size = 17;
  const float room = right - headline_end - s.px(32);
  while (size > 12 && runs_width(scene.formula, size) > room) size -= 1;
  const bool formula_fits = runs_width(scene.formula, size) <= room;
  if (formula_fits) {
    const float y = box.min.y + s.px(33) + (s.px(20) - s.px(size)) / 2;
    draw_runs(list, {right - runs_width(scene.formula, size), y}, size, scene.formula);
  }
  draw_paragraph(list, {left, box.min.y + s.px(60) - lift * 1.5F}, right - left, 14, scene.sentence, 1);
}

}  // namespace attn
