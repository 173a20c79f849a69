#include "viz/step/bars/bars_draw.h"

#include <algorithm>
#include <string>
#include <vector>

#include "imgui_internal.h"
#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/bars/areas_draw.h"

namespace attn {
namespace {

constexpr float kSide = 24, kTop = 11, kLine = 20, kGap = 8, kSize = 13;
constexpr float kLeastAbout = 60;  // of the first line's words
constexpr float kAfterHeadline = 12;
constexpr int kAnswerLines = 3, kBugLines = 12, kAboutLines = 3;

// The answer: where, how much of the step, and what is likely behind it.
float draw_answer(ImVec2 at, float width, const WrongRunScene& scene, bool draw) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  float y = at.y;
  const auto paragraph = [&](const TextRuns& runs) {
    y += draw_paragraph(list, {at.x, y}, width, kSize, runs, kAnswerLines, draw) + s.px(2);
  };
  TextRuns where{word(scene.place, Token::text)};
  if (!scene.spread.empty()) where.push_back(word(" " + scene.spread, Token::dim));
  if (!scene.place.empty()) paragraph(where);
  if (!scene.cause.empty()) paragraph({word(scene.cause, Token::text)});
  return y - at.y;
}

// The patch, for who asks for it.
void draw_patch_popup(const WrongRunScene& scene, ImVec2 at) {
  const Style& s = style();
  const float wide = std::min(s.px(640), ImGui::GetMainViewport()->Size.x - s.px(32 + 24)), line = s.px(18);
  const TextRuns bug{word(scene.bug, Token::text)};
  const float height = draw_paragraph(ImGui::GetWindowDrawList(), at, wide, 14, bug, kBugLines, false);
  const ImVec2 size{wide + s.px(32), height + line * static_cast<float>(scene.patch.size()) + s.px(36)};
  const auto corner = begin_folded("##patch_popup", at, {1, 0}, size);
  if (!corner) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float left = corner->x + s.px(16);
  draw_paragraph(list, {left, corner->y + s.px(12)}, wide, 14, bug, kBugLines);
  float y = corner->y + s.px(22) + height;
  for (const std::string& words : scene.patch) {
    const Ink ink = words.starts_with("-") ? Ink(TensorColour::m) : Ink(Token::text);
    draw_text(list, {left, y}, Face::mono, 12, colour_of(ink), elided_text(Face::mono, 12, words, wide));
    y += line;
  }
  // The press is this popup's: the tiles, which come later in the frame, would let go of their pin.
  const ImGuiID owner = ImGui::GetID("##patch_escape");
  ImGui::SetKeyOwner(ImGuiKey_Escape, owner);
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, ImGuiInputFlags_None, owner)) ImGui::CloseCurrentPopup();
  end_folded();
}

float button_height() {
  return for_finger(26);
}

// The first line, which is as high as its button where words stand below both.
float first_line(const WrongRunScene& scene, bool below) {
  return below && !scene.back.empty() ? std::max(kLine, button_height() - 3) : kLine;
}

float button_width(const std::string& words) {
  return text_width(Face::bold, kSize, words) + style().px(24);
}

// Buttons side by side, from the right or from the left.
struct ButtonRow {
  float x, y;
  bool leftward;
  bool press(const char* id, const std::string& words) {
    const float width = button_width(words), gap = style().px(kGap), left = leftward ? x - width : x;
    x = leftward ? left - gap : left + width + gap;
    return box_button({{left, y}, {left + width, y + style().px(button_height())}}, id, words.c_str());
  }
};

// Which of the buttons there are, without the one that leaves the museum.
std::vector<std::string> other_buttons(const WrongRunScene& scene) {
  std::vector<std::string> all;
  if (!scene.reveal.empty()) all.push_back(scene.reveal);
  if (!scene.patch.empty()) all.emplace_back(tr("Show the patch"));
  if (!scene.go_there.empty()) all.emplace_back(tr("Go there"));
  if (!scene.seek.empty()) all.push_back(scene.seek);
  return all;
}

// Headline and all buttons have no room on one line, or they reach down to words that are longer than what is beside
// them: but the museum's door, the buttons stand on a line below.
bool on_two_lines(const WrongRunScene& scene, float width) {
  const Style& s = style();
  float buttons = 0;
  if (!scene.back.empty()) buttons += button_width(scene.back) + s.px(kGap);
  for (const std::string& words : other_buttons(scene)) buttons += button_width(words) + s.px(kGap);
  if (text_width(Face::bold, 14, scene.headline) + s.px(kSide + kLeastAbout) + buttons > width) return true;
  const float verdict = text_width(Face::text, kSize, scene.verdict);
  if (verdict > width - 2 * s.px(kSide)) return true;
  return button_height() > kLine + kTop && buttons > 0 && verdict > width - s.px(2 * kSide) - buttons;
}

float headline_width(const WrongRunScene& scene) {
  return text_width(Face::bold, 14, scene.headline) + style().px(kAfterHeadline);
}

TextRuns about_runs(const WrongRunScene& scene) {
  return {word(scene.about, Token::dim)};
}

// Of what the run is about where headline and buttons leave it too little: lines of its own below them; else 0.
float height_of_about(const WrongRunScene& scene, float width) {
  const Style& s = style();
  float room = width - s.px(kSide + 12) - headline_width(scene);
  if (!scene.back.empty()) room -= button_width(scene.back) + s.px(kGap);
  for (const std::string& words : other_buttons(scene)) room -= button_width(words) + s.px(kGap);
  if (text_width(Face::text, kSize, scene.about) <= room) return 0;
  return draw_paragraph(ImGui::GetWindowDrawList(), {}, width - 2 * s.px(kSide), kSize, about_runs(scene), kAboutLines,
                        false) +
         s.px(2);
}

// Returns where those of the first line begin.
float draw_buttons(const Box& box, const WrongRunScene& scene, bool two, Commands& commands) {
  const Style& s = style();
  ButtonRow first{box.max.x - s.px(12), box.min.y + s.px(kTop - 3), true};
  ButtonRow second{box.min.x + s.px(kSide), box.max.y - s.px(kTop + button_height()), false};
  ButtonRow& row = two ? second : first;
  if (!scene.back.empty() && first.press("##leave_museum", scene.back))
    commands.insert(commands.end(), scene.leave.begin(), scene.leave.end());
  if (!scene.reveal.empty() && row.press("##reveal_exhibit", scene.reveal)) commands.emplace_back(RevealPiece{});
  if (!scene.patch.empty()) {
    if (row.press("##show_patch", tr("Show the patch"))) ImGui::OpenPopup("##patch_popup");
    draw_patch_popup(scene, {box.max.x - s.px(12), row.y + s.px(button_height() + 6)});
  }
  if (!scene.go_there.empty() && row.press("##go_first_wrong", tr("Go there")))
    commands.insert(commands.end(), scene.go_there.begin(), scene.go_there.end());
  if (!scene.seek.empty() && row.press("##seek_first_wrong", scene.seek))
    commands.emplace_back(SeekFirstWrong{scene.place.empty()});
  return first.x;
}

// What stands under the headline where there is little width: whose run it is, whose name the menu may cut.
float draw_narrow_words(ImVec2 at, float width, const WrongRunScene& scene, bool draw) {
  TextRuns words;
  if (!scene.wrong) words.push_back(word(scene.about + " ", Token::dim));
  if (!scene.title.empty()) words.push_back(word("“" + scene.title + "”. ", Token::dim));
  words.push_back(word(scene.verdict, Token::text));
  return draw_paragraph(ImGui::GetWindowDrawList(), at, width, kSize, words, 4, draw);
}

}  // namespace

float wrong_run_height(const WrongRunScene& scene, float width) {
  const Style& s = style();
  const float room = width - 2 * s.px(kSide), answer = draw_answer({0, 0}, room, scene, false);
  const bool two = on_two_lines(scene, width);
  const float below = two ? 0 : height_of_about(scene, width);
  const float words = two ? draw_narrow_words({0, 0}, room, scene, false) + s.px(4) : s.px(kLine) + below;
  const float buttons = two && !other_buttons(scene).empty() ? s.px(button_height() + kGap) : 0;
  return s.px(2 * kTop + first_line(scene, two || below > 0)) + words + (answer > 0 ? answer + s.px(6) : 0) + buttons;
}

namespace {

// Up to a comma, where it is not whole: the figure comes first.
std::string words_in(const std::string& words, float size, float room) {
  if (text_width(Face::text, size, words) <= room) return words;
  const std::string shorter = words.substr(0, words.rfind(", "));
  return fitted_text(Face::text, size, shorter, room);
}

}  // namespace

bool draw_wrong_line(const Box& box, const WrongRunScene& scene) {
  constexpr float kWordsSize = 12, kInset = 18;
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float beyond = s.px(beyond_edge(box.height() / s.scale));
  ImGui::SetCursorScreenPos({box.min.x, box.min.y - beyond});
  const bool pressed =
      ImGui::InvisibleButton("##wrong_line", {box.width(), box.height() + 2 * beyond}, ImGuiButtonFlags_EnableNav);
  draw_card(list, box);
  list->AddRectFilled(box.min, {box.min.x + s.px(5), box.max.y}, colour_of(TensorColour::m), s.px(8),
                      ImDrawFlags_RoundCornersLeft);
  const Box in{{box.min.x + s.px(kInset), box.min.y}, {box.max.x - s.px(10), box.max.y}};
  const Box words{{in.min.x + headline_width(scene), in.min.y}, in.max};
  draw_text_in(list, in, Align::left, Face::bold, kSize, colour_of(TensorColour::m),
               fitted_text(Face::bold, kSize, scene.headline, in.width()));
  draw_text_in(list, words, Align::left, Face::text, kWordsSize, colour_of(Token::text),
               words_in(scene.brief.empty() ? scene.verdict : scene.brief, kWordsSize, words.width()));
  return pressed;
}

void draw_wrong_run(const Box& box, const WrongRunScene& scene, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  const ImU32 ink = colour_of(scene.wrong ? Ink(TensorColour::m) : Ink(Token::text));
  list->AddRectFilled(box.min, {box.min.x + s.px(5), box.max.y}, ink, s.px(8), ImDrawFlags_RoundCornersLeft);
  const float left = box.min.x + s.px(kSide);
  float y = box.min.y + s.px(kTop);
  const bool two = on_two_lines(scene, box.width());
  const float end = draw_buttons(box, scene, two, commands);
  draw_text(list, {left, y}, Face::bold, 14, ink, scene.headline);
  const float below = two ? 0 : height_of_about(scene, box.width()), width = box.max.x - s.px(kSide) - left;
  if (!two && below == 0)
    draw_text(list, {left + headline_width(scene), y + s.px(1)}, Face::text, kSize, colour_of(Token::dim), scene.about);
  ImGui::SetCursorScreenPos({left, y});
  ImGui::InvisibleButton("##wrong_about", {std::max(end - left, 1.0F), s.px(18)});
  if (two) tooltip(scene.about);
  y += s.px(first_line(scene, two || below > 0) + 4);
  if (below > 0) draw_paragraph(list, {left, y}, width, kSize, about_runs(scene), kAboutLines);
  y += below;
  if (two) {
    y += draw_narrow_words({left, y}, width, scene, true) + s.px(4);
  } else {
    draw_text(list, {left, y}, Face::text, kSize, colour_of(Token::text),
              fitted_text(Face::text, kSize, scene.verdict, width));
    y += s.px(kLine + 4);
  }
  draw_answer({left, y}, width, scene, true);
}

}  // namespace attn
