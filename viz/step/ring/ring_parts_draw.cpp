#include "viz/step/ring/ring_parts_draw.h"

#include <cmath>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/draw/number_text.h"
#include "viz/draw/widgets.h"
#include "viz/step/beside/legend_draw.h"

namespace attn::rings {
namespace {

bool is_small(const Box& box) {
  return box.width() < style().px(8) || box.height() < style().px(7);
}

void draw_blank(ImDrawList* list, const Box& box, CellLook look) {
  const bool small = is_small(box);
  if (look == CellLook::masked) {
    draw_masked_cell(list, box);
  } else if (look == CellLook::dropped) {
    draw_dropped_cell(list, box, !small);
  } else if (look == CellLook::empty) {
    draw_dashed(list, box, faded(colour_of(Token::faint), 0.8F), 2);
  }
}

// As a power of ten; what is next to zero and too long for that is said to be.
std::string power_in_room(const Cell& cell, int room) {
  std::string text = number_text(cell.value, {0, true});
  if (text_length(text) > room && std::fabs(cell.value) < 0.05F) text = "≈0";
  return text_length(text) <= room ? text : "";
}

}  // namespace

std::string text_in_room(const Cell& cell, int room) {
  std::string text = cell.text;
  const double size = std::fabs(cell.value);
  for (int decimals = 2; text_length(text) > room; --decimals) {
    if (decimals < (size < 10 ? 1 : 0)) return power_in_room(cell, room);
    text = number_text(cell.value, {decimals, false});
    const std::size_t zero = size < 1 ? text.find("0.") : std::string::npos;
    if (zero != std::string::npos && text_length(text) > room) text.erase(zero, 1);
    if (text.find('e') != std::string::npos) return power_in_room(cell, room);
  }
  return text;
}

void draw_cell(ImDrawList* list, const Box& outer, Slot slot, const Cell& cell, bool numbers) {
  const Style& s = style();
  const float gap = outer.width() > s.px(7) && outer.height() > s.px(7) ? s.px(1) : s.px(0.5F);
  const Box box{{outer.min.x + gap, outer.min.y + gap}, {outer.max.x - gap, outer.max.y - gap}};
  if (cell.look != CellLook::value) return draw_blank(list, box, cell.look);
  const bool finite = std::isfinite(cell.value);
  const ImU32 fill = value_fill(tensor_of(slot), cell.value, cell.shade);
  if (slot_row(slot).gradient)
    draw_cut(list, box, fill);
  else
    list->AddRectFilled(box.min, box.max, fill, box.height() > s.px(9) ? s.px(2) : 0);
  if (cell.value == -HUGE_VALF) draw_outline(list, box, colour_of(Token::faint), 1);
  if (!numbers || cell.text.empty() || box.height() < s.px(11)) return;
  if (!finite) return draw_text_in(list, box, Align::centre, Face::text, 13, text_on(fill), cell.text);
  constexpr float kApart = 5;  // logical: from the neighbour's digits
  const int room = static_cast<int>((outer.width() - s.px(kApart)) / text_width(Face::mono, kNumber, "0"));
  draw_text_in(list, box, Align::centre, Face::mono, kNumber, text_on(fill), text_in_room(cell, room));
}

namespace {

// Row r of a rank; a space parts its chunks.
float row_top(const Place& p, const std::vector<std::int32_t>& rows, float top, float high, std::size_t r) {
  float y = top;
  for (std::size_t n = 1; n <= r; ++n) y += high + (rows[n] == rows[n - 1] + 1 ? 0 : p.between);
  return y;
}

const std::vector<std::int32_t>& rows_of(const RingRankRow& row, const RingGrid& grid) {
  return slot_row(grid.slot).rows == SlotRows::keys ? row.sum_keys : row.rows;
}

// What a cell of a grid is, said beside the pointer; a click follows its row.
void answer_pointer(const Place& p, const RingRankRow& row, const RingGrid& grid, const Box& cell, std::int32_t r,
                    std::int32_t c) {
  if (!p.answers || !ImGui::IsWindowHovered() || !cell.contains(ImGui::GetMousePos())) return;
  draw_outline(p.list, cell, colour_of(Token::text), 1, 3);
  show_tooltip(cell_words(row, grid, r, c));
  if (slot_row(grid.slot).rows == SlotRows::keys || !ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
  Selection selection = p.panel.state.document.selection;
  selection.row = row.rows[static_cast<std::size_t>(r)];
  p.panel.commands.emplace_back(Select{selection});
}

}  // namespace

std::string cell_words(const RingRankRow& row, const RingGrid& grid, std::int32_t r, std::int32_t c) {
  const Cell& at = grid.cell(r, c);
  const std::int32_t of = rows_of(row, grid)[static_cast<std::size_t>(r)];
  const std::string letter(letter_of_slot(grid.slot_of(r)));
  const bool keys = slot_row(grid.slot).columns == SlotColumns::keys;
  const std::string where = slot_row(grid.slot).rows == SlotRows::keys ? phrase("key {}, column {}", of, c)
                            : keys          ? phrase("row {}, key {}", of, row.keys[static_cast<std::size_t>(c)])
                            : grid.cols > 1 ? phrase("row {}, column {}", of, c)
                                            : phrase("row {}", of);
  const std::string what = at.look == CellLook::value     ? significant_text(static_cast<double>(at.value), kCellDigits)
                           : at.look == CellLook::masked  ? std::string(tr("masked"))
                           : at.look == CellLook::dropped ? std::string(tr("computed and used; no longer on chip"))
                                                          : std::string(tr("not computed yet"));
  return fmt::format("{}, {}: {}", letter, where, what);
}

float rows_bottom(const Place& p, const std::vector<std::int32_t>& rows, float top, float high) {
  return rows.empty() ? top : row_top(p, rows, top, high, rows.size() - 1) + high;
}

float draw_cells(const Place& p, const RingRankRow& row, const RingGrid& grid, float left, float top, float cell) {
  const bool numbers = cell >= p.s.px(kNumbersFrom);
  const bool of_keys = slot_row(grid.slot).rows == SlotRows::keys;
  const std::vector<std::int32_t>& rows = of_keys ? row.sum_keys : row.rows;
  const float high = of_keys ? p.keys : p.row;
  for (std::int32_t r = 0; r < grid.rows; ++r) {
    const float y = row_top(p, rows, top, high, static_cast<std::size_t>(r));
    const auto box_of = [&](std::int32_t first, std::int32_t end) {
      return Box{{left + cell * static_cast<float>(first), y}, {left + cell * static_cast<float>(end), y + high}};
    };
    for (std::int32_t c = 0, drawn = 0; c < grid.cols; ++c) {
      // Small neighbours that are to come are one: dashes round each would run into each other.
      std::int32_t end = c + 1;
      if (grid.cell(r, c).look == CellLook::empty && is_small(box_of(c, end)))
        while (end < grid.cols && grid.cell(r, end).look == CellLook::empty) ++end;
      if (c >= drawn) draw_cell(p.list, box_of(c, end), grid.slot_of(r), grid.cell(r, c), numbers), drawn = end;
      answer_pointer(p, row, grid, box_of(c, c + 1), r, c);
    }
  }
  return left + cell * static_cast<float>(grid.cols);
}

void frame_rows(const Place& p, const RingRankRow& row, const RingGrid& grid, float left, float top, float cell) {
  if (!grid.made.any()) return;
  const std::vector<std::int32_t>& rows = rows_of(row, grid);
  const float high = slot_row(grid.slot).rows == SlotRows::keys ? p.keys : p.row;
  const auto edge = [&](std::int32_t r) { return row_top(p, rows, top, high, static_cast<std::size_t>(r)); };
  const Box made{{left + cell * static_cast<float>(grid.made.col), edge(grid.made.row)},
                 {left + cell * static_cast<float>(grid.made.col + grid.made.cols),
                  edge(grid.made.row + grid.made.rows - 1) + high}};
  draw_outline(p.list, made.grown(p.s.px(2)), colour_of(Token::text), 2, 4);
}

float draw_rows(const Place& p, const RingRankRow& row, const RingGrid& grid, float left, float top, float cell) {
  const float right = draw_cells(p, row, grid, left, top, cell);
  frame_rows(p, row, grid, left, top, cell);
  return right;
}

TextRuns whose(std::span<const Carried> carried, std::int64_t rank) {
  const std::string words = carried[0].letter[1] == '\0' ? phrase("{} {} of {}", place(0), place(1), rank)
                                                         : phrase("{} and {} of {}", place(0), place(1), rank);
  return woven(words, {letter(carried[0].letter, carried[0].hue), letter(carried[1].letter, carried[1].hue)},
               Token::text);
}

namespace {

void draw_token(const Place& p, ImVec2 at, std::span<const Carried> carried) {
  const float side = p.s.px(carried[0].letter[1] == '\0' ? 14.0F : 18.0F), high = p.s.px(14);
  float left = at.x - side;
  for (const auto& [sign, hue] : carried) {
    const Box box{{left, at.y - high / 2}, {left + side, at.y + high / 2}};
    const ImU32 fill = colour_of(hue);
    p.list->AddRectFilled(box.min, box.max, fill, p.s.px(3));
    draw_text_in(p.list, box, Align::centre, Face::bold, 11, text_on(fill), sign);
    left += side;
  }
}

void draw_arrow_head(const Place& p, ImVec2 at, float x, float y) {
  const float w = p.s.px(4), h = p.s.px(6);
  const ImVec2 foot{at.x - x * h, at.y - y * h};
  p.list->AddTriangleFilled({foot.x - y * w, foot.y - x * w}, {foot.x + y * w, foot.y + x * w}, at,
                            colour_of(Token::text));
}

}  // namespace

Box slot_box(const Place& p, const Box& column, std::size_t n) {
  const float top = p.rows.min.y + p.rank * static_cast<float>(n);
  return {{column.min.x, top}, {column.max.x, top + p.rank - p.s.px(kBetweenRanks)}};
}

void draw_way(const Place& p, const Box& from_column, const Box& to_column, std::span<const Carried> carried,
              bool on_right) {
  const ImU32 ink = colour_of(Token::text);
  const float thick = p.s.px(1.5F);
  const auto count = static_cast<std::size_t>(p.shown);
  const bool tokens = p.rank > p.s.px(40);
  for (std::size_t n = 0; n + 1 < count; ++n) {
    const Box from = slot_box(p, from_column, n), to = slot_box(p, to_column, n + 1);
    const ImVec2 a{from.centre().x, from.max.y}, d{to.centre().x, to.min.y};
    const float bend = (d.y - a.y) * 0.9F;
    p.list->AddBezierCubic(a, {a.x, a.y + bend}, {d.x, d.y - bend}, d, ink, thick);
    draw_arrow_head(p, d, 0, 1);
    if (tokens) draw_token(p, {(a.x + d.x) / 2, (a.y + d.y) / 2}, carried);
  }
  const Box from = slot_box(p, from_column, count - 1), to = slot_box(p, to_column, 0);
  const float side = on_right ? to_column.max.x + p.s.px(kWayRound) : to_column.min.x - p.s.px(kWayRound);
  const float low = from.max.y + p.s.px(9), high = to.centre().y, end = on_right ? to.max.x : to.min.x;
  const ImVec2 way[] = {{from.centre().x, from.max.y}, {from.centre().x, low}, {side, low}, {side, high}, {end, high}};
  p.list->AddPolyline(way, static_cast<int>(std::size(way)), ink, 0, thick);
  draw_arrow_head(p, {end, high}, on_right ? -1.0F : 1.0F, 0);
  // On the way's lower leg: beside its upright one stand the ranks' names.
  if (tokens) draw_token(p, {(side + from.centre().x) / 2, low}, carried);
}

void draw_words(const Place& p, const Box& x, const char* text, float y) {
  draw_text_in(p.list, {{x.min.x - p.s.px(20), y}, {x.max.x + p.s.px(20), y + p.s.px(18)}}, Align::centre, Face::text,
               12.5F, colour_of(Token::dim), text);
}

void draw_letters(const Place& p, float top, float left, float wide, const TextRuns& runs) {
  draw_runs_in(p.list, {{left - p.s.px(20), top + p.s.px(18)}, {left + wide + p.s.px(20), top + p.s.px(kHead - 6)}},
               Align::centre, 13, runs);
}

void draw_letter(const Place& p, float top, float left, float wide, const char* sign, TensorColour hue,
                 const char* after) {
  TextRuns runs{letter(sign, hue)};
  if (*after != '\0') runs.push_back(word(std::string(" ") + after));
  draw_letters(p, top, left, wide, runs);
}

}  // namespace attn::rings
