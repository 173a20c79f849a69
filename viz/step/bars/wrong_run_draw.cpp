#include "viz/step/bars/bars_draw.h"

#include <algorithm>
#include <string>

#include "imgui_internal.h"
#include "kernels/base/text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kSide = 24, kTop = 11, kLine = 20, kButton = 26, kGap = 8, kSize = 13;
constexpr int kAnswerLines = 3;

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
  const float wide = s.px(640), line = s.px(18);
  const TextRuns bug{word(scene.bug, Token::text)};
  const float height = draw_paragraph(ImGui::GetWindowDrawList(), at, wide, 14, bug, 6, false);
  ImGui::SetNextWindowPos({at.x - wide - s.px(32), at.y});
  ImGui::SetNextWindowSize({wide + s.px(32), height + line * static_cast<float>(scene.patch.size()) + s.px(36)});
  if (!ImGui::BeginPopup("##patch_popup", ImGuiWindowFlags_NoMove)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 corner = ImGui::GetWindowPos();
  const float left = corner.x + s.px(16);
  draw_paragraph(list, {left, corner.y + s.px(12)}, wide, 14, bug, 6);
  float y = corner.y + s.px(22) + height;
  for (const std::string& words : scene.patch) {
    const Ink ink = words.starts_with("-") ? Ink(TensorColour::m) : Ink(Token::text);
    draw_text(list, {left, y}, Face::mono, 12, colour_of(ink), elided_text(Face::mono, 12, words, wide));
    y += line;
  }
  // The press is this popup's: the tiles, which come later in the frame, would let go of their pin.
  const ImGuiID owner = ImGui::GetID("##patch_escape");
  ImGui::SetKeyOwner(ImGuiKey_Escape, owner);
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, ImGuiInputFlags_None, owner)) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

Box button_box(float right, float y, const std::string& words) {
  const Style& s = style();
  const float width = text_width(Face::bold, kSize, words) + s.px(24);
  return {{right - width, y}, {right, y + s.px(kButton)}};
}

// From the right; returns where they begin.
float draw_buttons(const Box& box, const WrongRunScene& scene, Commands& commands) {
  const Style& s = style();
  float right = box.max.x - s.px(12);
  const float y = box.min.y + s.px(kTop) - s.px(3);
  const auto button = [&](const char* id, const std::string& words) {
    const Box at = button_box(right, y, words);
    right = at.min.x - s.px(kGap);
    return box_button(at, id, words.c_str());
  };
  if (!scene.back.empty() && button("##leave_museum", scene.back))
    commands.insert(commands.end(), scene.leave.begin(), scene.leave.end());
  if (!scene.reveal.empty() && button("##reveal_exhibit", scene.reveal)) commands.emplace_back(RevealPiece{});
  if (!scene.patch.empty()) {
    const bool pressed = button("##show_patch", tr("Show the patch"));
    if (pressed) ImGui::OpenPopup("##patch_popup");
    draw_patch_popup(scene, {box.max.x - s.px(12), y + s.px(kButton) + s.px(6)});
  }
  if (!scene.go_there.empty() && button("##go_first_wrong", tr("Go there")))
    commands.insert(commands.end(), scene.go_there.begin(), scene.go_there.end());
  if (!scene.seek.empty() && button("##seek_first_wrong", scene.seek))
    commands.emplace_back(SeekFirstWrong{scene.place.empty()});
  return right;
}

}  // namespace

float wrong_run_height(const WrongRunScene& scene, float width) {
  const Style& s = style();
  const float answer = draw_answer({0, 0}, width - 2 * s.px(kSide), scene, false);
  return s.px(2 * kTop + 2 * kLine) + (answer > 0 ? answer + s.px(6) : 0);
}

void draw_wrong_run(const Box& box, const WrongRunScene& scene, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  const ImU32 ink = colour_of(scene.wrong ? Ink(TensorColour::m) : Ink(Token::text));
  list->AddRectFilled(box.min, {box.min.x + s.px(5), box.max.y}, ink, s.px(8), ImDrawFlags_RoundCornersLeft);
  const float left = box.min.x + s.px(kSide);
  float y = box.min.y + s.px(kTop);
  const float end = draw_buttons(box, scene, commands);
  draw_text(list, {left, y}, Face::bold, 14, ink, scene.headline);
  const float about = left + text_width(Face::bold, 14, scene.headline) + s.px(12);
  const std::string words = fitted_text(Face::text, kSize, scene.about, std::max(end - about, 1.0F));
  draw_text(list, {about, y + s.px(1)}, Face::text, kSize, colour_of(Token::dim), words);
  ImGui::SetCursorScreenPos({left, y});
  ImGui::InvisibleButton("##wrong_about", {std::max(end - left, 1.0F), s.px(18)});
  if (words != scene.about) tooltip(scene.about);
  y += s.px(kLine + 4);
  const float width = box.max.x - s.px(kSide) - left;
  draw_text(list, {left, y}, Face::text, kSize, colour_of(Token::text),
            fitted_text(Face::text, kSize, scene.verdict, width));
  draw_answer({left, y + s.px(kLine + 4)}, width, scene, true);
}

}  // namespace attn
