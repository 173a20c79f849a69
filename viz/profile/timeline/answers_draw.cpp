#include "viz/profile/timeline/answers_draw.h"

#include <cstddef>
#include <string>

#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/timeline/bands_draw.h"

namespace attn {
namespace {

// Logical pixels: between two answers, the stroke at an answer's left and the space behind it; below this width they
// stand below each other.
constexpr float kLine = 22, kBetween = 22, kStroke = 3, kBehind = 9, kAfter = 8, kStacked = 700, kBands = 92;

bool stacked(float width) {
  return width < style().px(kStacked);
}

// Question and answer, the answer alone where there is no room for both; why it is so for the pointer.
void draw_answer(ImDrawList* list, const PipelineScene& scene, const PipelineScene::Answer& a, const Box& box,
                 Commands& commands) {
  const Style& s = style();
  list->AddRectFilled({box.min.x, box.min.y + s.px(3)}, {box.min.x + s.px(kStroke), box.max.y - s.px(3)},
                      kernel_colour(s.theme, scene.timeline->kernel));
  float left = box.min.x + s.px(kStroke + kBehind), right = box.max.x;
  const float question = text_width(Face::text, 12, a.question) + s.px(kAfter);
  const float answer = text_width(Face::bold, 13, a.answer);
  const bool bands = a.with_bands && left + answer + s.px(kBands + kAfter) < right;
  if (bands) right -= s.px(kBands + kAfter);
  if (left + question + answer <= right) {
    draw_text_in(list, {{left, box.min.y}, {right, box.max.y}}, Align::left, Face::text, 12,
                 colour(s.theme, Token::dim), a.question);
    left += question;
  }
  draw_text_in(list, {{left, box.min.y}, {right, box.max.y}}, Align::left, Face::bold, 13, colour(s.theme, Token::text),
               fitted_text(Face::bold, 13, a.answer, right - left));
  ImGui::SetCursorScreenPos(box.min);
  const char* const id = a.with_bands ? "timeline_tail" : a.question.c_str();
  const bool pressed = ImGui::InvisibleButton(id, {box.width(), box.height()});
  if (pressed && a.with_bands) commands.push_back(ShowAllSms{true});
  const char* const all = for_hands(tr("Click to see all SMs."), tr("Tap to see all SMs."));
  tooltip(a.question + "\n" + a.why + (a.with_bands ? std::string("\n") + all : ""));
  if (!bands) return;
  const Box small{{right + s.px(kAfter), box.min.y + s.px(2)}, {box.max.x, box.max.y - s.px(2)}};
  list->AddRectFilled(small.min, small.max, colour(s.theme, Token::field), s.px(2));
  draw_bands(list, {scene, small, scene.launch_ns, Token::field}, false);
}

}  // namespace

float answers_height(const PipelineScene& scene, float width) {
  if (scene.answers.size() < 2) return 0;
  return style().px(kLine) * static_cast<float>(stacked(width) ? scene.answers.size() - 1 : 1);
}

void draw_answers(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width, Commands& commands) {
  const Style& s = style();
  if (scene.answers.size() < 2) return;
  const auto all = static_cast<float>(scene.answers.size() - 1);
  const bool below = stacked(width);
  const float one = below ? width : (width - (all - 1) * s.px(kBetween)) / all;
  for (std::size_t n = 1; n < scene.answers.size(); ++n) {
    draw_answer(list, scene, scene.answers[n], {at, {at.x + one, at.y + s.px(kLine)}}, commands);
    if (below)
      at.y += s.px(kLine);
    else
      at.x += one + s.px(kBetween);
  }
}

}  // namespace attn
