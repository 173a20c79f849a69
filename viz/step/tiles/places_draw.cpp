#include "viz/step/tiles/places_draw.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "viz/draw/hands.h"
#include "viz/draw/theme.h"

namespace attn {

const TilesBand& TilesLayout::band_of(const TilesScene& scene, Column c) const {
  const auto n = static_cast<std::size_t>(std::ranges::find(scene.columns, c) - scene.columns.begin());
  const auto at = std::ranges::find_if(bands, [n](const TilesBand& b) { return n < b.first + b.count; });
  return at == bands.end() ? bands.back() : *at;
}

namespace tiles {
namespace {

constexpr Spacing kUsual{40, 48, {12, 24, 44}}, kTight{36, 26, {5, 24, 44}};
// With numbers as short as a phone's; in half the width those of m and l too.
constexpr Spacing kBrief{36, 26, {4, 14, 44}, 4, 5, 4, 24, 10}, kBriefHalf{26, 26, {4, 14, 44}, 4, 5, 4, 24, 10};

const TileScene& tile_at(const TilesScene& scene, Column c) {
  return scene.tiles[static_cast<std::size_t>(c)];
}

bool by_key_across(const TileScene& tile) {
  return slot_row(tile.slot).columns == SlotColumns::keys;
}

Wish number_wish(std::int32_t cols, int min_chars, int liked_chars, float growth, const Spacing& spacing) {
  const auto n = static_cast<float>(cols);
  const float least = std::max(spacing.character * static_cast<float>(min_chars) + spacing.free, spacing.cell);
  return {n * least, n * (6.0F * static_cast<float>(liked_chars) + 9), n * (cols <= 4 ? 104.0F : 72.0F) * growth, true};
}

float between(float a, float b, float f) {
  return a + (b - a) * f;
}

// Large windows get larger tiles, not larger gaps.
float growth_of(float extent) {
  return std::clamp(extent / 1500, 1.0F, 2.0F);
}

// Numbers give way in the widest tile first, until the rest fits; whether it does.
bool choose_wishes(const TilesScene& scene, float room, const Spacing& spacing, Wishes& wishes) {
  for (const Column c : scene.columns)
    wishes[static_cast<std::size_t>(c)] = wish_of(scene, c, growth_of(room), spacing);
  while (total_of(scene, scene.columns, wishes, &Wish::min, spacing.gaps[0]) > room) {
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

// Numbers stand in the usual gaps, or, in half the width, where they had to go in the tight ones, or else in brief.
const Spacing& choose_spacing(const TilesScene& scene, float room, Wishes& wishes) {
  const bool usual = choose_wishes(scene, room, kUsual, wishes);
  const auto any_lacks = [&scene](const Wishes& of) {
    return std::ranges::any_of(scene.columns, [&](Column c) { return !of[static_cast<std::size_t>(c)].numbers; });
  };
  const bool shares = scene.look->in_halves || by_touch();
  if (usual && !(shares && any_lacks(wishes))) return kUsual;
  const Wishes before = wishes;
  choose_wishes(scene, room, kTight, wishes);
  if (!shares || !any_lacks(wishes)) return kTight;
  const Spacing& least = scene.look->in_halves ? kBriefHalf : kBrief;
  Wishes brief(wishes.size());
  if (choose_wishes(scene, room, least, brief) && !any_lacks(brief)) {
    wishes = std::move(brief);
    return least;
  }
  if (!usual || scene.look->in_halves) return kTight;
  wishes = before;
  return kUsual;
}

}  // namespace

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
    return number_wish(tile.cols, std::min(chars, spacing.characters), chars, growth, spacing);
  }
  // What is made of V is as wide as V.
  const bool of_values = !by_key_across(tile) && scene.v.rows > 0;
  const int least = scene.look->in_halves ? std::min(4, spacing.characters) : spacing.characters;
  return number_wish(tile.cols, of_values ? std::clamp(wanted_characters(scene.v), 4, least) : least, 7, growth,
                     spacing);
}

float gap_share(const ColumnLook& c) {
  return c.beside_next ? 0.35F : 1.0F;
}

float total_of(const TilesScene& scene, Columns columns, const Wishes& wishes, float Wish::*part, float gap) {
  float sum = -gap;
  for (const Column c : columns)
    sum += wishes[static_cast<std::size_t>(c)].*part + gap_share(*scene.look->column(c)) * gap;
  return sum;
}

void share_width(const TilesScene& scene, Columns columns, const Wishes& wishes, const Spacing& spacing, float room,
                 Widths& out) {
  const std::array<float, 3>& gaps = spacing.gaps;
  const float min = total_of(scene, columns, wishes, &Wish::min, gaps[0]),
              liked = total_of(scene, columns, wishes, &Wish::liked, gaps[1]),
              max = total_of(scene, columns, wishes, &Wish::max, gaps[2]);
  const bool upper = room > liked;
  const float f = upper ? std::clamp((room - liked) / std::max(max - liked, 1.0F), 0.0F, 1.0F)
                        : std::clamp((room - min) / std::max(liked - min, 1.0F), 0.0F, 1.0F);
  const float squeeze = min > room ? room / min : 1.0F;
  for (const Column c : columns) {
    const Wish& w = wishes[static_cast<std::size_t>(c)];
    out.width[static_cast<std::size_t>(c)] =
        squeeze * (upper ? between(w.liked, w.max, f) : between(w.min, w.liked, f));
    out.numbers[static_cast<std::size_t>(c)] = w.numbers && squeeze >= 1;
  }
  out.gap = squeeze * (upper ? between(gaps[1], gaps[2], f) : between(gaps[0], gaps[1], f));
}

Widths choose_widths(const TilesScene& scene, float room) {
  Wishes wishes(scene.tiles.size());
  const Spacing& spacing = choose_spacing(scene, room, wishes);
  Widths out{std::vector<float>(scene.tiles.size()), std::vector<bool>(scene.tiles.size())};
  out.text = spacing.text;
  share_width(scene, scene.columns, wishes, spacing, room, out);
  return out;
}

std::int32_t rows_below(const TilesScene& scene) {
  std::int32_t rows = 0;
  for (const SideTile& side : scene.sides) rows = side.below ? std::max(rows, side.tile.rows) : rows;
  return rows;
}

Column column_under(const TilesScene& scene, Slot slot, Column otherwise) {
  const auto at = std::ranges::find_if(scene.columns, [&](Column c) { return scene.look->column(c)->above == slot; });
  return at == scene.columns.end() ? otherwise : *at;
}

void set_room(TilePlace& place, const TileScene& tile, bool numbers, float row_height, float tallest,
              float least_text) {
  const Style& s = style();
  const float width = place.cell_width / s.scale;
  place.text_size = std::clamp(std::min(row_height * 0.36F, width / 6.0F), least_text, 20.0F);
  if (row_height < 18) place.text_size = least_text;
  const float character = text_width(Face::mono, place.text_size, "0") / s.scale;
  int room = static_cast<int>((width - 4) / character);
  // Long numbers side by side read as one unless they stand further apart; short ones need every digit.
  constexpr int kShort = 5;
  if (room > kShort) room = std::max(kShort, static_cast<int>((width - 6) / character));
  if (room < 3 || !numbers || tallest < 13 || width < kNumberWidth) room = 0;
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

void place_columns(const TilesScene& scene, Columns columns, const Widths& widths, const Heights& heights, ImVec2 at,
                   float least_text, TilesLayout& out) {
  const Style& s = style();
  const std::int32_t chosen = scene.at.row - scene.at.first_row;
  out.places.resize(scene.tiles.size());
  for (const Column c : columns) {
    const auto n = static_cast<std::size_t>(c);
    TilePlace& place = out.places[n];
    const TileScene& tile = scene.tiles[n];
    set_rows(place, tile.rows, at.y, s.px(heights.row), s.px(heights.chosen_row), chosen);
    place.box = {{std::round(at.x), at.y}, {std::round(at.x + s.px(widths.width[n])), place.y.back()}};
    place.cell_width = place.box.width() / static_cast<float>(std::max(tile.cols, 1));
    // Where the rows are too low for numbers, the followed one is not.
    set_room(place, tile, widths.numbers[n], heights.row, std::max(heights.row, heights.chosen_row), least_text);
    place.only_row = heights.row < kNumberHeight ? chosen : -1;
    at.x += s.px(widths.width[n] + widths.gap * gap_share(*scene.look->column(c)));
  }
}

void Above::put(TilePlace& place, const TileScene& tile, const TilePlace& under, bool numbers) const {
  if (tile.rows == 0) return;
  const Style& s = style();
  const float h = std::min(row_height, region / static_cast<float>(std::max(tile.rows, 1)));
  const float tile_top = std::round(bottom - s.px(h) * static_cast<float>(tile.rows));
  set_rows(place, tile.rows, tile_top, s.px(h), s.px(h), -1);
  place.box = {{under.box.min.x, tile_top}, {under.box.max.x, place.y.back()}};
  place.cell_width = under.cell_width;
  set_room(place, tile, numbers, h, h, least_text);
}

}  // namespace tiles
}  // namespace attn
