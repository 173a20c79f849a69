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

// From `from`, where nothing is covered, to `to`, where the card or the ground is.
void fade_to(Token token, float left, float right, float from, float to) {
  const ImU32 full = colour(style().theme, token), none = faded(full, 0);
  ImGui::GetWindowDrawList()->AddRectFilledMultiColor({left, from}, {right, to}, none, none, full, full);
}

void fade_to_card(float left, float right, float from, float to) {
  fade_to(Token::card, left, right, from, to);
}

// Cards are windows, drawn over what the page itself draws: a window over them.
void fade_strip(const char* id, float left, float right, float from, float to) {
  ImGui::SetCursorScreenPos({left, std::min(from, to)});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::BeginChild(id, {right - left, std::abs(to - from)}, 0,
                    ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoScrollbar);
  fade_to(Token::ground, left, right, from, to);
  ImGui::EndChild();
  ImGui::PopStyleColor();
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

void fade_before(ImDrawList* list, float right, float top, float bottom) {
  const ImU32 full = colour_of(Token::card), none = faded(full, 0);
  list->AddRectFilledMultiColor({right - style().px(22), top}, {right, bottom}, none, full, full, none);
}

void fade_page() {
  const float soft = style().px(24), bar = ImGui::GetScrollMaxY() > 0 ? ImGui::GetStyle().ScrollbarSize : 0;
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float right = at.x + size.x - bar, bottom = at.y + size.y;
  if (ImGui::GetScrollY() > 1) fade_strip("fade_above", at.x, right, at.y + soft, at.y);
  if (ImGui::GetScrollY() < ImGui::GetScrollMaxY() - 1) fade_strip("fade_below", at.x, right, bottom - soft, bottom);
}

void heading(const char* words) {
  ImGui::PushFont(style().fonts.bold, style().px(13));
  ImGui::TextUnformatted(words);
  ImGui::PopFont();
}

namespace {

// That of wrapped_text().
ImVec2 wrapped_size(const std::string& words, float width) {
  return ImGui::CalcTextSize(lines_at_spaces(words, width).c_str(), nullptr, false, width);
}

}  // namespace

void wrapped_text(const std::string& words, float width) {
  if (width <= 0) width = ImGui::GetContentRegionAvail().x;
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
  ImGui::TextUnformatted(lines_at_spaces(words, width).c_str());
  ImGui::PopTextWrapPos();
}

void dim_text(const std::string& words) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour(style().theme, Token::dim));
  ImGui::PushFont(style().fonts.text, style().px(12));
  wrapped_text(words);
  ImGui::PopFont();
  ImGui::PopStyleColor();
}

float dim_text_height(const std::string& words) {
  ImGui::PushFont(style().fonts.text, style().px(12));
  const float height = wrapped_size(words, ImGui::GetContentRegionAvail().x).y;
  ImGui::PopFont();
  return height;
}

void begin_line(const std::string& label, float column) {
  const Style& s = style();
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, colour(s.theme, Token::dim));
  ImGui::TextUnformatted(label.c_str());
  ImGui::PopStyleColor();
  ImGui::SameLine(s.px(column));
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

ImVec2 tooltip_place_beside(const Box& what, ImVec2 pointer, ImVec2 size, const Box& screen) {
  const float gap = style().px(6);
  const auto within = [](float at, float length, float from, float to) {
    return std::clamp(at, from, std::max(from, to - length));
  };
  const float x = within(pointer.x - size.x / 2, size.x, screen.min.x, screen.max.x),
              y = within(pointer.y - size.y / 2, size.y, screen.min.y, screen.max.y);
  if (what.max.x + gap + size.x <= screen.max.x) return {what.max.x + gap, y};
  if (what.min.x - gap - size.x >= screen.min.x) return {what.min.x - gap - size.x, y};
  if (what.max.y + gap + size.y <= screen.max.y) return {x, what.max.y + gap};
  if (what.min.y - gap - size.y >= screen.min.y) return {x, what.min.y - gap - size.y};
  return tooltip_place(Box{pointer, pointer}.grown(style().px(12)), pointer, size, screen);
}

namespace {

// Where tooltips stand: the window, short of its edges.
Box tooltip_screen() {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const Box window{viewport->Pos, {viewport->Pos.x + viewport->Size.x, viewport->Pos.y + viewport->Size.y}};
  return window.grown(-style().px(8));
}

// Dear ImGui adds the second tooltip of a frame to the first, which was placed for its own size.
bool begin_tooltip_at(ImVec2 place) {
  ImGui::SetNextWindowPos(place);
  return ImGui::BeginTooltipEx(ImGuiTooltipFlags_OverridePrevious, ImGuiWindowFlags_None);
}

ImVec2 with_margins(ImVec2 size) {
  const ImVec2 margin = ImGui::GetStyle().WindowPadding;
  return {size.x + 2 * margin.x, size.y + 2 * margin.y};
}

// The narrowest width that breaks the words into no more lines than `width` does: no word is left alone on the last.
float balanced_width(const std::string& words, float width) {
  const float height = wrapped_size(words, width).y;
  if (height < 1.5F * ImGui::GetFontSize()) return width;
  float least = width / 2, most = width;
  for (std::size_t at = 0; at < words.size();) {  // a word that the full width holds is not broken
    const std::size_t end = std::min(words.find_first_of(" \n", at), words.size());
    least = std::max(least, std::min(width, ImGui::CalcTextSize(words.c_str() + at, words.c_str() + end).x));
    at = end + 1;
  }
  while (most - least > style().px(4)) {
    const float middle = (least + most) / 2;
    (wrapped_size(words, middle).y > height ? least : most) = middle;
  }
  return std::ceil(most);
}

// Whether the last item was pressed since the pointer, or the keyboard, came to it.
bool pressed_since_reached() {
  const ImGuiID item = ImGui::GetItemID();
  if (item == 0) return false;
  const ImGuiID key = ImHashStr("pressed", 0, item);
  ImGuiStorage& kept = *ImGui::GetStateStorage();
  const bool by_keys = ImGui::GetCurrentContext()->NavCursorVisible && ImGui::IsItemFocused();
  const bool here = by_keys || ImGui::IsMouseHoveringRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  const bool was = kept.GetBool(key), is = here && (was || ImGui::IsItemActivated());
  if (is != was) kept.SetBool(key, is);
  return is;
}

}  // namespace

bool begin_tooltip(ImVec2 size) {
  const ImVec2 pointer = ImGui::GetMousePos();
  const Box what = Box{pointer, pointer}.grown(style().px(12));
  return begin_tooltip_at(tooltip_place(what, pointer, with_margins(size), tooltip_screen()));
}

bool begin_tooltip_beside(const Box& what, ImVec2 size) {
  return begin_tooltip_at(tooltip_place_beside(what, ImGui::GetMousePos(), with_margins(size), tooltip_screen()));
}

float most_tooltip_height() {
  return tooltip_screen().height() - 2 * ImGui::GetStyle().WindowPadding.y;
}

void show_tooltip(const std::string& words, float width, bool above) {
  const Box screen = tooltip_screen();
  const ImVec2 margin = ImGui::GetStyle().WindowPadding;
  width = balanced_width(words, std::min(style().px(width), screen.width() - 2 * margin.x));
  const ImVec2 text = wrapped_size(words, width);
  Box what{ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
  // Where the keyboard goes from item to item the words stand beside its item, wherever the pointer was left.
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  const bool keyboard = g.NavHighlightItemUnderNav && g.NavCursorVisible && ImGui::IsItemFocused();
  const ImVec2 pointer = keyboard ? what.centre() : ImGui::GetMousePos();
  if (!what.contains(pointer)) what = Box{pointer, pointer}.grown(style().px(12));  // words about no item
  const ImVec2 size = with_margins(text);
  ImVec2 place = tooltip_place(what, pointer, size, screen);
  if (const float top = what.min.y - style().px(6) - size.y; above && top >= screen.min.y) place.y = top;
  if (!begin_tooltip_at(place)) return;
  wrapped_text(words, width);
  ImGui::EndTooltip();
}

void tooltip(const std::string& words, bool above) {
  if (pressed_since_reached()) return;
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) show_tooltip(words, 320, above);
}

void begin_menu_rows() {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(style().px(8), style().px(8)));
}

void end_menu() {
  fade_list_ends();
  ImGui::PopStyleVar();
  ImGui::EndPopup();
}

bool toggle(const char* label, bool on, const char* help, bool help_above, ImVec2 size) {
  const Style& s = style();
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(s.px(6), s.px(1)));
  ImGui::PushStyleColor(ImGuiCol_Button, on ? colour(s.theme, Token::field) : 0U);
  ImGui::PushStyleColor(ImGuiCol_Text, colour(s.theme, on ? Token::text : Token::dim));
  ImGui::PushFont(s.fonts.text, s.px(12));
  const bool clicked = ImGui::Button(label, size);
  ImGui::PopFont();
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar();
  tooltip(help, help_above);
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
  constexpr float kHeight = 22;
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float height = by_touch() ? kChipForFingers : kHeight, width = text_width(Face::text, 13, words) + s.px(40);
  box = {{right_top.x - width, right_top.y}, {right_top.x, right_top.y + s.px(height)}};
  const float beyond = s.px(beyond_edge(height));
  ImGui::SetCursorScreenPos({box.min.x, box.min.y - beyond});
  const bool pressed = ImGui::InvisibleButton(id, {box.width(), box.height() + 2 * beyond}, ImGuiButtonFlags_EnableNav);
  list->AddRectFilled(box.min, box.max, colour_of(ImGui::IsItemHovered() ? Token::line : Token::field), s.px(6));
  draw_text_in(list, box, Align::left, Face::text, 13, colour_of(Token::text), words, 12);
  draw_arrow(list, {box.max.x - s.px(14), box.centre().y}, 8, Arrow::down, colour_of(Token::dim));
  return pressed;
}

constexpr const char* kEdges[] = {"##through_left", "##through_top", "##through_right", "##through_bottom"};

void let_clicks_through(const Box& chip) {
  ImGuiStorage& kept = ImGui::GetCurrentWindow()->StateStorage;
  const float edges[] = {chip.min.x, chip.min.y, chip.max.x, chip.max.y};
  for (int n = 0; n < IM_ARRAYSIZE(kEdges); ++n) kept.SetFloat(ImHashStr(kEdges[n]), edges[n]);
}

void close_where_clicked_beside() {
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  // A menu that is open over the panel takes the click as menus do.
  if (g.OpenPopupStack.Size != 1 || !ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
  const ImGuiWindow* panel = g.OpenPopupStack[0].Window;
  if (panel == nullptr || !panel->WasActive) return;
  float edges[IM_ARRAYSIZE(kEdges)] = {};
  for (int n = 0; n < IM_ARRAYSIZE(kEdges); ++n) edges[n] = panel->StateStorage.GetFloat(ImHashStr(kEdges[n]), -1);
  const ImRect chip(edges[0], edges[1], edges[2], edges[3]);
  if (chip.GetWidth() <= 0 || chip.Contains(g.IO.MousePos) || panel->Rect().Contains(g.IO.MousePos)) return;
  ImGui::ClosePopupToLevel(0, true);
}

bool tick_box(const Box& box, const char* id, const char* words, bool on) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(box.min);
  const bool clicked = ImGui::InvisibleButton(id, {box.width(), box.height()}, ImGuiButtonFlags_EnableNav);
  const Box tick{{box.min.x, box.centre().y - s.px(7)}, {box.min.x + s.px(14), box.centre().y + s.px(7)}};
  list->AddRectFilled(tick.min, tick.max, colour_of(on ? Token::text : Token::field), s.px(3));
  if (on) {
    const ImVec2 a{tick.min.x + s.px(3), tick.centre().y}, b{tick.min.x + s.px(6), tick.max.y - s.px(4)},
        c{tick.max.x - s.px(3), tick.min.y + s.px(4)};
    list->AddLine(a, b, colour_of(Token::card), s.px(2));
    list->AddLine(b, c, colour_of(Token::card), s.px(2));
  } else {
    draw_outline(list, tick, colour_of(Token::faint), 1, 3);
  }
  draw_text_in(list, box, Align::left, Face::text, 13, colour_of(ImGui::IsItemHovered() ? Token::text : Token::dim),
               words, 22);
  return clicked;
}

bool begin_list(const char* id, const char* shown, ImGuiComboFlags flags) {
  return ImGui::BeginCombo(id, shown, flags);
}

// As far in as the margin and half a row: a row that the keyboard is on stays legible.
void fade_list_ends() {
  const ImRect inner = ImGui::GetCurrentWindow()->InnerRect;
  const float soft = ImGui::GetStyle().WindowPadding.y + style().px(8);
  if (ImGui::GetScrollY() > 0) fade_to_card(inner.Min.x, inner.Max.x, inner.Min.y + soft, inner.Min.y);
  if (ImGui::GetScrollY() < ImGui::GetScrollMaxY())
    fade_to_card(inner.Min.x, inner.Max.x, inner.Max.y - soft, inner.Max.y);
}

void end_list() {
  fade_list_ends();
  ImGui::EndCombo();
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
