#include "viz/learn/card/card_foot_draw.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "imgui.h"
#include "kernels/base/text.h"
#include "kernels/model/inputs/input_spec.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/learn/lesson/door.h"

namespace attn {
namespace {

bool roomy(const ActionBoxes& boxes) {
  return boxes.main.width() >= style().px(140);
}

// Where the foot's large button leads. Of a chapter its name comes first: the key makes way for it.
struct NextWords {
  std::string words;
  bool key = true;
};
NextWords words_of_next(const CardScene& card, const Box& button) {
  if (card.to_exercises) return {tr("Exercises")};
  if (card.beat + 1 < card.marks.size()) return {tr("Next")};
  if (card.next_title.empty()) return {tr("Finish")};
  const float inset = style().px(28), key = style().px(44);
  const std::string named = phrase("Next: {}", card.next_title);
  const auto fits = [&](const std::string& words, float room) { return text_width(Face::bold, 14, words) <= room; };
  if (const std::string whole = phrase("Next: {}, {} min", card.next_title, card.next_minutes);
      fits(whole, button.width() - inset - key))
    return {whole};
  if (fits(named, button.width() - inset - key)) return {named};
  const float room = button.width() - inset;
  return {fitted_text(Face::bold, 14, fits(named, room) ? named : card.next_title, room), false};
}

// Check, hint, show.
void draw_check(const CardScene& card, const ActionBoxes& boxes, bool takes_keys, CardUiState& ui, Commands& commands) {
  const bool ready = *card.asks == AskKind::num ? !ui.typed.empty()
                                                : std::any_of(card.options.begin(), card.options.end(),
                                                              [](const CardOption& o) { return o.chosen; });
  bool check = accent_button(boxes.main, "##lesson_check", tr("Check"), ready, roomy(boxes) ? "Enter" : "");
  if (takes_keys && !ImGui::GetIO().WantTextInput)
    check |= key_pressed(ImGuiKey_Enter) || key_pressed(ImGuiKey_KeypadEnter);
  if (check && ready) commands.emplace_back(CheckAnswer{ui.typed});
  if (card.can_hint) {
    if (key_button(boxes.hint, "##lesson_hint", tr("Hint"), roomy(boxes) ? "H" : "") || letter_pressed(ImGuiKey_H))
      commands.emplace_back(ShowHint{});
  }
  if (key_button(boxes.show, "##lesson_show", roomy(boxes) ? tr("Show me") : tr("Show"), roomy(boxes) ? "W" : "") ||
      letter_pressed(ImGuiKey_W))
    commands.emplace_back(ShowAnswer{});
}

// Of a class: reveal, hint. A presenter has two keys: Page Down reveals, and then goes on.
void draw_reveal(const CardScene& card, const ActionBoxes& boxes, bool takes_keys, const CardUiState& ui,
                 Commands& commands) {
  bool reveal = accent_button(boxes.main, "##lesson_reveal", tr("Reveal"), true, "PgDn");
  if (takes_keys && !ImGui::GetIO().WantTextInput)
    reveal |= key_pressed(ImGuiKey_Enter) || key_pressed(ImGuiKey_KeypadEnter);
  reveal |= letter_pressed(ImGuiKey_W) || key_pressed(ImGuiKey_PageDown);
  if (reveal) commands.emplace_back(ShowAnswer{ui.typed});
  if (card.can_hint && (key_button(boxes.hint, "##lesson_hint", tr("Hint"), "H") || letter_pressed(ImGuiKey_H)))
    commands.emplace_back(ShowHint{});
}

constexpr float kDoor = 34;  // logical

// To what its door opens: the lesson ends here.
void draw_door(const CardScene& card, const Box& box, Commands& commands) {
  const std::string words = fitted_text(Face::text, 13, card.door_words, box.width() - style().px(16));
  if (!box_button(box, "##lesson_door", words.c_str())) return;
  commands.emplace_back(LeaveLesson{});
  open_by_door(card.door, commands);
}

// Which beat it is, and to a class how many are left.
void draw_place(ImDrawList* list, const CardScene& card, const Box& box) {
  const std::size_t number = card.beat + 1;
  // The map counts what is told alone, too.
  const std::size_t left = (number > card.told ? card.marks.size() : card.told) - number;
  const std::string words = number > card.told
                                ? phrase("Exercise {} of {}", number - card.told, card.marks.size() - card.told)
                                : phrase("{} of {}", number, card.told);
  const auto line = [&](const Box& at, Token ink, const std::string& text) {
    draw_text_in(list, at, Align::centre, Face::text, 13, colour_of(ink), text);
  };
  if (!card.teach) return line(box, Token::dim, words);
  const float middle = box.centre().y;
  line({box.min, {box.max.x, middle}}, Token::text, words);
  line({{box.min.x, middle}, box.max}, Token::dim, left == 0 ? tr("the last one") : phrase("{} left", left));
}

}  // namespace

void open_by_door(const std::string& door, Commands& commands) {
  if (const auto timeline = timeline_of_door(door)) {
    commands.emplace_back(ChooseWorkspace{Workspace::profile});
    commands.emplace_back(ChooseProfilePage{ProfilePage::timeline});
    commands.emplace_back(CompareTimeline{});
    commands.emplace_back(ChooseTimeline{std::string(*timeline)});
    return;
  }
  commands.emplace_back(ChooseWorkspace{Workspace::step});
  commands.emplace_back(ChoosePreset{door, true});
  if (door != "words") return;
  // At the end, on a word that was there before: its arcs of both heads say what they are about.
  const auto words = sentence_words({});
  if (!words) return;
  Selection selection;
  for (std::size_t n = 0; n < words->size(); ++n)
    if (std::find(words->begin(), words->begin() + static_cast<std::ptrdiff_t>(n), (*words)[n]) !=
        words->begin() + static_cast<std::ptrdiff_t>(n))
      selection.row = static_cast<std::int32_t>(n);
  commands.emplace_back(Select{selection});
  commands.emplace_back(GoToEnd{true});
}

ActionBoxes boxes_below(const CardScene& card, Pen& pen) {
  const Style& s = style();
  ActionBoxes boxes;
  boxes.main = pen.line(for_finger(kCardButton));
  pen.gap(6);
  if (!card.teach || card.can_hint) boxes.hint = boxes.show = pen.line(for_finger(kFootButton));
  const float half = (boxes.hint.width() - s.px(6)) / 2;
  if (!card.teach && card.can_hint) {
    boxes.hint.max.x = boxes.hint.min.x + half;
    boxes.show.min.x = boxes.show.max.x - half;
  }
  pen.gap(12);
  return boxes;
}

ActionBoxes boxes_in_line(const CardScene& card, const Box& line) {
  const float gap = style().px(6), part = (line.width() - 2 * gap) / 3;
  ActionBoxes boxes{line, line, line};
  boxes.show.min.x = line.max.x - part;
  boxes.hint.min.x = line.min.x + part + gap;
  boxes.hint.max.x = boxes.hint.min.x + part;
  if (card.teach) boxes.hint = boxes.show;  // a class is shown by the one that reveals
  boxes.main.max.x = card.can_hint ? boxes.hint.min.x - gap : card.teach ? line.max.x : boxes.show.min.x - gap;
  return boxes;
}

void draw_actions(const CardScene& card, const ActionBoxes& boxes, bool takes_keys, CardUiState& ui,
                  Commands& commands) {
  card.teach ? draw_reveal(card, boxes, takes_keys, ui, commands) : draw_check(card, boxes, takes_keys, ui, commands);
}

float height_over_foot(const CardScene& card) {
  if (card.open) return 0;
  return for_finger(kCardButton) + 8 + (card.door.empty() ? 0.0F : for_finger(kDoor) + 8);
}

void draw_foot(const CardScene& card, const Box& box, bool one_line, bool takes_keys, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool field = ImGui::GetIO().WantTextInput;
  const float height = s.px(for_finger(kFootButton)), third = one_line ? s.px(kFootEnd) : box.width() / 3;
  const Box line{{box.min.x, box.max.y - height}, box.max};
  const Box back{line.min, {line.min.x + third - s.px(4), line.max.y}};
  if (card.beat > 0) {
    if (box_button(back, "##lesson_back", tr("Back")) || ((card.teach || !field) && key_pressed(ImGuiKey_PageUp)))
      commands.emplace_back(GoToBeat{-1});
  }
  const Box middle{{back.max.x, line.min.y}, {line.max.x - third, line.max.y}};
  if (!one_line) draw_place(list, card, middle);
  const Box next{{line.max.x - third + s.px(4), line.min.y}, line.max};
  if (card.open) {
    // A question can be left for later: nothing is locked.
    if (box_button(next, "##lesson_skip", tr("Skip")) || (!field && !card.teach && key_pressed(ImGuiKey_PageDown)))
      commands.emplace_back(GoToBeat{1});
    return;
  }
  const float top = line.min.y - s.px(8);
  const float aside = s.px(kFootEnd + 4);
  const Box accent = one_line ? Box{{line.min.x + aside, line.min.y}, {line.max.x - aside, line.max.y}}
                              : Box{{box.min.x, top - s.px(for_finger(kCardButton))}, {box.max.x, top}};
  const NextWords words = words_of_next(card, accent);
  bool go = accent_button(accent, "##lesson_next", words.words.c_str(), true,
                          !words.key   ? ""
                          : card.teach ? "PgDn"
                                       : "Enter");
  if (takes_keys && !field) go |= key_pressed(ImGuiKey_Enter) || key_pressed(ImGuiKey_KeypadEnter);
  if (card.teach || !field) go |= key_pressed(ImGuiKey_PageDown);
  if (go) commands.emplace_back(GoToBeat{1});
  // In one line it stands where a question would be asked again.
  const Box door =
      one_line ? next
               : Box{{box.min.x, accent.min.y - s.px(8 + for_finger(kDoor))}, {box.max.x, accent.min.y - s.px(8)}};
  if (!card.door.empty() && !(one_line && card.can_repeat)) draw_door(card, door, commands);
  if (card.can_repeat) {
    if (key_button(next, "##lesson_again", tr("Again"), "R") || letter_pressed(ImGuiKey_R))
      commands.emplace_back(AskAgain{});
  }
}

void draw_hands(const CardScene& card, Pen& pen, Commands& commands) {
  if (*card.asks == AskKind::pick || *card.asks == AskKind::click) {
    const char* counting = for_hands(tr("Show of hands: count with digits or clicks"),
                                     tr("Show of hands: tap an answer once for each hand"));
    const std::string counted = plural(card.votes, "{} hand counted", "{} hands counted");
    pen.small_words(card.votes == 0 ? counting : counted + for_hands(tr("; - undoes one"), ""));
    if (key_pressed(ImGuiKey_Minus) || key_pressed(ImGuiKey_KeypadSubtract)) commands.emplace_back(TakeBackVote{});
  }
}

}  // namespace attn
