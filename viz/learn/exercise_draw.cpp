#include "viz/learn/exercise_draw.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "imgui.h"
#include "kernels/base/text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/learn/card/pen_draw.h"
#include "viz/learn/exercise/plan_scene.h"

namespace attn {
namespace {

constexpr float kInset = 28, kGiven = 19, kWay = 18;        // logical
constexpr float kWidest = 880, kButtonGap = 8, kHead = 30;  // a line that is longer is hard to read
constexpr int kMostLines = 60;

void draw_rect(ImDrawList* list, const PlanRect& rect, ImVec2 at) {
  const Style& s = style();
  const Box box{{at.x + rect.x, at.y + rect.y}, {at.x + rect.x + rect.width, at.y + rect.y + rect.height}};
  if (rect.fill == PlanFill::light) list->AddRectFilled(box.min, box.max, colour_of(Token::field));
  if (rect.fill == PlanFill::strong) list->AddRectFilled(box.min, box.max, colour_of(Token::dim));
  if (rect.fill == PlanFill::hatched) draw_hatch(list, box, colour_of(Token::dim));
  if (rect.dashed)
    draw_dashed(list, box, colour_of(Token::faint));
  else
    list->AddRect(box.min, box.max, colour_of(Token::faint), 0, 0, std::max(1.0F, s.px(1)));
}

// Returns its height.
float draw_given(ImDrawList* list, const PlanScene& scene, ImVec2 at, float width) {
  const Style& s = style();
  const LaidOut picture = laid_out(
      scene, width, s.px(kGiven), [&](float size, const TextRuns& words) { return runs_width(words, size / s.scale); });
  for (const PlanRect& rect : picture.rects) draw_rect(list, rect, at);
  for (const PlanWords& w : picture.words) {
    const Box box{{at.x + w.x, at.y + w.y}, {at.x + w.x + w.width, at.y + w.y + w.height}};
    const Align align = w.align == PlanAlign::left     ? Align::left
                        : w.align == PlanAlign::centre ? Align::centre
                                                       : Align::right;
    draw_runs_in(list, box, align, w.size / s.scale, w.words);
  }
  return picture.height;
}

// Which exercise, whose numbers, and what else can be done with it. Returns its height.
float draw_head(const ExerciseScene& exercise, const CardScene& card, ImVec2 at, float width, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::string more = tr("New numbers"), print = tr("Print this chapter");
  const float more_width = text_width(Face::text, 13, more) + s.px(52),
              print_width = text_width(Face::text, 13, print) + s.px(28);
  const float right = at.x + width, gap = s.px(kButtonGap);
  const bool wide = width >= more_width + print_width + s.px(300);
  const float y = wide ? at.y : at.y + s.px(kHead + kButtonGap);
  const float buttons = wide ? right - more_width - gap - print_width : at.x;
  const Box again{{buttons, y}, {buttons + more_width, y + s.px(kHead)}};
  const Box paper{{again.max.x + gap, y}, {again.max.x + gap + print_width, y + s.px(kHead)}};
  // Once it is answered the card's foot has the same key.
  if (key_button(again, "##exercise_again", more.c_str(), "R") || (card.open && letter_pressed(ImGuiKey_R)))
    commands.emplace_back(AskAgain{});
  if (key_button(paper, "##exercise_print", print.c_str(), "")) commands.emplace_back(Ask{Popup::print_chapter});
  const std::string words = phrase("Exercise {} of {}", exercise.number, exercise.count);
  const float room = wide ? buttons - at.x - gap : width;
  draw_text_in(list, {at, {at.x + room, at.y + s.px(kHead)}}, Align::left, Face::bold, 18, colour_of(Token::text),
               fitted_text(Face::bold, 18, words, room));
  const float after = at.x + text_width(Face::bold, 18, words) + s.px(14);
  draw_text_in(list, {{after, at.y}, {at.x + room, at.y + s.px(kHead)}}, Align::left, Face::text, 14,
               colour_of(Token::dim),
               fitted_text(Face::text, 14, phrase("set {} of many", exercise.seed + 1), at.x + room - after));
  return y + s.px(kHead) - at.y;
}

// The way comes into sight when it is told, where the box is too low for all of it.
void show_way(float top, float bottom, bool there) {
  bool& told = *ImGui::GetStateStorage()->GetBoolRef(ImGui::GetID("told"));
  const float begin = ImGui::GetWindowPos().y, end = begin + ImGui::GetWindowHeight();
  if (there && !told && bottom > end) ImGui::SetScrollY(ImGui::GetScrollY() + std::min(bottom - end, top - begin));
  told = there;
}

}  // namespace

void draw_exercise(const ExerciseScene& exercise, const CardScene& card, const Box& box, Commands& commands) {
  const Style& s = style();
  draw_card(ImGui::GetWindowDrawList(), box);
  ImGui::SetCursorScreenPos(box.min);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::BeginChild("exercise", {box.width(), box.height()}, ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float inset = std::min(s.px(kInset), box.width() * 0.05F), x = origin.x + inset;
  const float width = box.width() - 2 * inset, text = std::min(width, s.px(kWidest));
  float y = origin.y + inset;
  y += draw_head(exercise, card, {x, y}, width, commands) + s.px(20);
  y += draw_given(list, exercise.given, {x, y}, text) + s.px(18);
  if (!exercise.given.caption.empty())
    y += draw_paragraph(list, {x, y}, text, 14, exercise.given.caption, kMostLines) + s.px(14);
  const float way = y;
  if (!exercise.way.empty()) {
    draw_text(list, {x, y}, Face::bold, kWay, colour_of(Token::text), tr("Worked solution"));
    y += s.px(kWay + 12);
    const float top = y;
    y += draw_paragraph(list, {x + s.px(14), y}, text - s.px(14), kWay, exercise.way, kMostLines);
    list->AddRectFilled({x, top}, {x + s.px(3), y}, colour_of(Token::text), s.px(1.5F));
  } else {
    draw_paragraph(list, {x, y}, text, 14,
                   {word(tr("A pen and a calculator are enough. Type a number or a formula in the card."), Token::dim)},
                   kMostLines);
    y += s.px(40);
  }
  show_way(way, y + inset, !exercise.way.empty());
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, y + inset - origin.y});
  ImGui::EndChild();
}

}  // namespace attn
