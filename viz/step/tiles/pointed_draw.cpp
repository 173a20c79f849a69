#include "viz/step/tiles/pointed_draw.h"

#include <algorithm>
#include <string>

#include "viz/draw/theme.h"

namespace attn {
namespace {

constexpr float kSize = 13;

}  // namespace

float pointed_height(const PointedScene& scene, float width) {
  const float step = line_height(kSize);
  float lines = 1.2F;
  if (!scene.terms.empty()) lines += 3.2F;
  if (!scene.sum.empty()) lines += 1;
  if (!scene.words.empty()) lines += 1;
  if (!scene.full_words.empty()) lines += 1;
  const bool two = width > 0 && !scene.words.empty() && runs_width(scene.words, kSize) > width;
  return (lines + (two ? 1 : 0)) * step;
}

void draw_pointed(ImDrawList* list, const Box& box, const PointedScene& scene) {
  const Style& s = style();
  const float step = line_height(kSize);
  ImVec2 at = box.min;
  const bool room = text_width(Face::text, 14, scene.lead) + runs_width(scene.title, 14) <= box.width();
  TextRuns title{word(room ? scene.lead : scene.short_lead)};
  title.insert(title.end(), scene.title.begin(), scene.title.end());
  draw_runs(list, at, 14, title);
  at.y += step * 1.25F;
  if (!scene.terms.empty()) {
    float widest = 0;
    for (const PointedTerm& t : scene.terms) {
      for (const std::string* text : {&t.left, &t.right, &t.product})
        widest = std::max(widest, text_width(Face::mono, 12, *text));
    }
    const float pitch = widest + s.px(14), left = at.x + s.px(22);
    const auto fits = static_cast<std::size_t>(std::max(1.0F, (box.max.x - left) / pitch));
    const std::size_t shown = scene.terms.size() <= fits ? scene.terms.size() : std::max<std::size_t>(1, fits - 2);
    draw_runs(list, at, 12, {letter(scene.left_letter, scene.left_ink)});
    draw_runs(list, {at.x, at.y + step}, 12, {letter(scene.right_letter, scene.right_ink)});
    draw_runs(list, {at.x, at.y + 2 * step}, 12, {word("×")});
    for (std::size_t n = 0; n < shown; ++n) {
      const float right = left + pitch * static_cast<float>(n) + widest;
      const PointedTerm& t = scene.terms[n];
      const auto put = [&](int line, const std::string& text, Ink ink) {
        draw_text(list, {right - text_width(Face::mono, 12, text), at.y + step * static_cast<float>(line)}, Face::mono,
                  12, colour_of(ink), text);
      };
      put(0, t.left, scene.left_ink);
      put(1, t.right, scene.right_ink);
      put(2, t.product, Token::text);
    }
    float end = left + pitch * static_cast<float>(shown);
    if (shown < scene.terms.size()) {
      draw_text(list, {end, at.y + 2 * step}, Face::text, 12, colour_of(Token::dim), rest_words(scene, shown));
    }
    at.y += 3 * step;
    list->AddLine({at.x, at.y}, {end - s.px(14), at.y}, colour_of(Token::line), std::max(1.0F, s.px(1)));
    at.y += s.px(4);
  }
  if (!scene.sum.empty()) {
    draw_runs(list, at, kSize, scene.sum);
    at.y += step;
  }
  if (!scene.words.empty()) at.y += draw_paragraph(list, at, box.width(), kSize, scene.words, 2);
  if (!scene.full_words.empty()) draw_text(list, at, Face::text, 12, colour_of(Token::dim), scene.full_words);
}

}  // namespace attn
