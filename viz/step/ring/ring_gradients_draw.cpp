// Of a backward: dQ stays beside Q; K and V go down on the left, dK and dV, one turn behind them, on the right.
#include <algorithm>
#include <vector>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/ring/ring_parts_draw.h"

namespace attn::rings {
namespace {

constexpr float kPad = 6, kWords = 20, kSide = 24, kBetweenSums = 6;  // logical; kSide: for the way round
constexpr float kStatistic = 1.15F;                                   // in cells

bool has_words(const Place& p) {
  return p.rank - p.s.px(kBetweenRanks) >= p.s.px(64);
}

// Their x, with cells of that width; what is optional is left out.
struct Widths {
  float cell, part_cell;
  bool d_o;
  Band band = Band::all;
};

Columns placed(const RingScene& scene, const Box& area, const StepFocus& look, const Widths& w) {
  const Style& s = style();
  const RingRankRow& row = scene.ranks.front();
  std::int32_t keys = 1;
  for (const RingRankRow& r : scene.ranks) keys = std::max(keys, r.scores.cols);
  const auto d = static_cast<float>(std::max(row.q.cols, 1)), dv = static_cast<float>(std::max(row.v.cols, 1));
  const bool travels = look.has(TensorColour::k) || look.has(TensorColour::v);
  Columns x;
  x.labels = area.min.x;
  x.names = s.px(w.band == Band::all ? kLabels : kBandLabels);
  x.name_room = x.names - s.px(kAfterNames);
  // The way round stands beside the names where neither Q nor dO does.
  const bool here = travels && (w.band == Band::all || w.band == Band::travel);
  if (here && !look.has(TensorColour::q) && !w.d_o) x.names += s.px(kWayRound);
  float left = area.min.x + x.names;
  const auto take = [&](Band band, bool meant, float wide, float gap) {
    meant = meant && (w.band == Band::all || w.band == band);
    const Box box{{left, area.min.y}, {left + (meant ? wide : 0), area.max.y}};
    if (meant) left += wide + s.px(gap);
    return box;
  };
  // In a band of their own the inputs have what room there is.
  const float most =
      w.band == Band::travel ? (area.width() - x.names - s.px(76 + 3 * kGap)) / (w.d_o ? 2 : 1) : s.px(110);
  x.cell = w.cell;
  using enum Band;
  x.q = take(travel, look.has(TensorColour::q), std::min({d * s.px(kQHeat), s.px(110), most}), w.d_o ? 4 : kGap + 8);
  x.d_o = take(travel, w.d_o, std::min({dv * s.px(kQHeat), s.px(110), most}), kGap + 8);
  const float keys_wide = std::min((d + dv) * s.px(kHeat), s.px(150)) + s.px(22);
  x.here = take(travel, travels, std::max(s.px(76), std::min(keys_wide, w.band == all ? keys_wide : area.max.x - left)),
                kGap);
  x.scores = take(work, true, w.cell * static_cast<float>(keys), kGap);
  x.delta = take(work, true, w.cell * kStatistic, kGap);
  x.dq = take(work, look.has(TensorColour::q), w.cell * d, kGap + 4);
  x.part = take(sums, travels, w.part_cell * (d + dv) + s.px(kBetweenSums), kGap);
  x.sums = take(sums, travels, w.cell * (d + dv) + s.px(kBetweenSums + 2 * kPad), kSide);
  return x;
}

// dK beside dV.
void draw_sums(const Place& p, const RingRankRow& row, const RingSums& sums, float left, float top, float cell) {
  left = draw_rows(p, row, sums.dk, left, top, cell) + p.s.px(kBetweenSums);
  draw_rows(p, row, sums.dv, left, top, cell);
}

}  // namespace

float key_row_height(const Place& p) {
  std::size_t rows = 1;
  for (const RingRankRow& row : p.panel.scene.ranks) rows = std::max(rows, row.sum_keys.size());
  const float room = p.rank - p.s.px(kBetweenRanks + 2 * kPad + (has_words(p) ? kWords - kPad : 0)) - p.between;
  return std::min(p.row, room / static_cast<float>(rows));
}

// As wide as the room allows: first the numbers of the sums, then those of the turn's parts and dO.
Columns gradient_columns(const RingScene& scene, const Box& area, const StepFocus& look, Band band) {
  const Style& s = style();
  const float heat = s.px(kHeat), number = s.px(kNumbersFrom);
  // All columns grow by the cell alone: two widths tell which cell fills the room.
  if (band == Band::travel) return placed(scene, area, look, {heat, heat, true, band});
  const auto fitting = [&](bool d_o, bool parts) {
    const auto end = [&](float cell) {
      return placed(scene, area, look, {cell, parts ? cell : heat, d_o, band}).sums.max.x + s.px(kSide);
    };
    const float none = end(0), each = end(1) - none;
    return std::clamp((area.max.x - none) / std::max(each, 1.0F), s.px(2), s.px(kMostCell));
  };
  if (band != Band::all) {
    const float cell = fitting(false, true);
    return placed(scene, area, look, {cell, cell, false, band});
  }
  for (const bool parts : {true, false})
    for (const bool d_o : {true, false})
      if (const float cell = fitting(d_o, parts); cell >= number)
        return placed(scene, area, look, {cell, parts ? cell : heat, d_o});
  const float cell = fitting(false, false);
  return placed(scene, area, look, {cell, std::min(cell, heat), false});
}

void draw_gradients(const Place& p, const RingRankRow& row, std::size_t n) {
  const Box sums = slot_box(p, p.x.sums, n);
  const float top = sums.min.y;
  const auto width = [](const Box& x, const RingGrid& grid) {
    return x.width() / static_cast<float>(std::max(grid.cols, 1));
  };
  if (p.x.d_o.width() > 0) draw_rows(p, row, row.d_o, p.x.d_o.min.x, top, width(p.x.d_o, row.d_o));
  if (p.x.delta.width() > 0) draw_rows(p, row, row.delta, p.x.delta.min.x, top, p.x.delta.width());
  if (p.x.dq.width() > 0) draw_rows(p, row, row.dq, p.x.dq.min.x, top, width(p.x.dq, row.dq));
  if (p.x.sums.width() <= 0) return;
  const float pad = p.s.px(kPad), in = top + pad;
  p.list->AddRectFilled(sums.min, sums.max, colour_of(Token::field), p.s.px(5));
  draw_outline(p.list, sums, colour_of(Token::line), 1, 5);
  const auto columns = static_cast<float>(std::max(row.part.dk.cols + row.part.dv.cols, 1));
  draw_sums(p, row, row.part, p.x.part.min.x, in, (p.x.part.width() - p.s.px(kBetweenSums)) / columns);
  draw_sums(p, row, row.sums, sums.min.x + pad, in, p.x.cell);
  if (has_words(p))
    draw_runs_in(p.list, {{sums.min.x, sums.max.y - p.s.px(kWords)}, sums.max}, Align::centre, 13,
                 whose(kSums, row.home ? row.rank : row.here));
}

void draw_gradient_heads(const Place& p, float top) {
  const auto both = [&](float left, float cell) {
    const RingRankRow& row = p.panel.scene.ranks.front();
    const float dk = cell * static_cast<float>(row.sums.dk.cols);
    draw_letter(p, top, left, dk, "dK", TensorColour::k);
    draw_letter(p, top, left + dk + p.s.px(kBetweenSums), cell * static_cast<float>(row.sums.dv.cols), "dV",
                TensorColour::v);
  };
  const char* stays = p.panel.look.has(StepPart::travel) ? tr("stays") : "";
  if (p.x.d_o.width() > 0) draw_letter(p, top, p.x.d_o.min.x, p.x.d_o.width(), "dO", TensorColour::o);
  if (p.x.delta.width() > 0) draw_letter(p, top, p.x.delta.min.x, p.x.delta.width(), "δ", TensorColour::alpha);
  if (p.x.dq.width() > 0) draw_letter(p, top, p.x.dq.min.x, p.x.dq.width(), "dQ", TensorColour::q, stays);
  if (p.x.sums.width() <= 0) return;
  const RingRankRow& row = p.panel.scene.ranks.front();
  const auto columns = static_cast<float>(std::max(row.part.dk.cols + row.part.dv.cols, 1));
  draw_words(p, p.x.part, tr("this turn"), top);
  both(p.x.part.min.x, (p.x.part.width() - p.s.px(kBetweenSums)) / columns);
  draw_words(p, p.x.sums, row.home ? tr("home") : tr("all ranks so far"), top);
  both(p.x.sums.min.x + p.s.px(kPad), p.x.cell);
}

// What a rank passes on: its keys from now on; the sums that it had in the turn before have come.
void draw_gradient_ways(const Place& p) {
  const RingScene& scene = p.panel.scene;
  if (p.x.here.width() > 0 && scene.turn + 1 < scene.ring.ranks) draw_way(p, p.x.here, p.x.here, kKeys, false);
  if (p.x.sums.width() > 0 && scene.turn > 0) draw_way(p, p.x.sums, p.x.sums, kSums, true);
}

}  // namespace attn::rings
