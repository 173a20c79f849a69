#include "viz/learn/card/card_head_draw.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "imgui.h"
#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

void draw_mark(ImDrawList* list, ImVec2 c, BeatMark mark, bool now, bool reached) {
  const Style& s = style();
  const bool asks = mark != BeatMark::tell && mark != BeatMark::seen;
  const ImU32 ink = colour_of(now ? Token::text : reached ? Token::dim : Token::faint);
  // What is to come is a mere point: nothing to press.
  if (!now && !reached) {
    list->AddCircleFilled(c, s.px(1.5F), ink);
    return;
  }
  if (!asks) {
    list->AddRectFilled({c.x - s.px(5), c.y - s.px(1.5F)}, {c.x + s.px(5), c.y + s.px(1.5F)}, ink, s.px(1.5F));
    return;
  }
  const float r = s.px(now ? 5 : 4);
  // An answer that was found is a disc, one that was shown a disc with a hole: never by colour alone.
  if (mark == BeatMark::known || now)
    list->AddCircleFilled(c, r, ink);
  else
    list->AddCircle(c, r, ink, 0, s.px(mark == BeatMark::shown ? 2.5F : 1.5F));
}

bool was_seen(BeatMark mark) {
  return mark != BeatMark::tell && mark != BeatMark::ask;
}

// As the foot counts them: exercises apart.
std::string words_of_beat(const CardScene& card, std::size_t n, bool reached) {
  const std::size_t exercises = card.marks.size() - card.told, exercise = n + 1 - card.told;
  if (n >= card.told)
    return reached ? phrase("To exercise {} of {}", exercise, exercises)
                   : phrase("Exercise {} of {}, not reached yet", exercise, exercises);
  return reached ? phrase("To beat {} of {}", n + 1, card.told)
                 : phrase("Beat {} of {}, not reached yet", n + 1, card.told);
}

// The way back to a beat that was seen: nothing is jumped over.
void draw_beat(ImDrawList* list, ImVec2 centre, float step, const CardScene& card, std::size_t n, const CardUiState& ui,
               Commands& commands) {
  const Style& s = style();
  const bool now = n == card.beat, seen = n < card.beat || was_seen(card.marks[n]);
  const Box box{{centre.x - step / 2, centre.y - s.px(8)}, {centre.x + step / 2, centre.y + s.px(8)}};
  ImGui::SetCursorScreenPos(box.min);
  if (!now && !seen) {
    ImGui::Dummy({box.width(), box.height()});
    if (ui.pointer_moved) tooltip(words_of_beat(card, n, false), true);
  }
  if (!now && seen) {
    const float beyond = s.px(beyond_edge(16));
    ImGui::SetCursorScreenPos({box.min.x, box.min.y - beyond});
    const auto away = static_cast<int>(n) - static_cast<int>(card.beat);
    if (ImGui::InvisibleButton(fmt::format("##lesson_beat_{}", n).c_str(), {box.width(), box.height() + 2 * beyond},
                               ImGuiButtonFlags_EnableNav))
      commands.emplace_back(GoToBeat{away});
    if (ImGui::IsItemHovered() || ImGui::IsItemFocused())
      list->AddRectFilled(box.min, box.max, colour_of(Token::field), s.px(4));
    // Above: below stands what the beat is called.
    if (ui.pointer_moved) tooltip(words_of_beat(card, n, true), true);
  }
  draw_mark(list, centre, card.marks[n], now, seen);
}

// The exercises stand apart: the foot counts them apart, too.
void draw_beats(const CardScene& card, const Box& marks, const CardUiState& ui, Pen& pen, Commands& commands) {
  const Style& s = style();
  const float apart = card.told < card.marks.size() ? 1.0F : 0.0F;
  const float step = std::min(s.px(for_finger(18)), marks.width() / (static_cast<float>(card.marks.size()) + apart));
  const float inset = 0.35F * std::min(step, s.px(18));
  for (std::size_t n = 0; n < card.marks.size(); ++n) {
    const float before = n >= card.told ? apart : 0;
    const ImVec2 centre{marks.min.x + inset + step * (static_cast<float>(n) + before), marks.centre().y};
    if (n == card.told && apart > 0) {
      const float x = centre.x - step;
      pen.list->AddLine({x, marks.min.y}, {x, marks.max.y}, colour_of(Token::line), std::max(1.0F, s.px(1)));
    }
    draw_beat(pen.list, centre, step, card, n, ui, commands);
  }
}

// A screen on its stand.
void draw_screen(ImDrawList* list, ImVec2 c, ImU32 ink) {
  const Style& s = style();
  const float w = s.px(6), line = s.px(1.5F);
  list->AddRect({c.x - w, c.y - s.px(5)}, {c.x + w, c.y + s.px(3)}, ink, s.px(1), 0, line);
  list->AddLine({c.x, c.y + s.px(3)}, {c.x, c.y + s.px(6)}, ink, line);
  list->AddLine({c.x - s.px(3.5F), c.y + s.px(6)}, {c.x + s.px(3.5F), c.y + s.px(6)}, ink, line);
}

// A printer with its page.
void draw_printer(ImDrawList* list, ImVec2 c, ImU32 ink) {
  const Style& s = style();
  const float line = s.px(1.5F), w = s.px(7), sheet = s.px(4);
  list->AddRect({c.x - w, c.y - s.px(2)}, {c.x + w, c.y + s.px(3.5F)}, ink, s.px(1.5F), 0, line);
  const ImVec2 above[] = {{c.x - sheet, c.y - s.px(2)},
                          {c.x - sheet, c.y - s.px(6)},
                          {c.x + sheet, c.y - s.px(6)},
                          {c.x + sheet, c.y - s.px(2)}};
  list->AddPolyline(above, static_cast<int>(std::size(above)), ink, ImDrawFlags_None, line);
  list->AddRectFilled({c.x - sheet, c.y + s.px(1)}, {c.x + sheet, c.y + s.px(6.5F)}, colour_of(Token::card));
  list->AddRect({c.x - sheet, c.y + s.px(1)}, {c.x + sheet, c.y + s.px(6.5F)}, ink, 0, 0, line);
}

// Behind its mark's item.
void take_print(ImDrawList* list, ImVec2 centre, bool clicked, Commands& commands) {
  const ImU32 ink = colour_of(ImGui::IsItemHovered() ? Token::text : Token::dim);
  tooltip(tr("Print the exercises of this chapter: a page, and the answers in a second file"));
  if (clicked) commands.emplace_back(Ask{Popup::print_chapter});
  draw_printer(list, centre, ink);
}

// Likewise.
void take_teach(ImDrawList* list, ImVec2 centre, bool clicked, bool on, Commands& commands) {
  const ImU32 ink = colour_of(ImGui::IsItemHovered() || on ? Token::text : Token::dim);
  tooltip(on ? for_hands(tr("Leave projector mode and restore the window. F11"),
                         tr("Leave projector mode and restore the window"))
             : for_hands(tr("Projector mode for a class. F11"), tr("Projector mode for a class")));
  if (clicked) commands.emplace_back(Teach{!on});
  draw_screen(list, centre, ink);
}

// A window with the card at its one side.
void draw_docked(ImDrawList* list, ImVec2 c, bool right, ImU32 ink) {
  const Style& s = style();
  const Box window{{c.x - s.px(7), c.y - s.px(5)}, {c.x + s.px(7), c.y + s.px(5)}};
  list->AddRect(window.min, window.max, ink, s.px(1), 0, s.px(1.5F));
  const float edge = right ? window.max.x - s.px(5) : window.min.x + s.px(5);
  list->AddRectFilled({right ? edge : window.min.x, window.min.y}, {right ? window.max.x : edge, window.max.y}, ink);
}

void draw_cross(ImDrawList* list, ImVec2 at, ImU32 ink) {
  const float arm = style().px(4.5F), thick = style().px(1.5F);
  list->AddLine({at.x - arm, at.y - arm}, {at.x + arm, at.y + arm}, ink, thick);
  list->AddLine({at.x - arm, at.y + arm}, {at.x + arm, at.y - arm}, ink, thick);
}

// Where what is pressed stands, logical, from the card's right edge to its left one; `run`: to its right one.
struct MarkPlaces {
  float side, close, dock, teach, run, all;
};

// Under a finger they stand as far apart as it is wide.
MarkPlaces mark_places(bool alone) {
  if (!by_touch()) return {22, 30, 54, 78, 86, alone ? 160.0F : 76.0F};
  constexpr float kEdge = 38, kRun = 74;
  const float teach = kEdge + (alone ? 1 : 2) * kFinger;
  return {kFinger, kEdge, kEdge + kFinger, teach, teach + 4, alone ? teach + 4 + kRun : teach};
}

std::string kind_for_hands(const CardScene& card) {
  if (!by_touch() || card.teach || !card.asks) return card.kind;
  if (*card.asks == AskKind::pick) return tr("Predict: choose one");
  return *card.asks == AskKind::click ? tr("Predict: tap it, or choose here") : card.kind;
}

}  // namespace

void draw_card_head(const CardScene& card, const Box& box, bool right, bool alone, Pen& pen, CardUiState& ui,
                    Commands& commands) {
  const Style& s = style();
  const Box head = pen.line(22);
  float x = head.min.x;
  if (!card.number.empty()) {
    draw_text(pen.list, {x, head.min.y}, Face::bold, 14, colour_of(Token::text), card.number);
    x += text_width(Face::bold, 14, card.number) + s.px(8);
  }
  const MarkPlaces places = mark_places(alone);
  // A class has no use for paper, and a chapter without exercises none to print.
  const bool prints = !card.teach && card.told < card.marks.size();
  const float marks_width = places.all + (prints ? places.side + 2 : 0);
  // Where a title has no room beside the marks it has a line of its own.
  const float room = head.max.x - s.px(marks_width) - x;
  const std::string whole = phrase("{}, {} min", card.title, card.minutes);
  const bool own_line = text_width(Face::text, 14, whole) > room;
  const std::string minutes = phrase("{} min", card.minutes);
  // A number that is cut is another number: the minutes then stand behind the title.
  const bool minutes_here = text_width(Face::text, 14, minutes) <= room;
  if (minutes_here || !own_line)
    draw_text(pen.list, {x, head.min.y}, Face::text, 14, colour_of(Token::dim), own_line ? minutes : whole);
  // The head is the handle: dropped on the other half of the window, the card docks there.
  ImGui::SetCursorScreenPos(head.min);
  ImGui::SetNextItemAllowOverlap();
  ImGui::InvisibleButton("##lesson_head", {head.width() - s.px(marks_width), head.height()});
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    ui.dragged = true;
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeAll);
  }
  if (ui.dragged && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    ui.dragged = false;
    const ImGuiViewport* viewport = ImGui::GetMainViewport();
    const bool there = ImGui::GetMousePos().x > viewport->Pos.x + viewport->Size.x / 2;
    if (there != right) commands.emplace_back(DockCard{there});
  }
  const auto mark = [&](float from_right, const char* id) {
    const float beyond = s.px(beyond_edge(25));
    const Box b{{box.max.x - s.px(from_right), head.min.y - s.px(3) - beyond},
                {box.max.x - s.px(from_right - places.side), head.max.y + beyond}};
    ImGui::SetCursorScreenPos(b.min);
    const bool clicked = ImGui::InvisibleButton(id, {b.width(), b.height()}, ImGuiButtonFlags_EnableNav);
    return std::pair(b.centre(), clicked);
  };
  if (prints) {
    const auto [printer, print] = mark(places.all + places.side + 4, "##lesson_print");
    take_print(pen.list, printer, print, commands);
  }
  const auto [screen, teach] = mark(places.teach, "##lesson_teach");
  take_teach(pen.list, screen, teach, card.teach, commands);
  if (alone) {
    const float beyond = s.px(beyond_edge(28));
    const Box see{{box.max.x - s.px(places.all), head.min.y - s.px(4) - beyond},
                  {box.max.x - s.px(places.run), head.max.y + s.px(2) + beyond}};
    if (key_button(see, "##lesson_run", tr("Run"), "V") || letter_pressed(ImGuiKey_V)) ui.run_shown = true;
    tooltip(tr("Fills the window with the beat's subject"));
  } else {
    const auto [side, move] = mark(places.dock, "##lesson_side");
    const ImU32 side_ink = colour_of(ImGui::IsItemHovered() ? Token::text : Token::dim);
    tooltip(right ? tr("Dock the card to the left") : tr("Dock the card to the right"));
    if (move) commands.emplace_back(DockCard{!right});
    draw_docked(pen.list, side, !right, side_ink);
  }
  const auto [cross, close] = mark(places.close, "##lesson_close");
  const ImU32 ink = colour_of(ImGui::IsItemHovered() ? Token::text : Token::dim);
  tooltip(tr("Leave the chapter and restore your own problem"));
  if (close) commands.emplace_back(LeaveLesson{});
  draw_cross(pen.list, cross, ink);
  pen.gap(beyond_edge(28));
  if (own_line) {
    const Box line = pen.line(20);
    const bool both = !minutes_here && text_width(Face::text, 14, whole) <= line.width();
    draw_text(pen.list, line.min, Face::text, 14, colour_of(Token::dim),
              fitted_text(Face::text, 14, both ? whole : card.title, line.width()));
  }
  pen.gap(4);
  const Box marks = pen.line(12);
  draw_beats(card, marks, ui, pen, commands);
  pen.gap(12);
}

void draw_question_head(const CardScene& card, bool low, bool takes_keys, Pen& pen, Commands& commands) {
  if (card.away) {
    // Enter stays the card's large button's.
    if (key_button(pen.line(for_finger(kCardButton)), "##lesson_return", tr("Back to the chapter"), "Backspace") ||
        (takes_keys && !ImGui::GetIO().WantTextInput && key_pressed(ImGuiKey_Backspace)))
      commands.emplace_back(BackToLesson{});
    pen.gap(12);
  }
  if (!card.kind.empty() && !low) pen.small_words(kind_for_hands(card));
  const float top = pen.y;
  pen.words(card.headline, pen.sizes.headline, 8);
  pen.keep_whole(top);
}

void draw_run_head(const CardScene& card, const Box& box, CardUiState& ui) {
  const Style& s = style();
  const float wide = s.px(by_touch() ? 140 : 176);
  const Box back{box.min, {box.min.x + wide, box.max.y}};
  if (key_button(back, "##lesson_to_card", tr("Back to the card"), "V") || letter_pressed(ImGuiKey_V) ||
      key_pressed(ImGuiKey_Backspace))
    ui.run_shown = false;
  const float left = back.max.x + s.px(12);
  const Box words{{left, box.min.y}, box.max};
  const std::string headline = plain_text(card.headline);
  // What is asked is whole where further lines have room.
  const TextRuns runs{{headline, Face::text, Token::dim, 0, false}};
  for (const float size : {14.0F, 13.0F, 12.0F, 11.0F}) {
    constexpr int kAll = 9;
    const float high = draw_paragraph(nullptr, {}, words.width(), size, runs, kAll, false);
    if (high > words.height() || !by_touch()) continue;
    draw_paragraph(ImGui::GetWindowDrawList(), {left, words.centre().y - high / 2}, words.width(), size, runs, kAll);
    return;
  }
  draw_text_in(ImGui::GetWindowDrawList(), words, Align::left, Face::text, 14, colour_of(Token::dim),
               fitted_text(Face::text, 14, headline, words.width()));
}

}  // namespace attn
