#include "viz/step/ring/ring_draw.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/draw/number_text.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/beside/legend_draw.h"

namespace attn {
namespace {

// Logical sizes.
constexpr float kLabels = 88, kNext = 62, kGap = 13, kHeat = 9, kQHeat = 11, kHead = 46, kMostCell = 44, kLowRow = 5,
                kNumbersFrom = 26, kBetweenRanks = 14, kMapWidth = 250, kMapFrom = 600, kBothFrom = 1040, kRowHigh = 30;

struct Columns {
  Box q, next, here, scores, turn, so_far;  // their x; y is a row's
  float labels = 0;                         // where the ranks' names begin
  float cell = 0;                           // width of a cell with a number
  float m = 0, l = 0, o = 0;                // widths; 0: a lesson does not speak of it
  bool states = true;                       // m, l or O is there
  float o_left(const Box& state) const { return state.max.x - o; }
};

struct Place {
  const RingPanel& panel;
  const Style& s;
  ImDrawList* list;
  Columns x;
  Box rows;           // of all ranks
  float rank = 0;     // height of a rank with the space below it
  float row = 0;      // of a row of cells
  float between = 0;  // chunks of a rank
  std::int32_t first = 0, shown = 0;
};

// How much larger cells may be where a lesson folds others away.
float folded_growth(const StepFocus& look) {
  constexpr float kFolded = 1.5F;
  return look.parts.none() ? 1 : kFolded;
}

// What a lesson does not speak of has no room; the rest stands in the middle.
Columns columns_of(const RingScene& scene, const Box& area, bool states, const StepFocus& look) {
  const Style& s = style();
  const RingRankRow& row = scene.ranks.front();
  std::int32_t keys = 1;
  for (const RingRankRow& r : scene.ranks) keys = std::max(keys, r.scores.cols);
  const auto width = static_cast<float>(std::max(row.q.cols, 1)),
             value_width = static_cast<float>(std::max(row.v.cols, 1));
  const bool travels = look.has(TensorColour::k) || look.has(TensorColour::v);
  const auto where = [](bool meant, float wide) { return meant ? wide : 0.0F; };
  const float q = where(look.has(TensorColour::q), std::min(width * s.px(kQHeat), s.px(110))),
              next = where(travels && look.has(StepPart::travel), s.px(kNext)),
              here = where(travels,
                           std::max(s.px(76), std::min((width + value_width) * s.px(kHeat), s.px(150)) + s.px(22)));
  constexpr float kStatistic = 1.15F;  // in cells
  const float scores = where(look.has(TensorColour::s) || look.has(TensorColour::p), static_cast<float>(keys)),
              m = where(states && look.has(TensorColour::m), kStatistic),
              l = where(states && look.has(TensorColour::l), kStatistic),
              o = where(states && look.has(TensorColour::o), value_width);
  const float cells = scores + 2 * (m + l + o) + (states ? 0.3F : 0.0F);
  const float fixed = s.px(kLabels) + q + next + here + 6 * s.px(kGap);
  Columns x;
  x.states = m + l + o > 0;
  x.cell = std::clamp((area.width() - fixed) / std::max(cells, 1.0F), s.px(2), s.px(kMostCell) * folded_growth(look));
  x.m = m * x.cell, x.l = l * x.cell, x.o = o * x.cell;
  float left = 0;
  const auto take = [&](float wide, float gap) {
    const Box box{{left, area.min.y}, {left + wide, area.max.y}};
    if (wide > 0) left += wide + gap;
    return box;
  };
  left = s.px(kLabels);
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

void draw_blank(ImDrawList* list, const Box& box, CellLook look) {
  const Style& s = style();
  const bool small = box.width() < s.px(8) || box.height() < s.px(7);
  if (look == CellLook::masked) {
    draw_masked_cell(list, box);
  } else if (look == CellLook::dropped) {
    draw_dropped_cell(list, box, !small);
  } else if (look == CellLook::empty) {
    if (small)
      list->AddRectFilled(box.min, box.max, faded(colour_of(Token::faint), 0.15F));
    else
      draw_dashed(list, box, faded(colour_of(Token::faint), 0.8F), 2);
  }
}

void draw_cell(ImDrawList* list, const Box& outer, Slot slot, const Cell& cell, bool numbers) {
  const Style& s = style();
  const float gap = outer.width() > s.px(7) && outer.height() > s.px(7) ? s.px(1) : s.px(0.5F);
  const Box box{{outer.min.x + gap, outer.min.y + gap}, {outer.max.x - gap, outer.max.y - gap}};
  if (cell.look != CellLook::value) return draw_blank(list, box, cell.look);
  const bool finite = std::isfinite(cell.value);
  const ImU32 fill = value_fill(tensor_of(slot), cell.value, cell.shade);
  list->AddRectFilled(box.min, box.max, fill, box.height() > s.px(9) ? s.px(2) : 0);
  if (cell.value == -HUGE_VALF) draw_outline(list, box, colour_of(Token::faint), 1);
  if (!numbers || cell.text.empty() || box.height() < s.px(11)) return;
  float size = finite ? 11.0F : 13.0F;
  const Face face = finite ? Face::mono : Face::text;
  while (size > 8 && text_width(face, size, cell.text) > box.width()) size -= 0.5F;
  if (text_width(face, size, cell.text) <= box.width())
    draw_text_in(list, box, Align::centre, face, size, text_on(fill), cell.text);
}

// Row r of a rank; a space parts its chunks.
float row_top(const Place& p, const std::vector<std::int32_t>& rows, float top, std::size_t r) {
  float y = top;
  for (std::size_t n = 1; n <= r; ++n) y += p.row + (rows[n] == rows[n - 1] + 1 ? 0 : p.between);
  return y;
}

// What a cell of a grid is, said beside the pointer; a click follows its row.
void answer_pointer(const Place& p, const RingRankRow& row, const RingGrid& grid, const Box& cell, std::int32_t r,
                    std::int32_t c) {
  if (!ImGui::IsWindowHovered() || !cell.contains(ImGui::GetMousePos())) return;
  const Cell& at = grid.cell(r, c);
  const std::int32_t query = row.rows[static_cast<std::size_t>(r)];
  draw_outline(p.list, cell, colour_of(Token::text), 1, 3);
  const std::string letter(letter_of_slot(grid.slot_of(r)));
  const bool keys = slot_row(grid.slot).columns == SlotColumns::keys;
  const std::string where = keys            ? phrase("row {}, key {}", query, row.keys[static_cast<std::size_t>(c)])
                            : grid.cols > 1 ? phrase("row {}, column {}", query, c)
                                            : phrase("row {}", query);
  const std::string what = at.look == CellLook::value     ? significant_text(static_cast<double>(at.value), kCellDigits)
                           : at.look == CellLook::masked  ? std::string(tr("masked"))
                           : at.look == CellLook::dropped ? std::string(tr("computed and used; no longer on chip"))
                                                          : std::string(tr("not computed yet"));
  show_tooltip(fmt::format("{}, {}: {}", letter, where, what));
  if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
  Selection selection = p.panel.state.document.selection;
  selection.row = query;
  p.panel.commands.emplace_back(Select{selection});
}

// Rows of queries from `left` on; returns where they end.
float draw_rows(const Place& p, const RingRankRow& row, const RingGrid& grid, float left, float top, float cell) {
  const bool numbers = cell >= p.s.px(kNumbersFrom);
  for (std::int32_t r = 0; r < grid.rows; ++r) {
    const float y = row_top(p, row.rows, top, static_cast<std::size_t>(r));
    for (std::int32_t c = 0; c < grid.cols; ++c) {
      const Box box{{left + cell * static_cast<float>(c), y}, {left + cell * static_cast<float>(c + 1), y + p.row}};
      draw_cell(p.list, box, grid.slot_of(r), grid.cell(r, c), numbers);
      answer_pointer(p, row, grid, box, r, c);
    }
  }
  const float right = left + cell * static_cast<float>(grid.cols);
  if (grid.made && grid.rows > 0) {
    const float bottom = row_top(p, row.rows, top, static_cast<std::size_t>(grid.rows - 1)) + p.row;
    draw_outline(p.list, Box{{left, top}, {right, bottom}}.grown(p.s.px(2)), colour_of(Token::text), 2, 4);
  }
  return right;
}

TextRuns whose(std::int64_t rank) {
  return woven(phrase("{} {} of {}", place(0), place(1), rank),
               {letter("K", TensorColour::k), letter("V", TensorColour::v)}, Token::text);
}

// K beside V as heat, and whose they are.
void draw_here(const Place& p, const RingRankRow& row, const Box& box) {
  if (row.k.cells.empty()) {
    p.list->AddRectFilled(box.min, box.max, colour_of(Token::field), p.s.px(5));
    return draw_runs_in(p.list, box, Align::centre, 13, whose(row.here));
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
  if (words) draw_runs_in(p.list, {{box.min.x, box.max.y - low}, box.max}, Align::centre, 13, whose(row.here));
}

// On its way: no numbers, since nobody can read it yet.
void draw_next(const Place& p, const RingRankRow& row, const Box& box) {
  if (!row.next) return draw_dashed(p.list, box, colour_of(Token::line), 3);
  draw_hatch(p.list, box, faded(colour_of(TensorColour::k), 0.35F), 6);
  draw_outline(p.list, box, faded(colour_of(TensorColour::k), 0.7F), 1, 5);
  const TextRuns words = whose(*row.next);
  const float wide = runs_width(words, 13) + p.s.px(6), high = p.s.px(18);
  const ImVec2 middle = box.centre();
  const Box plate{{middle.x - wide / 2, middle.y - high / 2}, {middle.x + wide / 2, middle.y + high / 2}};
  p.list->AddRectFilled(plate.min, plate.max, colour_of(Token::card), p.s.px(3));
  draw_runs_in(p.list, plate, Align::centre, 13, words);
}

void draw_token(const Place& p, ImVec2 at) {
  const float side = p.s.px(14);
  for (const TensorColour hue : {TensorColour::k, TensorColour::v}) {
    const Box box{{at.x + (hue == TensorColour::k ? -side : 0), at.y - side / 2},
                  {at.x + (hue == TensorColour::k ? 0 : side), at.y + side / 2}};
    const ImU32 fill = colour_of(hue);
    p.list->AddRectFilled(box.min, box.max, fill, p.s.px(3));
    draw_text_in(p.list, box, Align::centre, Face::bold, 10, text_on(fill), hue == TensorColour::k ? "K" : "V");
  }
}

void draw_arrow_head(const Place& p, ImVec2 at, bool down) {
  const float w = p.s.px(4), h = p.s.px(6);
  if (down)
    p.list->AddTriangleFilled({at.x - w, at.y - h}, {at.x + w, at.y - h}, at, colour_of(Token::text));
  else
    p.list->AddTriangleFilled({at.x - h, at.y - w}, {at.x - h, at.y + w}, at, colour_of(Token::text));
}

Box slot_box(const Place& p, const Box& column, std::size_t n) {
  const float top = p.rows.min.y + p.rank * static_cast<float>(n);
  return {{column.min.x, top}, {column.max.x, top + p.rank - p.s.px(kBetweenRanks)}};
}

// From where keys are to where they will be: down to the next rank, and round from the last to the first.
void draw_way(const Place& p) {
  const ImU32 ink = colour_of(Token::text);
  const float thick = p.s.px(1.5F);
  const auto count = static_cast<std::size_t>(p.shown);
  for (std::size_t n = 0; n + 1 < count; ++n) {
    const Box from = slot_box(p, p.x.here, n), to = slot_box(p, p.x.next, n + 1);
    const ImVec2 a{from.centre().x, from.max.y}, d{to.centre().x, to.min.y};
    const float bend = (d.y - a.y) * 0.9F;
    p.list->AddBezierCubic(a, {a.x, a.y + bend}, {d.x, d.y - bend}, d, ink, thick);
    draw_arrow_head(p, d, true);
    if (p.rank > p.s.px(40)) draw_token(p, {(a.x + d.x) / 2, (a.y + d.y) / 2});
  }
  const Box from = slot_box(p, p.x.here, count - 1), to = slot_box(p, p.x.next, 0);
  const float left = p.x.next.min.x - p.s.px(11), low = from.max.y + p.s.px(9), high = to.centre().y;
  const ImVec2 way[] = {
      {from.centre().x, from.max.y}, {from.centre().x, low}, {left, low}, {left, high}, {to.min.x, high}};
  p.list->AddPolyline(way, static_cast<int>(std::size(way)), ink, 0, thick);
  draw_arrow_head(p, {to.min.x, high}, false);
  // On the way's lower leg: beside its upright one stand the ranks' names.
  if (p.rank > p.s.px(40)) draw_token(p, {(left + from.centre().x) / 2, low});
}

void draw_label(const Place& p, const RingRankRow& row, const Box& box) {
  if (row.live)
    p.list->AddRectFilled({box.min.x - p.s.px(6), box.min.y}, {box.min.x - p.s.px(3), box.max.y},
                          colour_of(Token::text), p.s.px(1));
  const float room = box.width() - p.s.px(4);
  draw_text(p.list, box.min, Face::bold, 14, colour_of(Token::text), row.name);
  float y = box.min.y + p.s.px(20);
  const std::string idle = row.idle ? tr("no work this turn") : "";
  for (const std::string* words : {&row.chunks, &row.row_words, &idle}) {
    if (words->empty()) continue;
    y += draw_paragraph(p.list, {box.min.x, y}, room, 12, {{*words, Face::text, Token::dim, 0, false}},
                        y + p.s.px(34) <= box.max.y ? 2 : 1);
    if (y + p.s.px(15) > box.max.y) return;
  }
}

void draw_state(const Place& p, const RingRankRow& row, const RingState& state, float left, float top) {
  if (p.x.m > 0) left = draw_rows(p, row, state.m, left, top, p.x.m);
  if (p.x.l > 0) left = draw_rows(p, row, state.l, left, top, p.x.l);
  if (p.x.o > 0) draw_rows(p, row, state.o, left + p.s.px(6), top, p.x.cell);
}

void draw_rank(const Place& p, std::size_t n) {
  const RingRankRow& row = p.panel.scene.ranks[static_cast<std::size_t>(p.first) + n];
  const Box label = slot_box(p, {{p.x.labels, p.rows.min.y}, {p.x.labels + p.s.px(kLabels - 6), p.rows.max.y}}, n);
  draw_label(p, row, label);
  if (p.x.q.width() > 0)
    draw_rows(p, row, row.q, p.x.q.min.x, label.min.y, p.x.q.width() / static_cast<float>(std::max(row.q.cols, 1)));
  if (p.x.next.width() > 0) draw_next(p, row, slot_box(p, p.x.next, n));
  if (p.x.here.width() > 0) draw_here(p, row, slot_box(p, p.x.here, n));
  if (p.x.scores.width() > 0)
    draw_rows(p, row, row.scores, p.x.scores.min.x, label.min.y,
              p.x.scores.width() / static_cast<float>(std::max(row.scores.cols, 1)));
  if (!p.x.states) return;
  draw_state(p, row, row.turn, p.x.turn.min.x, label.min.y);
  draw_state(p, row, row.so_far, p.x.so_far.min.x, label.min.y);
}

void draw_heads(const Place& p, float top) {
  const auto words = [&](const Box& x, const char* text, float y) {
    draw_text_in(p.list, {{x.min.x - p.s.px(20), y}, {x.max.x + p.s.px(20), y + p.s.px(18)}}, Align::centre, Face::text,
                 12.5F, colour_of(Token::dim), text);
  };
  const auto letter_at = [&](float left, float wide, const char* sign, TensorColour hue, const char* after = "") {
    TextRuns runs{letter(sign, hue)};
    if (*after != '\0') runs.push_back(word(std::string(" ") + after));
    draw_runs_in(p.list, {{left - p.s.px(20), top + p.s.px(18)}, {left + wide + p.s.px(20), top + p.s.px(kHead - 6)}},
                 Align::centre, 13, runs);
  };
  const float low = top + p.s.px(21);
  // Where a lesson still asks what travels, nobody says what stays.
  const char* stays = p.panel.look.has(StepPart::travel) ? tr("stays") : "";
  if (p.x.q.width() > 0) letter_at(p.x.q.min.x, p.x.q.width(), "Q", TensorColour::q, stays);
  if (p.x.next.width() > 0) words(p.x.next, tr("next"), low);
  if (p.x.here.width() > 0) words(p.x.here, tr("here now"), low);
  const bool weights = p.panel.scene.scores_hue == TensorColour::p;
  if (p.x.scores.width() > 0)
    letter_at(p.x.scores.min.x, p.x.scores.width(), weights ? "P" : "S", p.panel.scene.scores_hue);
  if (!p.x.states) return;
  for (const Box* x : {&p.x.turn, &p.x.so_far}) {
    words(*x, x == &p.x.turn ? tr("this turn") : tr("so far"), top);
    if (p.x.m > 0) letter_at(x->min.x, p.x.m, "m", TensorColour::m);
    if (p.x.l > 0) letter_at(x->min.x + p.x.m, p.x.l, "ℓ", TensorColour::l);
    if (p.x.o > 0) letter_at(p.x.o_left(*x), p.x.o, "O", TensorColour::o);
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
}

}  // namespace

void draw_ring(const RingPanel& panel, const Box& box) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  list->PushClipRect(box.min, box.max, true);
  Box area{{box.min.x + s.px(18), box.min.y + s.px(10)}, {box.max.x - s.px(18), box.max.y - s.px(10)}};
  // Where there is no room for both, the map gives way to m, l and O, unless a lesson speaks of other things.
  const StepFocus& look = panel.look;
  const bool roomy = area.width() >= s.px(kBothFrom);
  const bool states = roomy || look.has(TensorColour::m) || look.has(TensorColour::l) || look.has(TensorColour::o);
  if (look.has(StepPart::chart) && area.width() >= s.px(kMapFrom) && (roomy || !states)) {
    const float wide = std::clamp(area.width() * 0.22F, s.px(kMapWidth), s.px(380));
    draw_ring_map(panel, {{area.max.x - wide, area.min.y}, area.max});
    area.max.x -= wide + s.px(22);
  }
  Place p{panel, s, list, columns_of(panel.scene, area, states, look), area};
  p.rows.min.y += s.px(kHead);
  p.rows.max.y -= s.px(8);
  place_ranks(p);
  const RingScene& scene = panel.scene;
  std::string title = scene.title;
  if (p.shown < static_cast<std::int32_t>(scene.ranks.size()))
    title = phrase("{}; ranks {} to {} are shown", title, p.first, p.first + p.shown - 1);
  draw_text(
      list, area.min, Face::bold, 14, colour_of(Token::text),
      elided_text(Face::bold, 14, title, (p.x.states ? p.x.turn.centre().x - s.px(44) : area.max.x) - area.min.x));
  draw_heads(p, area.min.y);
  for (std::int32_t n = 0; n < p.shown; ++n) draw_rank(p, static_cast<std::size_t>(n));
  if (p.x.next.width() > 0 && scene.turn + 1 < scene.ring.ranks &&
      p.shown == static_cast<std::int32_t>(scene.ranks.size()))
    draw_way(p);
  if (!scene.dense.empty())
    draw_paragraph(list, {p.x.scores.min.x, p.rows.min.y + s.px(8)}, area.max.x - p.x.scores.min.x, 13,
                   {{scene.dense, Face::text, Token::dim, 0, false}}, 3);
  list->PopClipRect();
}

}  // namespace attn
