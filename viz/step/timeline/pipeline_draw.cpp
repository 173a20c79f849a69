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

namespace attn {
namespace {

constexpr float kNode = 24, kToken = 18, kArrow = 14, kHeadLine = 16;  // logical
constexpr int kMostHeadLines = 2;
constexpr float kRow = 196, kTwoRows = 388, kCardPad = 16;  // of a card

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
  for (std::size_t n = 0; n < places.size(); ++n) {
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
      const float x = down ? std::min(a.max.x, b.max.x) - s.px(10) : std::max(a.min.x, b.min.x) + s.px(10);
      from = {x, down ? a.max.y + off : a.min.y - off};
      to = {x, down ? b.min.y - off : b.max.y + off};
      along = {0, down ? 1.0F : -1.0F};
    }
    list->AddLine(from, to, c, thick);
    draw_head(list, to, along, c);
  }
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

// A wait is an outline, what does something is filled; pale where nothing stands.
void draw_node(ImDrawList* list, const Box& box, const LoopNode& node, bool taken, bool live) {
  const Style& s = style();
  const ImU32 hue = colour_of(node.ink);
  TextRuns words = node.words;
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
  if (live) draw_outline(list, box.grown(s.px(3)), colour_of(Token::text), 2, 6);
}

// Where a ring's tokens stand close: their words, else what is brief, else the letter and its tile alone.
enum class TokenForm : std::uint8_t { words, brief, least };
TextRuns token_words(const LoopToken& token, TokenForm form) {
  TextRuns words = form == TokenForm::words || token.brief.empty() ? token.words : token.brief;
  if (form == TokenForm::least && words.size() > 2) words.resize(2);
  for (TextRun& run : words) run.ink = kTokenInk;  // its colour is that of fill and edge
  return words;
}
float token_width(const LoopToken& token, TokenForm form) {
  return runs_width(token_words(token, form), 12) + style().px(12);
}

// Above a node, or below it.
void draw_token(ImDrawList* list, const Box& place, const LoopToken& token, TokenForm form) {
  const Style& s = style();
  const bool of_lane = token.ink == Ink(Token::text);
  list->AddRectFilled(place.min, place.max, of_lane ? colour_of(Token::field) : faded(colour_of(token.ink), kTokenFill),
                      s.px(4));
  draw_outline(list, place, token.live ? colour_of(Token::text) : faded(colour_of(token.ink), 0.7F),
               token.live ? 1.5F : 1, 4);
  const TextRuns words = token_words(token, form);
  float size = 12;
  while (size > 9 && runs_width(words, size) > place.width() - s.px(4)) size -= 1;
  draw_runs_in(list, place, Align::centre, size, words);
  if (form != TokenForm::words && !token.brief.empty() && ImGui::IsMouseHoveringRect(place.min, place.max))
    show_tooltip(plain_text(token.words), 320, true);
}

// Tokens of one node side by side, centred. A consumer's stand above or below by its number, so that two never meet.
void draw_tokens(ImDrawList* list, const Loop& loop, std::span<const Box> places, bool by_lane, const Box& in) {
  const Style& s = style();
  const std::size_t above = (places.size() + 1) / 2;
  for (std::size_t n = 0; n < places.size(); ++n) {
    std::vector<const LoopToken*> here;
    for (const LoopToken& token : loop.tokens)
      if (token.node == n) here.push_back(&token);
    float x = 0, total = 0;
    const float most = places[n].width() + s.px(kArrow);
    TokenForm form = TokenForm::words;
    for (const TokenForm tried : {TokenForm::words, TokenForm::brief, TokenForm::least}) {
      form = tried;
      total = 0;
      for (const LoopToken* t : here) total += token_width(*t, form) + s.px(4);
      if (by_lane || total <= most) break;
    }
    const float squeeze = !by_lane && total > most ? most / total : 1;
    x = places[n].centre().x - total * squeeze / 2;
    for (const LoopToken* t : here) {
      const bool up = by_lane ? t->lane % 2 == 0 : n < above;
      const float top = up ? places[n].min.y - s.px(kToken + 3) : places[n].max.y + s.px(3);
      float w = token_width(*t, form) * squeeze, left = x;
      if (by_lane) left = std::clamp(places[n].centre().x - w / 2, in.min.x, std::max(in.min.x, in.max.x - w));
      draw_token(list, {{left, top}, {left + w, top + s.px(kToken)}}, *t, form);
      x += w + s.px(4) * squeeze;
    }
  }
}

// Its name, and what it is: beside the name, or below it where `lines` leaves room, or not at all.
void draw_loop_head(ImDrawList* list, const Box& in, const Loop& loop, int lines) {
  constexpr float kSize = 13, kBelow = 12;
  draw_text(list, in.min, Face::bold, kSize, colour_of(Token::text), loop.title);
  const float title = text_width(Face::bold, kSize, loop.title) + style().px(8);
  const std::string& what = loop.aside.empty() ? loop.what : loop.aside;
  if (title + text_width(Face::text, kSize, what) <= in.width())
    return draw_text(list, {in.min.x + title, in.min.y}, Face::text, kSize, colour_of(Token::dim), what);
  const TextRuns runs{word(what)};
  const float top = in.min.y + style().px(kHeadLine);
  const float height = draw_paragraph(list, {in.min.x, top}, in.width(), kBelow, runs, kMostHeadLines + 1, false);
  if (height <= style().px(kHeadLine * static_cast<float>(lines)) + 1)
    draw_paragraph(list, {in.min.x, top}, in.width(), kBelow, runs, lines);
}

// `lines`: that its head has below its name.
void draw_loop(const Box& in, const Loop& loop, const char* id, bool by_lane, int lines, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_loop_head(list, in, loop, lines);
  const float head = 24 + kHeadLine * static_cast<float>(lines);
  const Box nodes{{in.min.x, in.min.y + s.px(head + kToken)}, {in.max.x, in.max.y - s.px(kToken + 4)}};
  const std::vector<Box> places = loop_places(nodes, loop.nodes.size());
  draw_loop_arrows(list, places);
  for (std::size_t n = 0; n < places.size(); ++n) {
    bool taken = false, live = false;
    for (const LoopToken& t : loop.tokens)
      if (t.node == n) taken = true, live = live || t.live;
    draw_node(list, places[n], loop.nodes[n], taken, live);
    if (!loop.nodes[n].next) continue;
    ImGui::SetCursorScreenPos(places[n].min);
    if (ImGui::InvisibleButton(fmt::format("##{}_{}", id, n).c_str(), {places[n].width(), places[n].height()},
                               ImGuiButtonFlags_EnableNav))
      commands.push_back(GoToEvent{*loop.nodes[n].next});
    tooltip(tr("Go to the next step in this state"));
  }
  draw_tokens(list, loop, places, by_lane, in);
}

// ---- the card

std::string derived_words(const PipelineView& view) {
  return view.outcome.empty() ? view.derived : view.derived + " " + view.outcome;
}

constexpr float kNote = 12, kNoteLine = 18;  // logical
constexpr int kMostNoteLines = 8;

float derived_width() {
  return text_width(Face::bold, kNote, tr("derived")) + style().px(10 + 8);
}

// What was derived and where the rest was recorded, in as many lines as it takes. Returns its height.
float draw_note(ImDrawList* list, ImVec2 at, float width, const PipelineView& view, bool draw) {
  const float top = at.y;
  if (!view.derived.empty()) {
    if (draw) draw_derived(list, {at.x, at.y - style().px(1)}, kNote);
    const float tag = derived_width();
    at.y += draw_paragraph(list, {at.x + tag, at.y}, width - tag, kNote, {word(derived_words(view), Token::text)},
                           kMostNoteLines, draw);
  }
  at.y += draw_paragraph(list, at, width, kNote, {word(view.source)}, kMostNoteLines, draw);
  return at.y - top;
}

// In one line, cut where it has no room.
void draw_note_line(ImDrawList* list, const Box& in, const PipelineView& view) {
  const Style& s = style();
  float left = in.min.x;
  if (!view.derived.empty()) {
    left = draw_derived(list, {left, in.min.y - s.px(1)}, kNote) + s.px(8);
    const std::string words = derived_words(view);
    draw_text(list, {left, in.min.y}, Face::text, kNote, colour_of(Token::text),
              fitted_text(Face::text, kNote, words, in.max.x - left));
    left += text_width(Face::text, kNote, words) + s.px(8);
  }
  if (left < in.max.x)
    draw_text(list, {left, in.min.y}, Face::text, kNote, colour_of(Token::dim),
              fitted_text(Face::text, kNote, view.source, in.max.x - left));
}

// How a card holds its loops: side by side, or in a narrow one the consumers below the others; its note in one line,
// or where there is height in a narrow one as long as it is.
struct CardForm {
  bool two_rows = false;
  int lines = 0;        // of a head, below its name
  float note = 0;       // pixels; 0: one line
  float height = kRow;  // logical
};

constexpr float kOneLine = 1000;  // logical: so wide that nothing needs a second line

CardForm form_of(const PipelineView& view, float width, float most) {
  constexpr float kLeastRow = 660;
  if (width >= kOneLine) return {};
  const Style& s = style();
  const float note = draw_note(nullptr, {0, 0}, s.px(width - 2 * kCardPad), view, false);
  const float more = std::max(0.0F, note / s.scale + 4 - kNoteLine);
  if (width < kLeastRow && most >= kTwoRows + more) return {true, kMostHeadLines, note, kTwoRows + more};
  if (most >= kRow + kHeadLine + more) return {false, 1, note, kRow + kHeadLine + more};
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
  constexpr std::array kShares{0.21F, 0.21F, 0.58F};
  const float gap = s.px(34), shared = in.width() - 2 * gap;
  float x = in.min.x;
  for (std::size_t n = 0; n < places.size(); ++n) {
    Box& place = places.at(n).box;
    place.min.x = x;
    place.max.x = x + shared * kShares.at(n);
    x = place.max.x + gap;
  }
  return places;
}

}  // namespace

float pipeline_card_height(const Recording& rec, float width, float most) {
  if (width >= kOneLine) return kRow;
  return form_of(pipeline_view(rec, 0), width, most).height;
}

float draw_derived(ImDrawList* list, ImVec2 at, float size) {
  const Style& s = style();
  const std::string words = tr("derived");
  const Box tag{at, {at.x + text_width(Face::bold, size, words) + s.px(10), at.y + line_height(size)}};
  draw_dashed(list, tag, colour_of(Token::text));
  draw_text_in(list, tag, Align::centre, Face::bold, size, colour_of(Token::text), words);
  return tag.max.x;
}

void draw_pipeline_card(const Box& box, const PipelineView& view, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  list->PushClipRect(box.min, box.max, true);
  Box in{{box.min.x + s.px(kCardPad), box.min.y + s.px(10)}, {box.max.x - s.px(kCardPad), box.max.y - s.px(8)}};
  const CardForm form = form_of(view, box.width() / s.scale, box.height() / s.scale + 0.5F);
  if (form.note > 0) {
    draw_note(list, {in.min.x, in.max.y - form.note}, in.width(), view, true);
    in.max.y -= form.note + s.px(4);
  } else if (in.height() >= s.px(150)) {
    draw_note_line(list, {{in.min.x, in.max.y - s.px(14)}, in.max}, view);
    in.max.y -= s.px(kNoteLine);
  }
  for (const LoopPlace& place : loops_in(in, view, form))
    draw_loop(place.box, *place.loop, place.id, place.loop == &view.consumers, place.lines, commands);
  list->PopClipRect();
}

}  // namespace attn
