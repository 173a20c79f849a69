#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/text.h"
#include "viz/draw/pixel_image.h"
#include "viz/step/beside/legend_draw.h"
#include "viz/step/tiles/parts_draw.h"
#include "viz/step/tiles/pointed.h"
#include "viz/step/tiles/tiles_draw.h"

namespace attn::tiles {
namespace {

// Gap between cells in pixels: none where cells are only a few pixels wide.
float cell_gap(float extent, const Style& s) {
  if (extent < s.px(7)) return 0;
  return extent < s.px(16) ? std::max(1.0F, s.px(0.5F)) : std::max(1.0F, s.px(1));
}

Box inset(const Box& b, const Style& s) {
  const float gx = cell_gap(b.width(), s), gy = cell_gap(b.height(), s);
  return {{b.min.x + gx, b.min.y + gy}, {b.max.x - gx, b.max.y - gy}};
}

void draw_gauge(const Drawn& d, const Box& box, float value, ImU32 fill) {
  // Alpha is how much of the past is left: a bar under its number is filled that far.
  draw_gauge_cell(d.list, box, std::isfinite(value) ? std::clamp(value, 0.0F, 1.0F) : 1.0F, fill);
}

constexpr float kLowCell = 20;     // logical: the number makes room for the line under it
constexpr float kReadable = 0.6F;  // strength of a fill below which a number on it has the ground's ink

// Its row's largest score: underlined in m's colour.
void draw_largest(const Drawn& d, const Box& box) {
  if (box.width() <= d.s.px(5)) return;
  const bool low = box.height() <= d.s.px(kLowCell);
  const float y = box.max.y - d.s.px(low ? 1.5F : 4), thick = d.s.px(low ? 1.5F : 2);
  const float side = box.width() > d.s.px(20) ? d.s.px(4) : 0;
  d.list->AddRectFilled({box.min.x + side, y}, {box.max.x - side, y + thick}, colour_of(TensorColour::m));
}

// How a cell of numbers is drawn besides what it holds.
struct CellStyle {
  float text_size = 12;
  bool chosen = false;  // of the followed row
  bool flies = false;   // on its way: with its fill, whatever it is in its tile
  float strength = 1;   // what alpha leaves of it
};

void draw_value_cell(const Drawn& d, const TileScene& tile, const Cell& cell, const Box& outer, const CellStyle& as) {
  const Box box = inset(outer, d.s);
  ImU32 ink = colour_of(Token::dim);
  const float rounding = box.width() > d.s.px(14) && box.height() > d.s.px(10) ? d.s.px(2) : 0;
  if (tile.superseded && !as.flies) {
    if (as.chosen) ink = colour_of(Token::text);
  } else if (tile.gauge) {
    draw_gauge(d, box, cell.value, faded(colour_of(tile.hue), 0.75F));
    ink = colour_of(Token::text);
  } else {
    const ImU32 fill = value_fill(tile.hue, cell.value, cell.shade);
    if (tile.gradient)
      draw_cut(d.list, box, faded(fill, as.strength));
    else
      d.list->AddRectFilled(box.min, box.max, faded(fill, as.strength), rounding);
    if (cell.value == -HUGE_VALF) draw_outline(d.list, box, faded(colour_of(Token::faint), as.strength), 1);
    ink = as.strength < kReadable ? colour_of(Token::text) : text_on(fill);
  }
  const bool quiet = !as.flies && keeps_quiet(d, box);
  if (!cell.text.empty() && !quiet && outer.height() >= d.s.px(kNumberHeight)) {
    // The numbers' face draws infinity too small to be told from an equals sign.
    const bool number = std::isfinite(cell.value);
    float size = number ? as.text_size : as.text_size + 2;
    const Face face = number ? Face::mono : Face::text;
    while (size > 8 && text_width(face, size, cell.text) > box.width()) size -= 1;
    const bool gauge = tile.gauge && (!tile.superseded || as.flies);
    const float lift = gauge                                              ? box.max.y - above_gauge(box).max.y
                       : cell.largest && box.height() <= d.s.px(kLowCell) ? d.s.px(2)
                                                                          : 0;
    const bool fits = !as.flies || text_width(face, size, cell.text) <= box.width();
    if (fits) draw_text_in(d.list, {box.min, {box.max.x, box.max.y - lift}}, Align::centre, face, size, ink, cell.text);
  }
  if (cell.largest) draw_largest(d, box);
}

// What was computed and is gone: a flat plate, where there is room with a dot on it.
void draw_dropped(const Drawn& d, const TilePlace& place, std::int32_t r, std::int32_t from, std::int32_t to,
                  bool dots) {
  for (std::int32_t c = from; c < to; ++c) {
    const Box box = inset(place.cell(r, c), d.s);
    draw_dropped_cell(d.list, box, dots);
  }
}

// Neighbours of the same look in a row are drawn as one: hatching and dashes cost many lines.
void draw_blank_run(const Drawn& d, const TilePlace& place, CellLook look, std::int32_t r, std::int32_t from,
                    std::int32_t to) {
  const Box first = place.cell(r, from), last = place.cell(r, to - 1);
  const Box run = inset({first.min, last.max}, d.s);
  const bool wide = place.cell_width >= d.s.px(14) && run.height() >= d.s.px(9);
  if (look == CellLook::masked) {
    draw_masked_cell(d.list, run);
    return;
  }
  if (look == CellLook::dropped) {
    draw_dropped(d, place, r, from, to, wide);
    return;
  }
  const ImU32 line = look == CellLook::empty ? colour_of(Token::faint) : colour_of(Token::line);
  if (!wide) {
    if (look == CellLook::empty)
      draw_dashed(d.list, run, faded(line, 0.7F), 2);
    else
      d.list->AddRectFilled(run.min, run.max, faded(line, 0.3F));  // rows run together: one quiet area
    return;
  }
  for (std::int32_t c = from; c < to; ++c) {
    const Box box = inset(place.cell(r, c), d.s);
    if (look == CellLook::empty)
      draw_dashed(d.list, box, line);
    else
      draw_outline(d.list, box, line, 1);
  }
}

// Pixel rows or columns of a picture: which cell each centre lies in, and whether in the gap around it.
struct PixelAxis {
  std::vector<std::int32_t> cell;  // -1 before the first and beyond the last
  std::vector<bool> gap;
};

PixelAxis columns_of(const TilePlace& place, std::int32_t cols, float first_x, std::size_t pixels, const Style& s) {
  PixelAxis axis;
  const float gap = cell_gap(place.cell_width, s);
  for (std::size_t n = 0; n < pixels; ++n) {
    const float x = first_x + static_cast<float>(n) - place.box.min.x;
    const auto c = static_cast<std::int32_t>(std::floor(x / place.cell_width));
    const float inside = x - static_cast<float>(c) * place.cell_width;
    axis.cell.push_back(c < cols ? c : -1);
    axis.gap.push_back(inside < gap || inside >= place.cell_width - gap);
  }
  return axis;
}

// Cells too many and too small for shapes of their own: no number, no round corner.
bool draws_as_picture(const Drawn& d, const TileScene& tile, const TilePlace& place) {
  if (!tile.live || tile.cells.size() < 256 || tile.superseded || tile.gauge || place.room >= 3) return false;
  return place.cell_width < d.s.px(14) || place.box.height() < d.s.px(10) * static_cast<float>(tile.rows);
}

// A pixel of a cell that holds no number.
ImU32 blank_pixel(const Drawn& d, CellLook look, float x, float y, bool gap) {
  switch (look) {
    case CellLook::masked: {
      // The same lines x + y = s as draw_hatch().
      const float step = std::max(d.s.px(6), 2.0F);
      const bool line = std::fmod(x + y, step) < std::max(1.0F, d.s.px(1));
      return line ? faded(colour_of(Token::faint), 0.7F) : faded(colour_of(Token::field), 0.6F);
    }
    case CellLook::past_end:
      return faded(colour_of(Token::line), 0.3F);
    case CellLook::dropped:
      return gap ? 0 : colour_of(Token::field);
    default:
      return gap ? 0 : faded(colour_of(Token::faint), 0.25F);
  }
}

void draw_picture(const Drawn& d, const TileScene& tile, const TilePlace& place) {
  PixelAxis columns;
  std::int32_t r = 0, filled = -1;
  std::vector<ImU32> fills(static_cast<std::size_t>(tile.cols));  // of the cells of row `filled`, each mixed once
  if (!d.ui.images) d.ui.images = std::make_shared<PixelImages>();
  d.ui.images->draw(
      d.list, static_cast<int>(tile.slot), place.box,
      [&](float y, float first_x, std::span<ImU32> row) {
        if (columns.cell.empty()) columns = columns_of(place, tile.cols, first_x, row.size(), d.s);
        while (r < tile.rows && y >= place.y[static_cast<std::size_t>(r) + 1]) ++r;
        if (r >= tile.rows || y < place.y[static_cast<std::size_t>(r)]) return;
        const float top = place.y[static_cast<std::size_t>(r)], bottom = place.y[static_cast<std::size_t>(r) + 1];
        const float gap = cell_gap(bottom - top, d.s);
        const bool between = y < top + gap || y >= bottom - gap;
        for (std::int32_t c = 0; filled != r && c < tile.cols; ++c) {
          const Cell& cell = tile.cell(r, c);
          fills[static_cast<std::size_t>(c)] = value_fill(tile.hue, cell.value, cell.shade);
        }
        filled = r;
        for (std::size_t n = 0; n < row.size(); ++n) {
          const std::int32_t c = columns.cell[n];
          if (c < 0) continue;
          const Cell& cell = tile.cell(r, c);
          const bool gap_here = between || columns.gap[n];
          row[n] = cell.look == CellLook::value
                       ? (gap_here ? 0 : fills[static_cast<std::size_t>(c)])
                       : blank_pixel(d, cell.look, first_x + static_cast<float>(n), y, gap_here);
        }
      },
      IM_COL32_WHITE);
  for (std::int32_t row = 0; row < tile.rows; ++row) {
    for (std::int32_t c = 0; c < tile.cols; ++c) {
      if (tile.cell(row, c).largest) draw_largest(d, inset(place.cell(row, c), d.s));
    }
  }
}

// Hatched in its colour, with a border, and no number: hardware has it, at most so long.
void draw_flight(const Drawn& d, const TileScene& tile, const TilePlace& place) {
  const ImU32 hue = colour_of(tile.hue);
  const bool cells = place.cell_width >= d.s.px(14) && place.box.height() >= d.s.px(10) * static_cast<float>(tile.rows);
  draw_hatch(d.list, inset(place.box, d.s), faded(hue, 0.6F), 6);
  for (std::int32_t r = 0; cells && r < tile.rows; ++r)
    for (std::int32_t c = 0; c < tile.cols; ++c)
      draw_outline(d.list, inset(place.cell(r, c), d.s),
                   faded(hue, tile.cell(r, c).look == CellLook::flight ? 0.9F : 0.3F), 1);
  if (!cells) draw_outline(d.list, inset(place.box, d.s), hue, 1);
  const std::string words = tr("in flight");
  const float width = text_width(Face::text, 13, words) + d.s.px(10);
  if (width > place.box.width() || place.box.height() < d.s.px(18)) return;
  const ImVec2 at = place.box.centre();
  const Box box{{at.x - width / 2, at.y - d.s.px(9)}, {at.x + width / 2, at.y + d.s.px(9)}};
  d.list->AddRectFilled(box.min, box.max, colour_of(Token::card), d.s.px(4));
  draw_text_in(d.list, box, Align::centre, Face::text, 13, colour_of(Token::text), words);
}

void draw_cells(const Drawn& d, const TileScene& tile, const TilePlace& place) {
  if (tile.flight) return draw_flight(d, tile, place);
  const std::int32_t chosen = d.scene.at.row - d.scene.at.first_row;
  const bool by_query = !tile.by_key;
  const bool low = place.box.height() < d.s.px(9) * static_cast<float>(tile.rows);
  if (!tile.live && !d.scene.skipped && (tile.cells.size() > 64 || low)) {
    // Hundreds of empty slots are one.
    const bool dropped = !tile.cells.empty() && tile.cells.front().look == CellLook::dropped;
    if (dropped)
      draw_dropped_cell(d.list, inset(place.box, d.s), true);
    else
      draw_dashed(d.list, inset(place.box, d.s), colour_of(Token::faint), 4);
    return;
  }
  if (draws_as_picture(d, tile, place)) {
    draw_picture(d, tile, place);
    return;
  }
  for (std::int32_t r = 0; r < tile.rows; ++r) {
    for (std::int32_t c = 0; c < tile.cols;) {
      const Cell& cell = tile.cell(r, c);
      if (cell.look == CellLook::value) {
        draw_value_cell(d, tile, cell, place.cell(r, c), {place.text_size, by_query && r == chosen});
        ++c;
        continue;
      }
      std::int32_t end = c + 1;
      while (end < tile.cols && tile.cell(r, end).look == cell.look) ++end;
      draw_blank_run(d, place, cell.look, r, c, end);
      c = end;
    }
  }
}

// One cell, row or column lit because the pointer is on what it belongs to.
void draw_lit(const Drawn& d, const Box& box, float thickness = 1) {
  draw_outline(d.list, box, colour_of(Token::text), thickness, 3);
}

const TilePlace* place_of_slot(const Drawn& d, Slot slot) {
  if (slot == Slot::k && d.scene.k.rows > 0) return &d.layout.k;
  if (slot == Slot::v && d.scene.v.rows > 0) return &d.layout.v;
  for (std::size_t n = 0; n < d.scene.sides.size(); ++n)
    if (d.scene.sides[n].tile.slot == slot) return &d.layout.sides[n];
  for (const ColumnLook& c : d.scene.look->columns) {
    if (c.slot != slot && c.other != slot) continue;
    const auto n = static_cast<std::size_t>(c.column);
    return d.scene.tiles[n].folded ? nullptr : &d.layout.places[n];
  }
  return nullptr;
}

}  // namespace

std::string_view label_at(const std::vector<std::string>& words, std::int32_t n) {
  return static_cast<std::size_t>(n) < words.size() ? std::string_view(words[static_cast<std::size_t>(n)])
                                                    : std::string_view();
}

// The word of a key of the tile where it has one, else its number.
void draw_key_name(const Drawn& d, const Box& box, Align align, std::int32_t key, bool lit) {
  if (keeps_quiet(d, box)) return;
  const std::string_view named = label_at(d.scene.key_words, key);
  const ImU32 ink = colour_of(lit ? Token::text : Token::dim);
  if (named.empty())
    draw_text_in(d.list, box, align, lit ? Face::bold : Face::mono, 11, ink,
                 std::to_string(d.scene.at.first_key + key));
  else
    draw_text_in(d.list, box, align, lit ? Face::bold : Face::text, 12, ink,
                 elided_text(lit ? Face::bold : Face::text, 12, named, box.width()));
}

void give_texts(const TilesPanel& panel, TilesScene& scene, const TilesLayout& layout) {
  const auto give = [&](TileScene& tile, const TilePlace& place) {
    write_numbers(panel.rec, scene, tile, place.room, panel.exact, place.only_row);
  };
  for (const Column c : scene.columns)
    give(scene.tiles[static_cast<std::size_t>(c)], layout.places[static_cast<std::size_t>(c)]);
  give(scene.k, layout.k);
  give(scene.v, layout.v);
  for (std::size_t n = 0; n < std::min(scene.sides.size(), layout.sides.size()); ++n)
    give(scene.sides[n].tile, layout.sides[n]);
}

void draw_tile(const Drawn& d, const TileScene& tile, const TilePlace& place) {
  draw_cells(d, tile, place);
  if (tile.made && d.moving == nullptr) {
    // Only the rows that hold something were made.
    std::int32_t rows = 0, cols = 0;
    for (std::int32_t r = 0; r < tile.rows; ++r) {
      for (std::int32_t c = 0; c < tile.cols; ++c) {
        if (tile.cell(r, c).look == CellLook::past_end) continue;
        rows = std::max(rows, r + 1);
        cols = std::max(cols, c + 1);
      }
    }
    if (rows > 0) {
      Box box{place.box.min, {place.cell(0, cols - 1).max.x, place.y[static_cast<std::size_t>(rows)]}};
      draw_outline(d.list, box.grown(d.s.px(2)), colour_of(Token::text), 2, 4);
    }
  }
}

void draw_flying_cell(const Drawn& d, const TileScene& tile, const Cell& cell, const Box& box, float text_size,
                      float strength) {
  draw_value_cell(d, tile, cell, box, {text_size, false, true, strength});
}

void light_operands(const Drawn& d) {
  if (!d.pointed) return;
  const CellRef& at = *d.pointed;
  const TileScene* tile = tile_of(d.scene, at.slot);
  if (tile == nullptr || cell_of(d.scene, at) == nullptr) return;
  const auto row_box = [&](const TilePlace& p, std::int32_t r) {
    return Box{{p.box.min.x, p.y[static_cast<std::size_t>(r)]}, {p.box.max.x, p.y[static_cast<std::size_t>(r) + 1]}};
  };
  const auto column_box = [&](const TilePlace& p, std::int32_t c) {
    const float x = p.box.min.x + p.cell_width * static_cast<float>(c);
    return Box{{x, p.box.min.y}, {x + p.cell_width, p.box.max.y}};
  };
  const std::int32_t r = at.row - d.scene.at.first_row;
  const SlotLook& look = d.scene.look->slot(at.slot);
  if (look.lit_with && !d.scene.tiles[static_cast<std::size_t>(*look.lit_with)].live) return;
  for (const LitOperand& operand : look.operands) {
    const ColumnLook* column = d.scene.look->column(operand.column);
    if (column == nullptr || (operand.above && !column->above)) continue;
    const TilePlace& own = d.layout.places[static_cast<std::size_t>(operand.column)];
    const TilePlace& place = !operand.above ? own : column->above == Slot::k ? d.layout.k : d.layout.v;
    // Folded by a lesson.
    if (place.y.empty() || (!operand.above && d.scene.tiles[static_cast<std::size_t>(operand.column)].folded)) continue;
    switch (operand.part) {
      case OperandPart::row:
        draw_lit(d, row_box(place, r));
        break;
      case OperandPart::column:
        draw_lit(d, column_box(place, at.col));
        break;
      case OperandPart::key_column:
        draw_lit(d, column_box(place, at.col - d.scene.at.first_key));
        break;
      case OperandPart::key_cell:
        draw_lit(d, place.cell(r, at.col - d.scene.at.first_key));
        break;
      case OperandPart::first_cell:
        draw_lit(d, place.cell(r, 0));
        break;
    }
  }
}

void light_cell(const Drawn& d, const CellRef& ref, float thickness) {
  const TileScene* tile = tile_of(d.scene, ref.slot);
  const TilePlace* place = place_of_slot(d, ref.slot);
  if (tile == nullptr || place == nullptr || cell_of(d.scene, ref) == nullptr) return;
  const std::int32_t r = tile->transposed ? ref.col - tile->first_row : ref.row - tile->first_row;
  const std::int32_t c = tile->transposed ? ref.row - tile->first_col : ref.col - tile->first_col;
  draw_lit(d, place->cell(r, c), thickness);
}

}  // namespace attn::tiles
