#include "viz/profile/timeline/answers_draw.h"

#include <algorithm>
#include <vector>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/timeline/bands_draw.h"
#include "viz/profile/timeline/sms_draw.h"

namespace attn {
namespace {

// Logical pixels: between two answers, the stroke at an answer's left and the space behind it; below this width they
// stand below each other.
constexpr float kBetween = 22, kStroke = 3, kBehind = 9, kBelow = 8, kStacked = 640, kBands = 44, kAboveBands = 5;
constexpr int kMostAnswer = 3, kMostWhy = 5;  // lines

float bands_height(const PipelineScene& scene, const PipelineScene::Answer& a) {
  return a.with_bands && !scene.sms_shown ? style().px(kBands) + style().px(kAboveBands) : 0;
}

float words_height(const PipelineScene::Answer& a, float width) {
  const Style& s = style();
  const float room = width - s.px(kStroke + kBehind);
  return line_height(12) + s.px(4) +
         draw_paragraph(nullptr, {}, room, 16, {{a.answer, Face::bold, Token::text, 0, false}}, kMostAnswer, false) +
         draw_paragraph(nullptr, {}, room, 12, {{a.why, Face::text, Token::dim, 0, false}}, kMostWhy, false);
}

void draw_words(ImDrawList* list, const PipelineScene::Answer& a, ImVec2 at, float width) {
  const Style& s = style();
  const float left = at.x + s.px(kStroke + kBehind), room = width - s.px(kStroke + kBehind);
  float y = at.y;
  draw_text(list, {left, y}, Face::text, 12, colour(s.theme, Token::dim), a.question);
  y += line_height(12) + s.px(2);
  y += draw_paragraph(list, {left, y}, room, 16, {{a.answer, Face::bold, Token::text, 0, false}}, kMostAnswer);
  draw_paragraph(list, {left, y + s.px(2)}, room, 12, {{a.why, Face::text, Token::dim, 0, false}}, kMostWhy);
}

void draw_small_bands(ImDrawList* list, const PipelineScene& scene, const Box& box, Commands& commands) {
  const Style& s = style();
  list->AddRectFilled(box.min, box.max, colour(s.theme, Token::field), s.px(2));
  draw_bands(list, {scene, box, scene.launch_ns}, true);
  ImGui::SetCursorScreenPos(box.min);
  if (ImGui::InvisibleButton("timeline_tail", {box.width(), box.height()})) commands.push_back(ShowAllSms{true});
  tooltip(sms_words() + "\n" + tr("Click to enlarge."));
}

struct Placed {
  const PipelineScene::Answer* answer = nullptr;
  ImVec2 at;
  float width = 0, height = 0;
};

// Side by side they are of one height.
std::vector<Placed> place_answers(const PipelineScene& scene, float width) {
  const Style& s = style();
  const bool stacked = width < s.px(kStacked);
  const auto all = static_cast<float>(scene.answers.size());
  const float one = stacked ? width : (width - (all - 1) * s.px(kBetween)) / all;
  std::vector<Placed> placed;
  ImVec2 at;
  float highest = 0;
  for (const PipelineScene::Answer& a : scene.answers) {
    const float own = words_height(a, one) + bands_height(scene, a);
    placed.push_back({&a, at, one, own});
    highest = std::max(highest, own);
    if (stacked)
      at.y += own + s.px(kBelow);
    else
      at.x += one + s.px(kBetween);
  }
  for (Placed& p : placed)
    if (!stacked) p.height = highest;
  return placed;
}

}  // namespace

float answers_height(const PipelineScene& scene, float width) {
  float height = 0;
  for (const Placed& p : place_answers(scene, width)) height = std::max(height, p.at.y + p.height);
  return height;
}

void draw_answers(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width, Commands& commands) {
  const Style& s = style();
  for (const Placed& p : place_answers(scene, width)) {
    const ImVec2 top{at.x + p.at.x, at.y + p.at.y};
    list->AddRectFilled(top, {top.x + s.px(kStroke), top.y + p.height}, kernel_colour(s.theme, scene.timeline->kernel));
    draw_words(list, *p.answer, top, p.width);
    if (bands_height(scene, *p.answer) <= 0) continue;
    const float from = top.y + words_height(*p.answer, p.width) + s.px(kAboveBands);
    draw_small_bands(
        list, scene,
        {{top.x + s.px(kStroke + kBehind), from}, {top.x + p.width, std::max(from + s.px(kBands), top.y + p.height)}},
        commands);
  }
}

}  // namespace attn
