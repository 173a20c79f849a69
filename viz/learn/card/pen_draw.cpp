#include "viz/learn/card/pen_draw.h"

#include <algorithm>
#include <string>

#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr int kManyLines = 40;

}  // namespace

void Pen::words(const TextRuns& runs, float size, float gap) {
  if (runs.empty()) return;
  const float end = y + draw_paragraph(list, {x, y}, width, size, runs, kManyLines), step = line_height(size);
  for (float line = y + step; breaks != nullptr && line < end + 1; line += step) breaks->push_back(line);
  y = end + style().px(gap);
}

void Pen::small_words(std::string_view words) {
  if (text_width(Face::text, sizes.small, words) > width)
    return this->words({word(std::string(words))}, sizes.small, 4);
  draw_text(list, {x, y}, Face::text, sizes.small, colour_of(Token::dim), words);
  gap(sizes.small + 7);
  if (breaks != nullptr) breaks->push_back(y);
}

Box Pen::line(float height) {
  const Box box{{x, y}, {x + width, y + style().px(height)}};
  y = box.max.y;
  if (breaks != nullptr) breaks->push_back(y);
  return box;
}

void Pen::gap(float logical) {
  y += style().px(logical);
}

void Pen::keep_whole(float from) {
  if (breaks == nullptr) return;
  std::erase_if(*breaks, [&](float line) { return line > from; });
  breaks->push_back(y);
}

CardSight sight_of(std::span<const float> breaks, float scroll, float height) {
  CardSight sight{scroll, scroll + height};
  // Half a pixel for what was rounded.
  const auto top = std::ranges::lower_bound(breaks, scroll - 0.5F);
  if (scroll > 0 && top != breaks.end() && *top < sight.bottom) sight.top = *top;
  const auto bottom = std::ranges::upper_bound(breaks, sight.bottom + 0.5F);
  if (bottom != breaks.begin() && *(bottom - 1) > sight.top) sight.bottom = *(bottom - 1);
  return sight;
}

bool draw_more_below(const Box& box, std::size_t answers) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(box.min);
  const bool clicked = ImGui::InvisibleButton("##lesson_more", {box.width(), box.height()}, ImGuiButtonFlags_EnableNav);
  const ImU32 ink = colour_of(ImGui::IsItemHovered() ? Token::text : Token::dim);
  const std::string words = answers > 0 ? plural(answers, "{} more answer", "{} more answers") : tr("More below");
  const float width = text_width(Face::text, 12, words), left = box.centre().x - (width + s.px(14)) / 2;
  draw_text_in(list, {{left, box.min.y}, box.max}, Align::left, Face::text, 12, ink, words);
  draw_arrow(list, {left + width + s.px(10), box.centre().y}, 8, Arrow::down, ink);
  return clicked;
}

bool key_pressed(ImGuiKeyChord chord) {
  return ImGui::Shortcut(chord, ImGuiInputFlags_RouteGlobal);
}

// A letter that stands for itself, and with Alt while a number is typed.
bool letter_pressed(ImGuiKey key) {
  if (key_pressed(ImGuiMod_Alt | key)) return true;
  return !ImGui::GetIO().WantTextInput && key_pressed(key);
}

// A button with the cap of its key at its right.
namespace {

// A key's cap where it has room beside the words, and where there are keys.
const char* cap_of(const Box& box, Face face, float size, const char* words, const char* cap) {
  constexpr float kEnds = 20, kApart = 8;  // logical
  const float wanted = text_width(face, size, words) + text_width(Face::mono, 12, cap) + style().px(kEnds + kApart);
  return wanted <= box.width() ? for_hands(cap, "") : "";
}

}  // namespace

bool key_button(const Box& box, const char* id, const char* words, const char* cap) {
  cap = cap_of(box, Face::text, kLearnerSizes.small, words, cap);
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(box.min);
  const bool clicked = ImGui::InvisibleButton(id, {box.width(), box.height()}, ImGuiButtonFlags_EnableNav);
  list->AddRectFilled(box.min, box.max, colour_of(ImGui::IsItemHovered() ? Token::line : Token::field), style().px(6));
  const Align align = *cap == '\0' ? Align::centre : Align::left;
  draw_text_in(list, box, align, Face::text, kLearnerSizes.small, colour_of(Token::text), words,
               align == Align::left ? 10 : 0);
  draw_text_in(list, box, Align::right, Face::mono, 12, colour_of(Token::dim), cap, 10);
  return clicked;
}

bool accent_button(const Box& box, const char* id, const char* words, bool enabled, const char* cap) {
  cap = cap_of(box, Face::bold, 14, words, cap);
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(box.min);
  ImGui::BeginDisabled(!enabled);
  const bool clicked = ImGui::InvisibleButton(id, {box.width(), box.height()}, ImGuiButtonFlags_EnableNav);
  ImGui::EndDisabled();
  const Token fill = !enabled ? Token::field : ImGui::IsItemHovered() ? Token::dim : Token::text;
  list->AddRectFilled(box.min, box.max, colour_of(fill), s.px(6));
  const ImU32 ink = colour_of(enabled ? Token::card : Token::faint);
  const Align align = *cap == '\0' ? Align::centre : Align::left;
  draw_text_in(list, box, align, Face::bold, 14, ink, words, align == Align::left ? 12 : 0);
  draw_text_in(list, box, Align::right, Face::mono, 12, ink, cap, 12);
  return clicked;
}

void begin_text(const char* name, const Box& box) {
  ImGui::SetCursorScreenPos(box.min);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::BeginChild(name, {box.width(), box.height()}, ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

}  // namespace attn
