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

constexpr float kNode = 24, kToken = 18, kArrow = 14;  // logical

// ---- loops

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
void draw_tokens(ImDrawList* list, const Loop& loop, std::span<const Box> places, bool by_lane) {
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
      if (by_lane) w = std::min(w, most), left = places[n].centre().x - w / 2;
      draw_token(list, {{left, top}, {left + w, top + s.px(kToken)}}, *t, form);
      x += w + s.px(4) * squeeze;
    }
  }
}

void draw_loop(const Box& in, const Loop& loop, const char* id, bool by_lane, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text(list, in.min, Face::bold, 13, colour_of(Token::text), loop.title);
  const float title = text_width(Face::bold, 13, loop.title) + s.px(8);
  const std::string what = loop.aside.empty() ? loop.what : loop.aside;
  draw_text(list, {in.min.x + title, in.min.y}, Face::text, 13, colour_of(Token::dim),
            fitted_text(Face::text, 13, what, in.width() - title));
  const Box nodes{{in.min.x, in.min.y + s.px(24 + kToken)}, {in.max.x, in.max.y - s.px(kToken + 4)}};
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
  draw_tokens(list, loop, places, by_lane);
}

// ---- lanes

constexpr float kLaneLabel = 84, kLettered = 13, kLeastName = 11, kBetweenRows = 2;  // logical

// Slots have letters where that leaves consumers theirs; else consumers alone.
struct LaneHeights {
  float producer = 8, consumer = 20, slot = kLettered;  // logical
  float of(const LaneRow& row) const { return row.consumer ? consumer : row.slot ? slot : producer; }
};
LaneHeights lane_heights(std::span<const LaneRow> rows, float room) {
  constexpr float kGoodConsumer = 18, kMostSlot = 18, kLowSlot = 0.55F;  // of a consumer's
  float consumers = 0, slots = 0, others = 0;
  for (const LaneRow& row : rows) (row.consumer ? consumers : row.slot ? slots : others) += 1;
  room -= kBetweenRows * static_cast<float>(rows.size());
  LaneHeights h;
  const float left = room - others * h.producer;
  const float slot = (left - consumers * kGoodConsumer) / std::max(slots, 1.0F);
  if (slot >= kLettered) {
    h.slot = std::min(slot, kMostSlot);
    h.consumer = (left - slots * h.slot) / std::max(consumers, 1.0F);
    return h;
  }
  h.consumer = std::max(1.0F, room / (consumers + (slots + others) * kLowSlot));
  if (h.consumer < kLettered && room > consumers * kLettered) h.consumer = kLettered;
  h.slot = h.producer = std::max(1.0F, (room - consumers * h.consumer) / std::max(slots + others, 1.0F));
  return h;
}

// Names of slots that would touch stand together.
std::string label_of(std::span<const LaneRow> rows, std::size_t first, std::size_t count) {
  return count == 1 ? rows[first].label : phrase("slots 0 to {}", count - 1);
}
// How many rows from `n` on have one name; 0: it is that of a row before.
std::size_t rows_of_label(std::span<const LaneRow> rows, std::size_t n, bool together) {
  if (!rows[n].slot || !together) return 1;
  if (n > 0 && rows[n - 1].slot) return 0;
  std::size_t count = 1;
  while (n + count < rows.size() && rows[n + count].slot) ++count;
  return count;
}

struct LaneAxis {
  const PipelineView& view;
  Box plot;
  float x_of(std::int32_t clock) const {
    return plot.min.x + plot.width() * static_cast<float>(clock) / static_cast<float>(view.length);
  }
  std::int32_t clock_of(float x) const {
    const float share = std::clamp((x - plot.min.x) / std::max(plot.width(), 1.0F), 0.0F, 1.0F);
    return static_cast<std::int32_t>(std::lround(share * static_cast<float>(view.length)));
  }
};

// No taller than its bar, and clear of the line at `now`.
void draw_span_letter(ImDrawList* list, const Box& box, const LaneSpan& span, ImU32 ink, float now,
                      bool patched = false) {
  if (span.letter.empty() || box.height() < style().px(kLettered) - 0.5F) return;
  constexpr float kSize = 12, kIndex = 10, kLower = 1.5F;
  const std::string index = span.tile >= 0 ? fmt::format("{}", span.tile) : "";
  const float letter = text_width(Face::maths, kSize, span.letter);
  for (const bool with_index : {true, false}) {
    const float own = letter + (with_index ? text_width(Face::mono, kIndex, index) : 0);
    const float wide = own + style().px(2), gap = style().px(2);
    // In the wider part beside the line.
    Box part = box;
    if (now > box.min.x - gap && now < box.max.x + gap)
      (now - box.min.x > box.max.x - now ? part.max.x : part.min.x) =
          now - box.min.x > box.max.x - now ? now - gap : now + gap;
    if (wide > part.width()) continue;
    const float middle = part.centre().x, half = wide / 2;
    if (patched)  // on hatching
      list->AddRectFilled({middle - half, part.min.y + style().px(1)}, {middle + half, part.max.y - style().px(1)},
                          faded(colour_of(Token::card), 0.88F), style().px(2));
    const float left = middle - own / 2, lower = style().px(kLower);
    draw_text_in(list, {{left, part.min.y}, {left + letter, part.max.y}}, Align::left, Face::maths, kSize, ink,
                 span.letter);
    if (with_index)
      draw_text_in(list, {{left + letter, part.min.y + lower}, {left + own, part.max.y + lower}}, Align::left,
                   Face::mono, kIndex, ink, index);
    return;
  }
}

void draw_span(ImDrawList* list, const Box& row, const LaneAxis& axis, const LaneSpan& span, bool past) {
  const Style& s = style();
  Box box{{axis.x_of(span.from), row.min.y}, {std::max(axis.x_of(span.to), axis.x_of(span.from) + 1), row.max.y}};
  const float strength = past ? 1.0F : 0.35F;
  const ImU32 hue = faded(colour_of(span.ink), strength);
  switch (span.look) {
    case SpanLook::work:
    case SpanLook::read:
      list->AddRectFilled(box.min, box.max, hue, s.px(1));
      draw_span_letter(list, box, span, past ? text_on(colour_of(span.ink)) : colour_of(Token::text),
                       axis.x_of(axis.view.now));
      break;
    case SpanLook::wait:
      box.min.y = row.min.y + row.height() * 0.5F;
      if (box.width() > s.px(2)) draw_outline(list, box, hue, 1, 1);
      break;
    case SpanLook::flight:
      draw_hatch(list, box, faded(hue, 0.65F), 4);
      draw_outline(list, box, hue, 1, 1);
      draw_span_letter(list, box, span, past ? colour_of(span.ink) : colour_of(Token::text), axis.x_of(axis.view.now),
                       true);
      break;
    case SpanLook::landed:
      list->AddRectFilled(box.min, box.max, faded(hue, 0.28F));
      break;
    case SpanLook::left_out:
      box.min.y = box.max.y = row.centre().y;
      draw_dashed_line(list, box.min, box.max, colour_of(Token::faint), 3);
      break;
  }
}

// Nanoseconds since the block began, in steps that leave room between them.
void draw_axis(ImDrawList* list, const LaneAxis& axis) {
  const Style& s = style();
  constexpr std::array kSteps{100, 200, 500, 1000, 2000, 5000, 10000};
  const double whole = axis.view.length * axis.view.ns_a_clock;
  const auto step = std::ranges::find_if(kSteps, [&](int ns) {
    return static_cast<double>(axis.plot.width()) * ns / whole >= static_cast<double>(s.px(64));
  });
  const int every = step == kSteps.end() ? kSteps.back() : *step;
  for (int ns = 0; ns <= static_cast<int>(whole); ns += every) {
    const float x = axis.x_of(static_cast<std::int32_t>(ns / axis.view.ns_a_clock));
    const std::string text = ns == 0 ? tr("0 ns") : fmt::format("{}", ns);
    const float half = text_width(Face::mono, 10, text) / 2, left = x - (ns == 0 ? 0 : half);
    // The knob of the line at the present step stands there.
    const float now = axis.x_of(axis.view.now), knob = s.px(6);
    if (now > left - knob && now < left + 2 * half + knob) continue;
    draw_text(list, {left, axis.plot.max.y + s.px(1)}, Face::mono, 10, colour_of(Token::dim), text);
  }
}

// "consumer 0: waits for K1, 560 ns; from 3210 ns on".
std::string span_words(const PipelineView& view, const LaneRow& row, const LaneSpan& span) {
  const auto ns = [&](std::int32_t clocks) { return clocks * view.ns_a_clock; };
  const std::string what = span.tile >= 0 ? fmt::format("{}{}", span.letter, span.tile) : span.letter;
  const auto said = [&]() -> std::string {
    switch (span.look) {
      case SpanLook::work:
        return what.empty() ? tr("its instructions run") : phrase("{}: its instructions run", what);
      case SpanLook::wait:
        return what.empty() ? tr("waits for its turn") : phrase("waits for {}", what);
      case SpanLook::flight:
        return phrase("{} in flight, at most this long", what);
      case SpanLook::landed:
        return tr("landed, nobody reads it yet");
      case SpanLook::read:
        return phrase("{} is read", what);
      case SpanLook::left_out:
        return tr("left out");
    }
    return {};
  };
  return phrase("{}: {}\n{:.0f} ns, from {:.0f} ns on", row.label, said(), ns(span.to - span.from), ns(span.from));
}

// What was not recorded says so, wherever it is drawn. Returns where it ends.
float draw_derived(ImDrawList* list, ImVec2 at, float size) {
  const Style& s = style();
  const std::string words = tr("derived");
  const Box tag{at, {at.x + text_width(Face::bold, size, words) + s.px(10), at.y + line_height(size)}};
  draw_dashed(list, tag, colour_of(Token::text));
  draw_text_in(list, tag, Align::centre, Face::bold, size, colour_of(Token::text), words);
  return tag.max.x;
}

}  // namespace

void draw_pipeline_card(const Box& box, const PipelineView& view, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  list->PushClipRect(box.min, box.max, true);
  Box in{{box.min.x + s.px(16), box.min.y + s.px(10)}, {box.max.x - s.px(16), box.max.y - s.px(8)}};
  const bool noted = in.height() >= s.px(150);
  if (noted) {
    const float top = in.max.y - s.px(14);
    float left = in.min.x;
    if (!view.derived.empty()) {
      left = draw_derived(list, {left, top - s.px(1)}, 12) + s.px(8);
      const std::string words = view.outcome.empty() ? view.derived : view.derived + " " + view.outcome;
      draw_text(list, {left, top}, Face::text, 12, colour_of(Token::text),
                fitted_text(Face::text, 12, words, in.max.x - left));
      left += text_width(Face::text, 12, words) + s.px(8);
    }
    if (left < in.max.x)
      draw_text(list, {left, top}, Face::text, 12, colour_of(Token::dim),
                fitted_text(Face::text, 12, view.source, in.max.x - left));
    in.max.y -= s.px(18);
  }
  constexpr std::array kShares{0.21F, 0.21F, 0.58F};
  const float gap = s.px(34), width = in.width() - 2 * gap;
  float x = in.min.x;
  std::size_t at = 0;
  for (const auto& [loop, id] : {std::pair(&view.producer, "loop_producer"), std::pair(&view.ring, "loop_ring"),
                                 std::pair(&view.consumers, "loop_consumers")}) {
    const float wide = width * kShares.at(at++);
    draw_loop({{x, in.min.y}, {x + wide, in.max.y}}, *loop, id, loop == &view.consumers, commands);
    x += wide + gap;
  }
  list->PopClipRect();
}

void draw_pipeline_lanes(const Box& box, const PipelineView& view, bool future, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const LaneAxis axis{view, {{box.min.x + s.px(kLaneLabel), box.min.y}, {box.max.x, box.max.y - s.px(13)}}};
  const LaneHeights heights = lane_heights(view.rows, axis.plot.height() / s.scale);
  const float gap = s.px(kBetweenRows);
  const bool together = heights.slot + kBetweenRows < kLeastName + 1;
  float y = box.min.y;
  const ImVec2 pointer = ImGui::GetMousePos();
  std::string pointed;
  for (std::size_t n = 0; n < view.rows.size(); ++n) {
    const LaneRow& row = view.rows[n];
    const Box place{{axis.plot.min.x, y}, {axis.plot.max.x, y + s.px(heights.of(row))}};
    y = place.max.y + gap;
    if (const std::size_t named = rows_of_label(view.rows, n, together); named > 0) {
      const float bottom = place.max.y + static_cast<float>(named - 1) * (place.height() + gap);
      draw_text_in(list, {{box.min.x, place.min.y}, {place.min.x - s.px(6), bottom}}, Align::right,
                   row.live ? Face::bold : Face::text, row.consumer ? 12 : kLeastName,
                   colour_of(row.live ? Token::text : Token::dim), label_of(view.rows, n, named));
    }
    for (LaneSpan span : row.spans) {
      if (!future && span.from > view.now) break;
      if (!future) span.to = std::min(span.to, view.now);
      draw_span(list, place, axis, span, span.from <= view.now);
      if (place.contains(pointer) && pointer.x >= axis.x_of(span.from) && pointer.x < axis.x_of(span.to))
        pointed = span_words(view, row, span);
    }
  }
  draw_axis(list, axis);
  if (!view.derived.empty()) draw_derived(list, {box.min.x, axis.plot.max.y - s.px(1)}, 11);
  const float x = axis.x_of(view.now);
  list->AddLine({x, box.min.y}, {x, axis.plot.max.y}, colour_of(Token::text), std::max(1.0F, s.px(1.5F)));
  list->AddCircleFilled({x, axis.plot.max.y}, s.px(4), colour_of(Token::text));
  ImGui::SetCursorScreenPos(axis.plot.min);
  ImGui::InvisibleButton("##step_lanes", {axis.plot.width(), box.max.y - axis.plot.min.y});
  if (ImGui::IsItemHovered() && !ImGui::IsItemActive() && !pointed.empty()) show_tooltip(pointed, 320, true);
  if (!ImGui::IsItemActive()) return;
  const EventIndex to = step_at(view, axis.clock_of(ImGui::GetMousePos().x));
  if (view.moments.at(to - view.first) != view.now) commands.push_back(GoToEvent{to});
}

}  // namespace attn
