#include "viz/step/tiles/layout_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "viz/draw/theme.h"

namespace attn {
namespace {

constexpr float kLabelWidth = 50, kTitle = 26, kCaption = 34;
constexpr float kBelowGap = 6, kBelowCaption = 24;  // of the tiles under the rows
// Where that is too wide: as beside a lesson's card at 200 %.
constexpr float kTightLabel = 26, kTightRoom = 420;
// A card this low has its rows in place of the captions: the strip says what the live step does.
constexpr float kTooLowForCaptions = 235;

// Logical widths of one column: least with numbers, comfortable, and most.
struct Wish {
  float min = 0, liked = 0, max = 0;
  bool numbers = true;
};

const TileScene& tile_at(const TilesScene& scene, Column c) {
  return scene.tiles[static_cast<std::size_t>(c)];
}

bool by_key_across(const TileScene& tile) {
  return slot_row(tile.slot).columns == SlotColumns::keys;
}

Wish number_wish(std::int32_t cols, int min_chars, int liked_chars, float growth) {
  const auto n = static_cast<float>(cols);
  return {n * (5.5F * static_cast<float>(min_chars) + 5), n * (6.0F * static_cast<float>(liked_chars) + 9),
          n * (cols <= 4 ? 104.0F : 72.0F) * growth, true};
}

// Widths, and gaps at the least, comfortable and most.
struct Spacing {
  float statistic, heat;
  std::array<float, 3> gaps;
};
constexpr Spacing kUsual{40, 48, {12, 24, 44}}, kTight{36, 26, {5, 24, 44}};

Wish heat_wish(std::int32_t cols, const Spacing& spacing) {
  const auto n = static_cast<float>(cols);
  return {std::clamp(n * 3, spacing.heat, 130.0F), std::clamp(n * 11, 64.0F, 190.0F), std::clamp(n * 22, 64.0F, 420.0F),
          false};
}

Wish wish_of(const TilesScene& scene, Column column, float growth, const Spacing& spacing) {
  const TileScene& tile = tile_at(scene, column);
  if (tile.statistic) {
    if (tile.cols > 1) return heat_wish(tile.cols, spacing);  // l by lane
    return {spacing.statistic, 54, 78 * growth, true};
  }
  if (slot_row(tile.slot).input) {
    const int chars = wanted_characters(tile);
    return number_wish(tile.cols, std::min(chars, 5), chars, growth);
  }
  // What is made of V is as wide as V.
  const bool of_values = !by_key_across(tile) && scene.v.rows > 0;
  return number_wish(tile.cols, of_values ? std::clamp(wanted_characters(scene.v), 4, 5) : 5, 7, growth);
}

float between(float a, float b, float f) {
  return a + (b - a) * f;
}

struct Widths {
  std::vector<float> width;  // by Column
  std::vector<bool> numbers;
  float gap = 14;
};

// Large windows get larger tiles, not larger gaps.
float growth_of(float extent) {
  return std::clamp(extent / 1500, 1.0F, 2.0F);
}

// Gap after each column, as a share of the common gap: pairs (old, new) stand close.
float gap_share(const ColumnLook& c) {
  return c.beside_next ? 0.35F : 1.0F;
}

using Wishes = std::vector<Wish>;  // by Column

float total_of(const TilesScene& scene, const Wishes& wishes, float Wish::*part, float gap) {
  float sum = -gap;
  for (const Column c : scene.columns)
    sum += wishes[static_cast<std::size_t>(c)].*part + gap_share(*scene.look->column(c)) * gap;
  return sum;
}

// Numbers give way in the widest tile first, until the rest fits; whether it does.
bool choose_wishes(const TilesScene& scene, float room, const Spacing& spacing, Wishes& wishes) {
  for (const Column c : scene.columns)
    wishes[static_cast<std::size_t>(c)] = wish_of(scene, c, growth_of(room), spacing);
  while (total_of(scene, wishes, &Wish::min, spacing.gaps[0]) > room) {
    Column widest = scene.columns.front();
    float max = 0;
    for (const Column c : scene.columns) {
      const Wish& w = wishes[static_cast<std::size_t>(c)];
      if (!tile_at(scene, c).statistic && w.numbers && w.min > max) {
        max = w.min;
        widest = c;
      }
    }
    if (max == 0) return false;
    // S and P are read side by side: both or none.
    const bool keys = by_key_across(tile_at(scene, widest));
    for (const Column c : scene.columns) {
      if (c == widest || (keys && by_key_across(tile_at(scene, c))))
        wishes[static_cast<std::size_t>(c)] = heat_wish(tile_at(scene, c).cols, spacing);
    }
  }
  return true;
}

Widths choose_widths(const TilesScene& scene, float room) {
  Wishes wishes(scene.tiles.size());
  const bool usual = choose_wishes(scene, room, kUsual, wishes);
  if (!usual) choose_wishes(scene, room, kTight, wishes);
  const std::array<float, 3>& gaps = usual ? kUsual.gaps : kTight.gaps;
  const float min = total_of(scene, wishes, &Wish::min, gaps[0]),
              liked = total_of(scene, wishes, &Wish::liked, gaps[1]),
              max = total_of(scene, wishes, &Wish::max, gaps[2]);
  const bool upper = room > liked;
  const float f = upper ? std::clamp((room - liked) / std::max(max - liked, 1.0F), 0.0F, 1.0F)
                        : std::clamp((room - min) / std::max(liked - min, 1.0F), 0.0F, 1.0F);
  const float squeeze = min > room ? room / min : 1.0F;
  Widths out{std::vector<float>(scene.tiles.size()), std::vector<bool>(scene.tiles.size())};
  for (const Column c : scene.columns) {
    const Wish& w = wishes[static_cast<std::size_t>(c)];
    out.width[static_cast<std::size_t>(c)] =
        squeeze * (upper ? between(w.liked, w.max, f) : between(w.min, w.liked, f));
    out.numbers[static_cast<std::size_t>(c)] = w.numbers && squeeze >= 1;
  }
  out.gap = squeeze * (upper ? between(gaps[1], gaps[2], f) : between(gaps[0], gaps[1], f));
  return out;
}

struct Heights {
  float row = 20, chosen_row = 20;  // logical
  float k_region = 100;             // above S: K, V, the cards
  float k_row = 20;                 // of one K row
  float below_row = 20;             // of one row under the rows
};

// Rows of the tiles under the rows; 0: there are none.
std::int32_t rows_below(const TilesScene& scene) {
  std::int32_t rows = 0;
  for (const SideTile& side : scene.sides) rows = side.below ? std::max(rows, side.tile.rows) : rows;
  return rows;
}

Heights choose_heights(const TilesScene& scene, float room) {
  const auto rows = scene.rows_folded ? 0.0F : static_cast<float>(scene.at.br);
  const auto k_rows = static_cast<float>(scene.k.rows);
  const auto below = static_cast<float>(rows_below(scene));
  Heights h;
  constexpr float kMinRow = 16, kMinK = 14, kCards = 104;
  const float growth = std::clamp(room / 520, 1.0F, 2.0F);
  const float max_row = 64 * growth, max_k = 32 * growth;
  const float numbers = rows * kMinRow + (k_rows + below) * kMinK;
  if (numbers <= room) {
    const float max = rows * max_row + std::max((k_rows + below) * max_k, kCards);
    const float f = std::clamp((room - numbers) / std::max(max - numbers, 1.0F), 0.0F, 1.0F);
    h.row = between(kMinRow, max_row, f);
    h.k_row = h.below_row = std::min(max_k, between(kMinK, max_k, f));
    h.k_region = std::max(k_rows * h.k_row, std::min(kCards, room - rows * h.row - below * h.below_row));
  } else {
    // K is a heat map; the rows keep their numbers as long as they can.
    const float region = std::clamp(room - rows * kMinRow, std::min(70.0F, room * 0.4F), std::max(110.0F, room * 0.4F));
    // What lies under the rows has as much as what lies above them.
    h.k_region = below > 0 ? region / 2 : region;
    h.k_row = std::min(max_k, h.k_region / std::max(k_rows, 1.0F));
    h.below_row = below > 0 ? std::min(max_k, region / 2 / below) : h.below_row;
    h.row = std::min(max_row, (room - region) / rows);
  }
  if (scene.rows_folded) h.row = 0;
  h.chosen_row = h.row;
  if (h.row < 17 && !scene.rows_folded) {
    h.chosen_row = 20;
    h.row = rows > 1 ? std::max((h.row * rows - h.chosen_row) / (rows - 1), 1.0F) : h.chosen_row;
  }
  return h;
}

// Numbers need 13 px of height and their characters' width; the size grows a little with large cells.
void set_room(TilePlace& place, const TileScene& tile, bool numbers, float row_height, float tallest, const Style& s) {
  const float width = place.cell_width / s.scale;
  place.text_size = std::clamp(std::min(row_height * 0.36F, width / 6.0F), 11.0F, 20.0F);
  if (row_height < 18) place.text_size = 11;
  const float character = text_width(Face::mono, place.text_size, "0") / s.scale;
  int room = static_cast<int>((width - 4) / character);
  // Long numbers side by side read as one unless they stand further apart; short ones need every digit.
  constexpr int kShort = 5;
  if (room > kShort) room = std::max(kShort, static_cast<int>((width - 6) / character));
  if (room < 3 || !numbers || tallest < 13 || width < 23) room = 0;
  if (tile.natural >= 0 && room > 0 && room < wanted_characters(tile)) room = room >= 4 ? room : 0;
  place.room = room;
}

void set_rows(TilePlace& place, std::int32_t rows, float top, float height, float chosen, std::int32_t chosen_row) {
  place.y.clear();
  float y = top;
  for (std::int32_t r = 0; r < rows; ++r) {
    place.y.push_back(y);
    y += r == chosen_row ? chosen : height;
  }
  place.y.push_back(y);
}

// The tiles of the rows, from `at` on.
void place_columns(const TilesScene& scene, const Widths& widths, const Heights& heights, ImVec2 at, TilesLayout& out) {
  const Style& s = style();
  const std::int32_t chosen = scene.at.row - scene.at.first_row;
  out.places.resize(scene.tiles.size());
  for (const Column c : scene.columns) {
    const auto n = static_cast<std::size_t>(c);
    TilePlace& place = out.places[n];
    const TileScene& tile = scene.tiles[n];
    set_rows(place, tile.rows, at.y, s.px(heights.row), s.px(heights.chosen_row), chosen);
    place.box = {{std::round(at.x), at.y}, {std::round(at.x + s.px(widths.width[n])), place.y.back()}};
    place.cell_width = place.box.width() / static_cast<float>(std::max(tile.cols, 1));
    // Where the rows are too low for numbers, the followed one is not.
    set_room(place, tile, widths.numbers[n], heights.row, std::max(heights.row, heights.chosen_row), s);
    place.only_row = heights.row < kNumberHeight ? chosen : -1;
    at.x += s.px(widths.width[n] + widths.gap * gap_share(*scene.look->column(c)));
  }
}

// A tile under the rows may be wider than the column above: to its right there is room up to the next one, or the edge.
void place_below(const TilesScene& scene, std::size_t n, float row_height, TilesLayout& out) {
  constexpr float kLiked = 42, kLeast = 33, kApart = 76;  // of a cell; between two tiles, with the numbers of the keys
  const Style& s = style();
  const TileScene& tile = scene.sides[n].tile;
  const auto box_of = [&](const SideTile& side) { return out.places[static_cast<std::size_t>(side.column)].box; };
  const Box over = box_of(scene.sides[n]);
  float end = out.band_right - s.px(8);
  for (const SideTile& other : scene.sides)
    if (other.below && box_of(other).min.x > over.min.x) end = std::min(end, box_of(other).min.x - s.px(kApart));
  const auto cols = static_cast<float>(std::max(tile.cols, 1));
  const float right = std::max(over.max.x, std::min(end, over.min.x + s.px(kLiked) * cols));
  const float top = std::round(out.sides_top + s.px(kBelowGap + kTitle));
  TilePlace& place = out.sides[n];
  set_rows(place, tile.rows, top, s.px(row_height), s.px(row_height), -1);
  place.box = {{over.min.x, top}, {right, place.y.back()}};
  place.cell_width = place.box.width() / cols;
  set_room(place, tile, place.cell_width >= s.px(kLeast), row_height, row_height, s);
}

}  // namespace

TilesLayout layout_tiles(const TilesScene& scene, const Box& area) {
  const Style& s = style();
  TilesLayout out;
  float label = area.width() / s.scale < kTightRoom ? kTightLabel : kLabelWidth;
  for (const std::string& word : scene.row_words)
    label = std::max(label, std::min(text_width(Face::bold, 13, word) / s.scale + 22, area.width() / s.scale * 0.14F));
  const float width = area.width() / s.scale - label, height = area.height() / s.scale;
  out.has_captions = height >= kTooLowForCaptions;
  const float caption = out.has_captions ? kCaption : 4;
  const Widths widths = choose_widths(scene, width);
  const std::int32_t sum_rows = rows_below(scene);
  const float below_frame = sum_rows > 0 ? kTitle + kBelowGap + (out.has_captions ? kBelowCaption : 4) : 0;
  const Heights heights = choose_heights(scene, height - kTitle - kTitle - caption - below_frame);
  float used = -widths.gap;
  for (const Column c : scene.columns)
    used += widths.width[static_cast<std::size_t>(c)] + widths.gap * gap_share(*scene.look->column(c));
  // The block stands at the left up to a comfortable margin; what is left over widens the gaps' ends evenly.
  const float x = area.min.x + s.px(label) + s.px(std::max(0.0F, (width - used) / 2));
  const float total = 2 * kTitle + heights.k_region + heights.row * static_cast<float>(scene.at.br - 1) +
                      heights.chosen_row + caption + below_frame + heights.below_row * static_cast<float>(sum_rows);
  const float top = area.min.y + s.px(std::max(0.0F, (height - total) / 2));
  const float rows_top = std::round(top + s.px(2 * kTitle + heights.k_region));
  out.label_right = x - s.px(label == kTightLabel ? 5 : 10);
  out.band_left = x - s.px(label);
  out.title_height = s.px(kTitle);
  place_columns(scene, widths, heights, {x, rows_top}, out);
  // The columns that K and V stand above, else the first and the last.
  const auto below = [&](Slot slot, Column otherwise) {
    const auto at = std::ranges::find_if(scene.columns, [&](Column c) { return scene.look->column(c)->above == slot; });
    return static_cast<std::size_t>(at == scene.columns.end() ? otherwise : *at);
  };
  const std::size_t s_column = below(Slot::k, scene.columns.front()), o_column = below(Slot::v, scene.columns.back());
  const TilePlace &sp = out.places[s_column], &op = out.places[o_column];
  out.band_right = out.places[static_cast<std::size_t>(scene.columns.back())].box.max.x + s.px(8);
  out.captions_top = sp.y.back() + s.px(6);
  const float region_bottom = rows_top - out.title_height, region_top = region_bottom - s.px(heights.k_region);
  const auto above = [&](TilePlace& place, const TileScene& tile, const TilePlace& under, float row_height,
                         bool numbers) {
    if (tile.rows == 0) return;
    const float h = std::min(row_height, heights.k_region / static_cast<float>(std::max(tile.rows, 1)));
    const float tile_top = std::round(region_bottom - s.px(h) * static_cast<float>(tile.rows));
    set_rows(place, tile.rows, tile_top, s.px(h), s.px(h), -1);
    place.box = {{under.box.min.x, tile_top}, {under.box.max.x, place.y.back()}};
    place.cell_width = under.cell_width;
    set_room(place, tile, numbers, h, h, s);
  };
  above(out.k, scene.k, sp, heights.k_row, widths.numbers[s_column]);
  above(out.v, scene.v, op, scene.v.transposed ? heights.k_row : std::max(30.0F, heights.k_row),
        widths.numbers[o_column]);
  out.sides_top = sp.y.back() + s.px(caption);
  out.sides.resize(scene.sides.size());
  for (std::size_t n = 0; n < scene.sides.size(); ++n) {
    const auto column = static_cast<std::size_t>(scene.sides[n].column);
    if (scene.sides[n].below)
      place_below(scene, n, heights.below_row, out);
    else
      above(out.sides[n], scene.sides[n].tile, out.places[column], heights.k_row, widths.numbers[column]);
  }
  out.chip = {{area.min.x + s.px(4), std::min(region_top - s.px(kTitle) + s.px(2), region_top)},
              {sp.box.min.x - s.px(20), region_bottom}};
  out.has_chip = out.chip.width() >= s.px(150) && out.chip.height() >= s.px(60);
  // A narrow K has a title wider than itself.
  const float title_end = out.k.box.min.x + runs_width(scene.k.title, 14);
  out.pointed = {{std::max(sp.box.max.x + s.px(28), title_end + s.px(20)), region_top - s.px(kTitle) + s.px(6)},
                 {op.box.min.x - s.px(24), region_bottom}};
  if (scene.folded) {
    // Where K is folded the words begin with the tiles, and where V is they end with the card.
    if (scene.k.rows == 0) out.pointed.min.x = scene.chip_folded || !out.has_chip ? x : out.chip.max.x + s.px(20);
    if (scene.v.rows == 0) out.pointed.max.x = area.max.x - s.px(8);
  }
  out.has_pointed = out.pointed.width() >= s.px(230) && out.pointed.height() >= s.px(64);
  return out;
}

}  // namespace attn
