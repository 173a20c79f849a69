#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/ring/ring_draw.h"
#include "viz/step/ring/ring_square_draw.h"

namespace attn {
namespace {

constexpr float kLabels = 46, kMostSide = 30, kLeastSide = 8, kDashedFrom = 16, kBar = 13, kLowBar = 12,
                kMapText = 11;         // logical
constexpr float kDigitHeight = 0.72F;  // of a number's size
constexpr float kDealName = 17;        // logical: over a deal's bars
constexpr float kGapBelow = 2;         // logical: under each of the paragraphs
constexpr float kWords = 12.5F;

struct Map {
  const RingPanel& panel;
  const Style& s;
  ImDrawList* list;
  ImVec2 origin;
  float side = 0;
};

Box square_box(const Map& m, std::int32_t a, std::int32_t k) {
  const ImVec2 at{m.origin.x + m.side * static_cast<float>(k), m.origin.y + m.side * static_cast<float>(a)};
  const float gap = m.side > m.s.px(8) ? m.s.px(1) : 0;
  return {{at.x + gap, at.y + gap}, {at.x + m.side - gap, at.y + m.side - gap}};
}

// The part below the diagonal, or all of it.
void fill_square(const Map& m, const Box& box, bool cut, ImU32 fill) {
  if (cut)
    m.list->AddTriangleFilled(box.min, {box.min.x, box.max.y}, box.max, fill);
  else
    m.list->AddRectFilled(box.min, box.max, fill, m.s.px(2));
}

void draw_square(const Map& m, const RingSquare& square, const Box& box) {
  const RingSquareInks inks = ring_square_inks(m.s.theme, square.look);
  const std::string turn = std::to_string(square.turn);
  const ImVec2 size{text_width(Face::mono, kMapText, turn), m.s.px(kMapText) * kDigitHeight};
  const std::optional<Box> number = ring_square_number(box, square.cut, size, m.s.px(1.5F));
  switch (square.look) {
    case RingSquareLook::hidden:
      return draw_hatch(m.list, box, faded(colour_of(Token::faint), 0.6F), 5);
    case RingSquareLook::later:
      // In small ones the dashes would cross the numbers. What is filled is gone or done.
      if (m.side >= m.s.px(kDashedFrom) || !number)
        draw_dashed(m.list, box, colour_of(Token::faint), 2);
      else
        draw_outline(m.list, box, faded(colour_of(Token::faint), 0.6F), 1, 2);
      break;
    case RingSquareLook::now:
      fill_square(m, box, square.cut, inks.fill);
      draw_outline(m.list, box, colour_of(Token::text), 2, 3);
      break;
    case RingSquareLook::done:
      fill_square(m, box, square.cut, inks.fill);
      break;
  }
  if (number) draw_text_in(m.list, *number, Align::centre, Face::mono, kMapText, inks.number, turn);
}

void draw_axes(const Map& m) {
  const RingScene& scene = m.panel.scene;
  // Every so many chunks as leaves their names apart.
  const auto every = [&](float need) { return std::max(1, static_cast<std::int32_t>(std::ceil(need / m.side))); };
  const std::int32_t across = every(text_width(Face::mono, kMapText, "R00") + m.s.px(2)),
                     down = every(m.s.px(kMapText));
  for (std::int32_t n = 0; n < scene.chunks; ++n) {
    const std::string rank = fmt::format("R{}", scene.ring.rank_of_chunk(n));
    const Box column = square_box(m, 0, n), row = square_box(m, n, 0);
    if (n % down == 0)
      draw_text_in(m.list, {{m.origin.x - m.s.px(kLabels), row.min.y}, {m.origin.x - m.s.px(6), row.max.y}},
                   Align::right, Face::mono, kMapText, colour_of(Token::dim), fmt::format("{} {}", n, rank));
    if (n % across != 0) continue;
    draw_text_in(m.list, {{column.min.x, m.origin.y - m.s.px(28)}, {column.max.x, m.origin.y - m.s.px(15)}},
                 Align::centre, Face::mono, kMapText, colour_of(Token::dim), std::to_string(n));
    draw_text_in(m.list, {{column.min.x, m.origin.y - m.s.px(15)}, {column.max.x, m.origin.y - m.s.px(2)}},
                 Align::centre, Face::mono, kMapText, colour_of(Token::dim), rank);
  }
}

void answer_pointer(const Map& m) {
  const RingScene& scene = m.panel.scene;
  const float wide = m.side * static_cast<float>(scene.chunks);
  ImGui::SetCursorScreenPos(m.origin);
  const bool pressed = ImGui::InvisibleButton("##ring_map", {wide, wide});
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 at = ImGui::GetMousePos();
  const auto place = [&](float from) {
    return std::clamp(static_cast<std::int32_t>(from / m.side), 0, scene.chunks - 1);
  };
  const std::int32_t a = place(at.y - m.origin.y), k = place(at.x - m.origin.x);
  const RingSquare& square = scene.square(a, k);
  draw_outline(m.list, square_box(m, a, k).grown(m.s.px(1)), colour_of(Token::text), 1, 3);
  const std::string where = phrase("Queries of chunk {}, keys of chunk {}", a, k);
  if (square.look == RingSquareLook::hidden) return show_tooltip(phrase("{}: the mask hides every pair.", where));
  const std::int64_t owner = scene.ring.rank_of_chunk(k);
  show_tooltip(square.turn == 0 ? phrase("{}: rank {} in turn 0, with its own keys.", where, square.rank)
                                : phrase("{}: rank {} in turn {}, with the keys of rank {}.", where, square.rank,
                                         square.turn, owner));
  if (pressed && square.event) m.panel.commands.emplace_back(GoToEvent{*square.event});
}

// A turn of a rank's bar: as the squares of the map that are computed in it.
void draw_turn(const Map& m, RingSquareLook look, const Box& bar) {
  switch (look) {
    case RingSquareLook::hidden:  // the other deal, which never runs
      return m.list->AddRectFilled(bar.min, bar.max, faded(colour_of(Token::dim), 0.45F), m.s.px(1));
    case RingSquareLook::later:
      if (bar.height() >= m.s.px(4)) return draw_dashed(m.list, bar, colour_of(Token::faint), 2);
      return m.list->AddLine({bar.min.x, bar.centre().y}, {bar.max.x, bar.centre().y}, colour_of(Token::faint));
    default:
      return m.list->AddRectFilled(bar.min, bar.max, ring_square_inks(m.s.theme, look).fill, m.s.px(1));
  }
}

// A bar for each rank, cut by turns; returns its foot.
float draw_work(const Map& m, const RingWork& work, bool zigzag, const Box& box, std::int64_t longest) {
  const RingScene& scene = m.panel.scene;
  draw_text(m.list, box.min, Face::text, 12, colour_of(Token::dim), zigzag ? tr("zigzag") : tr("in order"));
  const std::string most = std::to_string(longest);
  const float label = m.s.px(24), value = text_width(Face::mono, kMapText, most) + m.s.px(6), left = box.min.x + label;
  const float unit = (box.width() - label - value) / static_cast<float>(std::max<std::int64_t>(longest, 1));
  float y = box.min.y + m.s.px(kDealName);
  const float high = std::clamp((box.max.y - y) / static_cast<float>(work.by_rank.size()), m.s.px(2), m.s.px(kBar));
  const bool words = high >= m.s.px(kLowBar);
  for (std::size_t rank = 0; rank < work.by_rank.size(); ++rank) {
    float x = left;
    for (std::size_t turn = 0; turn < work.by_rank[rank].size(); ++turn) {
      const float wide = unit * static_cast<float>(work.by_rank[rank][turn]);
      const float gap = wide > m.s.px(4) ? m.s.px(1) : 0;
      const Box bar{{x, y + m.s.px(1)}, {x + wide - gap, y + high - m.s.px(1)}};
      if (wide > 0) draw_turn(m, ring_turn_look(scene, zigzag, static_cast<std::int64_t>(turn)), bar);
      x += wide;
    }
    if (words) {
      draw_text_in(m.list, {{box.min.x, y}, {left, y + high}}, Align::left, Face::mono, kMapText, colour_of(Token::dim),
                   fmt::format("R{}", rank));
      draw_text_in(m.list, {{x + m.s.px(4), y}, {box.max.x, y + high}}, Align::left, Face::mono, kMapText,
                   colour_of(Token::text), std::to_string(work.of_rank(rank)));
    }
    y += high;
  }
  return y;
}

std::string verdict_words(const RingScene& scene) {
  const std::int64_t here = scene.dealt.most(), there = scene.otherwise.most();
  const char* other = scene.ring.zigzag ? tr("in order") : tr("by zigzag");
  if (here == there) return phrase("If tiles were dealt {}, the last rank would finish at the same time.", other);
  return phrase("The last rank finishes after {} pairs. With tiles dealt {}, it would finish after {}.", here, other,
                there);
}

float paragraph_height(const std::string& words, float width, int lines) {
  return draw_paragraph(nullptr, {}, width, kWords, {{words, Face::text, Token::dim, 0, false}}, lines, false) +
         style().px(kGapBelow);
}

// Where both ways of dealing stand: one below the other, or side by side where that is too high.
struct Deals {
  bool beside = false;
  float high = 0;  // of all of it, pixels
};

// With a name and a number at each bar where that leaves the squares of the map in sight.
Deals place_deals(const Map& m, const Box& box, float above_squares) {
  const Style& s = m.s;
  const auto ranks = static_cast<float>(m.panel.scene.dealt.by_rank.size());
  const float words =
      line_height(kWords) + s.px(kGapBelow) + s.px(6) + paragraph_height(verdict_words(m.panel.scene), box.width(), 2);
  const float one = s.px(kDealName) + s.px(kBar) * ranks, low = s.px(kDealName) + s.px(kLowBar) * ranks;
  const float left = box.height() - above_squares - words;
  const auto chunks = static_cast<float>(m.panel.scene.chunks);
  const float liked = std::min((box.width() - s.px(kLabels)) / chunks, s.px(kMostSide)) * chunks;
  const float least = std::min(liked, s.px(kLeastSide) * chunks);
  if (left - 2 * one - s.px(4) >= std::min(liked, box.height() * 0.46F)) return {false, words + 2 * one + s.px(4)};
  if (left - low >= least) return {true, words + low};
  return {true, words + std::max(left - std::min(liked, box.height() * 0.46F), s.px(kDealName) + s.px(2) * ranks)};
}

// How long each rank works, dealt as here and in the other way; returns its foot.
float draw_deals(const Map& m, const Box& box, const Deals& deals) {
  const Style& s = m.s;
  const RingScene& scene = m.panel.scene;
  float y = box.min.y;
  const auto say = [&](const std::string& words, Face face, Ink ink, int lines) {
    y += draw_paragraph(m.list, {box.min.x, y}, box.width(), kWords, {{words, face, ink, 0, false}}, lines) +
         s.px(kGapBelow);
  };
  say(tr("Work per rank, in pairs of tiles"), Face::bold, Token::text, 1);
  const std::string verdict = verdict_words(scene);
  const float foot = box.min.y + deals.high - paragraph_height(verdict, box.width(), 2) - s.px(6);
  const std::int64_t longest = std::max(scene.dealt.most(), scene.otherwise.most());
  const RingWork &zigzag = scene.ring.zigzag ? scene.dealt : scene.otherwise,
                 &in_order = scene.ring.zigzag ? scene.otherwise : scene.dealt;
  if (deals.beside) {
    const float half = (box.width() - s.px(14)) / 2;
    const float low = draw_work(m, zigzag, true, {{box.min.x, y}, {box.min.x + half, foot}}, longest);
    y = std::max(low, draw_work(m, in_order, false, {{box.max.x - half, y}, {box.max.x, foot}}, longest));
  } else {
    const float middle = (y + foot) / 2;
    const float low = draw_work(m, zigzag, true, {{box.min.x, y}, {box.max.x, middle}}, longest) + s.px(4);
    y = draw_work(m, in_order, false, {{box.min.x, low}, {box.max.x, low + foot - middle}}, longest);
  }
  y += s.px(6);
  say(verdict, Face::text, Token::dim, 2);
  return y;
}

}  // namespace

void draw_ring_map(const RingPanel& panel, const Box& box) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const RingScene& scene = panel.scene;
  draw_text(list, box.min, Face::bold, 14, colour_of(Token::text),
            elided_text(Face::bold, 14, scene.map_title, box.width()));
  if (panel.map_hidden) {
    const Box veil{{box.min.x, box.min.y + s.px(26)}, box.max};
    draw_dashed(list, veil, colour_of(Token::faint));
    return draw_text_in(list, veil, Align::centre, Face::text, 13, colour_of(Token::dim),
                        panel.map_later ? tr("for a later question") : tr("after your answer"));
  }
  const float top = box.min.y + s.px(24);
  draw_text_in(list, {{box.min.x + s.px(kLabels), top}, {box.max.x, top + s.px(16)}}, Align::left, Face::text, 12,
               colour_of(Token::dim), tr("keys: chunk and rank"));
  Map m{panel, s, list, {box.min.x + s.px(kLabels), top + s.px(46)}};
  const auto chunks = static_cast<float>(scene.chunks);
  // Above and below the squares, without the work.
  const float fixed =
      m.origin.y - box.min.y + s.px(14) + (scene.map_words.empty() ? 0 : line_height(kWords) + s.px(kGapBelow));
  const bool works = panel.look.has(StepPart::orders);
  const Deals deals = works ? place_deals(m, box, fixed) : Deals();
  m.side =
      std::min({(box.width() - s.px(kLabels)) / chunks,
                works ? (box.height() - fixed - deals.high) / chunks : box.height() * 0.46F / chunks, s.px(kMostSide)});
  draw_axes(m);
  for (std::int32_t a = 0; a < scene.chunks; ++a)
    for (std::int32_t k = 0; k < scene.chunks; ++k) draw_square(m, scene.square(a, k), square_box(m, a, k));
  float y = m.origin.y + m.side * static_cast<float>(scene.chunks) + s.px(8);
  const auto say = [&](const std::string& words, Face face, Ink ink, int lines) {
    y += draw_paragraph(list, {box.min.x, y}, box.width(), kWords, {{words, face, ink, 0, false}}, lines) +
         s.px(kGapBelow);
  };
  if (!scene.map_words.empty()) say(scene.map_words, Face::text, Token::text, 1);
  y += s.px(6);
  answer_pointer(m);
  if (works) y = draw_deals(m, {{box.min.x, y}, box.max}, deals);
  if (panel.look.has(StepPart::traffic) && y + s.px(30) <= box.max.y) say(scene.sent_words, Face::text, Token::dim, 2);
}

}  // namespace attn
