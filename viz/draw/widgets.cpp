#include "viz/draw/widgets.h"

#include <algorithm>
#include <cfloat>
#include <utility>

#include "imgui_internal.h"  // which of pointer and keyboard is shown
#include "imgui_stdlib.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"

namespace attn {

bool begin_card(const char* id, ImVec2 size) {
  const Style& s = style();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(s.px(kCardSide), s.px(kCardEnd)));
  const bool open = ImGui::BeginChild(id, size, ImGuiChildFlags_Borders | ImGuiChildFlags_NavFlattened,
                                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  return open;
}

namespace {

// From `from`, where nothing is covered, to `to`, where the card is.
void fade_to_card(float left, float right, float from, float to) {
  const ImU32 card = colour(style().theme, Token::card), none = faded(card, 0);
  ImGui::GetWindowDrawList()->AddRectFilledMultiColor({left, from}, {right, to}, none, none, card, card);
}

}  // namespace

void fade_where_more() {
  if (ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - 1) return;
  const float bar = ImGui::GetStyle().ScrollbarSize;
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float bottom = at.y + size.y - (ImGui::GetScrollMaxX() > 0 ? bar : 0);
  fade_to_card(at.x, at.x + size.x - bar, bottom - style().px(18), bottom);
}

void fade_both_ends(float side) {
  const float soft = style().px(14), inset = style().px(side);
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float left = at.x + inset, right = at.x + size.x - inset, bottom = at.y + size.y;
  if (ImGui::GetScrollY() > 0) fade_to_card(left, right, at.y + soft, at.y);
  if (ImGui::GetScrollY() < ImGui::GetScrollMaxY()) fade_to_card(left, right, bottom - soft, bottom);
}

void heading(const char* words) {
  ImGui::PushFont(style().fonts.bold, style().px(13));
  ImGui::TextUnformatted(words);
  ImGui::PopFont();
}

void dim_text(const std::string& words) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour(style().theme, Token::dim));
  ImGui::PushFont(style().fonts.text, style().px(12));
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::PopStyleColor();
}

float dim_text_height(const std::string& words) {
  ImGui::PushFont(style().fonts.text, style().px(12));
  const float height = ImGui::CalcTextSize(words.c_str(), nullptr, false, ImGui::GetContentRegionAvail().x).y;
  ImGui::PopFont();
  return height;
}

void begin_line(const std::string& label) {
  const Style& s = style();
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, colour(s.theme, Token::dim));
  ImGui::TextUnformatted(label.c_str());
  ImGui::PopStyleColor();
  ImGui::SameLine(s.px(84));
  ImGui::SetNextItemWidth(-FLT_MIN);
}

ImVec2 tooltip_place(const Box& what, ImVec2 pointer, ImVec2 size, const Box& screen) {
  const Style& s = style();
  constexpr float kHigh = 64, kGap = 6, kPointer = 20;  // logical
  const bool high = what.height() > s.px(kHigh);
  const float above = high ? pointer.y : what.min.y, below = high ? pointer.y + s.px(kPointer - kGap) : what.max.y;
  float x = high || what.width() > size.x * 2 ? pointer.x : what.min.x;
  float y = below + s.px(kGap);
  if (y + size.y > screen.max.y) y = above - s.px(kGap) - size.y;
  // Neither below nor above: beside it, where there is room.
  if (y < screen.min.y) {
    y = (high ? pointer.y : what.min.y) - size.y / 2;
    const float right = (high ? pointer.x + s.px(kPointer) : what.max.x) + s.px(kGap),
                left = (high ? pointer.x : what.min.x) - s.px(kGap) - size.x;
    if (right + size.x <= screen.max.x)
      x = right;
    else if (left >= screen.min.x)
      x = left;
  }
  return {std::clamp(x, screen.min.x, std::max(screen.min.x, screen.max.x - size.x)),
          std::clamp(y, screen.min.y, std::max(screen.min.y, screen.max.y - size.y))};
}

namespace {

Box whole_window() {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  return {viewport->Pos, {viewport->Pos.x + viewport->Size.x, viewport->Pos.y + viewport->Size.y}};
}

}  // namespace

void place_tooltip(ImVec2 size) {
  const ImVec2 margin = ImGui::GetStyle().WindowPadding, pointer = ImGui::GetMousePos();
  const Box what = Box{pointer, pointer}.grown(style().px(12));
  ImGui::SetNextWindowPos(tooltip_place(what, pointer, {size.x + 2 * margin.x, size.y + 2 * margin.y}, whole_window()));
}

void show_tooltip(const std::string& words, float width, bool above) {
  const Box screen = whole_window();
  const ImVec2 margin = ImGui::GetStyle().WindowPadding;
  width = std::min(style().px(width), screen.width() - 2 * margin.x) / style().scale;
  const ImVec2 text = ImGui::CalcTextSize(words.c_str(), nullptr, false, style().px(width));
  Box what{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
  // Where the keyboard goes from item to item the words stand beside its item, wherever the pointer was left.
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  const bool keyboard = g.NavHighlightItemUnderNav && g.NavCursorVisible && ImGui::IsItemFocused();
  const ImVec2 pointer = keyboard ? what.centre() : ImGui::GetMousePos();
  if (!what.contains(pointer)) what = Box{pointer, pointer}.grown(style().px(12));  // words about no item
  const ImVec2 size{text.x + 2 * margin.x, text.y + 2 * margin.y};
  ImVec2 place = tooltip_place(what, pointer, size, screen);
  if (const float top = what.min.y - style().px(6) - size.y; above && top >= screen.min.y) place.y = top;
  ImGui::SetNextWindowPos(place);
  if (!ImGui::BeginTooltip()) return;
  ImGui::PushTextWrapPos(margin.x + style().px(width));
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void tooltip(const std::string& words, bool above) {
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) show_tooltip(words, 320, above);
}

bool toggle(const char* label, bool on, const char* help) {
  const Style& s = style();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(s.px(6), s.px(1)));
  ImGui::PushStyleColor(ImGuiCol_Button, on ? colour(s.theme, Token::field) : 0U);
  ImGui::PushStyleColor(ImGuiCol_Text, colour(s.theme, on ? Token::text : Token::dim));
  ImGui::PushFont(s.fonts.text, s.px(12));
  const bool clicked = ImGui::Button(label);
  ImGui::PopFont();
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar();
  tooltip(help);
  return clicked;
}

bool small_button(const char* label, bool enabled, const char* help) {
  const Style& s = style();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(s.px(6), s.px(1)));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, enabled ? s.px(1) : 0);
  ImGui::PushStyleVar(ImGuiStyleVar_DisabledAlpha, 1);  // dim words are pale enough, and are to be read
  ImGui::PushStyleColor(ImGuiCol_Border, colour(s.theme, Token::faint));
  ImGui::PushStyleColor(ImGuiCol_Button, 0U);
  ImGui::PushStyleColor(ImGuiCol_Text, colour(s.theme, enabled ? Token::text : Token::dim));
  ImGui::PushFont(s.fonts.text, s.px(12));
  ImGui::BeginDisabled(!enabled);
  const bool clicked = ImGui::Button(label);
  ImGui::EndDisabled();
  ImGui::PopFont();
  ImGui::PopStyleColor(3);
  ImGui::PopStyleVar(3);
  tooltip(help);
  return clicked;
}

bool main_button(const char* label, ImVec2 size, bool enabled) {
  const Style& s = style();
  ImGui::PushStyleColor(ImGuiCol_Button, colour(s.theme, enabled ? Token::text : Token::field));
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, colour(s.theme, Token::dim));
  ImGui::PushStyleColor(ImGuiCol_ButtonActive, colour(s.theme, Token::dim));
  ImGui::PushStyleColor(ImGuiCol_Text, colour(s.theme, enabled ? Token::card : Token::dim));
  ImGui::PushFont(s.fonts.bold, s.px(13));
  ImGui::BeginDisabled(!enabled);
  const bool pressed = ImGui::Button(label, size);
  ImGui::EndDisabled();
  ImGui::PopFont();
  ImGui::PopStyleColor(4);
  return pressed;
}

bool box_button(const Box& box, const char* id, const char* words) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(box.min);
  const bool pressed = ImGui::InvisibleButton(id, {box.width(), box.height()}, ImGuiButtonFlags_EnableNav);
  list->AddRectFilled(box.min, box.max, colour_of(ImGui::IsItemHovered() ? Token::line : Token::field), style().px(6));
  draw_text_in(list, box, Align::centre, Face::text, 13, colour_of(Token::text), words);
  return pressed;
}

bool chip_button(const char* id, const std::string& words, ImVec2 right_top, Box& box) {
  constexpr float kHeight = 22, kForFingers = 34;
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float height = by_touch() ? kForFingers : kHeight, width = text_width(Face::text, 13, words) + s.px(40);
  box = {{right_top.x - width, right_top.y}, {right_top.x, right_top.y + s.px(height)}};
  const float beyond = s.px(beyond_edge(height));
  ImGui::SetCursorScreenPos({box.min.x, box.min.y - beyond});
  const bool pressed = ImGui::InvisibleButton(id, {box.width(), box.height() + 2 * beyond}, ImGuiButtonFlags_EnableNav);
  list->AddRectFilled(box.min, box.max, colour_of(ImGui::IsItemHovered() ? Token::line : Token::field), s.px(6));
  draw_text_in(list, box, Align::left, Face::text, 13, colour_of(Token::text), words, 12);
  draw_arrow(list, {box.max.x - s.px(14), box.centre().y}, 8, Arrow::down, colour_of(Token::dim));
  return pressed;
}

constexpr float kFieldText = 13;

int complete_before_caret(ImGuiInputTextCallbackData* data) {
  const auto& completed = *static_cast<const Completion*>(data->UserData);
  const std::string_view before(data->Buf, static_cast<std::size_t>(data->CursorPos));
  const std::string text = completed(before);
  if (text == before) return 0;
  data->DeleteChars(0, data->CursorPos);
  data->InsertChars(0, text.c_str());
  return 0;
}

std::optional<std::string> draft_field(const char* id, FieldDraft& draft, const std::string& shown, const char* hint,
                                       const Completion& completed) {
  const Style& s = style();
  if (!draft.kept) draft = {shown, "", false};
  const bool marked = !draft.error.empty();
  if (marked) {
    ImGui::PushStyleColor(ImGuiCol_Border, colour(s.theme, Token::text));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, s.px(1.5F));
  }
  // A field cuts what is too long for it in the midst of a number; while nobody types, it says that there is more.
  const float pad = ImGui::GetStyle().FramePadding.x, room = ImGui::CalcItemWidth() - 2 * pad;
  const bool cut = !draft.kept && text_width(Face::mono, kFieldText, draft.text) > room;
  if (cut) ImGui::PushStyleColor(ImGuiCol_Text, 0U);
  ImGui::PushFont(s.fonts.mono, s.px(kFieldText));
  // Where nothing is to be completed, Tab goes on to the next control. A field at rest is not asked in each frame.
  const bool completes = completed && draft.kept && completed(draft.text) != draft.text;
  const ImGuiInputTextFlags tab = completes ? ImGuiInputTextFlags_CallbackCompletion : 0;
  ImGui::InputTextWithHint(id, hint, &draft.text, ImGuiInputTextFlags_AutoSelectAll | tab,
                           completes ? complete_before_caret : nullptr, const_cast<Completion*>(&completed));  // NOLINT
  ImGui::PopFont();
  if (cut) ImGui::PopStyleColor();
  if (marked) {
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
  }
  if (cut && !ImGui::IsItemActive()) {
    const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
    draw_text_in(ImGui::GetWindowDrawList(), {{min.x + pad, min.y}, {max.x - pad, max.y}}, Align::left, Face::mono,
                 kFieldText, colour_of(Token::text), fitted_text(Face::mono, kFieldText, draft.text, room));
  }
  if (ImGui::IsItemActivated()) draft.kept = true;
  if (ImGui::IsItemDeactivatedAfterEdit()) return draft.text;
  if (ImGui::IsItemDeactivated() && draft.error.empty()) draft.kept = false;
  return std::nullopt;
}

void settle(FieldDraft& draft, std::string error) {
  draft.kept = !error.empty();
  draft.error = std::move(error);
}

}  // namespace attn
