#include "viz/profile/timeline/answers_draw.h"

#include <algorithm>

#include "viz/draw/theme.h"

namespace attn {
namespace {

// Logical pixels: between two answers, the stroke at an answer's left and the space behind it; below this width they
// stand below each other.
constexpr float kBetween = 22, kStroke = 3, kBehind = 9, kBelow = 8, kStacked = 640;
constexpr int kMostAnswer = 3, kMostWhy = 5;  // lines

float draw_answer(ImDrawList* list, const PipelineScene::Answer& a, ImVec2 at, float width, bool draw) {
  const Style& s = style();
  const float left = at.x + s.px(kStroke + kBehind), room = width - s.px(kStroke + kBehind);
  float y = at.y;
  if (draw) draw_text(list, {left, y}, Face::text, 12, colour(s.theme, Token::dim), a.question);
  y += line_height(12) + s.px(2);
  y += draw_paragraph(list, {left, y}, room, 16, {{a.answer, Face::bold, Token::text, 0, false}}, kMostAnswer, draw);
  y += s.px(2);
  y += draw_paragraph(list, {left, y}, room, 12, {{a.why, Face::text, Token::dim, 0, false}}, kMostWhy, draw);
  return y - at.y;
}

// Returns the height of all.
float each_answer(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width, bool draw) {
  const Style& s = style();
  if (scene.answers.empty()) return 0;
  const bool stacked = width < s.px(kStacked);
  const auto all = static_cast<float>(scene.answers.size());
  const float one = stacked ? width : (width - (all - 1) * s.px(kBetween)) / all;
  float x = at.x, y = at.y, height = 0;
  for (const PipelineScene::Answer& a : scene.answers) {
    const float own = draw_answer(list, a, {x, y}, one, draw);
    if (draw) list->AddRectFilled({x, y}, {x + s.px(kStroke), y + own}, kernel_colour(s.theme, scene.timeline->kernel));
    height = stacked ? y + own - at.y : std::max(height, own);
    if (stacked)
      y += own + s.px(kBelow);
    else
      x += one + s.px(kBetween);
  }
  return height;
}

}  // namespace

float answers_height(const PipelineScene& scene, float width) {
  return each_answer(nullptr, scene, {}, width, false);
}

void draw_answers(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width) {
  each_answer(list, scene, at, width, true);
}

}  // namespace attn
