#include "viz/step/charts/traffic_draw.h"

#include <algorithm>
#include <cstddef>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {

namespace {

constexpr std::size_t kComparedBars = 2;  // this order and the one to compare it with
constexpr float kTallCard = 420;          // logical

// The pieces of a bar answer to the pointer.
void explain_piece(const Box& piece, const Recording& rec, const TrafficBar& bar, TrafficPart part, EventIndex e) {
  ImGui::SetCursorScreenPos(piece.min);
  ImGui::PushID(bar.name.c_str());
  ImGui::PushID(static_cast<int>(part));
  ImGui::InvisibleButton("##traffic", {std::max(piece.width(), 1.0F), piece.height()});
  if (ImGui::IsItemHovered()) {
    draw_outline(ImGui::GetWindowDrawList(), piece.grown(style().px(1)), colour_of(Token::text), 1, 3);
    show_tooltip(piece_words(rec, bar, part, e), 420);
  }
  ImGui::PopID();
  ImGui::PopID();
}

// The widest part of a piece between what cuts through it, left to right: its letter stands there.
Box widest_part(const Box& piece, float cut, float other) {
  const float side = style().px(2);
  Box best{piece.min, piece.min};
  float from = piece.min.x;
  for (const float at : {std::min(cut, other), std::max(cut, other), piece.max.x + side}) {
    if (at <= piece.min.x || at > piece.max.x + side) continue;
    const Box part{{from, piece.min.y}, {at - side, piece.max.y}};
    if (part.width() > best.width()) best = part;
    from = at + side;
  }
  return best;
}

// A piece's letters: smaller or in two lines where it is narrow; behind it where `behind` pixels hold them. What has
// no room either is what it holds second.
void draw_name(ImDrawList* list, std::string_view name, const Box& box, float behind, ImU32 ink) {
  const Style& s = style();
  constexpr float kSize = 15, kLeast = 12, kLine = 17;  // logical
  const auto fits = [&](std::string_view words, float size, float room) {
    return text_width(Face::maths, size, words) + s.px(3) < room;
  };
  for (float size = kSize; size >= kLeast; --size)
    if (fits(name, size, box.width())) return draw_text_in(list, box, Align::centre, Face::maths, size, ink, name);
  const std::size_t space = name.find(' ');
  const std::string_view first = name.substr(0, space);
  if (!fits(first, kLeast, box.width())) return;
  if (space == std::string_view::npos || (box.height() < s.px(2 * kLine) && !fits(name, kLeast, behind)))
    return draw_text_in(list, box, Align::centre, Face::maths, kLeast, ink, first);
  if (box.height() >= s.px(2 * kLine)) {
    const float y = box.centre().y;
    draw_text_in(list, {{box.min.x, y - s.px(kLine)}, {box.max.x, y}}, Align::centre, Face::maths, kSize, ink, first);
    draw_text_in(list, {{box.min.x, y}, {box.max.x, y + s.px(kLine)}}, Align::centre, Face::maths, kSize, ink,
                 name.substr(space + 1));
    return;
  }
  draw_text_in(list, {{box.max.x, box.min.y}, {box.max.x + behind, box.max.y}}, Align::left, Face::maths, kLeast,
               colour_of(Token::text), name, 4);
}

// What line and triangle are is said in any case, in few words where the sentences need the room.
void draw_words(ImDrawList* list, const Box& in, const TrafficScene& scene) {
  const auto height = [&](const TextRuns& words) {
    return draw_paragraph(list, in.min, in.width(), 13, words, 3, false);
  };
  float all = height(scene.marks);
  for (const TextRuns& words : scene.words) all += height(words);
  const TextRuns& marks = all <= in.height() ? scene.marks : scene.brief_marks;
  float y = in.min.y, room = in.height() - height(marks);
  for (const TextRuns& words : scene.words) {
    if (height(words) > room) continue;
    room -= height(words);
    y += draw_paragraph(list, {in.min.x, y}, in.width(), 13, words, 3);
  }
  draw_paragraph(list, {in.min.x, y}, in.width(), 13, marks, 3);
}

// What is counted, and what of it was read and written: beside the title where there is room, else as the first of the
// sentences.
void draw_heading(ImDrawList* list, const Box& in, TrafficScene& scene) {
  const Style& s = style();
  draw_text(list, in.min, Face::bold, 14, colour_of(Token::text), tr("HBM traffic"));
  draw_text_in(list, {in.min, {in.max.x, in.min.y + s.px(15)}}, Align::right, Face::text, 13, colour_of(Token::dim),
               scene.count);
  const float apart = in.min.x + text_width(Face::bold, 14, tr("HBM traffic")) + s.px(14);
  if (apart + runs_width(scene.apart, 13) + s.px(14) <= in.max.x - text_width(Face::text, 13, scene.count))
    draw_runs(list, {apart, in.min.y}, 13, scene.apart);
  else
    scene.words.insert(scene.words.begin(), scene.apart);
}

}  // namespace

void draw_traffic_card(ImDrawList* list, const Box& box, const TrafficScene& whole, const Recording& rec, EventIndex e,
                       bool all_orders) {
  const Style& s = style();
  draw_card(list, box);
  TrafficScene scene = whole;
  if (!all_orders && scene.bars.size() > kComparedBars) scene.bars.resize(kComparedBars);
  const Box in{{box.min.x + s.px(16), box.min.y + s.px(12)}, {box.max.x - s.px(16), box.max.y - s.px(10)}};
  draw_heading(list, in, scene);
  std::uint64_t widest = 1;
  float numbers = 0, names = s.px(52);
  for (const TrafficBar& bar : scene.bars) {
    widest = std::max(widest, bar.total);
    numbers = std::max(numbers, text_width(Face::mono, 12, bar.widest));
    names = std::max(names, text_width(Face::text, 13, bar.name) + s.px(8));
  }
  const float left = in.min.x + names, room = in.max.x - left - numbers - s.px(14);
  float y = in.min.y + s.px(28);
  // Four bars where they leave room for words, else the two that are compared.
  const bool all = in.height() >= s.px(28 + 4 * 25 + 36);
  const bool tall = in.height() >= s.px(kTallCard);  // it is there alone
  const float pitch =
      all ? std::clamp((in.height() - s.px(28 + 80)) / 4, s.px(22), s.px(tall ? 72.0F : 40.0F)) : s.px(28);
  const float thick = std::min(pitch - s.px(tall ? 18 : 6), s.px(tall ? 54 : 28));
  for (std::size_t n = 0; n < scene.bars.size(); ++n) {
    const TrafficBar& bar = scene.bars[n];
    if ((n >= kComparedBars && !all) || y + s.px(24) > in.max.y) break;
    const Box line{{in.min.x, y}, {in.max.x, y + thick}};
    draw_text_in(list, line, Align::left, Face::text, 13, colour_of(Token::text), bar.name);
    draw_text_in(list, line, Align::right, Face::mono, 12, colour_of(Token::text), bar.text);
    const auto width = [&](std::uint64_t b) {
      return room * static_cast<float>(static_cast<double>(b) / static_cast<double>(widest));
    };
    // Each element once: what a cache without limit would still have to fetch.
    const float once = left + width(bar.once);
    float x = left;
    for (const TrafficPiece& p : kTrafficPieces) {
      const float w = width(bar.bytes[static_cast<std::size_t>(p.part)]);
      if (w <= 0) continue;
      const ImU32 fill = colour_of(p.hue);
      const Box piece{{x, y}, {x + std::max(w - s.px(1), 1.0F), y + thick}};
      // Naive beside another order: what it has not asked for at the same moment is faint.
      const float now = bar.same_moment ? left + width(*bar.same_moment) : piece.max.x;
      if (now < piece.max.x) list->AddRectFilled(piece.min, piece.max, faded(fill, 0.35F), s.px(2));
      if (now > piece.min.x) list->AddRectFilled(piece.min, {std::min(now, piece.max.x), piece.max.y}, fill, s.px(2));
      explain_piece(piece, rec, bar, p.part, e);
      const std::string_view both = name_with_gradient(bar.order, p.part);
      const Box beside = widest_part(piece, once, bar.same_moment ? now : once);
      const ImU32 ink = now < beside.centre().x ? colour_of(Token::text) : text_on(fill);
      // Behind a bar that is not at its end are the bytes that have not moved: no part's name stands there.
      const bool last = bar.so_far >= bar.total && x + w >= left + width(bar.total) - 1;
      // Before the numbers, and before the line through the bar.
      const float behind = piece.max.x < once ? once - s.px(2) : left + room + s.px(8);
      draw_name(list, both.empty() ? p.letter : both, beside, last ? behind - piece.max.x : 0, ink);
      x += w;
    }
    const float end = left + width(bar.total);
    if (bar.so_far < bar.total && end > x + s.px(3))
      draw_dashed(list, {{x, y}, {end, y + thick}}, colour_of(Token::faint));
    if (bar.same_moment) {
      // A caret over the bar: the same moment of naive.
      const float at = left + width(*bar.same_moment);
      list->AddTriangleFilled({at - s.px(4), y - s.px(5)}, {at + s.px(4), y - s.px(5)}, {at, y + s.px(1)},
                              colour_of(Token::text));
    }
    list->AddRectFilled({once - s.px(1), y - s.px(2)}, {once + s.px(1), y + thick + s.px(2)}, colour_of(Token::text));
    y += pitch;
  }
  draw_words(list, {{in.min.x, y + s.px(1)}, {in.max.x, in.max.y + s.px(4)}}, scene);
}

}  // namespace attn
