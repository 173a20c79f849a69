#include "viz/learn/card/card_news_draw.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "imgui.h"
#include "kernels/base/text.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

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

// Scrolls what ends below the card's `end` up until it is seen, or `top` is at the card's `begin`: to the start of a
// line, and with the headline whole or gone. `again`: the text was laid out anew since.
void scroll_up_to(float top, float bottom, float begin, float end, bool again, CardUiState& ui) {
  if (bottom <= end && (!again || ui.beside)) return;
  const float from = ImGui::GetScrollY(), most = from + top - begin, to = std::min(from + bottom - end, most);
  if (ui.beside) return ImGui::SetScrollY(to);  // a window of its own, with no headline
  ui.scrolled_to = to <= 0 ? 0 : std::min(std::max(to, ui.headline), most);
  const auto starts = std::ranges::find_if(
      ui.breaks, [&](float line) { return line + from - begin >= ui.scrolled_to && line <= bottom; });
  if (to > 0 && starts != ui.breaks.end())
    ui.scrolled_to = std::min(*starts + from - begin - style().px(kStrokes), most);
  ImGui::SetScrollY(ui.scrolled_to);
}

// What was just said comes into sight, from `top` on, where the card is too low for all of it.
void show_news(const CardScene& card, float top, float bottom, CardUiState& ui) {
  const std::string words = plain_text(card.hint) + plain_text(card.said) + plain_text(card.feedback);
  const float gap = style().px(10), begin = ImGui::GetWindowPos().y, end = begin + ImGui::GetWindowHeight();
  // In a window of another size it stands elsewhere.
  std::string news = words.empty() ? words : fmt::format("{} {:.0f} {:.0f}", words, bottom - top, end - begin);
  if (news == ui.news) return;
  const bool again = !words.empty() && ui.news.starts_with(words);
  ui.news = std::move(news);
  if (words.empty()) return;
  // With the answer that it is about, where both have room.
  if (ui.right_answer && bottom - *ui.right_answer < end - begin) top = std::min(top, *ui.right_answer);
  scroll_up_to(top - gap, bottom, begin, end, again, ui);
}

}  // namespace

void show_field(float top, float bottom, CardUiState& ui) {
  const float begin = ImGui::GetWindowPos().y, end = begin + ImGui::GetWindowHeight() - style().px(4);
  std::string place = fmt::format("{:.0f} {:.0f}", bottom + ImGui::GetScrollY() - begin, end - begin);
  if (place == ui.field_place) return;
  const bool again = !ui.field_place.empty();
  ui.field_place = std::move(place);
  scroll_up_to(top, bottom, begin, end, again, ui);
}

void draw_news(const CardScene& card, float top, Pen& pen, CardUiState& ui) {
  draw_feedback(card, ui, pen);
  show_news(card, top, pen.y, ui);
}

bool has_news_below_words(const CardScene& card, const CardUiState& ui) {
  return ui.beside && !card.open && card.asks == AskKind::tiles;
}

}  // namespace attn
