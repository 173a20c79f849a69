#include "viz/step/bars/bars_draw.h"

#include <algorithm>
#include <utility>

#include "imgui_internal.h"
#include "kernels/base/text.h"
#include "viz/draw/canvas.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/bars/areas_draw.h"

namespace attn {
namespace {

// Logical.
constexpr float kTallStrip = 92;     // a sentence has two lines
constexpr float kOneLineWide = 880;  // the longest sentences need it
constexpr float kTouchWide = 1000;   // and those of a backward more: there is no tip that has them whole
constexpr float kSides = 24, kPhoneSides = 18;
constexpr float kFoot = 2;                  // what is free below the last line
constexpr float kNarrow = 480, kLow = 560;  // below that width, in a view at least so high, headlines have two lines
constexpr float kLeastText = 12;            // of a sentence
// Below that width, as beside a lesson's card, in a view at least so high, a sentence has a line more.
constexpr float kBesideCard = 660, kHigh = 720, kThreeLines = 120;

// "Why?", which opens the reason behind the step, below the strip whose sentence it explains; a finger's chip may begin
// at `chips`. Returns where it ends.
float draw_why(ImVec2 at, const TextRuns& why, float strip_bottom, float chips) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float width = text_width(Face::bold, 13, tr("Why?"));
  const Box box{{at.x - s.px(6), at.y - s.px(2)}, {at.x + width + s.px(6), at.y + s.px(18)}};
  const float beyond = s.px(beyond_edge(box.height() / s.scale)), wider = s.px(beyond_edge(box.width() / s.scale));
  ImGui::SetCursorScreenPos({box.min.x - wider, std::min(box.min.y - beyond, chips - box.height() - 2 * beyond)});
  if (ImGui::InvisibleButton("##step_why", {box.width() + 2 * wider, box.height() + 2 * beyond},
                             ImGuiButtonFlags_EnableNav))
    ImGui::OpenPopup("##step_why_popup");
  list->AddRectFilled(box.min, box.max, colour_of(ImGui::IsItemHovered() ? Token::line : Token::field), s.px(5));
  draw_text(list, at, Face::bold, 13, colour_of(Token::text), tr("Why?"));
  constexpr int kLines = 14;
  const ImGuiViewport& view = *ImGui::GetMainViewport();
  const float wide = std::min(s.px(560), view.Size.x - s.px(32 + 24));
  const float height = draw_paragraph(list, at, wide, 14, why, kLines, false);
  const ImVec2 below{box.min.x, strip_bottom + s.px(4)}, size{wide + s.px(32), height + s.px(24)};
  if (const auto corner = begin_folded("##step_why_popup", below, {0, 0}, size)) {
    draw_paragraph(ImGui::GetWindowDrawList(), {corner->x + s.px(16), corner->y + s.px(12)}, wide, 14, why, kLines);
    // The press is this popup's: the tiles, which come later in the frame, would let go of their pin.
    const ImGuiID owner = ImGui::GetID("##why_escape");
    ImGui::SetKeyOwner(ImGuiKey_Escape, owner);
    if (ImGui::IsKeyPressed(ImGuiKey_Escape, ImGuiInputFlags_None, owner)) ImGui::CloseCurrentPopup();
    end_folded();
  }
  return box.max.x;
}

// The position as a link: underlined while the pointer or the keyboard is on it.
bool draw_door(const Box& box, const std::string& words) {
  const Style& s = style();
  ImGui::SetCursorScreenPos(box.min);
  const bool pressed =
      ImGui::InvisibleButton("##step_door", {std::max(box.width(), 1.0F), box.height()}, ImGuiButtonFlags_EnableNav);
  // The first control of a window has the keyboard before anybody asked for it: then nothing shows it.
  const bool keyboard = ImGui::IsItemFocused() && ImGui::GetCurrentContext()->NavCursorVisible;
  if (ImGui::IsItemHovered() || keyboard)
    ImGui::GetWindowDrawList()->AddLine({box.min.x, box.max.y}, box.max, colour_of(Token::text), s.px(1));
  tooltip(words);
  return pressed;
}

// A low strip has its three lines closer to the top edge, as has a tall one.
bool is_lifted(const Box& strip) {
  return strip.height() < style().px(80) || strip.height() > style().px(kTallStrip);
}

// Behind the position: whose run it is; what has no room is in its tooltip.
void draw_note(ImDrawList* list, const Box& box, const std::string& note) {
  ImGui::PushClipRect(box.min, box.max, true);
  draw_text(list, box.min, Face::text, 13, colour_of(Token::text), note);
  ImGui::PopClipRect();
  ImGui::SetCursorScreenPos(box.min);
  ImGui::SetNextItemAllowOverlap();
  ImGui::InvisibleButton("##step_note", {std::max(box.width(), 1.0F), style().px(16)});
  tooltip(note);
}

// Whether the position has the first line of a slim column: chips that are as high as a finger stand below it.
bool has_own_line(const Box& strip) {
  constexpr float kSlim = 300;  // logical
  return by_touch() && strip.width() < style().px(kSlim);
}

// A sentence that has no room is scrolled by a finger, from its start at each step; whether it is one.
bool draw_scrolled(const Box& box, float text, const StripScene& scene, int lines) {
  constexpr int kAll = 12;
  const float height = draw_paragraph(ImGui::GetWindowDrawList(), {}, box.width(), text, scene.sentence, kAll, false);
  if (height <= line_height(text) * static_cast<float>(lines) + 1) return false;
  ImGui::SetCursorScreenPos(box.min);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::BeginChild("sentence", {box.width(), box.height()}, ImGuiChildFlags_NavFlattened,
                    ImGuiWindowFlags_NoScrollbar);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGuiStorage& storage = *ImGui::GetStateStorage();
  const ImGuiID step = ImHashStr(scene.position.c_str());
  if (std::exchange(*storage.GetIntRef(ImGui::GetID("step")), static_cast<int>(step)) != static_cast<int>(step))
    ImGui::SetScrollY(0);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_paragraph(ImGui::GetWindowDrawList(), at, box.width(), text, scene.sentence, kAll);
  ImGui::Dummy({1, height});
  fade_where_more();
  ImGui::EndChild();
  return true;
}

}  // namespace

int strip_lines(float width) {
  return width < (by_touch() ? kTouchWide : kOneLineWide) ? 2 : 1;
}

float strip_height(float width, float height) {
  // Two chips of a lesson's run leave the headline half of a small phone.
  constexpr float kSmall = 350, kMore = 16;
  if (width < kNarrow && (height >= kLow || by_touch())) return kPhoneStrip + (width < kSmall ? kMore : 0);
  if (width < kBesideCard && height >= kHigh) return kThreeLines;
  return strip_lines(width) > 1 ? 98 : height < 560 ? 76 : 84;
}

float chip_top(const Box& strip) {
  constexpr float kBesideLine = 7, kAboveHeadline = 3, kBelowLine = 34;  // logical
  if (has_own_line(strip)) return style().px(kBelowLine);
  return style().px(is_lifted(strip) || by_touch() ? kAboveHeadline : kBesideLine);
}

bool draw_step_strip(ImDrawList* list, const Box& box, const StripScene& scene, float chips) {
  const Style& s = style();
  draw_card(list, box);
  list->AddRectFilled(box.min, {box.min.x + s.px(5), box.max.y}, colour_of(scene.accent), s.px(8),
                      ImDrawFlags_RoundCornersLeft);
  const bool phone = box.height() >= s.px(kPhoneStrip) - 1;
  const float sides = s.px(phone ? kPhoneSides : kSides), left = box.min.x + sides, right = box.max.x - sides;
  const bool lower = chips < right && has_own_line(box);
  const float lift = is_lifted(box) && !lower ? s.px(4) : 0;
  const ImVec2 line{left, box.min.y + s.px(12) - lift};
  const float line_end = lower ? right : std::min(right, chips);
  const float why = scene.why.empty() ? 0 : text_width(Face::bold, 13, tr("Why?")) + s.px(26);
  const float position_room = line_end - line.x - why;
  const bool whole = text_width(Face::text, 13, scene.position) <= position_room;
  const std::string position = fitted_text(Face::text, 13, whole ? scene.position : scene.narrow, position_room);
  draw_text(list, line, Face::text, 13, colour_of(Token::dim), position);
  float end = line.x + text_width(Face::text, 13, position) + s.px(20);
  const bool pressed = !scene.door.empty() && draw_door({line, {end - s.px(20), line.y + s.px(17)}}, scene.door);
  if (!scene.why.empty()) {
    const float below = lower ? box.min.y + chip_top(box) - s.px(beyond_edge(kChipForFingers)) : box.max.y;
    end = draw_why({end, line.y}, scene.why, box.max.y, below) + s.px(14);
  }
  if (!scene.note.empty()) draw_note(list, {{end, line.y}, {line_end, line.y + s.px(17)}}, scene.note);
  // A finger's chips are higher than the first line.
  const float beside = by_touch() ? std::min(right, chips) : right;
  float headline_end = right, sentence = box.min.y + s.px(60) - lift * 1.5F;
  int lines = strip_lines(box.width() / s.scale);
  const ImVec2 headline{left, box.min.y + s.px(31) - lift};
  if (runs_width(scene.headline, 20) <= beside - left) {
    headline_end = draw_runs(list, headline, 20, scene.headline);
  } else if (phone && runs_width(scene.headline, 16) <= beside - left) {
    headline_end = draw_runs(list, {headline.x, headline.y + s.px(3)}, 16, scene.headline);
  } else {
    const float width = beside - left;
    const auto high = [&](float wide, float text, const TextRuns& runs) {
      constexpr int kAll = 9;
      return draw_paragraph(list, {}, wide, text, runs, kAll, false);
    };
    // In smaller letters where it would be cut, or would leave too little for the sentence.
    const float title = high(width, 16, scene.headline), below = box.max.y - s.px(kFoot + 2) - headline.y - title;
    const bool broken = title > 2 * line_height(16) + 1 || high(right - left, kLeastText, scene.sentence) > below + 1;
    const float height = broken ? draw_paragraph(list, headline, width, 14, scene.headline, 3)
                                : draw_paragraph(list, headline, width, 16, scene.headline, 2);
    sentence = headline.y + height + s.px(2);
  }
  if (lower) sentence = std::max(sentence, box.min.y + chip_top(box) + s.px(kChipForFingers + 2));
  const auto lines_of = [&](float text) {
    return std::max(1, static_cast<int>((box.max.y - s.px(kFoot) - sentence) / line_height(text)));
  };
  if (lines > 1) lines = lines_of(14);
  float text = 14;
  const bool one = lines == 1;
  while (text > kLeastText && draw_paragraph(list, {}, right - left, text, scene.sentence, lines + 1, false) >
                                  line_height(text) * static_cast<float>(lines) + 1) {
    text -= 1;
    if (!one) lines = lines_of(text);
  }
  // The formula stands at the right of headline and position; where it would touch the headline it shrinks, then
  // the part before the numbers is enough for the eye, so it is left out.
  float size = 17;
  const float room = beside - headline_end - s.px(32);
  while (size > 12 && runs_width(scene.formula, size) > room) size -= 1;
  const bool formula_fits = runs_width(scene.formula, size) <= room;
  if (formula_fits) {
    // Below chips as far as these are below the edge.
    const float chips_above = chips < right ? chip_top(box) - s.px(3) : 0;
    const float y = box.min.y + s.px(33) + chips_above + (s.px(20) - s.px(size)) / 2;
    draw_runs(list, {beside - runs_width(scene.formula, size), y}, size, scene.formula);
  }
  const Box room_below{{left, sentence}, {right, box.max.y - s.px(kFoot)}};
  if (by_touch() && draw_scrolled(room_below, text, scene, lines)) return pressed;
  draw_paragraph(list, {left, sentence}, right - left, text, scene.sentence, lines);
  return pressed;
}

}  // namespace attn
