#include "viz/learn/card/number_bar_draw.h"

#include <algorithm>
#include <string>

#include "imgui.h"
#include "imgui_internal.h"
#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/learn/lesson/typed_number.h"

namespace attn {
namespace {

constexpr float kNames = 16, kTrack = 22, kTicks = 18;  // heights, logical
constexpr float kEnds = 9;                              // the handle at an end stays within the card
constexpr float kBarHalf = 5, kHandle = 7;

// Centred on x, within the line.
void label_at(const Pen& pen, float x, float y, Face face, Token ink, const std::string& text) {
  const float width = text_width(face, 12, text);
  draw_text(pen.list, {std::clamp(x - width / 2, pen.x, std::max(pen.x, pen.x + pen.width - width)), y}, face, 12,
            colour_of(ink), text);
}

// The mouse puts the handle where it is; the field holds the text of it.
void take_mouse(const CardScene& card, const Box& track, float first, float length, CardUiState& ui) {
  ImGui::SetCursorScreenPos(track.min);
  ImGui::InvisibleButton("##lesson_bar", {track.width(), track.height()});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (!ImGui::IsItemActive()) return;
  const double share = (ImGui::GetMousePos().x - first) / length;
  ui.typed = dragged_text(card.bar->scale.value_at(share));
}

// An even line grows from its beginning; one by powers of ten has no beginning that a bar could stand on.
void draw_answer(const NumberScale& scale, double value, float first, float y, float length, bool open, Pen& pen) {
  const Style& s = style();
  const float x = first + length * static_cast<float>(scale.share_of(value));
  if (!scale.decades)
    pen.list->AddRectFilled({first, y - s.px(kBarHalf)}, {x, y + s.px(kBarHalf)},
                            colour_of(open ? Token::faint : Token::line), s.px(2));
  pen.list->AddCircleFilled({x, y}, s.px(kHandle), colour_of(Token::card));
  pen.list->AddCircle({x, y}, s.px(kHandle), colour_of(open ? Token::text : Token::dim), 0, s.px(2));
}

// A diamond: never by colour alone.
void draw_truth(float x, float y, Pen& pen) {
  const float r = style().px(6);
  pen.list->AddQuadFilled({x, y - r}, {x + r, y}, {x, y + r}, {x - r, y}, colour_of(Token::text));
}

// Which mark is whose.
void draw_legend(bool with_answer, Pen& pen) {
  const Style& s = style();
  const float y = pen.y + line_height(pen.sizes.small) / 2;
  float x = pen.x + s.px(kHandle);
  const auto words = [&](const char* text) {
    draw_text(pen.list, {x + s.px(kHandle + 5), pen.y}, Face::text, pen.sizes.small, colour_of(Token::dim), text);
    x += s.px(2 * kHandle + 19) + text_width(Face::text, pen.sizes.small, text);
  };
  if (with_answer) {
    pen.list->AddCircle({x, y}, s.px(kHandle - 2), colour_of(Token::dim), 0, s.px(2));
    words(tr("yours"));
  }
  draw_truth(x, y, pen);
  words(tr("the answer"));
  pen.gap(pen.sizes.small + 8);
}

// What is known, above the line with a stroke across it.
void draw_beside(const NumberBar& bar, float x, float top, float y, Pen& pen) {
  const Style& s = style();
  label_at(pen, x, top, Face::text, Token::dim, plain_text(bar.beside_words));
  pen.list->AddLine({x, y - s.px(kBarHalf + 4)}, {x, y + s.px(kBarHalf + 4)}, colour_of(Token::dim), s.px(1.5F));
}

}  // namespace

void draw_number_bar(const CardScene& card, Pen& pen, CardUiState& ui) {
  const Style& s = style();
  const NumberBar& bar = *card.bar;
  pen.gap(6);
  const float top = pen.y, first = pen.x + s.px(kEnds), length = pen.width - 2 * s.px(kEnds);
  if (bar.beside) pen.gap(kNames);
  const Box track = pen.line(kTrack);
  const float y = track.centre().y;
  const auto at = [&](double value) { return first + length * static_cast<float>(bar.scale.share_of(value)); };
  if (card.open && !card.teach) take_mouse(card, track, first, length, ui);
  pen.list->AddLine({first, y}, {first + length, y}, colour_of(Token::faint), s.px(2));
  for (const NumberTick& tick : ticks_of(bar.scale)) {
    const float x = first + length * static_cast<float>(tick.share);
    pen.list->AddLine({x, y}, {x, y + s.px(kBarHalf + 3)}, colour_of(Token::faint), s.px(1));
    label_at(pen, x, pen.y, Face::mono, Token::dim, tick.text);
  }
  if (bar.beside) draw_beside(bar, at(*bar.beside), top, y, pen);
  const auto answer = typed_number(ui.typed);
  if (answer && !(card.teach && card.open)) draw_answer(bar.scale, *answer, first, y, length, card.open, pen);
  if (bar.truth) draw_truth(at(*bar.truth), y, pen);
  pen.gap(kTicks);
  if (card.open && !card.teach)
    return pen.small_words(for_hands(tr("Drag the mark, or use the arrow keys"), tr("Drag the mark")));
  if (!card.open) draw_legend(answer && !card.teach, pen);
}

void take_bar_keys(const CardScene& card, bool others_have_it, CardUiState& ui) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool asks = card.open && !card.teach && card.bar && ui.showing == card.number_of_showing;
  if (!asks || others_have_it || io.WantTextInput || ui.take_keyboard || io.KeyCtrl || io.KeyAlt ||
      ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
    return;
  const ImGuiID owner = ImGui::GetID("##lesson_bar_keys");
  int steps = 0;
  for (const auto& [key, step] : {std::pair(ImGuiKey_LeftArrow, -1), std::pair(ImGuiKey_RightArrow, 1)}) {
    ImGui::SetKeyOwner(key, owner);
    if (ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, owner)) steps += io.KeyShift ? 10 * step : step;
  }
  if (steps == 0) return;
  const NumberScale& scale = card.bar->scale;
  const auto now = typed_number(ui.typed);
  ui.typed = dragged_text(now ? scale.stepped(*now, steps) : scale.value_at(0.5));
}

}  // namespace attn
