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
#include "viz/learn/card/number_bar_draw.h"
#include "viz/learn/card/pen_draw.h"
#include "viz/learn/card/question_map_draw.h"

namespace attn {
namespace {

std::string kind_for_hands(const CardScene& card) {
  if (!by_touch() || card.teach || !card.asks) return card.kind;
  if (*card.asks == AskKind::pick) return tr("Predict: choose one");
  return *card.asks == AskKind::click ? tr("Predict: tap it, or choose here") : card.kind;
}

constexpr float kPadding = 14, kOption = 32, kLowOption = 27, kAround = 12;  // the last: around several lines
constexpr float kBeside = 560, kWordsShare = 0.52F, kApart = 24;             // of a card so wide
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

void draw_options(const CardScene& card, Pen& pen, bool takes_digits, Commands& commands) {
  const Style& s = style();
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
  }
}

// Of a choice.
TextRuns picked_words(const CardScene& card) {
  TextRuns words;
  if (card.asks != AskKind::pick && card.asks != AskKind::click) return words;
  for (const CardOption& option : card.options) {
    if (!option.chosen) continue;
    words.push_back({" ", Face::text, Token::text, 0, false});
    words.insert(words.end(), option.words.begin(), option.words.end());
  }
  return words;
}

void draw_feedback(const CardScene& card, const CardUiState& ui, Pen& pen) {
  const Style& s = style();
  if (card.feedback.empty() && !card.right && !card.shown) return;
  const char* verdict = card.right    ? tr("Right.")
                        : card.missed ? tr("Not yet.")
                        : card.teach  ? tr("Revealed.")
                        : card.shown  ? tr("Shown.")
                                      : "";
  const float top = pen.y;
  pen.x += s.px(12), pen.width -= s.px(12);
  if (*verdict != '\0') {
    TextRuns line{{verdict, Face::bold, Token::text, 0, false}};
    // Where the answer is scrolled it is said once more.
    if (ui.beside && (card.right || card.missed)) {
      const TextRuns picked = picked_words(card);
      line.insert(line.end(), picked.begin(), picked.end());
    }
    pen.words(line, pen.sizes.text, 2);
  }
  // Where the whole way follows, its last line is the answer.
  if (!ui.alone || card.way.empty()) pen.words(card.truth, pen.sizes.text + 1, 6);
  pen.words(card.said, pen.sizes.text, card.feedback.empty() ? 0 : 8);
  pen.words(card.feedback, pen.sizes.text, card.way.empty() || !ui.alone ? 0 : 8);
  if (ui.alone) pen.words(card.way, pen.sizes.text, 0);
  pen.x -= s.px(12), pen.width += s.px(12);
  pen.list->AddRectFilled({pen.x, top}, {pen.x + s.px(3), pen.y}, colour_of(card.missed ? Token::faint : Token::text),
                          s.px(1.5F));
  pen.gap(12);
}

// Scrolls what ends below the card's `end` up until it is seen, or `top` is at the card's `begin`. The headline stays
// whole or goes whole.
void scroll_up_to(float top, float bottom, float begin, float end, float headline) {
  if (bottom <= end) return;
  const float from = ImGui::GetScrollY(), most = from + top - begin, to = std::min(from + bottom - end, most);
  ImGui::SetScrollY(to > 0 && to < headline ? std::min(headline, most) : to);
}

// What was just said comes into sight, from `top` on, where the card is too low for all of it.
void show_news(const CardScene& card, float top, float bottom, CardUiState& ui) {
  const std::string words = plain_text(card.hint) + plain_text(card.said) + plain_text(card.feedback);
  const float gap = style().px(10), begin = ImGui::GetWindowPos().y, end = begin + ImGui::GetWindowHeight();
  // In a window of another size it stands elsewhere.
  std::string news = words.empty() ? words : fmt::format("{} {:.0f} {:.0f}", words, bottom - top, end - begin);
  if (news == ui.news) return;
  ui.news = std::move(news);
  if (words.empty()) return;
  scroll_up_to(top - gap, bottom, begin, end, ui.headline);
}

// The field that a question asks for is in sight when it opens, from its label on, and in a window of another size.
void show_field(float top, float bottom, CardUiState& ui) {
  const float begin = ImGui::GetWindowPos().y, end = begin + ImGui::GetWindowHeight() - style().px(4);
  std::string place = fmt::format("{:.0f} {:.0f}", bottom + ImGui::GetScrollY() - begin, end - begin);
  if (place == ui.field_place) return;
  ui.field_place = std::move(place);
  scroll_up_to(top, bottom, begin, end, ui.headline);
}

// `top`: of the hint before it.
void draw_news(const CardScene& card, float top, Pen& pen, CardUiState& ui) {
  draw_feedback(card, ui, pen);
  show_news(card, top, pen.y, ui);
}

// Beside a map, which keeps its room.
bool has_news_below_words(const CardScene& card, const CardUiState& ui) {
  return ui.beside && !card.open && card.asks == AskKind::tiles;
}

// `held`: the buttons are over the foot or in it.
void draw_question(const CardScene& card, Pen& pen, bool held, bool takes_keys, CardUiState& ui, Commands& commands) {
  const float question = pen.y;
  switch (*card.asks) {
    case AskKind::num:
      // What a class said stands beside the kernel's number.
      if (card.open || !card.teach) draw_number_field(card, pen, ui, commands);
      if (card.bar) draw_number_bar(card, pen, ui);
      if (card.open && !ui.fresh) show_field(question, pen.y, ui);
      break;
    case AskKind::tiles:
      draw_map_of_tiles(card, ui.on_map, pen, commands);
      break;
    case AskKind::pick:
    case AskKind::click:
      draw_options(card, pen, takes_keys, commands);
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
  pen.gap(10);
  if (card.unread < card.learned.size()) pen.small_words(tr("Known so far"));
  // The latest first: what has no room is the oldest.
  for (std::size_t n = card.learned.size(); n-- > 0;) {
    const bool headed = n + 1 == card.unread;
    const float height = draw_paragraph(pen.list, {}, pen.width - mark, pen.sizes.small, card.learned[n], 5, false) +
                         (headed ? s.px(kHead) : 0);
    if (!ui.all_known && pen.y + height + s.px(kBetween) + (n > 0 ? s.px(more) : 0) > bottom) {
      const bool none_shown = n + 1 == card.learned.size();
      const std::string words = none_shown ? phrase("Show {}", n + 1) : phrase("{} earlier", n + 1);
      if (box_button(pen.line(more), "##lesson_known", words.c_str())) ui.all_known = true;
      return;
    }
    if (headed) pen.small_words(tr("Taught in earlier chapters"));
    // No number: it would be another one in the next chapter.
    pen.list->AddCircleFilled({pen.x + s.px(3), pen.y + s.px(8)}, s.px(2), colour_of(Token::faint));
    pen.x += mark, pen.width -= mark;
    pen.words(card.learned[n], pen.sizes.small, kBetween);
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

void begin_text(const char* name, ImVec2 at, ImVec2 size) {
  ImGui::SetCursorScreenPos(at);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0U);
  ImGui::BeginChild(name, size, ImGuiChildFlags_NavFlattened);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

void end_text(ImVec2 origin, float height) {
  fade_both_ends(12);  // the card's edge and the scroll bar stand at its sides
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, height});
  ImGui::EndChild();
}

// Where the card's text stands, and how.
struct TextPlace {
  Box box;
  float card;  // its height
  bool low, held, takes_keys;
  CardSizes sizes;
};

// All of the text, or what stands before a question that has a column of its own; `width`: with the card's edges.
void draw_words(const CardScene& card, const TextPlace& at, float width, CardUiState& ui, Commands& commands) {
  const Style& s = style();
  const float pad = s.px(kPadding);
  begin_text("text", at.box.min, {width, at.box.height()});
  if (ui.fresh) ImGui::SetScrollY(0);  // the window is that of the beat before
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float bar = ImGui::GetScrollMaxY() > 0 ? s.px(6) : 0, after = ui.beside ? s.px(kApart / 2) : pad - s.px(2);
  Pen pen{ImGui::GetWindowDrawList(), origin.x + pad, origin.y, width - pad - after - bar, at.sizes};
  if (at.low) pen.gap(4);  // letters of formulas stand higher than words
  if (card.away) {
    // Enter stays the card's large button's.
    if (key_button(pen.line(for_finger(kCardButton)), "##lesson_return", tr("Back to the chapter"), "Backspace") ||
        (at.takes_keys && !ImGui::GetIO().WantTextInput && key_pressed(ImGuiKey_Backspace)))
      commands.emplace_back(BackToLesson{});
    pen.gap(12);
  }
  if (!card.kind.empty() && !at.low) pen.small_words(kind_for_hands(card));
  pen.words(card.headline, pen.sizes.headline, 8);
  ui.headline = ui.beside ? 0 : pen.y - origin.y;
  pen.words(card.say, pen.sizes.text, at.low || !card.origin.empty() ? 8 : 14);
  pen.words(card.origin, pen.sizes.small, 14);
  if (has_news_below_words(card, ui)) draw_news(card, pen.y, pen, ui);
  if (card.asks && !ui.beside) draw_question(card, pen, at.held, at.takes_keys, ui, commands);
  if (!at.low) pen.words(card.needs, pen.sizes.small, 14);  // below the buttons, which stay in sight
  draw_proof(card, pen, ui);
  draw_known(card, origin.y + ImGui::GetScrollY() + ImGui::GetWindowHeight(), pen, ui);
  if (card.open && pen.y - origin.y > ImGui::GetWindowHeight()) ui.too_long_for = at.card;
  end_text(origin, pen.y - origin.y);
}

// On a phone that lies; it is scrolled by itself.
void draw_question_beside(const CardScene& card, const TextPlace& at, float words, CardUiState& ui,
                          Commands& commands) {
  const Style& s = style();
  const float before = s.px(kApart / 2), width = at.box.width() - words;
  begin_text("question", {at.box.min.x + words, at.box.min.y}, {width, at.box.height()});
  if (ui.fresh) ImGui::SetScrollY(0);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float bar = ImGui::GetScrollMaxY() > 0 ? s.px(6) : 0;
  Pen pen{ImGui::GetWindowDrawList(), origin.x + before, origin.y, width - before - s.px(kPadding) - bar, at.sizes};
  pen.gap(4);
  draw_question(card, pen, at.held, at.takes_keys, ui, commands);
  end_text(origin, pen.y - origin.y);
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
  const CardSizes sizes = card.teach ? kClassSizes : low ? kLowSizes : kLearnerSizes;
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
  // On a phone that lies the question stands beside the words, and is scrolled by itself.
  ui.beside = alone && card.asks && in.width() >= s.px(kBeside);
  const float bottom = std::max(in.max.y - foot - s.px(6), head.y + s.px(40));
  const Box text{{box.min.x, head.y}, {box.max.x - s.px(2), bottom}};
  const TextPlace place{text, box.height(), low, held, takes_keys, sizes};
  const float words = ui.beside ? std::floor(in.width() * kWordsShare) + s.px(kPadding) : place.box.width();
  draw_words(card, place, words, ui, commands);
  if (ui.beside) draw_question_beside(card, place, words, ui, commands);
  ImGui::PopID();
}

}  // namespace attn
