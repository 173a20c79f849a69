// How wide the columns of the tiles are, and where a tile stands with how many characters in a cell: what every layout
// of them is made of. Numbers give way to heat maps where they do not fit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "viz/draw/canvas.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {

constexpr float kNumberHeight = 11;  // logical: no number is drawn in a cell lower than this
constexpr float kNumberWidth = 23;   // nor in one narrower than this

struct TilePlace {
  Box box;
  int room = 0;          // characters; 0 = heat map
  int only_row = -1;     // the one row that is high enough for numbers; -1 = all are
  float text_size = 12;  // logical
  std::vector<float> y;  // top of each row, and the bottom of the last
  float cell_width = 0;
  Box cell(std::int32_t r, std::int32_t c) const {
    const float x = box.min.x + cell_width * static_cast<float>(c);
    return {{x, y[static_cast<std::size_t>(r)]}, {x + cell_width, y[static_cast<std::size_t>(r) + 1]}};
  }
};

// Columns side by side, and what stands above them.
struct TilesBand {
  std::size_t first = 0, count = 0;  // of the scene's columns
  float top = 0, bottom = 0;         // with its titles and captions
  float left = 0, right = 0;         // of the followed row's stripe
  float label_right = 0;             // row labels end here
  float captions_top = 0;
};

struct TilesLayout {
  std::vector<TilesBand> bands;   // one, or a phone's
  std::vector<TilePlace> places;  // by Column
  TilePlace k, v;
  std::vector<TilePlace> sides;  // as the scene has them
  float sides_top = 0;           // of the line that parts the tiles below from the rest
  float title_height = 0;        // line of titles above a tile
  float bottom = 0;              // where all of it ends
  float right = 0;               // of the area
  Box chip, pointed;             // free space left of K, and between K and V; empty where too small
  bool has_chip = false, has_pointed = false;
  bool has_captions = true;     // a low card has none
  bool lanes_in_bands = false;  // HBM's lane is at the top of each, not of the card
  bool in_bands() const { return bands.size() > 1; }
  // The one that a column stands in.
  const TilesBand& band_of(const TilesScene& scene, Column c) const;
};

namespace tiles {

constexpr float kShelfLane = 13;             // of HBM, above all tiles
constexpr float kTitle = 26, kCaption = 34;  // logical: the line over a tile, and that under the rows
constexpr float kBelowCaption = 24;          // under the tiles under the rows

// Logical widths of one column: least with numbers, comfortable, and most.
struct Wish {
  float min = 0, liked = 0, max = 0;
  bool numbers = true;
};
using Wishes = std::vector<Wish>;  // by Column
using Columns = std::span<const Column>;

// Widths; gaps at the least, comfortable and most; of a cell with a number the characters that it has at the least, how
// wide one is and what is free around them, the least width, and the least size of text.
struct Spacing {
  float statistic, heat;
  std::array<float, 3> gaps;
  int characters = 5;
  float character = 5.5F, free = 5, cell = kNumberWidth, text = 11;
};

Wish heat_wish(std::int32_t cols, const Spacing& spacing);
// Of a column with numbers; `growth`: large windows get larger tiles.
Wish wish_of(const TilesScene& scene, Column column, float growth, const Spacing& spacing);
float total_of(const TilesScene& scene, Columns columns, const Wishes& wishes, float Wish::*part, float gap);

struct Widths {
  std::vector<float> width;  // by Column
  std::vector<bool> numbers;
  float gap = 14;
  float text = 11;  // the least size of a number
};
// Of the gap after a column, as a share of the common one: pairs (old, new) stand close.
float gap_share(const ColumnLook& c);
// Shares the room of some columns among them.
void share_width(const TilesScene& scene, Columns columns, const Wishes& wishes, const Spacing& spacing, float room,
                 Widths& out);
// Of all columns side by side: numbers give way in the widest tile first, until the rest fits.
Widths choose_widths(const TilesScene& scene, float room);

struct Heights {
  float row = 20, chosen_row = 20;  // logical
  float k_region = 100;             // above S: K, V, the cards
  float k_row = 20;                 // of one K row
  float below_row = 20;             // of one row under the rows
};
// Rows of the tiles under the rows; 0: there are none.
std::int32_t rows_below(const TilesScene& scene);
// The column that K or V stands above, else `otherwise`.
Column column_under(const TilesScene& scene, Slot slot, Column otherwise);

// Numbers need 13 px of height and their characters' width; the size grows a little with large cells.
void set_room(TilePlace& place, const TileScene& tile, bool numbers, float row_height, float tallest, float least_text);
void set_rows(TilePlace& place, std::int32_t rows, float top, float height, float chosen, std::int32_t chosen_row);
// The tiles of the rows, from `at` on.
void place_columns(const TilesScene& scene, Columns columns, const Widths& widths, const Heights& heights, ImVec2 at,
                   float least_text, TilesLayout& out);

// A tile that stands over a column, its last row at `bottom`, in a region `region` high.
struct Above {
  float row_height, region, bottom, least_text;
  void put(TilePlace& place, const TileScene& tile, const TilePlace& under, bool numbers) const;
};

}  // namespace tiles
}  // namespace attn
