// What panels are made of: cards, buttons, fields, menus, tooltips. They draw into the current window at the cursor and
// say what the user did; what that means is the panel's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "imgui.h"
#include "viz/draw/canvas.h"
#include "viz/draw/field_draft.h"

namespace attn {

// A card: a bordered child that keeps kCardSide at its sides and kCardEnd above and below clear, logical pixels. End
// with ImGui::EndChild().
constexpr float kCardSide = 16, kCardEnd = 12;
bool begin_card(const char* id, ImVec2 size);
// The foot of the current window, on a card, goes pale where there is more below. Called behind its content.
void fade_where_more();
// The same above and below, for a window over a card: its edge and scroll bar stand `side` logical pixels in.
void fade_both_ends(float side);
// The same for a page of cards, which goes pale to the window's ground. The last thing that is drawn into it.
void fade_page();

void heading(const char* words);
// Broken at `width` pixels, or at the window's edge: at spaces alone. The one way to wrap text in a widget.
void wrapped_text(const std::string& words, float width = 0);
// Small and dim, broken at the window's edge.
void dim_text(const std::string& words);
// The height that it will have here, pixels.
float dim_text_height(const std::string& words);
// Label on the left, the next widget from `column` (logical pixels from the window's left) on.
constexpr float kLabelColumn = 84;
void begin_line(const std::string& label, float column = kLabelColumn);

// Where a tooltip of `size` pixels stands: below what it explains, or above where there is no room, and within the
// screen. What is higher than a few lines is explained where the pointer is.
ImVec2 tooltip_place(const Box& what, ImVec2 pointer, ImVec2 size, const Box& screen);

// Where one stands that is read together with all of `what`, a chart: over its neighbour at the pointer's height, else
// over or under it.
ImVec2 tooltip_place_beside(const Box& what, ImVec2 pointer, ImVec2 size, const Box& screen);

// Every tooltip is one of these. All stand within the window, and of two in one frame the later takes the place of the
// earlier. Those that return a bool end with ImGui::EndTooltip() where it is true.
// A tooltip whose content is of `size` pixels, beside the pointer, or beside all of `what`.
bool begin_tooltip(ImVec2 size);
bool begin_tooltip_beside(const Box& what, ImVec2 size);
// What the height of the window leaves for the content of one, pixels.
float most_tooltip_height();
// Words about the last item, broken at `width` logical pixels: now, or while the pointer rests on it and until it is
// pressed.
void show_tooltip(const std::string& words, float width = 320, bool above = false);
// `above`: where what lies below the item must stay in sight.
void tooltip(const std::string& words, bool above = false);

// The rows of a menu, behind BeginPopup: as far apart as everywhere, whatever spacing it opened over. end_menu() ends
// the popup too.
void begin_menu_rows();
void end_menu();

// A small text button that is pressed while `on`. Returns whether it was clicked.
bool toggle(const char* label, bool on, const char* help, bool help_above = false, ImVec2 size = {0, 0});
// A small button of the same size with an edge: it does something, where a toggle is a place or a state. Without its
// edge and dim where it is not enabled; `help` then says why.
bool small_button(const char* label, bool enabled, const char* help);
// The one thing to press next: filled with the accent.
bool main_button(const char* label, ImVec2 size, bool enabled);
// A filled box with words in its middle.
bool box_button(const Box& box, const char* id, const char* words);
// A chip that stands for what is folded behind it; `right_top`: its corner, pixels. `box` gets where it stands.
constexpr float kChipForFingers = 34;  // logical: how high a finger's is
bool chip_button(const char* id, const std::string& words, ImVec2 right_top, Box& box);
// Behind BeginPopup, of what is folded behind `chip`: a click beside it closes it and reaches what it is on, where
// ImGui's own popups keep that click. On the chip it closes it, no more.
void let_clicks_through(const Box& chip);
// Behind NewFrame, before anything is drawn.
void close_where_clicked_beside();

// A small square, ticked where `on`, and words beside it. Returns whether it was clicked.
bool tick_box(const Box& box, const char* id, const char* words, bool on);

// What is cut because it goes on goes pale there: lines of text on a card that go on beyond `right`.
void fade_before(ImDrawList* list, float right, float top, float bottom);
// The ends of the list or menu that is open, behind which it goes on. Called behind its content.
void fade_list_ends();
// A closed menu that shows `shown`, and under it, where it is open, the list of its choices, which goes pale at an end
// behind which it goes on. End with end_list() where it is true.
bool begin_list(const char* id, const char* shown, ImGuiComboFlags flags = 0);
void end_list();

// What Tab puts in place of the text before the caret.
using Completion = std::function<std::string(std::string_view)>;
// ImGui's callback for it; its user data is the Completion.
int complete_before_caret(ImGuiInputTextCallbackData* data);
// A field over a draft; `shown` is its text at rest. The text that was entered, if one was: take it over with `settle`.
std::optional<std::string> draft_field(const char* id, FieldDraft& draft, const std::string& shown,
                                       const char* hint = "", const Completion& completed = {});
// Says what became of an entered text: empty, it was taken; else why not, which keeps the draft.
void settle(FieldDraft& draft, std::string error);

}  // namespace attn
