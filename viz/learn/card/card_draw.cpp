#include "viz/learn/card/card_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "imgui.h"
#include "imgui_stdlib.h"
#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/learn/card/card_foot_draw.h"
#include "viz/learn/card/card_head_draw.h"
#include "viz/learn/card/card_news_draw.h"
#include "viz/learn/card/number_bar_draw.h"
#include "viz/learn/card/pen_draw.h"
#include "viz/learn/card/question_map_draw.h"

namespace attn {
namespace {

constexpr float kPadding = 14, kOption = 32, kLowOption = 27, kAround = 12;  // the last: around several lines
constexpr float kBeside = 560, kWordsShare = 0.52F, kApart = 24;             // of a card so wide
constexpr float kTighter = 0.92F;            // of a text's height, where its words are smaller
constexpr float kLow = 400, kOneLine = 400;  // a card lower than that; wide enough for all buttons in one line
constexpr std::size_t kManyOptions = 6;
constexpr int kOptionLines = 6;  // a line of source whole

int to_end_once(ImGuiInputTextCallbackData* data) {
  auto& ui = *static_cast<CardUiState*>(data->UserData);
  if (!ui.to_end) return 0;
  data->ClearSelection();
  data->CursorPos = data->BufTextLen;
  ui.to_end = false;
  return 0;
}

// What a number or a formula begins with (0.5, -2, (1 + 2)/3, e^-4, sqrt(2)) begins the answer wherever it is typed;
// after one that was wrong it begins another. The field has the keyboard two frames later: until then what is typed
// goes on here.
void catch_number(const CardScene& card, CardUiState& ui) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || ui.in_cell) {
    ui.catching = false;
    return;
  }
  const bool mends =
      card.missed && (ImGui::IsKeyPressed(ImGuiKey_Backspace, false) || ImGui::IsKeyPressed(ImGuiKey_Delete, false) ||
                      ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_A));
  if (mends) ui.take_keyboard = true;
  if (io.KeyCtrl || io.KeyAlt) return;
  for (const ImWchar c : io.InputQueueCharacters) {
    const bool begins = (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '(' || c == 'e' || c == 's' || c == 'l';
    const bool goes_on = (ui.take_keyboard || ui.catching) && c > ' ' && c < 0x7f;
    if (!begins && !goes_on) continue;
    // What was dragged is no beginning of what is typed.
    if (!goes_on && (card.missed || card.bar)) ui.typed.clear();
    ui.typed += static_cast<char>(c);
    ui.take_keyboard = ui.to_end = true;
  }
  ui.catching = ui.take_keyboard;
}

void draw_number_field(const CardScene& card, Pen& pen, CardUiState& ui, Commands& commands) {
  const Style& s = style();
  pen.small_words(card.teach      ? phrase("The class's prediction, hidden: {}", card.within)
                  : card.exercise ? phrase("Your answer, {}", card.within)
                                  : phrase("Your prediction, {}", card.within));
  const Box line = pen.line(for_finger(kCardButton));
  float x = line.min.x;
  if (!card.letter.empty()) {
    const float width = runs_width(card.letter, 16);
    draw_runs_in(pen.list, {{x, line.min.y}, {x + width, line.max.y}}, Align::left, 16, card.letter);
    x += width + s.px(8);
  }
  const float unit = card.unit.empty() ? 0 : text_width(Face::text, pen.sizes.text, card.unit) + s.px(8);
  if (!card.unit.empty())
    draw_text_in(pen.list, {{line.max.x - unit, line.min.y}, line.max}, Align::right, Face::text, pen.sizes.text,
                 colour_of(Token::dim), card.unit);
  if (card.open) catch_number(card, ui);
  ImGui::SetCursorScreenPos({x, line.min.y});
  ImGui::SetNextItemWidth(line.max.x - unit - x);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(s.px(10), s.px(by_touch() ? (kFinger - 15) / 2 : 8)));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, s.px(1.5F));
  ImGui::PushStyleColor(ImGuiCol_Border, colour_of(card.missed ? Token::text : Token::faint));
  ImGui::PushFont(s.fonts.mono, s.px(15));
  if (std::exchange(ui.take_keyboard, false)) ImGui::SetKeyboardFocusHere();
  ImGui::BeginDisabled(!card.open);
  // What a class says stands as dots until it is revealed: nobody guesses from it.
  const ImGuiInputTextFlags hidden = card.teach && card.open ? ImGuiInputTextFlags_Password : ImGuiInputTextFlags_None;
  // Formulas are taken too, and nothing else would say so. A short field says it shortly.
  const float room = line.max.x - unit - x - 2 * s.px(10);
  const char* example = tr("e.g. e^-1.5 or 3/8");
  for (const char* shorter : {"e^-1.5 or 3/8", "e.g. 3/8"})
    if (text_width(Face::mono, 15, example) > room) example = shorter;
  const bool entered =
      ImGui::InputTextWithHint("##lesson_answer", card.open ? example : "", &ui.typed,
                               ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll |
                                   ImGuiInputTextFlags_CallbackAlways | hidden,
                               to_end_once, &ui);
  ImGui::EndDisabled();
  ImGui::PopFont();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  if (entered && card.open) commands.emplace_back(CheckAnswer{ui.typed});
}

// What a choice turned out to be, in words too: never by colour alone. With the hands of a class.
std::string fate_of(const CardScene& card, const CardOption& option) {
  const char* words = option.right ? tr("right") : option.missed ? tr("not this") : "";
  if (!card.teach || card.open || card.votes == 0) return words;
  return fmt::format("{}{}{}", option.votes, option.right ? ", " : "", words);
}

// A digit in the cap of its key.
void draw_digit_cap(ImDrawList* list, ImVec2 centre, int digit) {
  const Style& s = style();
  const Box cap{{centre.x - s.px(8), centre.y - s.px(9)}, {centre.x + s.px(8), centre.y + s.px(9)}};
  list->AddRectFilled(cap.min, cap.max, colour_of(Token::card), s.px(3));
  list->AddRect(cap.min, cap.max, colour_of(Token::faint), s.px(3), 0, std::max(1.0F, s.px(1)));
  draw_text_in(list, cap, Align::centre, Face::mono, 12, colour_of(Token::dim), std::to_string(digit));
}

void draw_options(const CardScene& card, Pen& pen, bool takes_digits, CardUiState& ui, Commands& commands) {
  const Style& s = style();
  const float top = ImGui::GetWindowPos().y - ImGui::GetScrollY();
  ui.answers.clear();
  ui.right_answer.reset();
  for (std::size_t n = 0; n < card.options.size(); ++n) {
    const CardOption& option = card.options[n];
    const std::string fate = fate_of(card, option);
    const bool capped = option.digit && !by_touch();
    const float left = s.px(option.digit && !capped ? 12 : 30), fate_width = text_width(Face::bold, 12, fate);
    const float value = option.value.empty() ? 0 : text_width(Face::mono, pen.sizes.small, option.value) + s.px(10);
    const float room = pen.width - left - s.px(10) - value - (fate.empty() ? 0 : fate_width + s.px(10));
    const float height = draw_paragraph(pen.list, {}, room, pen.sizes.text, option.words, kOptionLines, false);
    const float least = for_finger(card.options.size() > kManyOptions ? kLowOption : kOption);
    const bool one_line = runs_width(option.words, pen.sizes.text) <= room;
    const Box box = pen.line(one_line ? least : std::max(least, height / s.scale + kAround));
    ui.answers.push_back(box.max.y - top);
    ImGui::SetCursorScreenPos(box.min);
    const std::string id = fmt::format("##lesson_option_{}", n);
    bool clicked = ImGui::InvisibleButton(id.c_str(), {box.width(), box.height()}, ImGuiButtonFlags_EnableNav);
    const bool hovered = ImGui::IsItemHovered() && card.open;
    if (takes_digits && option.digit) clicked |= key_pressed(static_cast<ImGuiKey>(ImGuiKey_0 + *option.digit));
    if (clicked && card.open) commands.emplace_back(ChooseAnswer{n});
    pen.list->AddRectFilled(box.min, box.max, colour_of(hovered ? Token::line : Token::field), s.px(6));
    if (option.chosen || option.right)
      draw_outline(pen.list, box, colour_of(Token::text), s.px(option.right ? 2 : 1.5F), s.px(6));
    if (capped) draw_digit_cap(pen.list, {box.min.x + left / 2, box.centre().y}, *option.digit);
    if (one_line)
      draw_runs_in(pen.list, {{box.min.x + left, box.min.y}, box.max}, Align::left, pen.sizes.text, option.words);
    else
      draw_paragraph(pen.list, {box.min.x + left, box.centre().y - height / 2 + s.px(3)}, room, pen.sizes.text,
                     option.words, kOptionLines);
    if (!option.value.empty())
      draw_text_in(pen.list, box, Align::right, Face::mono, pen.sizes.small, colour_of(Token::text), option.value, 10);
    if (!fate.empty())
      draw_text_in(pen.list, {box.min, {box.max.x - value, box.max.y}}, Align::right, Face::bold, 12,
                   colour_of(Token::text), fate, 10);
    pen.gap(5);
    pen.keep_whole(box.min.y);  // with its frame
    if (option.right) ui.right_answer = box.min.y;
  }
}

// `held`: the buttons are over the foot or in it.
void draw_question(const CardScene& card, Pen& pen, bool held, bool takes_keys, CardUiState& ui, Commands& commands) {
  const float question = pen.y;
  switch (*card.asks) {
    case AskKind::num:
      // What a class said stands beside the kernel's number.
      if (card.open || !card.teach) draw_number_field(card, pen, ui, commands);
      if (card.bar) draw_number_bar(card, pen, ui);
      pen.keep_whole(question);
      if (card.open && !ui.fresh) show_field(question, pen.y, ui);
      break;
    case AskKind::tiles:
      draw_map_of_tiles(card, ui.on_map, pen, commands);
      if (pen.y - question < ImGui::GetWindowHeight()) pen.keep_whole(question);
      break;
    case AskKind::pick:
    case AskKind::click:
      draw_options(card, pen, takes_keys, ui, commands);
      break;
  }
  pen.gap(8);
  if (card.open && card.teach) draw_hands(card, pen, commands);
  if (card.open && !held) draw_actions(card, boxes_below(card, pen), takes_keys, ui, commands);
  const float top = pen.y;
  if (!card.hint.empty() && card.open) {
    pen.small_words(tr("Hint"));
    pen.words(card.hint, pen.sizes.text, 12);
  }
  if (!has_news_below_words(card, ui)) draw_news(card, top, pen, ui);
}

// What does not fit above `bottom` waits behind a button: nothing is drawn cut in half.
void draw_known(const CardScene& card, float bottom, Pen& pen, CardUiState& ui) {
  const Style& s = style();
  constexpr float kBetween = 5, kHead = 20;  // logical: of two lines; words over a list
  const float more = for_finger(24);
  const float mark = s.px(14);
  if (card.learned.empty()) return;
  pen.list->AddLine({pen.x, pen.y}, {pen.x + pen.width, pen.y}, colour_of(Token::line), 1);
  const float top = pen.y;
  pen.gap(10);
  if (card.unread < card.learned.size()) pen.small_words(tr("Known so far"));
  const auto end_of_first = [&](bool first) {
    if (first) pen.keep_whole(top);
  };
  // The latest first: what has no room is the oldest.
  for (std::size_t n = card.learned.size(); n-- > 0;) {
    const bool headed = n + 1 == card.unread;
    const float height = draw_paragraph(pen.list, {}, pen.width - mark, pen.sizes.small, card.learned[n], 5, false) +
                         (headed ? s.px(kHead) : 0);
    if (!ui.all_known && pen.y + height + s.px(kBetween) + (n > 0 ? s.px(more) : 0) > bottom) {
      const bool none_shown = n + 1 == card.learned.size();
      const std::string words = !none_shown                          ? phrase("{} earlier", n + 1)
                                : card.unread == card.learned.size() ? phrase("Taught earlier ({})", n + 1)
                                                                     : phrase("Show {}", n + 1);
      if (box_button(pen.line(more), "##lesson_known", words.c_str())) ui.all_known = true;
      end_of_first(none_shown);
      return;
    }
    if (headed) pen.small_words(tr("Taught in earlier chapters"));
    // No number: it would be another one in the next chapter.
    pen.list->AddCircleFilled({pen.x + s.px(3), pen.y + s.px(8)}, s.px(2), colour_of(Token::faint));
    pen.x += mark, pen.width -= mark;
    pen.words(card.learned[n], pen.sizes.small, kBetween);
    end_of_first(n + 1 == card.learned.size());
    pen.x -= mark, pen.width += mark;
  }
}

void draw_proof(const CardScene& card, Pen& pen, CardUiState& ui) {
  if (card.proof.empty()) return;
  if (key_button(pen.line(for_finger(30)), "##lesson_proof", ui.proof_open ? tr("Proof") : tr("Why? See the proof"),
                 ui.proof_open ? "−" : "+"))
    ui.proof_open = !ui.proof_open;
  pen.gap(8);
  if (ui.proof_open) pen.words(card.proof, pen.sizes.small, 12);
}

// Of another beat the card remembers nothing but what is under way.
void begin_showing(const CardScene& card, CardUiState& ui) {
  ui.fresh = ui.showing != card.number_of_showing;
  if (!ui.fresh) return;
  const bool dragged = ui.dragged;
  ui = {};
  ui.fresh = true;
  ui.dragged = dragged;
  ui.showing = card.number_of_showing;
  ui.typed = card.typed;
  if (ui.typed.empty() && card.bar && card.bar->start) ui.typed = dragged_text(*card.bar->start);
}

// How the card's text is laid out.
struct TextLayout {
  Box box;                   // where it is scrolled
  float pad = 0, width = 0;  // pixels from the box's left; of its lines
  CardSizes sizes;
  bool low = false, alone = false;  // the card
  bool headed = false;              // the headline is above the box
  bool held = false;                // the buttons are over the foot or in it
  bool may_tighten = false;
};

void draw_card_text(const CardScene& card, const TextLayout& at, float card_height, bool takes_keys, CardUiState& ui,
                    Commands& commands) {
  const Style& s = style();
  if (ui.fresh) ImGui::SetScrollY(0);  // the window is that of the beat before
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float bar = ImGui::GetScrollMaxY() > 0 ? s.px(6) : 0;
  if (std::exchange(ui.go_on, false)) {
    const CardSight seen = sight_of(ui.breaks, ImGui::GetScrollY(), at.box.height());
    ImGui::SetScrollY(seen.bottom - s.px(kStrokes));
  }
  const CardSight sight = sight_of(ui.breaks, ImGui::GetScrollY(), at.box.height());
  const bool cut = !ui.beside && ImGui::GetScrollMaxY() > 0;
  if (cut)
    ImGui::PushClipRect({at.box.min.x, origin.y + sight.top - s.px(kStrokes)}, {at.box.max.x, origin.y + sight.bottom},
                        true);
  ui.breaks.clear();
  Pen pen{ImGui::GetWindowDrawList(), origin.x + at.pad, origin.y, at.width - bar, at.sizes, &ui.breaks};
  pen.gap(kStrokes);
  if (!at.headed) draw_question_head(card, at.low, takes_keys, pen, commands);
  ui.headline = at.headed ? 0 : pen.y - origin.y;
  pen.words(card.say, pen.sizes.text, at.low || !card.origin.empty() ? 8 : 14);
  pen.words(card.origin, pen.sizes.small, 14);
  if (has_news_below_words(card, ui)) draw_news(card, pen.y, pen, ui);
  if (card.asks && !ui.beside) draw_question(card, pen, at.held, takes_keys, ui, commands);
  const float height = ImGui::GetWindowHeight();
  if (at.may_tighten && pen.y - origin.y > height) ui.tight_for = card_height;
  if (!at.low) pen.words(card.needs, pen.sizes.small, 14);  // below the buttons, which stay in sight
  draw_proof(card, pen, ui);
  draw_known(card, origin.y + ImGui::GetScrollY() + height, pen, ui);
  // Of smaller words a little less room is asked.
  if (card.open && (pen.y - origin.y) * (at.may_tighten ? kTighter : 1) > height) ui.too_long_for = card_height;
  if (cut) ImGui::PopClipRect();
  if (ui.beside) fade_both_ends(12);  // the card's edge and the scroll bar stand at its sides
  ui.text_height = pen.y - origin.y;
  for (float& line : ui.breaks) line -= origin.y;
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, std::max(ui.text_height, ui.scrolled_to > 0 ? ui.scrolled_to + height : 0)});
}

// On a phone that lies, in a column of its own; it is scrolled by itself.
void draw_question_beside(const CardScene& card, const TextLayout& at, const Box& box, bool takes_keys, CardUiState& ui,
                          Commands& commands) {
  const Style& s = style();
  const float before = s.px(kApart / 2);
  begin_text("question", box);
  if (ui.fresh) ImGui::SetScrollY(0);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float bar = ImGui::GetScrollMaxY() > 0 ? s.px(6) : 0;
  Pen pen{ImGui::GetWindowDrawList(), origin.x + before, origin.y, box.width() - before - s.px(kPadding) - bar,
          at.sizes};
  pen.gap(4);
  draw_question(card, pen, at.held, takes_keys, ui, commands);
  fade_both_ends(12);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, pen.y - origin.y});
  ImGui::EndChild();
}

}  // namespace

void draw_lesson_card(const CardScene& card, const Box& box, bool right, bool alone, bool tiles_have_keys,
                      CardUiState& ui, Commands& commands) {
  const Style& s = style();
  begin_showing(card, ui);
  ui.alone = alone;
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  ui.pointer_moved |= moved.x != 0 || moved.y != 0;
  draw_card(ImGui::GetWindowDrawList(), box);
  ImGui::PushID("card");
  const float pad = s.px(kPadding);
  const Box in{{box.min.x + pad, box.min.y + pad}, {box.max.x - pad, box.max.y - pad}};
  // In a low card the buttons stay in sight: over the foot, or within it where that is wide.
  const bool low = box.height() < s.px(kLow), in_foot = low && in.width() >= s.px(kOneLine);
  const bool may_tighten = !low && !card.teach && !alone && !by_touch();
  const bool tight = may_tighten && ui.tight_for == box.height();
  const CardSizes sizes = card.teach ? kClassSizes : low ? kLowSizes : tight ? kTightSizes : kLearnerSizes;
  Pen head{ImGui::GetWindowDrawList(), in.min.x, in.min.y, in.width(), sizes};
  draw_card_head(card, box, right, alone, head, ui, commands);
  // Where Tab has come to a control, Enter is that control's.
  const bool takes_keys =
      !tiles_have_keys && !ImGui::GetIO().NavVisible && !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
  draw_foot(card, in, in_foot, takes_keys, commands);
  // So they do where the words before them are too many, as the frame before told.
  const bool held = low || ui.too_long_for == box.height();
  const bool over_foot = held && card.open && !in_foot;
  const float above = low ? 0 : height_over_foot(card);
  const float button = for_finger(kFootButton), line = button + 8;
  const float foot = s.px(in_foot ? line : (over_foot ? 2 * line : line) + above);
  if (held && card.open) {
    const float bottom = in.max.y - (over_foot ? s.px(line + above) : 0), side = in_foot ? s.px(kFootEnd + 4) : 0;
    draw_actions(card, boxes_in_line(card, {{in.min.x + side, bottom - s.px(button)}, {in.max.x - side, bottom}}),
                 takes_keys, ui, commands);
  }
  // The question stays in sight over what is scrolled.
  ui.beside = alone && card.asks && in.width() >= s.px(kBeside);
  const bool headed = !low && !ui.beside;
  if (headed) draw_question_head(card, low, takes_keys, head, commands);
  if (headed) head.gap(-4);
  const float bottom = in.max.y - foot - s.px(6), room = std::max(bottom - head.y, s.px(40));
  const bool goes_on = (!low || (card.open && !card.options.empty() && !by_touch())) && ui.text_height > room + 1;
  Box text{{box.min.x, head.y}, {box.max.x - s.px(2), head.y + room - (goes_on ? s.px(kMoreBelow) : 0)}};
  Box question = text;
  float words = in.width();
  if (ui.beside) {
    words = std::floor(words * kWordsShare);
    text.max.x = question.min.x = in.min.x + words + s.px(kApart / 2);
  }
  begin_text("text", text);
  const TextLayout layout{text, pad, words, sizes, low, alone, headed, held, may_tighten && !tight};
  draw_card_text(card, layout, box.height(), takes_keys, ui, commands);
  const float scroll = ImGui::GetScrollY(), most = ImGui::GetScrollMaxY();
  ImGui::EndChild();
  if (ui.beside) draw_question_beside(card, layout, question, takes_keys, ui, commands);
  if (goes_on && scroll < most - 1) {
    const float seen = sight_of(ui.breaks, scroll, text.height()).bottom;
    const auto hidden = std::ranges::count_if(ui.answers, [&](float end) { return end > seen + 1; });
    ui.go_on = draw_more_below({{in.min.x, text.max.y}, {in.max.x, text.max.y + s.px(kMoreBelow)}},
                               card.open ? static_cast<std::size_t>(hidden) : 0);
  }
  ImGui::PopID();
}

}  // namespace attn
