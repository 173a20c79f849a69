#include "viz/step/ring/ring_draw.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/beside/legend_draw.h"
#include "viz/step/ring/ring_parts_draw.h"
#include "viz/step/ring/ring_rank_draw.h"

namespace attn {
namespace {

using namespace rings;

// Logical sizes.
constexpr float kNext = 62, kHere = 76, kLowRow = 5, kMapWidth = 250, kMapFrom = 600, kBothFrom = 1040,
                kTightBelow = 480, kRowHigh = 30;

// How much larger cells may be where a lesson folds others away.
float folded_growth(const StepFocus& look) {
  constexpr float kFolded = 1.5F;
  return look.parts.none() ? 1 : kFolded;
}

// Of a rank's words beside its name.
float longest_words(const RingScene& scene) {
  float most = 0;
  for (const RingRankRow& row : scene.ranks)
    most = std::max({most, text_width(Face::text, 12, row.chunks), text_width(Face::text, 12, row.row_words)});
  return most;
}

// What a lesson does not speak of has no room; the rest stands in the middle.
Columns columns_of(const RingScene& scene, const Box& area, bool states, const StepFocus& look, Band band) {
  const Style& s = style();
  const RingRankRow& row = scene.ranks.front();
  std::int32_t keys = 1;
  for (const RingRankRow& r : scene.ranks) keys = std::max(keys, r.scores.cols);
  const auto width = static_cast<float>(std::max(row.q.cols, 1)),
             value_width = static_cast<float>(std::max(row.v.cols, 1));
  const bool travels = look.has(TensorColour::k) || look.has(TensorColour::v);
  const auto where = [](bool meant, float wide) { return meant ? wide : 0.0F; };
  const bool moved = band != Band::work, worked = band != Band::travel;
  Columns x;
  x.names = s.px(band == Band::all ? kLabels : kBandLabels);
  const float next = where(moved && travels && look.has(StepPart::travel), s.px(kNext));
  // Without Q beside them the names end before the way round; what is folded leaves them room for their lines.
  x.name_room = x.names - s.px(kAfterNames);
  if (next > 0 && !look.has(TensorColour::q)) {
    if (band == Band::all) x.name_room = std::max(x.name_room, longest_words(scene));
    x.names = x.name_room + s.px(kAfterNames + kWayRound);
  }
  float q = where(moved && look.has(TensorColour::q), std::min(width * s.px(kQHeat), s.px(110))),
        here = where(moved && travels,
                     std::max(s.px(kHere), std::min((width + value_width) * s.px(kHeat), s.px(150)) + s.px(22)));
  if (band == Band::travel) {  // both give way
    const float room = area.width() - x.names - next - s.px(2 * kGap + 8);
    q = std::min(q, room * 0.4F);
    here = std::min(here, room - q);
  }
  const float statistic = band == Band::all ? 1.15F : 2.4F;  // in cells
  const float scores =
                  where(worked && (look.has(TensorColour::s) || look.has(TensorColour::p)), static_cast<float>(keys)),
              m = where(worked && states && look.has(TensorColour::m), statistic),
              l = where(worked && states && look.has(TensorColour::l), statistic),
              o = where(worked && states && look.has(TensorColour::o), value_width);
  const float cells = scores + 2 * (m + l + o) + (states ? 0.3F : 0.0F);
  const float fixed = x.names + q + next + here + (band == Band::all ? 6 : 4) * s.px(kGap);
  x.states = m + l + o > 0;
  x.cell = std::clamp((area.width() - fixed) / std::max(cells, 1.0F), s.px(2), s.px(kMostCell) * folded_growth(look));
  x.m = m * x.cell, x.l = l * x.cell, x.o = o * x.cell;
  float left = 0;
  const auto take = [&](float wide, float gap) {
    const Box box{{left, area.min.y}, {left + wide, area.max.y}};
    if (wide > 0) left += wide + gap;
    return box;
  };
  left = x.names;
  x.q = take(q, s.px(kGap + 8));
  x.next = take(next, s.px(kGap));
  x.here = take(here, s.px(kGap));
  x.scores = take(x.cell * scores, s.px(kGap));
  const float state = x.states ? x.m + x.l + x.o + s.px(6) : 0;
  x.turn = take(state, s.px(kGap));
  x.so_far = take(state, 0);
  const float begin = area.min.x + (look.parts.none() ? 0.0F : std::max(0.0F, (area.width() - left) / 2));
  x.labels = begin;
  for (Box* box : {&x.q, &x.next, &x.here, &x.scores, &x.turn, &x.so_far}) box->min.x += begin, box->max.x += begin;
  return x;
}

// K beside V as heat, and whose they are.
void draw_here(const Place& p, const RingRankRow& row, const Box& box) {
  if (row.home) return draw_dashed(p.list, box, colour_of(Token::line), 3);
  if (row.k.cells.empty()) {
    p.list->AddRectFilled(box.min, box.max, colour_of(Token::field), p.s.px(5));
    return draw_runs_in(p.list, box, Align::centre, 13, whose(kKeys, row.here));
  }
  p.list->AddRectFilled(box.min, box.max, colour_of(Token::field), p.s.px(5));
  draw_outline(p.list, box, colour_of(Token::line), 1, 5);
  const bool words = box.height() >= p.s.px(46);
  const float low = words ? p.s.px(22) : p.s.px(4), pad = p.s.px(6);
  const Box in{{box.min.x + pad, box.min.y + pad}, {box.max.x - pad, box.max.y - low}};
  const float columns = static_cast<float>(row.k.cols + row.v.cols), between = p.s.px(8);
  const float wide = std::min((in.width() - between) / columns, p.s.px(14));
  const float high = std::min(in.height() / static_cast<float>(std::max(row.k.rows, 1)), p.s.px(18));
  float left = in.centre().x - (wide * columns + between) / 2;
  for (const RingGrid* grid : {&row.k, &row.v}) {
    for (std::int32_t r = 0; r < grid->rows; ++r)
      for (std::int32_t c = 0; c < grid->cols; ++c)
        draw_cell(p.list,
                  {{left + wide * static_cast<float>(c), in.min.y + high * static_cast<float>(r)},
                   {left + wide * static_cast<float>(c + 1), in.min.y + high * static_cast<float>(r + 1)}},
                  grid->slot, grid->cell(r, c), false);
    left += wide * static_cast<float>(grid->cols) + between;
  }
  if (words) draw_runs_in(p.list, {{box.min.x, box.max.y - low}, box.max}, Align::centre, 13, whose(kKeys, row.here));
}

// On its way: no numbers, since nobody can read it yet.
void draw_next(const Place& p, const RingRankRow& row, const Box& box) {
  if (!row.next) return draw_dashed(p.list, box, colour_of(Token::line), 3);
  draw_hatch(p.list, box, faded(colour_of(TensorColour::k), 0.35F), 6);
  draw_outline(p.list, box, faded(colour_of(TensorColour::k), 0.7F), 1, 5);
  const TextRuns words = whose(kKeys, *row.next);
  const float wide = runs_width(words, 13) + p.s.px(6), high = p.s.px(18);
  const ImVec2 middle = box.centre();
  const Box plate{{middle.x - wide / 2, middle.y - high / 2}, {middle.x + wide / 2, middle.y + high / 2}};
  p.list->AddRectFilled(plate.min, plate.max, colour_of(Token::card), p.s.px(3));
  draw_runs_in(p.list, plate, Align::centre, 13, words);
}

void draw_label(const Place& p, const RingRankRow& row, const Box& box) {
  if (row.live)
    p.list->AddRectFilled({box.min.x - p.s.px(6), box.min.y}, {box.min.x - p.s.px(3), box.max.y},
                          colour_of(Token::text), p.s.px(1));
  const float room = box.width();
  draw_text(p.list, box.min, Face::bold, 14, colour_of(Token::text), row.name);
  float y = box.min.y + p.s.px(20);
  const std::string idle = row.idle ? tr("no work this turn") : "";
  for (const std::string* words : {&row.chunks, &row.row_words, &idle}) {
    if (words->empty()) continue;
    const int lines = y + p.s.px(34) <= box.max.y ? 2 : 1;
    std::string shown = *words;
    // Of two spans neither is cut.
    for (const std::string& brief : {phrase("rows {}", row.row_brief), row.row_brief})
      if (words == &row.row_words && lines == 1 && text_width(Face::text, 12, shown) > room) shown = brief;
    y += draw_paragraph(p.list, {box.min.x, y}, room, 12, {{shown, Face::text, Token::dim, 0, false}}, lines);
    if (y + p.s.px(15) > box.max.y) return;
  }
}

void draw_state(const Place& p, const RingRankRow& row, const RingState& state, float left, float top) {
  const float m = left, l = left + p.x.m, o = l + p.x.l + p.s.px(6);
  if (p.x.m > 0) draw_cells(p, row, state.m, m, top, p.x.m);
  if (p.x.l > 0) draw_cells(p, row, state.l, l, top, p.x.l);
  if (p.x.o > 0) draw_rows(p, row, state.o, o, top, p.x.cell);
  if (p.x.m > 0) frame_rows(p, row, state.m, m, top, p.x.m);
  if (p.x.l > 0) frame_rows(p, row, state.l, l, top, p.x.l);
}

void draw_rank(const Place& p, std::size_t n) {
  const RingRankRow& row = p.panel.scene.ranks[static_cast<std::size_t>(p.first) + n];
  const Box label = slot_box(p, {{p.x.labels, p.rows.min.y}, {p.x.labels + p.x.name_room, p.rows.max.y}}, n);
  draw_label(p, row, label);
  if (p.x.q.width() > 0)
    draw_rows(p, row, row.q, p.x.q.min.x, label.min.y, p.x.q.width() / static_cast<float>(std::max(row.q.cols, 1)));
  if (p.x.next.width() > 0) draw_next(p, row, slot_box(p, p.x.next, n));
  if (p.x.here.width() > 0) draw_here(p, row, slot_box(p, p.x.here, n));
  if (p.x.scores.width() > 0)
    draw_rows(p, row, row.scores, p.x.scores.min.x, label.min.y,
              p.x.scores.width() / static_cast<float>(std::max(row.scores.cols, 1)));
  if (p.panel.scene.backward) return draw_gradients(p, row, n);
  if (!p.x.states) return;
  draw_state(p, row, row.turn, p.x.turn.min.x, label.min.y);
  draw_state(p, row, row.so_far, p.x.so_far.min.x, label.min.y);
}

void draw_scores_head(const Place& p, float top) {
  std::vector<const RingGrid*> shown;
  for (std::int32_t n = p.first; n < p.first + p.shown; ++n)
    shown.push_back(&p.panel.scene.ranks[static_cast<std::size_t>(n)].scores);
  draw_letters(p, top, p.x.scores.min.x, p.x.scores.width(), scores_heading(shown, p.panel.scene.scores));
}

void draw_heads(const Place& p, float top) {
  const RingScene& scene = p.panel.scene;
  const float low = top + p.s.px(21);
  // Where a lesson still asks what travels, nobody says what stays.
  const char* stays = p.panel.look.has(StepPart::travel) ? tr("stays") : "";
  if (p.x.q.width() > 0) draw_letter(p, top, p.x.q.min.x, p.x.q.width(), "Q", TensorColour::q, stays);
  if (p.x.next.width() > 0) draw_words(p, p.x.next, tr("next"), low);
  if (p.x.here.width() > 0) draw_words(p, p.x.here, tr("here now"), low);
  if (p.x.scores.width() > 0) draw_scores_head(p, top);
  if (scene.backward) return draw_gradient_heads(p, top);
  if (!p.x.states) return;
  for (const Box* x : {&p.x.turn, &p.x.so_far}) {
    draw_words(p, *x, x == &p.x.turn ? tr("this turn") : tr("so far"), top);
    if (p.x.m > 0) draw_letter(p, top, x->min.x, p.x.m, "m", TensorColour::m);
    if (p.x.l > 0) draw_letter(p, top, x->min.x + p.x.m, p.x.l, "ℓ", TensorColour::l);
    if (p.x.o > 0) draw_letter(p, top, p.x.o_left(*x), p.x.o, "O", TensorColour::o);
  }
}

// How many ranks fit, around the live one; how high their rows are.
void place_ranks(Place& p) {
  const RingScene& scene = p.panel.scene;
  std::size_t rows = 1;
  for (const RingRankRow& row : scene.ranks) rows = std::max(rows, static_cast<std::size_t>(row.q.rows));
  const auto count = static_cast<std::int32_t>(scene.ranks.size());
  const float least = p.s.px(kLowRow) * static_cast<float>(rows) + p.s.px(kBetweenRanks + 6);
  const float tallest =
      p.s.px(kRowHigh) * folded_growth(p.panel.look) * static_cast<float>(rows) + p.s.px(kBetweenRanks + 6);
  const float fits = std::max(1.0F, std::floor(p.rows.height() / std::max(least, p.s.px(30))));
  p.shown = std::min(count, static_cast<std::int32_t>(fits));
  std::int32_t live = 0;
  for (std::int32_t n = 0; n < count; ++n)
    if (scene.ranks[static_cast<std::size_t>(n)].live) live = n;
  p.first = std::clamp(live - p.shown / 2, 0, count - p.shown);
  p.rank = std::min(p.rows.height() / static_cast<float>(p.shown), tallest);
  p.between = p.s.px(4);
  p.row = (p.rank - p.s.px(kBetweenRanks) - p.between) / static_cast<float>(rows);
  p.keys = key_row_height(p);
}

// The right end of what stands beside each other.
float end_of(const Columns& x) {
  float end = 0;
  for (const Box* box : {&x.q, &x.d_o, &x.here, &x.scores, &x.turn, &x.so_far, &x.delta, &x.dq, &x.part, &x.sums})
    if (box->width() > 0) end = std::max(end, box->max.x);
  return end;
}

struct Drawing {
  const RingPanel& panel;
  bool states;
  Columns columns(const Box& area, Band band) const {
    return panel.scene.backward ? gradient_columns(panel.scene, area, panel.look, band)
                                : columns_of(panel.scene, area, states, panel.look, band);
  }
};

// The inside of a card.
Box inside_of(const Box& card) {
  const Style& s = style();
  const float side = s.px(card.width() < s.px(kTightBelow) ? 12 : 18);
  return {{card.min.x + side, card.min.y + s.px(10)}, {card.max.x - side, card.max.y - s.px(10)}};
}

bool has_states(const RingPanel& panel, const Box& area) {
  const StepFocus& look = panel.look;
  return area.width() >= style().px(kBothFrom) || panel.scene.backward || look.has(TensorColour::m) ||
         look.has(TensorColour::l) || look.has(TensorColour::o);
}

// Of the map beside it, and of what is free between them. Where there is no room for both, the map gives way to m, l
// and O, unless a lesson speaks of other things.
float map_width(const RingPanel& panel, const Box& area) {
  const Style& s = style();
  const bool roomy = area.width() >= s.px(kBothFrom);
  if (!panel.look.has(StepPart::chart) || area.width() < s.px(kMapFrom)) return 0;
  return roomy || !has_states(panel, area) ? std::clamp(area.width() * 0.22F, s.px(kMapWidth), s.px(380)) + s.px(22)
                                           : 0;
}

// Of the rank that has its numbers alone, where the cells of all are too small for theirs.
float height_of_one(const RingPanel& panel, const Box& area) {
  if (panel.ui == nullptr || !panel.scene.dense.empty()) return 0;
  const Columns all = Drawing{panel, has_states(panel, area)}.columns(area, Band::all);
  const bool numbers = all.cell >= style().px(kNumbersFrom) && end_of(all) <= area.max.x + 1;
  return numbers ? 0 : ring_rank_height(panel.scene, panel.look, *panel.ui, area.width());
}

// Without those of a map that has no room.
LegendMarks marks_in(const RingPanel& panel, const Box& area) {
  LegendMarks marks = panel.marks;
  if (map_width(panel, area) > 0) return marks;
  for (const LegendMark of_map : {LegendMark::partly, LegendMark::turn, LegendMark::earlier})
    marks.reset(static_cast<std::size_t>(of_map));
  return marks;
}

float legend_height(const RingPanel& panel, const Box& area) {
  constexpr int kMostLines = 4;
  if (!panel.look.has(StepPart::legend)) return 0;
  const int most = panel.ui != nullptr ? kMostLines : 1;
  return style().px(kLegendHeight) *
         static_cast<float>(legend_lines(area.width(), panel.scale, marks_in(panel, area), most));
}

// The how many-th of the bands below each other; `pictures`: a finger chooses which of the ranks has its numbers.
struct BandLook {
  int number;
  bool pictures;
};

// On the ranks of a band.
void take_rank(const Place& p, const BandLook& look) {
  ImGui::PushID(fmt::format("band_{}", look.number).c_str());
  for (std::int32_t n = 0; n < p.shown; ++n) {
    const RingRankRow& row = p.panel.scene.ranks[static_cast<std::size_t>(p.first) + static_cast<std::size_t>(n)];
    const Box box = slot_box(p, {{p.x.labels, p.rows.min.y}, {std::max(end_of(p.x), p.x.labels + 1), p.rows.max.y}},
                             static_cast<std::size_t>(n));
    ImGui::SetCursorScreenPos(box.min);
    const std::string id = fmt::format("##ring_rank_{}", row.rank);
    if (!ImGui::InvisibleButton(id.c_str(), {box.width(), box.height()}, ImGuiButtonFlags_EnableNav)) continue;
    p.panel.ui->step = p.panel.scene.at.event;
    p.panel.ui->rank = row.rank;
    p.panel.ui->spelled.reset();
    ImGui::SetScrollY(0);
  }
  ImGui::PopID();
}

void draw_band(const RingPanel& panel, const Box& area, const Columns& columns, const BandLook& look) {
  const Style& s = style();
  const RingScene& scene = panel.scene;
  ImDrawList* list = ImGui::GetWindowDrawList();
  Place p{panel, s, list, columns, area};
  p.answers = !look.pictures;
  p.rows.min.y += s.px(kHead);
  p.rows.max.y -= s.px(8);
  place_ranks(p);
  std::string title = scene.title;
  if (p.shown < static_cast<std::int32_t>(scene.ranks.size()))
    title = phrase("{}; ranks {} to {} are shown", title, p.first, p.first + p.shown - 1);
  const float title_end = p.x.part.width() > 0                 ? p.x.part.min.x
                          : p.x.states && p.x.turn.width() > 0 ? p.x.turn.centre().x - s.px(44)
                                                               : area.max.x;
  if (look.number == 0)
    draw_text(list, area.min, Face::bold, 14, colour_of(Token::text),
              elided_text(Face::bold, 14, title, title_end - area.min.x));
  draw_heads(p, area.min.y);
  for (std::int32_t n = 0; n < p.shown; ++n) draw_rank(p, static_cast<std::size_t>(n));
  if (look.pictures) take_rank(p, look);
  const bool all = p.shown == static_cast<std::int32_t>(scene.ranks.size());
  if (all && scene.backward) draw_gradient_ways(p);
  if (all && p.x.next.width() > 0 && scene.turn + 1 < scene.ring.ranks) draw_way(p, p.x.here, p.x.next, kKeys, false);
  if (!scene.dense.empty() && p.x.scores.width() > 0)
    draw_paragraph(list, {p.x.scores.min.x, p.rows.min.y + s.px(8)}, area.max.x - p.x.scores.min.x, 13,
                   {{scene.dense, Face::text, Token::dim, 0, false}}, 3);
}

// Below each other.
void draw_bands(const Drawing& d, const Box& area, bool pictures) {
  std::vector<Columns> bands;
  for (const Band band : {Band::travel, Band::work, Band::sums}) {
    if (band == Band::sums && !d.panel.scene.backward) continue;
    Columns columns = d.columns(area, band);
    if (end_of(columns) > columns.labels + columns.names + 1) bands.push_back(columns);
  }
  float top = area.min.y;
  int number = 0;
  const float high = area.height() / static_cast<float>(std::max<std::size_t>(bands.size(), 1));
  for (const Columns& columns : bands) {
    draw_band(d.panel, {{area.min.x, top}, {area.max.x, top + high}}, columns, {number++, pictures});
    top += high;
  }
}

// Under all of it; a low card has a "?" in its corner. Takes its lines away from `area`.
void draw_legend(const RingPanel& panel, Box& area) {
  constexpr float kLow = 220, kSide = 18;
  const Style& s = style();
  if (!panel.look.has(StepPart::legend)) return;
  const LegendMarks marks = marks_in(panel, area);
  if (area.height() < s.px(kLow))
    return draw_legend_button({{area.max.x - s.px(kSide), area.min.y}, {area.max.x, area.min.y + s.px(kSide)}},
                              panel.scale, marks);
  const float high = legend_height(panel, area);
  area.max.y -= high;
  draw_cell_legend({{area.min.x, area.max.y + s.px(4)}, {area.max.x, area.max.y + high + s.px(4)}}, panel.scale, marks);
}

}  // namespace

float ring_height(const RingPanel& panel, const Recording& rec, float width) {
  constexpr float kRow = 12, kRank = kBetweenRanks + 10, kMostRanks = 8, kFoot = 16;
  const Box card = inside_of({{0, 0}, {width, 0}});
  const Box inside{card.min, {card.max.x - map_width(panel, card), card.max.y}};
  const auto ranks = static_cast<float>(std::max<std::int64_t>(ranks_of(rec.options), 1));
  const float rows = std::ceil(static_cast<float>(rec.problem.Lq) / ranks);
  const float bands = rec.problem.pass == Pass::backward ? 3 : 2;
  const float all = 20 + bands * (kHead + kFoot + std::min(ranks, kMostRanks) * (std::min(rows, 16.0F) * kRow + kRank));
  return style().px(all) + height_of_one(panel, inside) + legend_height(panel, card);
}

void draw_ring(const RingPanel& panel, const Box& box) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  list->PushClipRect(box.min, box.max, true);
  Box area = inside_of(box);
  draw_legend(panel, area);
  const bool states = has_states(panel, area);
  if (const float wide = map_width(panel, area); wide > 0) {
    draw_ring_map(panel, {{area.max.x - wide + s.px(22), area.min.y}, area.max});
    area.max.x -= wide;
  }
  const bool one = height_of_one(panel, area) > 0;
  if (one) {
    draw_ring_rank(panel, area);
    area.min.y += height_of_one(panel, area);
  }
  const Drawing drawing{panel, states};
  const Columns columns = drawing.columns(area, Band::all);
  // Slivers, whose heads stand over one another, are no pictures of ranks.
  constexpr float kLeastPicture = 6;
  if (end_of(columns) <= area.max.x + 1 && (!one || columns.cell >= s.px(kLeastPicture)))
    draw_band(panel, area, columns, {0, one});
  else
    draw_bands(drawing, area, one);
  list->PopClipRect();
}

}  // namespace attn
