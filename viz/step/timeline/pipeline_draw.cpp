#include "viz/step/timeline/pipeline_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/timeline/pipeline_note_draw.h"

namespace attn {
namespace {

constexpr float kNode = 24, kToken = 18, kArrow = 14, kHeadLine = 16, kHeadText = 13;  // logical
constexpr float kTurn = 10, kTokenPad = 6;  // of a loop's ends from their arrows; of a token's words from its edge
constexpr float kRing = 4;                  // around the live node, logical: how far it reaches
constexpr int kMostHeadLines = 2;
constexpr float kRow = 196, kTwoRows = 388, kCardPad = 16;  // of a card

// Of a card that is low: its loops have one row of nodes each, and their names stand on the way back.
constexpr float kLowNode = 20, kLowToken = 16, kLowArrow = 8, kLowBack = 10, kLowPad = 4;
constexpr int kNoHead = -1;  // lines of a loop's head

// All in one row.
std::vector<Box> low_places(const Box& in, std::size_t nodes) {
  const Style& s = style();
  const auto count = static_cast<float>(nodes);
  const float gap = s.px(kLowArrow), width = (in.width() - gap * (count - 1)) / count;
  const float top = in.min.y + s.px(kLowToken + 2);
  std::vector<Box> places;
  for (float x = in.min.x; places.size() < nodes; x += width + gap)
    places.push_back({{x, top}, {x + width, top + s.px(kLowNode)}});
  return places;
}

// Places of the nodes: the first half above, from left to right, the others below, back.
std::vector<Box> loop_places(const Box& in, std::size_t nodes) {
  const Style& s = style();
  const std::size_t above = (nodes + 1) / 2;
  const float gap = s.px(kArrow), height = s.px(kNode);
  const float width = (in.width() - gap * static_cast<float>(above - 1)) / static_cast<float>(above);
  std::vector<Box> places;
  for (std::size_t n = 0; n < nodes; ++n) {
    const bool upper = n < above;
    // The lower row may have one node fewer: its nodes share the whole width.
    const std::size_t in_row = upper ? above : nodes - above, at = upper ? n : in_row - 1 - (n - above);
    const float wide = upper ? width : (in.width() - gap * static_cast<float>(in_row - 1)) / static_cast<float>(in_row);
    const float x = in.min.x + static_cast<float>(at) * (wide + gap), y = upper ? in.min.y : in.max.y - height;
    places.push_back({{x, y}, {x + wide, y + height}});
  }
  return places;
}

void draw_head(ImDrawList* list, ImVec2 tip, ImVec2 along, ImU32 c) {
  const float a = style().px(4), b = style().px(2.5F);
  const ImVec2 back{tip.x - along.x * a, tip.y - along.y * a};
  list->AddTriangleFilled(tip, {back.x - along.y * b, back.y + along.x * b},
                          {back.x + along.y * b, back.y - along.x * b}, c);
}

void draw_loop_arrows(ImDrawList* list, std::span<const Box> places) {
  const Style& s = style();
  const ImU32 c = colour_of(Token::faint);
  const float thick = std::max(1.0F, s.px(1)), off = s.px(2);
  const bool low = std::fabs(places.front().min.y - places.back().min.y) < 1;
  for (std::size_t n = 0; n + (low ? 1 : 0) < places.size(); ++n) {
    const Box &a = places[n], &b = places[(n + 1) % places.size()];
    const bool same = std::fabs(a.min.y - b.min.y) < 1;
    const bool right = b.min.x > a.min.x, down = b.min.y > a.min.y;
    ImVec2 from, to, along;
    if (same) {
      from = {right ? a.max.x + off : a.min.x - off, a.centre().y};
      to = {right ? b.min.x - off : b.max.x + off, b.centre().y};
      along = {right ? 1.0F : -1.0F, 0};
    } else {
      // Down at the right end, up at the left one.
      const float x = down ? std::min(a.max.x, b.max.x) - s.px(kTurn) : std::max(a.min.x, b.min.x) + s.px(kTurn);
      from = {x, down ? a.max.y + off : a.min.y - off};
      to = {x, down ? b.min.y - off : b.max.y + off};
      along = {0, down ? 1.0F : -1.0F};
    }
    list->AddLine(from, to, c, thick);
    draw_head(list, to, along, c);
  }
  if (!low) return;
  // Back below them.
  const Box &first = places.front(), &last = places.back();
  const float y = first.max.y + s.px(kLowBack), left = first.centre().x, right = last.centre().x;
  list->AddLine({right, last.max.y + off}, {right, y}, c, thick);
  list->AddLine({right, y}, {left, y}, c, thick);
  list->AddLine({left, y}, {left, first.max.y + off}, c, thick);
  draw_head(list, {left, first.max.y + off}, {0, -1}, c);
}

// As draw_runs_in() draws them, all in one colour.
void draw_runs_on(ImDrawList* list, const Box& box, float size, const TextRuns& words, ImU32 c) {
  float x = box.centre().x - runs_width(words, size) / 2;
  for (const TextRun& run : words) {
    const float own = run.face == Face::maths ? size * kMathsSize : size, wide = text_width(run.face, own, run.text);
    draw_text_in(list, {{x, box.min.y}, {x + wide, box.max.y}}, Align::left, run.face, own, c, run.text);
    x += wide;
  }
}

// The words of all nodes, or of all the brief ones where one has no room for its own.
std::vector<TextRuns> node_words(const Loop& loop, std::span<const Box> places) {
  constexpr float kLeast = 11;
  bool brief = false;
  std::vector<TextRuns> words;
  for (std::size_t n = 0; n < places.size(); ++n) {
    words.push_back(loop.nodes[n].words);
    brief = brief || (!loop.nodes[n].brief.empty() && runs_width(words[n], kLeast) > places[n].width() - style().px(4));
  }
  for (std::size_t n = 0; n < places.size(); ++n)
    if (brief && !loop.nodes[n].brief.empty()) words[n] = loop.nodes[n].brief;
  return words;
}

// A wait is an outline, what does something is filled; pale where nothing stands.
void draw_node(ImDrawList* list, const Box& box, const LoopNode& node, TextRuns words, bool taken, bool live) {
  const Style& s = style();
  const ImU32 hue = colour_of(node.ink);
  if (!node.waits && taken) {
    list->AddRectFilled(box.min, box.max, hue, s.px(4));
    for (TextRun& run : words) run.ink = Token::text;
  } else {
    list->AddRectFilled(box.min, box.max, faded(hue, taken ? 0.22F : 0.07F), s.px(4));
    draw_outline(list, box, faded(hue, taken ? 1.0F : 0.45F), node.waits ? 1.5F : 1, 4);
  }
  float size = 13;
  while (size > 9 && runs_width(words, size) > box.width() - s.px(4)) size -= 1;
  if (!node.waits && taken) {
    // On its fill the letter has the fill's own contrast, in its own face.
    draw_runs_on(list, box, size, words, text_on(hue));
  } else {
    draw_runs_in(list, box, Align::centre, size, words);
  }
  if (live) draw_outline(list, box.grown(s.px(kRing - 1)), colour_of(Token::text), 2, 6);
}

// Where a ring's tokens stand close: their words, else what is brief, else the letter and its tile alone.
enum class TokenForm : std::uint8_t { words, brief, least };
TextRuns token_words(const LoopToken& token, TokenForm form) {
  TextRuns words = form == TokenForm::words || token.brief.empty() ? token.words : token.brief;
  if (form == TokenForm::least && words.size() > 2) words.resize(2);
  for (TextRun& run : words) run.ink = kTokenInk;  // its colour is that of fill and edge
  return words;
}
float token_width(const LoopToken& token, TokenForm form, bool low) {
  return runs_width(token_words(token, form), low ? 11 : 12) + style().px(low ? 8 : 2 * kTokenPad);
}

// Above a node, or below it. A slot says what it holds, and leads to where that came.
void draw_token(const Box& place, const LoopToken& token, TokenForm form, const std::string& id, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool of_lane = token.ink == Ink(Token::text);
  list->AddRectFilled(place.min, place.max, of_lane ? colour_of(Token::field) : faded(colour_of(token.ink), kTokenFill),
                      s.px(4));
  draw_outline(list, place, token.live ? colour_of(Token::text) : faded(colour_of(token.ink), 0.7F),
               token.live ? 1.5F : 1, 4);
  const TextRuns words = token_words(token, form);
  float size = 12;
  while (size > 9 && runs_width(words, size) > place.width() - s.px(4)) size -= 1;
  draw_runs_in(list, place, Align::centre, size, words);
  if (token.tip.empty()) return;
  ImGui::SetCursorScreenPos(place.min);
  const bool pressed = ImGui::InvisibleButton(id.c_str(), {place.width(), place.height()}, ImGuiButtonFlags_EnableNav);
  if (pressed && token.leads_to) commands.push_back(GoToEvent{*token.leads_to});
  if (ImGui::IsItemHovered()) draw_outline(list, place, colour_of(Token::text), 1, 4);
  tooltip(token.tip, true);
}

// Of a loop of two rows: its arrow down at the right end, and the one up at the left one.
struct TurnArrows {
  float up, down;  // x
};
TurnArrows turn_arrows(std::span<const Box> places) {
  const std::size_t above = (places.size() + 1) / 2;
  return {std::max(places.front().min.x, places.back().min.x) + style().px(kTurn),
          std::min(places[above - 1].max.x, places[above].max.x) - style().px(kTurn)};
}

// Where a token between the rows begins: as far from those arrows as its words are from its edge.
float beside_arrows(float left, float width, const TurnArrows& at) {
  const float gap = style().px(kTokenPad), middle = (at.up + at.down) / 2;
  if (left < middle) left = std::max(left, std::min(at.up + gap, middle));
  return left + width > middle ? std::min(left, std::max(at.down - gap, middle) - width) : left;
}

// Tokens of one node side by side, centred. A consumer's stand above or below by its number, so that two never meet.
void draw_tokens(const Loop& loop, std::span<const Box> places, const char* id, bool by_lane, const Box& in,
                 Commands& commands) {
  const Style& s = style();
  const bool low = std::fabs(places.front().min.y - places.back().min.y) < 1;
  const std::size_t above = low ? places.size() : (places.size() + 1) / 2;
  const float height = low ? kLowToken : kToken, beside = low ? 2 : 3;
  for (std::size_t n = 0; n < places.size(); ++n) {
    std::vector<const LoopToken*> here;
    for (const LoopToken& token : loop.tokens)
      if (token.node == n) here.push_back(&token);
    // Clear of the ring around the live node.
    const float off = std::ranges::any_of(here, &LoopToken::live) ? kRing + 2 : beside;
    float x = 0, total = 0;
    const float most = places[n].width() + s.px(kArrow);
    TokenForm form = TokenForm::words;
    for (const TokenForm tried : {TokenForm::words, TokenForm::brief, TokenForm::least}) {
      if (low && tried == TokenForm::words) continue;
      form = tried;
      total = 0;
      for (const LoopToken* t : here) total += token_width(*t, form, low) + s.px(4);
      if (by_lane || total <= most) break;
    }
    const float squeeze = !by_lane && total > most ? most / total : 1;
    x = places[n].centre().x - total * squeeze / 2;
    for (const LoopToken* t : here) {
      const bool up = by_lane ? t->lane % 2 == 0 : n < above;
      const float top = up ? places[n].min.y - s.px(height + off) : places[n].max.y + s.px(off);
      float w = token_width(*t, form, low) * squeeze, left = x;
      if (by_lane) left = std::clamp(places[n].centre().x - w / 2, in.min.x, std::max(in.min.x, in.max.x - w));
      if (by_lane && !low && up != (n < above)) left = beside_arrows(left, w, turn_arrows(places));
      draw_token({{left, top}, {left + w, top + s.px(height)}}, *t, form,
                 fmt::format("##{}_token_{}", id, t - loop.tokens.data()), commands);
      x += w + s.px(4) * squeeze;
    }
  }
}

TextRuns head_words(const Loop& loop) {
  return loop.aside.empty() ? TextRuns{word(loop.what)} : loop.aside;
}

// Its name, and what it is: beside the name, or below it where `lines` leaves room, or not at all.
void draw_loop_head(ImDrawList* list, const Box& in, const Loop& loop, int lines) {
  constexpr float kSize = kHeadText, kBelow = 12;
  draw_text(list, in.min, Face::bold, kSize, colour_of(Token::text), loop.title);
  const float title = text_width(Face::bold, kSize, loop.title) + style().px(8);
  const TextRuns runs = head_words(loop);
  if (title + runs_width(runs, kSize) <= in.width()) {
    draw_runs(list, {in.min.x + title, in.min.y}, kSize, runs);
    return;
  }
  const float top = in.min.y + style().px(kHeadLine);
  const float height = draw_paragraph(list, {in.min.x, top}, in.width(), kBelow, runs, kMostHeadLines + 1, false);
  if (height <= style().px(kHeadLine * static_cast<float>(lines)) + 1)
    draw_paragraph(list, {in.min.x, top}, in.width(), kBelow, runs, lines);
}

// On the way back, clear of the tokens there: in its middle, else nearer to one end.
void draw_low_name(ImDrawList* list, const Loop& loop, std::span<const Box> places, bool by_lane) {
  const Style& s = style();
  const float width = text_width(Face::bold, 12, loop.title) + s.px(8), y = places.front().max.y + s.px(kLowBack);
  for (const std::size_t n : {places.size() / 2, places.size() - 2, std::size_t{1}}) {
    const float middle =
        n == places.size() / 2 ? (places.front().min.x + places.back().max.x) / 2 : places[n].centre().x;
    const bool taken = by_lane && std::ranges::any_of(loop.tokens, [&](const LoopToken& t) {
                         const float reach = (width + token_width(t, TokenForm::brief, true)) / 2;
                         return t.lane % 2 != 0 && std::fabs(places[t.node].centre().x - middle) < reach;
                       });
    if (taken) continue;
    const Box patch{{middle - width / 2, y - s.px(8)}, {middle + width / 2, y + s.px(8)}};
    list->AddRectFilled(patch.min, patch.max, colour_of(Token::card));
    return draw_text_in(list, patch, Align::centre, Face::bold, 12, colour_of(Token::text), loop.title);
  }
}

// `lines`: that its head has below its name.
void draw_loop(const Box& in, const Loop& loop, const char* id, bool by_lane, int lines, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (lines != kNoHead) draw_loop_head(list, in, loop, lines);
  const float head = 24 + kHeadLine * static_cast<float>(lines);
  const Box nodes{{in.min.x, in.min.y + s.px(head + kToken)}, {in.max.x, in.max.y - s.px(kToken + 4)}};
  const std::vector<Box> places =
      lines == kNoHead ? low_places(in, loop.nodes.size()) : loop_places(nodes, loop.nodes.size());
  const std::vector<TextRuns> words = node_words(loop, places);
  draw_loop_arrows(list, places);
  if (lines == kNoHead) draw_low_name(list, loop, places, by_lane);
  for (std::size_t n = 0; n < places.size(); ++n) {
    bool taken = false, live = false;
    for (const LoopToken& t : loop.tokens)
      if (t.node == n) taken = true, live = live || t.live;
    draw_node(list, places[n], loop.nodes[n], words[n], taken, live);
    if (!loop.nodes[n].next) continue;
    ImGui::SetCursorScreenPos(places[n].min);
    if (ImGui::InvisibleButton(fmt::format("##{}_{}", id, n).c_str(), {places[n].width(), places[n].height()},
                               ImGuiButtonFlags_EnableNav))
      commands.push_back(GoToEvent{*loop.nodes[n].next});
    tooltip(tr("Go to the next step in this state"));
  }
  draw_tokens(loop, places, id, by_lane, in, commands);
}

// ---- the card

constexpr float kNoteLine = 18, kBeforeNote = 16;  // logical

// How a card holds its loops: side by side, or in a narrow one the consumers below the others; its note in one line,
// or where there is height in a narrow one as long as it is.
struct CardForm {
  bool two_rows = false;
  int lines = 0;         // of a head, below its name
  float note = 0;        // pixels; 0: one line
  bool in_head = false;  // the note
  float height = kRow;   // logical
};
constexpr float kOneLine = 1000;  // logical: so wide that nothing needs a second line
constexpr float kBetweenLoops = 34, kBetweenLow = 22;
constexpr std::array kShares{0.21F, 0.21F, 0.58F}, kLowShares{0.235F, 0.235F, 0.53F};

float head_width(const Loop& loop) {
  return text_width(Face::bold, kHeadText, loop.title) + style().px(8) + runs_width(head_words(loop), kHeadText);
}

// The note stands at the right of the consumers' head where it usually has room: whatever it says, so nothing moves.
CardForm wide_form(float width) {
  constexpr float kNoteRoom = 340;  // logical
  const Style& s = style();
  const float head = s.px(width - 2 * kCardPad - 2 * kBetweenLoops) * kShares.back();
  if (head_width(consumer_loop()) + s.px(kBeforeNote + kNoteRoom) > head) return {};
  return {.in_head = true, .height = kRow - kNoteLine};
}

CardForm form_of(const PipelineView& view, float width, float most) {
  constexpr float kLeastRow = 660;
  if (width >= kOneLine) return wide_form(width);
  const Style& s = style();
  const float note = draw_note(nullptr, {0, 0}, s.px(width - 2 * kCardPad), view.note, false);
  const float more = std::max(0.0F, note / s.scale + 4 - kNoteLine);
  if (width < kLeastRow && most >= kTwoRows + more) return {true, kMostHeadLines, note, false, kTwoRows + more};
  if (most >= kRow + kHeadLine + more) return {false, 1, note, false, kRow + kHeadLine + more};
  return {};
}

struct LoopPlace {
  const Loop* loop;
  const char* id;
  Box box;
  int lines;
};

std::array<LoopPlace, 3> loops_in(const Box& in, const PipelineView& view, const CardForm& form) {
  const Style& s = style();
  std::array<LoopPlace, 3> places{{{&view.producer, "loop_producer", in, form.lines},
                                   {&view.ring, "loop_ring", in, form.lines},
                                   {&view.consumers, "loop_consumers", in, form.lines}}};
  auto& [producer, ring, consumers] = places;
  if (form.two_rows) {
    // Between a consumer's upper and lower nodes two of their tokens have room one under the other.
    constexpr float kBetween = 12, kGap = 22, kConsumers = 174;
    const float middle = in.centre().x, low = in.max.y - s.px(kConsumers + kBetween);
    producer.box.max = {middle - s.px(kGap) / 2, low};
    ring.box = {{middle + s.px(kGap) / 2, in.min.y}, {in.max.x, low}};
    consumers.box.min.y = low + s.px(kBetween);
    consumers.lines = 1;
    return places;
  }
  const bool low = form.lines == kNoHead;
  const float gap = s.px(low ? kBetweenLow : kBetweenLoops), shared = in.width() - 2 * gap;
  float x = in.min.x;
  for (std::size_t n = 0; n < places.size(); ++n) {
    Box& place = places.at(n).box;
    place.min.x = x;
    place.max.x = x + shared * (low ? kLowShares : kShares).at(n);
    x = place.max.x + gap;
  }
  return places;
}

// At the right of a loop's head.
void draw_note_beside(ImDrawList* list, const LoopPlace& place, const PipelineNote& note) {
  const Style& s = style();
  const float left = place.box.min.x + head_width(*place.loop) + s.px(kBeforeNote), top = place.box.min.y + s.px(1);
  draw_note_line(list, {{left, top}, {place.box.max.x, top + s.px(kHeadLine)}}, note, Align::right);
}

}  // namespace

float pipeline_card_height(const Recording& rec, float width, float most) {
  if (width >= kOneLine) return wide_form(width).height;
  return form_of(pipeline_view(rec, 0), width, most).height;
}

void draw_pipeline_card(const Box& box, const PipelineView& view, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  list->PushClipRect(box.min, box.max, true);
  if (box.height() < s.px(kLowPipelineCard) + 1) {
    const Box low{{box.min.x + s.px(kCardPad), box.min.y + s.px(kLowPad)}, {box.max.x - s.px(kCardPad), box.max.y}};
    for (const LoopPlace& place : loops_in(low, view, {.lines = kNoHead}))
      draw_loop(place.box, *place.loop, place.id, place.loop == &view.consumers, kNoHead, commands);
    return list->PopClipRect();
  }
  Box in{{box.min.x + s.px(kCardPad), box.min.y + s.px(10)}, {box.max.x - s.px(kCardPad), box.max.y - s.px(8)}};
  const CardForm form = form_of(view, box.width() / s.scale, box.height() / s.scale + 0.5F);
  if (form.note > 0) {
    draw_note(list, {in.min.x, in.max.y - form.note}, in.width(), view.note, true);
    in.max.y -= form.note + s.px(4);
  } else if (!form.in_head && in.height() >= s.px(150)) {
    draw_note_line(list, {{in.min.x, in.max.y - s.px(14)}, in.max}, view.note, Align::left);
    in.max.y -= s.px(kNoteLine);
  }
  std::array<LoopPlace, 3> places = loops_in(in, view, form);
  Loop consumers = view.consumers;
  places.back().loop = &consumers;
  if (form.in_head && !told_words(view.note).empty()) consumers.what.clear();  // the note has its place
  for (const LoopPlace& place : places)
    draw_loop(place.box, *place.loop, place.id, place.loop == &consumers, place.lines, commands);
  if (form.in_head) draw_note_beside(list, places.back(), view.note);
  list->PopClipRect();
}

}  // namespace attn
