#include "viz/step/tiles/layout_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "imgui.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

using namespace tiles;  // the panel's own parts

constexpr float kLabelWidth = 50, kBelowGap = 6;  // the last over the tiles under the rows
constexpr float kText = 11;                       // the least size of a number
// Where that is too wide: as beside a lesson's card at 200 %.
constexpr float kTightLabel = 26, kTightRoom = 420;
// A card this low has its rows in place of the captions: the strip says what the live step does.
constexpr float kTooLowForCaptions = 235;

float between(float a, float b, float f) {
  return a + (b - a) * f;
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

// A tile under the rows may be wider than the column above: to its right there is room up to the next one, or the edge.
void place_below(const TilesScene& scene, std::size_t n, float row_height, TilesLayout& out) {
  constexpr float kLiked = 42, kLeast = 33, kApart = 76;  // of a cell; between two tiles, with the numbers of the keys
  const Style& s = style();
  const TileScene& tile = scene.sides[n].tile;
  const auto box_of = [&](const SideTile& side) { return out.places[static_cast<std::size_t>(side.column)].box; };
  const Box over = box_of(scene.sides[n]);
  float end = out.bands.front().right - s.px(8);
  for (const SideTile& other : scene.sides)
    if (other.below && box_of(other).min.x > over.min.x) end = std::min(end, box_of(other).min.x - s.px(kApart));
  const auto cols = static_cast<float>(std::max(tile.cols, 1));
  const float right = std::max(over.max.x, std::min(end, over.min.x + s.px(kLiked) * cols));
  const float top = std::round(out.sides_top + s.px(kBelowGap + kTitle));
  TilePlace& place = out.sides[n];
  set_rows(place, tile.rows, top, s.px(row_height), s.px(row_height), -1);
  place.box = {{over.min.x, top}, {right, place.y.back()}};
  place.cell_width = place.box.width() / cols;
  set_room(place, tile, place.cell_width >= s.px(kLeast), row_height, row_height, kText);
}

// Of the rows' labels: `numbers` where they have no words.
float label_width(const TilesScene& scene, const Box& area, float numbers) {
  const float all = area.width() / style().scale;
  float label = numbers;
  for (const std::string& word : scene.row_words)
    label = std::max(label, std::min(text_width(Face::bold, 13, word) / style().scale + 22, all * 0.14F));
  return label;
}

// ---- a phone's bands

constexpr Spacing kOnPhone{40, 48, {8, 14, 22}, 4, 5, 4, 24, 10};

// A column, or two that stand as one.
std::vector<std::size_t> units_of(const TilesScene& scene) {
  std::vector<std::size_t> counts;
  for (std::size_t n = 0; n < scene.columns.size(); n += counts.back())
    counts.push_back(scene.look->column(scene.columns[n])->beside_next && n + 1 < scene.columns.size() ? 2 : 1);
  return counts;
}

// Columns go on in the next band where this one would be wider than `room`.
std::vector<TilesBand> broken_at(const TilesScene& scene, const Wishes& wishes, float room) {
  std::vector<TilesBand> bands;
  std::size_t next = 0;
  for (const std::size_t count : units_of(scene)) {
    const auto width = [&](const TilesBand& band) {
      const Columns all(scene.columns);
      return total_of(scene, all.subspan(band.first, band.count + count), wishes, &Wish::min, kOnPhone.gaps[0]);
    };
    if (bands.empty() || width(bands.back()) > room) bands.push_back({next, 0});
    bands.back().count += count;
    next += count;
  }
  return bands;
}

// As few as there is room for, and those about as wide as one another. Where there is more room than on a phone one
// band is no better than the usual line, of all tiles.
std::vector<TilesBand> choose_bands(const TilesScene& scene, const Wishes& wishes, float room) {
  constexpr float kOneBand = 480;  // logical
  std::vector<TilesBand> bands = broken_at(scene, wishes, room);
  const std::size_t most =
      std::max<std::size_t>(bands.size(), room > kOneBand && !scene.folded && !scene.abreast ? 2 : 1);
  for (float narrower = room - 4; narrower > 0; narrower -= 4) {
    std::vector<TilesBand> evener = broken_at(scene, wishes, narrower);
    if (evener.size() > most) break;
    bands = std::move(evener);
  }
  return bands;
}

// What a number needs, in each tile that has room for them alone; whether there is one besides m and l, where others
// stand beside those.
bool choose_phone_wishes(const TilesScene& scene, float room, Wishes& wishes) {
  constexpr float kGrowth = 0.62F;  // the numbers are read, not admired
  bool any = false, others = false;
  for (const Column c : scene.columns) {
    Wish& w = wishes[static_cast<std::size_t>(c)];
    w = wish_of(scene, c, kGrowth, kOnPhone);
    if (w.min > room) w = heat_wish(scene.tiles[static_cast<std::size_t>(c)].cols, kOnPhone);
    const bool statistic = scene.tiles[static_cast<std::size_t>(c)].statistic;
    any = any || (w.numbers && !statistic);
    others = others || !statistic;
  }
  return any || !others;
}

// Rows of what stands above a band's columns.
std::int32_t rows_above(const TilesScene& scene, const TilesBand& band) {
  std::int32_t rows = 0;
  const Columns columns = Columns(scene.columns).subspan(band.first, band.count);
  const auto count = [&](const TileScene& tile, Column under) {
    if (std::ranges::find(columns, under) != columns.end()) rows = std::max(rows, tile.rows);
  };
  count(scene.k, column_under(scene, Slot::k, scene.columns.front()));
  count(scene.v, column_under(scene, Slot::v, scene.columns.back()));
  for (const SideTile& side : scene.sides)
    if (!side.below) count(side.tile, side.column);
  return rows;
}

constexpr float kHeading = 62;  // of the tiles under the rows: three lines

// The least height of a row, and of one above the rows: of what is scrolled, and of what a card has whole.
struct LeastRows {
  float row, above;
};
constexpr LeastRows kScrolled{22, 18}, kWhole{17, 14};

// As high as lets all of it be seen at once, within what is still read and what is not too large.
Heights phone_heights(const TilesScene& scene, std::span<const TilesBand> bands, bool numbers, float room,
                      LeastRows least) {
  constexpr float kMost = 46, kMostK = 30, kShare = 0.75F;
  constexpr float kLow = 13, kRegion = 110;  // where m and l alone have numbers: of a row, and of all above the rows
  float fixed = 0, rows = 0, k_rows = static_cast<float>(rows_below(scene));
  for (const TilesBand& band : bands) {
    const auto above = static_cast<float>(rows_above(scene, band));
    fixed += kShelfLane + (above > 0 ? 2 : 1) * kTitle + kCaption;
    rows += scene.rows_folded ? 0 : static_cast<float>(scene.at.br);
    k_rows += above;
  }
  if (rows_below(scene) > 0) fixed += kHeading + kTitle + kBelowCaption;
  Heights h;
  const float row =
      numbers ? std::clamp((room - fixed) / std::max(rows + kShare * k_rows, 1.0F), least.row, kMost) : kLow;
  h.row = h.chosen_row = scene.rows_folded ? 0 : row;
  h.k_row = h.below_row = std::clamp(kShare * row, least.above, kMostK);
  if (!numbers) h.k_row = h.below_row = std::min(kLow, kRegion / std::max(1.0F, static_cast<float>(scene.k.rows)));
  return h;
}

void place_band(const TilesScene& scene, const Widths& widths, Heights h, ImVec2 at, float label, TilesBand& band,
                TilesLayout& out) {
  const Style& s = style();
  const auto above = static_cast<float>(rows_above(scene, band));
  h.k_region = above * h.k_row;
  band.top = at.y;
  at.y += s.px(kShelfLane);
  const float region_bottom = at.y + (above > 0 ? s.px(kTitle + h.k_region) : 0);
  const float rows_top = std::round(region_bottom + s.px(kTitle));
  const Columns columns = Columns(scene.columns).subspan(band.first, band.count);
  place_columns(scene, columns, widths, h, {at.x + s.px(label), rows_top}, kOnPhone.text, out);
  const auto place = [&](Column c) -> const TilePlace& { return out.places[static_cast<std::size_t>(c)]; };
  const Above higher{h.k_row, h.k_region, region_bottom, kOnPhone.text};
  const auto stand = [&](TilePlace& of, const TileScene& tile, Column under) {
    if (std::ranges::find(columns, under) == columns.end()) return;
    higher.put(of, tile, place(under), widths.numbers[static_cast<std::size_t>(under)]);
  };
  stand(out.k, scene.k, column_under(scene, Slot::k, scene.columns.front()));
  stand(out.v, scene.v, column_under(scene, Slot::v, scene.columns.back()));
  for (std::size_t n = 0; n < scene.sides.size(); ++n)
    if (!scene.sides[n].below) stand(out.sides[n], scene.sides[n].tile, scene.sides[n].column);
  band.left = at.x;
  band.right = place(columns.back()).box.max.x + s.px(4);
  band.label_right = at.x + s.px(label - 5);
  band.captions_top = place(columns.front()).y.back() + s.px(6);
  band.bottom = place(columns.front()).y.back() + s.px(kCaption);
}

// Under all bands, side by side as far as they have room.
void place_phone_below(const TilesScene& scene, float row_height, const Box& area, float label, TilesLayout& out) {
  constexpr float kCell = 30, kApart = 34, kBetween = 8;
  const Style& s = style();
  out.sides_top = out.bands.back().bottom;
  const float left = area.min.x + s.px(label);
  ImVec2 at{left, out.sides_top + s.px(kHeading + kTitle)};
  float bottom = at.y;
  for (std::size_t n = 0; n < scene.sides.size(); ++n) {
    const TileScene& tile = scene.sides[n].tile;
    if (!scene.sides[n].below) continue;
    const float width = std::min(s.px(kCell) * static_cast<float>(std::max(tile.cols, 1)), area.width() - s.px(label));
    // The caption stands over both edges of a narrow tile.
    const float caption = runs_width(scene.sides[n].caption.words, 14) + s.px(kBetween),
                beyond = std::max(0.0F, caption - width) / 2;
    at.x = std::max(at.x + (at.x > left ? beyond : 0), area.min.x + beyond);
    if (at.x + width + beyond > area.max.x + 1) at = {std::max(left, area.min.x + beyond), bottom + s.px(kTitle)};
    TilePlace& place = out.sides[n];
    set_rows(place, tile.rows, at.y, s.px(row_height), s.px(row_height), -1);
    place.box = {at, {at.x + width, place.y.back()}};
    place.cell_width = width / static_cast<float>(std::max(tile.cols, 1));
    set_room(place, tile, place.cell_width >= s.px(kOnPhone.cell), row_height, row_height, kOnPhone.text);
    at.x += width + std::max(beyond, s.px(kApart));
    bottom = std::max(bottom, place.box.max.y + s.px(kBelowCaption));
  }
  out.bottom = bottom;
}

// None where there are too many rows.
std::optional<TilesLayout> layout_bands(const TilesScene& scene, const Box& area, LeastRows least) {
  constexpr float kTwoDigits = 20;
  const Style& s = style();
  const float label = label_width(scene, area, scene.at.first_row + scene.at.br <= 100 ? kTwoDigits : kTightLabel);
  const float width = area.width() / s.scale - label - 4;
  Wishes wishes(scene.tiles.size());
  constexpr std::int32_t kMostRows = 24;  // more are a picture, and one band has it whole
  if (scene.columns.empty() || scene.at.br > kMostRows) return std::nullopt;
  const bool numbers = choose_phone_wishes(scene, width, wishes);
  TilesLayout out;
  out.right = area.max.x;
  out.lanes_in_bands = true;
  out.bands = choose_bands(scene, wishes, width);
  out.title_height = s.px(kTitle);
  out.sides.resize(scene.sides.size());
  const Heights heights = phone_heights(scene, out.bands, numbers, area.height() / s.scale, least);
  ImVec2 at = area.min;
  for (TilesBand& band : out.bands) {
    Widths widths{std::vector<float>(scene.tiles.size()), std::vector<bool>(scene.tiles.size())};
    share_width(scene, Columns(scene.columns).subspan(band.first, band.count), wishes, kOnPhone, width, widths);
    place_band(scene, widths, heights, at, label, band, out);
    out.bottom = at.y = band.bottom;
  }
  if (rows_below(scene) > 0) place_phone_below(scene, heights.below_row, area, label, out);
  return out;
}

// What is free beside K: what is on chip, and the cell that is spelled out.
void leave_free(const TilesScene& scene, const Box& area, float x, float top, float bottom, TilesLayout& out) {
  const Style& s = style();
  const auto place = [&](Column c) -> const TilePlace& { return out.places[static_cast<std::size_t>(c)]; };
  const Box &scores = place(column_under(scene, Slot::k, scene.columns.front())).box,
            &output = place(column_under(scene, Slot::v, scene.columns.back())).box;
  out.chip = {{area.min.x + s.px(4), std::min(top - s.px(kTitle) + s.px(2), top)}, {scores.min.x - s.px(20), bottom}};
  out.has_chip = out.chip.width() >= s.px(150) && out.chip.height() >= s.px(60);
  // A narrow K has a title wider than itself.
  const float title_end = out.k.box.min.x + runs_width(scene.k.title, 14);
  out.pointed = {{std::max(scores.max.x + s.px(28), title_end + s.px(20)), top - s.px(kTitle) + s.px(6)},
                 {output.min.x - s.px(24), bottom}};
  if (scene.folded) {
    // Where K is folded the words begin with the tiles, and where V is they end with the card.
    if (scene.k.rows == 0) out.pointed.min.x = scene.chip_folded || !out.has_chip ? x : out.chip.max.x + s.px(20);
    if (scene.v.rows == 0) out.pointed.max.x = area.max.x - s.px(8);
  }
  out.has_pointed = out.pointed.width() >= s.px(230) && out.pointed.height() >= s.px(64);
}

}  // namespace

TilesLayout layout_tiles(const TilesScene& scene, const Box& area, bool phone) {
  const Style& s = style();
  if (phone)
    if (auto bands = layout_bands(scene, area, kScrolled)) return *std::move(bands);
  const float label = label_width(scene, area, area.width() / s.scale < kTightRoom ? kTightLabel : kLabelWidth);
  TilesLayout out;
  float width = area.width() / s.scale - label;
  const float height = area.height() / s.scale;
  out.has_captions = height >= kTooLowForCaptions;
  const float caption = out.has_captions ? kCaption : 4;
  Widths widths = choose_widths(scene, width);
  // Beside K that stands alone with V, the numbers of V's rows have their place behind it: where no cell loses its own.
  constexpr float kBehindV = 26;
  if (scene.rows_folded && scene.k.rows > 0 && scene.v.rows > 0) {
    Widths less = choose_widths(scene, width - kBehindV);
    if (less.numbers == widths.numbers) widths = std::move(less), width -= kBehindV;
  }
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
  out.title_height = s.px(kTitle);
  out.bottom = area.max.y;
  out.right = area.max.x;
  place_columns(scene, scene.columns, widths, heights, {x, rows_top}, widths.text, out);
  const Column scores = column_under(scene, Slot::k, scene.columns.front()),
               output = column_under(scene, Slot::v, scene.columns.back());
  const TilePlace &sp = out.places[static_cast<std::size_t>(scores)],
                  &op = out.places[static_cast<std::size_t>(output)];
  out.bands = {{0, scene.columns.size(), area.min.y, area.max.y, x - s.px(label),
                out.places[static_cast<std::size_t>(scene.columns.back())].box.max.x + s.px(8),
                x - s.px(label == kTightLabel ? 5 : 10), sp.y.back() + s.px(6)}};
  const float region_bottom = rows_top - out.title_height, region_top = region_bottom - s.px(heights.k_region);
  const Above above{heights.k_row, heights.k_region, region_bottom, widths.text};
  const auto numbers = [&](Column c) { return widths.numbers[static_cast<std::size_t>(c)]; };
  above.put(out.k, scene.k, sp, numbers(scores));
  const float v_row = scene.v.transposed ? heights.k_row : std::max(30.0F, heights.k_row);
  Above{v_row, heights.k_region, region_bottom, widths.text}.put(out.v, scene.v, op, numbers(output));
  out.sides_top = sp.y.back() + s.px(caption);
  out.sides.resize(scene.sides.size());
  for (std::size_t n = 0; n < scene.sides.size(); ++n) {
    const Column column = scene.sides[n].column;
    if (scene.sides[n].below)
      place_below(scene, n, heights.below_row, out);
    else
      above.put(out.sides[n], scene.sides[n].tile, out.places[static_cast<std::size_t>(column)], numbers(column));
  }
  leave_free(scene, area, x, region_top, region_bottom, out);
  return out;
}

std::ptrdiff_t numbered_tiles(const TilesScene& scene, const TilesLayout& layout) {
  std::vector<const TileScene*> tiles{&scene.k, &scene.v};
  for (const Column c : scene.columns) tiles.push_back(&scene.tiles[static_cast<std::size_t>(c)]);
  for (const SideTile& side : scene.sides) tiles.push_back(&side.tile);
  return std::ranges::count_if(tiles, [&](const TileScene* tile) {
    const TilePlace& place = place_of_tile(scene, layout, *tile);
    return place.room > 0 && place.only_row < 0;
  });
}

TilesLayout layout_in_card(const TilesScene& scene, const Box& area) {
  TilesLayout line = layout_tiles(scene, area);
  const ImVec2 window = ImGui::GetMainViewport()->Size;
  if (!by_touch() || window.x >= window.y || scene.folded) return line;
  auto bands = layout_bands(scene, {{area.min.x, area.min.y - style().px(kShelfLane)}, area.max}, kWhole);
  const bool better =
      bands && bands->bottom <= area.max.y + 1 && numbered_tiles(scene, *bands) > numbered_tiles(scene, line);
  return better ? *std::move(bands) : std::move(line);
}

float liked_tiles_height(const Recording& rec, float height) {
  const auto extent = [](std::int32_t tile, std::int64_t length) {
    return static_cast<float>(tile > 0 ? std::min<std::int64_t>(tile, length) : length);
  };
  const float rows = extent(rec.options.br, rec.problem.Lq);
  const float k_rows = static_cast<float>(rec.problem.D);
  const float growth = std::clamp(height / 900, 1.0F, 2.0F);
  return 110 + growth * (std::min(rows * 64, 900.0F) + std::max(110.0F, std::min(k_rows * 32, 420.0F)));
}

}  // namespace attn
