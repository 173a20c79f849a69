#include "viz/step/beside/chip_draw.h"

#include <algorithm>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"

namespace attn {

void draw_chip_card(ImDrawList* list, const Box& box, const ChipScene& scene) {
  const Style& s = style();
  if (scene.total == 0) return;
  draw_text(list, box.min, Face::bold, 14, colour_of(Token::text), tr("Tiles on chip"));
  const float width = std::min(box.width(), s.px(230));
  float x = box.min.x, y = box.min.y + s.px(24);
  for (const ChipPart& p : scene.parts) {
    const float w = width * static_cast<float>(p.bytes) / static_cast<float>(scene.total);
    const float held = width * static_cast<float>(p.now) / static_cast<float>(scene.total);
    const Box place{{x, y}, {x + std::max(w - s.px(1), 1.0F), y + s.px(11)}};
    // Room that is kept is faint, what it holds now is filled.
    list->AddRectFilled(place.min, place.max, faded(colour_of(p.hue), 0.25F));
    if (p.now > 0)
      list->AddRectFilled(place.min, {std::min(x + std::max(held - s.px(1), 1.0F), place.max.x), place.max.y},
                          colour_of(p.hue));
    x += w;
  }
  y += s.px(18);
  draw_runs(list, {box.min.x, y}, 13, scene.sum);
  y += s.px(21);
  // All of them, or none: a list that does not add up is worse.
  const auto lines = [&](float gap, bool draw) {
    float left = box.min.x, top = y;
    for (const ChipPart& part : scene.parts) {
      const float w = runs_width(part.words, 12.5F);
      if (left + w > box.max.x) left = box.min.x, top += s.px(20);
      if (draw) draw_runs(list, {left, top}, 12.5F, part.words);
      left += w + s.px(gap);
    }
    return top + s.px(18);
  };
  const bool long_limit = runs_width(scene.limit, 12.5F) <= box.width();
  const TextRuns& limit = long_limit ? scene.limit : scene.short_limit;
  // What the GPU has is said before what each tensor takes.
  const float parts_end = box.max.y - (limit.empty() ? 0 : s.px(20));
  const float gap = lines(14, false) <= parts_end ? 14 : 7;
  if (lines(gap, false) <= parts_end)
    y = lines(gap, true) - s.px(18);
  else
    y -= s.px(20);
  for (const TextRuns* words : {&limit, &scene.note}) {
    if (words->empty() || runs_width(*words, 12.5F) > box.width()) continue;
    y += s.px(20);
    if (y + s.px(18) <= box.max.y) draw_runs(list, {box.min.x, y}, 12.5F, *words);
  }
}

}  // namespace attn
