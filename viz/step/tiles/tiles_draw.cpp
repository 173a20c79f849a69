#include "viz/step/tiles/tiles_draw.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/beside/chip_draw.h"
#include "viz/step/beside/legend_draw.h"
#include "viz/step/facts/abreast.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/orders/looks.h"
#include "viz/step/tiles/layout_draw.h"
#include "viz/step/tiles/parts_draw.h"
#include "viz/step/tiles/pointed.h"
#include "viz/step/tiles/pointed_draw.h"

namespace attn {
namespace {

using namespace tiles;  // the panel's own parts

// The place of a band's first tile.
const TilePlace& first_place(const Drawn& d, const TilesBand& band) {
  return d.layout.places[static_cast<std::size_t>(d.scene.columns[band.first])];
}

// Behind the followed row.
void draw_stripe(const Drawn& d, const TilesBand& band) {
  const TilePlace& q = first_place(d, band);
  const auto r = static_cast<std::size_t>(d.scene.at.row - d.scene.at.first_row);
  const float top = q.y[r] - d.s.px(2), bottom = q.y[r + 1] + d.s.px(2);
  d.list->AddRectFilled({band.left, top}, {band.right, bottom}, colour_of(Token::band), d.s.px(3));
  d.list->AddRectFilled({band.left, top}, {band.left + d.s.px(3), bottom}, colour_of(Token::text), d.s.px(1));
}

void draw_row_labels(const Drawn& d, const TilesBand& band) {
  const TilePlace& q = first_place(d, band);
  const std::int32_t chosen = d.scene.at.row - d.scene.at.first_row;
  const float height = (q.y.back() - q.y.front()) / static_cast<float>(d.scene.at.br);
  // Every label where there is room, else every 2nd, 4th ...
  std::int32_t every = 1;
  while (height > 0 && height * static_cast<float>(every) < d.s.px(12)) every *= 2;
  for (std::int32_t r = 0; r < d.scene.at.br && !d.scene.rows_folded; ++r) {
    const Box line{{band.left, q.y[static_cast<std::size_t>(r)]},
                   {band.label_right, q.y[static_cast<std::size_t>(r) + 1]}};
    const std::string_view named = label_at(d.scene.row_words, r);
    if (!named.empty()) {
      if (r != chosen && std::abs(r - chosen) * height < d.s.px(11)) continue;
      const Face face = r == chosen ? Face::bold : Face::text;
      draw_text_in(d.list, line, Align::right, face, 13, colour_of(r == chosen ? Token::text : Token::dim),
                   elided_text(face, 13, named, line.width() - d.s.px(6)));
    } else if (r == chosen) {
      std::string label = phrase("row {}", d.scene.at.row);
      // The band begins with a bar.
      if (text_width(Face::bold, 12, label) > line.width() - d.s.px(6)) label = std::to_string(d.scene.at.row);
      draw_text_in(d.list, line, Align::right, Face::bold, 12, colour_of(Token::text), label);
    } else if (r >= d.scene.at.rows) {
      if (r % every == 0) draw_text_in(d.list, line, Align::right, Face::text, 11, colour_of(Token::faint), tr("none"));
    } else if (r % every == 0 && std::abs(r - chosen) * height >= d.s.px(11)) {
      draw_text_in(d.list, line, Align::right, Face::mono, 11, colour_of(Token::dim),
                   std::to_string(d.scene.at.first_row + r));
    }
  }
}

void draw_value_labels(const Drawn& d) {
  const float v_height = d.layout.v.y.size() > 1 ? d.layout.v.y[1] - d.layout.v.y[0] : 0;
  if (v_height < d.s.px(12) || d.scene.at.j < 0) return;
  // Behind V where K stands too near in front of it.
  const Box &k = d.layout.k.box, &v = d.layout.v.box;
  const float room = d.s.px(10) + text_width(Face::mono, 11, std::to_string(d.scene.at.first_key + d.scene.at.keys));
  const bool behind = d.scene.k.rows > 0 && k.max.y > v.min.y && k.min.x < v.min.x && k.max.x > v.min.x - room;
  for (std::int32_t r = 0; r < d.scene.at.keys; ++r) {
    const float top = d.layout.v.y[static_cast<std::size_t>(r)], low = d.layout.v.y[static_cast<std::size_t>(r) + 1];
    if (behind && v.max.x + room > d.layout.right) break;
    if (behind)
      draw_key_name(d, {{v.max.x + d.s.px(7), top}, {v.max.x + d.s.px(40), low}}, Align::left, r, false);
    else
      draw_key_name(d, {{v.min.x - d.s.px(40), top}, {v.min.x - d.s.px(7), low}}, Align::right, r, false);
  }
}

// Whether a column's title stands over its middle: of one number a row.
bool is_centred(const Drawn& d, Column c) {
  const TileScene& tile = d.scene.tiles[static_cast<std::size_t>(c)];
  return tile.statistic && tile.cols == 1;
}

// Where the title of the column after this one begins.
float next_title(const Drawn& d, Column c) {
  const TilesBand& band = d.layout.band_of(d.scene, c);
  const auto it = std::find(d.scene.columns.begin(), d.scene.columns.end(), c);
  const auto end = d.scene.columns.begin() + static_cast<std::ptrdiff_t>(band.first + band.count);
  if (it >= end || it + 1 == end) return band.right + d.s.px(4);
  const auto n = static_cast<std::size_t>(*(it + 1));
  const Box& box = d.layout.places[n].box;
  if (!is_centred(d, *(it + 1))) return box.min.x;
  return std::min(box.min.x, box.centre().x - runs_width(d.scene.tiles[n].title, 14) / 2);
}

constexpr float kPencil = 22;  // logical, with what keeps it from the title

// Words go where they would reach `limit`.
void draw_title(const Drawn& d, const TileScene& tile, const TilePlace& place, bool centred, float limit) {
  const float y = place.box.min.y - d.s.px(22);
  TextRuns title = tile.title;
  // Above K, V and P there is room to the right; beside Q stands S.
  const float beside = place.box.width() + d.s.px(centred ? 14 : slot_row(tile.slot).input && !tile.by_key ? -2 : 40);
  const float room = centred ? beside : std::min(beside, limit - place.box.min.x);
  const bool typed = d.pencils && takes_numbers(tile, place) && tile_of(d.scene, tile.slot) == &tile;
  float beside_title = typed && !tile.by_key ? d.s.px(kPencil) : 0;
  while (title.size() > 1 && runs_width(title, 14) + beside_title > room && title.back().face == Face::text &&
         title.back().raise == 0)
    title.pop_back();
  // K's and V's stay clear of the line from HBM.
  const bool pencil = typed && (!tile.by_key || runs_width(title, 14) + d.s.px(kPencil - 6) <= place.box.width());
  if (pencil) beside_title = d.s.px(kPencil);
  const float width = runs_width(title, 14), between = d.s.px(6);  // titles of narrow columns stay apart
  const float x = centred ? std::min(place.box.centre().x - width / 2, limit - between - width) : place.box.min.x;
  // Half a title, from under what passes over it, would be read as another.
  if (keeps_quiet(d, {{x, y}, {x + width + beside_title, place.box.min.y - d.s.px(3)}})) return;
  draw_runs(d.list, {x, y}, 14, title);
  d.ui.titles.push_back({tile.slot, x, y, x + width + beside_title, place.box.min.y - d.s.px(3)});
  if (pencil) d.ui.pencils.push_back({tile.slot, x + width + d.s.px(3), y + d.s.px(9)});
}

// S carries its letter at its left edge and the keys' numbers over its columns; the letter wins over the first of them.
void draw_score_title(const Drawn& d, Column scores) {
  const TilePlace& place = d.layout.places[static_cast<std::size_t>(scores)];
  const TileScene& tile = d.scene.tiles[static_cast<std::size_t>(scores)];
  const bool indices = place.cell_width >= d.s.px(16) && d.scene.at.j >= 0;
  if (!indices) {
    draw_title(d, tile, place, false, next_title(d, scores));
    return;
  }
  const bool words = !d.scene.key_words.empty();
  const std::string first = words ? d.scene.key_words.front() : std::to_string(d.scene.at.first_key);
  const float wanted = place.cell(0, 0).centre().x - text_width(Face::bold, words ? 12 : 11, first) / 2 - d.s.px(8) -
                       runs_width(tile.title, 14);
  // A word takes the room of its cell: the letter stands beside the column.
  const float letter_left =
      words ? std::clamp(wanted, place.box.min.x - runs_width(tile.title, 14) - d.s.px(6), place.box.min.x)
            : std::clamp(wanted, place.box.min.x - d.s.px(10), place.box.min.x);
  // K's frame ends just above.
  const float letter_top = place.box.min.y - d.s.px(20);
  const Box letter{{letter_left, letter_top}, {letter_left + runs_width(tile.title, 14), letter_top + d.s.px(17)}};
  if (!keeps_quiet(d, letter)) draw_runs(d.list, letter.min, 14, tile.title);
  d.ui.titles.push_back({tile.slot, letter.min.x, letter.min.y, letter.max.x, letter.max.y});
  // "S 4", not a letter with an index.
  const float letter_end = letter_left + runs_width(tile.title, 14) + d.s.px(7);
  for (std::int32_t c = 0; c < d.scene.at.keys; ++c) {
    const Box cell = place.cell(0, c);
    const std::string key = std::to_string(d.scene.at.first_key + c);
    if (!words && cell.centre().x - text_width(Face::bold, 11, key) / 2 < letter_end) continue;
    const bool lit = d.pointed && slot_row(d.pointed->slot).columns == SlotColumns::keys &&
                     d.pointed->col == d.scene.at.first_key + c;
    draw_key_name(d, {{cell.min.x, place.box.min.y - d.s.px(21)}, {cell.max.x, place.box.min.y - d.s.px(3)}},
                  Align::centre, c, lit);
  }
}

void draw_next(const Drawn& d) {
  if (!d.scene.next_any) return;
  const TilePlace& place = d.layout.places[static_cast<std::size_t>(d.scene.next_column)];
  const float width = text_width(Face::text, 13, d.scene.next);
  if (width + d.s.px(12) > place.box.width()) return;
  const float bottom = place.y[static_cast<std::size_t>(d.scene.at.rows)];
  ImVec2 centre{place.box.centre().x, (place.box.min.y + bottom) / 2};
  // In a cell that holds it, rather than across several.
  const std::int32_t cols = d.scene.tiles[static_cast<std::size_t>(d.scene.next_column)].cols;
  const Box cell =
      place.cell(std::clamp(d.scene.at.row - d.scene.at.first_row, 0, d.scene.at.rows - 1), std::max(cols - 1, 0) / 2);
  if (cell.width() >= width + d.s.px(14) && cell.height() >= d.s.px(22)) centre = cell.centre();
  const Box box{{centre.x - width / 2 - d.s.px(6), centre.y - d.s.px(10)},
                {centre.x + width / 2 + d.s.px(6), centre.y + d.s.px(10)}};
  d.list->AddRectFilled(box.min, box.max, colour_of(Token::card), d.s.px(4));
  draw_text_in(d.list, box, Align::centre, Face::text, 13, colour_of(Token::dim), d.scene.next);
}

// Their titles, key numbers and captions; those under the rows stay while the rows go by.
void draw_sides(const Drawn& d) {
  bool below = false;
  for (std::size_t n = 0; n < d.scene.sides.size(); ++n) {
    const SideTile& side = d.scene.sides[n];
    const TilePlace& place = d.layout.sides[n];
    draw_slot(d, side.tile, place);
    draw_title(d, side.tile, place, false, d.layout.bands.front().right + d.s.px(4));
    if (!side.below) continue;
    below = true;
    const float height = place.y.size() > 1 ? place.y[1] - place.y[0] : 0;
    for (std::int32_t r = 0; height >= d.s.px(12) && r < d.scene.at.keys; ++r) {
      const Box line{{place.box.min.x - d.s.px(40), place.y[static_cast<std::size_t>(r)]},
                     {place.box.min.x - d.s.px(7), place.y[static_cast<std::size_t>(r) + 1]}};
      draw_key_name(d, line, Align::right, r, false);
    }
    if (!d.layout.has_captions) continue;
    const float width = runs_width(side.caption.words, 14);
    const float x = place.box.centre().x - width / 2, y = place.box.max.y + d.s.px(4);
    draw_runs(d.list, {x, y}, 14, side.caption.words);
    if (side.caption.live)
      d.list->AddRectFilled({x, y + d.s.px(18)}, {x + width, y + d.s.px(20.5F)}, colour_of(Token::text), d.s.px(1));
  }
  if (!below) return;
  const float y = d.layout.sides_top;
  const auto& [left, right] = std::pair(d.layout.bands.front().left, d.layout.bands.front().right);
  d.list->AddLine({left, y}, {right, y}, colour_of(Token::line), std::max(1.0F, d.s.px(1)));
  draw_text(d.list, {left, y + d.s.px(8)}, Face::bold, 13, colour_of(Token::text), tr_of(d.scene.look->below[0]));
  draw_text(d.list, {left, y + d.s.px(27)}, Face::text, 12, colour_of(Token::dim), tr_of(d.scene.look->below[1]));
  draw_text(d.list, {left, y + d.s.px(43)}, Face::text, 12, colour_of(Token::dim), tr_of(d.scene.look->below[2]));
}

void show_pointed(const TilesPanel& panel, const Drawn& d, const std::optional<Pointed>& pointed) {
  if (!pointed || (panel.seen > 0 && !panel.ui.hovered)) return;
  const PointedScene scene = pointed_scene(panel.rec, d.scene, *pointed, panel.exact);
  const float room = d.layout.has_pointed ? d.layout.pointed.height() + d.s.px(6) : 0;
  PointedScene brief = scene;  // the number without the products that it is made of
  brief.terms.clear();
  if (pointed_height(scene) <= room) {
    draw_pointed(d.list, d.layout.pointed, scene);
  } else if (pointed_height(brief) <= room && !panel.ui.hovered) {
    draw_pointed(d.list, d.layout.pointed, brief);
  } else if (panel.ui.hovered) {
    begin_tooltip({d.s.px(360), pointed_height(scene)});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = d.s.px(360);
    ImGui::Dummy({width, pointed_height(scene)});
    draw_pointed(ImGui::GetWindowDrawList(), {at, {at.x + width, at.y + pointed_height(scene)}}, scene);
    ImGui::EndTooltip();
  }
  const ImGuiIO& io = ImGui::GetIO();
  const bool copy = io.KeyMods == ImGuiMod_Ctrl && ImGui::IsKeyPressed(ImGuiKey_C, false) && !io.WantTextInput;
  if (copy && !scene.full.empty()) panel.commands.push_back(CopyText{scene.full});
}

constexpr float kFoot = 4;                                 // logical: what is free below
constexpr float kLegendAlone = 250, kLegendAbreast = 232;  // the lowest card with a legend; abreast there is no caption

// `lines`: of the legend.
float foot_height(int lines) {
  return style().px(kFoot + kLegendHeight * static_cast<float>(lines));
}

// The inside of the card, for the tiles, without the lines of the legend.
Box inside_of(const Box& card, bool phone, int lines) {
  const Style& s = style();
  const float left = s.px(phone ? 6 : 16), right = s.px(phone ? 6 : 18), top = s.px(phone ? 0 : kShelfLane);
  return {{card.min.x + left, card.min.y + top}, {card.max.x - right, card.max.y - foot_height(lines)}};
}

// A narrow card has as many as the marks need, whichever tensor's scale stands before them; one that is not scrolled no
// more than leave the tiles their room.
int lines_of_legend(const Recording& rec, const TensorScales& scales, const Box& card, bool phone) {
  constexpr float kNarrow = 480;  // logical
  constexpr int kMost = 4;
  const float spare = card.height() / style().scale - kLegendAlone;
  const int most = phone ? kMost : std::clamp(1 + static_cast<int>(spare / kLegendHeight), 1, kMost);
  if (!phone && card.width() >= style().px(kNarrow)) return 1;
  const float width = inside_of(card, phone, 1).width();
  const LegendMarks marks = legend_marks(rec, scales);
  int lines = 1;
  for (std::size_t n = 0; n < kSlots; ++n)
    lines = std::max(lines, legend_lines(width, scale_legend(static_cast<Slot>(n), scales), marks, most));
  return lines;
}

// Over the rows' labels, where no title stands.
Box beside_first_title(const Drawn& d) {
  constexpr float kSide = 18;
  const TilesBand& band = d.layout.bands.front();
  const float bottom = first_place(d, band).box.min.y - d.s.px(5);
  return {{band.left, bottom - d.s.px(kSide)}, {band.left + d.s.px(kSide), bottom}};
}

// Which bands this step filled, the first of them and those after it as long as they stand together; where the pinned
// cell is.
void tell_spans(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout) {
  TilesUiState& ui = panel.ui;
  ui.made = ui.pinned = {};
  if (!layout.lanes_in_bands && panel.look.parts.none()) return;
  const auto span_of = [&](const TileScene& tile) {
    const TilePlace& place = place_of_tile(scene, layout, tile);
    const auto under =
        std::ranges::find_if(layout.bands, [&](const TilesBand& b) { return place.box.min.y < b.bottom; });
    return under == layout.bands.end() ? TilesSpan{layout.sides_top, layout.bottom}
                                       : TilesSpan{under->top, under->bottom};
  };
  const auto add = [&](const TileScene& tile) {
    if (!tile.made || !tile.live || place_of_tile(scene, layout, tile).y.size() < 2) return;
    const TilesSpan span = span_of(tile);
    if (ui.made.bottom <= ui.made.top || span.top < ui.made.top) ui.made = span;
  };
  for (const Column c : scene.columns) add(scene.tiles[static_cast<std::size_t>(c)]);
  add(scene.k);
  add(scene.v);
  for (const SideTile& side : scene.sides) add(side.tile);
  // What is stored was made before.
  if (ui.made.bottom <= ui.made.top && scene.look->output)
    if (const TileScene& o = scene.tiles[static_cast<std::size_t>(*scene.look->output)]; o.live) ui.made = span_of(o);
  const TileScene* pinned = tile_of(scene, panel.state.document.selection.slot);
  if (panel.state.document.selection.col >= 0 && pinned != nullptr) ui.pinned = span_of(*pinned);
}

}  // namespace

void tiles::draw_scene(const Drawn& d) {
  for (const TilesBand& band : d.layout.bands) {
    if (!d.scene.rows_folded) draw_stripe(d, band);
    draw_row_labels(d, band);
  }
  draw_value_labels(d);
  for (const Column c : d.scene.columns) {
    const auto n = static_cast<std::size_t>(c);
    draw_slot(d, d.scene.tiles[n], d.layout.places[n]);
    if (c == d.scene.look->scores)
      draw_score_title(d, c);
    else
      draw_title(d, d.scene.tiles[n], d.layout.places[n], is_centred(d, c), next_title(d, c));
  }
  draw_slot(d, d.scene.k, d.layout.k);
  float edge = 0;
  for (const TilesBand& band : d.layout.bands) edge = std::max(edge, band.right + d.s.px(4));
  draw_title(d, d.scene.k, d.layout.k, false, edge);
  draw_slot(d, d.scene.v, d.layout.v);
  draw_title(d, d.scene.v, d.layout.v, false, edge);
  draw_sides(d);
  for (const TilesBand& band : d.layout.bands) draw_captions(d, band);
  draw_next(d);
  draw_flights(d);
  light_operands(d);
}

float phone_tiles_height(const TilesScene& scene, const Recording& rec, const TensorScales& scales,
                         const StepFocus& look, float width, float seen) {
  const Box card{{0, 0}, {width, seen}};
  const int lines = look.has(StepPart::legend) ? lines_of_legend(rec, scales, card, true) : 0;
  const PhoneStack stack = phone_stack(scene, rec, look, inside_of(card, true, lines));
  return stack.part * static_cast<float>(std::max<std::int64_t>(stack.parts, 1)) + foot_height(lines);
}

bool page_has_more_numbers(const TilesScene& scene, const Recording& rec, const TensorScales& scales, const Box& card) {
  const TilesLayout page = layout_tiles(scene, inside_of(card, true, lines_of_legend(rec, scales, card, true)), true);
  Box in = inside_of(card, false, lines_of_legend(rec, scales, card, false));
  if (abreast(rec) > 1) {
    // Each part has the page's width in place of half the card's.
    in.max.x = in.centre().x - style().px(kBetweenParts / 2);
    in.min.y += lane_title_height(in.width());
  } else if (!page.in_bands()) {
    return false;
  }
  return numbered_tiles(scene, page) > numbered_tiles(scene, layout_in_card(scene, in));
}

void draw_step_tiles(const TilesPanel& panel, const Box& box, TilesScene& scene) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  fold_tiles(scene, panel.look);
  const bool phone = panel.seen > 0;
  // In a low card the tiles need the line more than the legend does.
  const bool legend = phone ? panel.look.has(StepPart::legend)
                            : box.height() >= s.px(abreast(panel.rec) > 1 ? kLegendAbreast : kLegendAlone);
  const int lines = legend ? lines_of_legend(panel.rec, panel.scales, box, phone) : 0;
  Box area = inside_of(box, phone, lines);
  const Box whole = area;
  if (phone) area = inside_of({box.min, {box.max.x, box.min.y + panel.seen}}, true, lines);
  const float title = draw_other_part(panel, scene, area);
  const TilesLayout layout = phone ? layout_tiles(scene, area, true) : layout_in_card(scene, area);
  give_texts(panel, scene, layout);
  tell_spans(panel, scene, layout);
  list->PushClipRect(box.min, box.max, true);
  take_pointer(panel, scene, layout);
  take_keys(panel, scene);
  std::optional<Pointed> pointed = pointed_cell(scene, panel.state, panel.ui);
  // What nobody points at is followed where a lesson speaks of it.
  const bool by_hand = panel.ui.hovered || panel.ui.keyboard;
  if (pointed && !by_hand && !panel.look.has(tensor_of(pointed->cell.slot))) pointed.reset();
  const std::optional<CellRef> lit = pointed ? std::optional(pointed->cell) : std::nullopt;
  const std::optional<Moving> moving = moving_step(panel, scene, layout, box);
  // What a lesson speaks of stays as it is told.
  const bool pencils = panel.look.parts.none() && !panel.asks;
  const Drawn drawn{list, scene, layout, lit, panel.ui, s, moving ? &*moving : nullptr, pencils};
  panel.ui.pencils.clear();
  panel.ui.titles.clear();
  draw_scene(drawn);
  panel.ui.sources.clear();
  panel.ui.ways.clear();
  if (!moving) {
    std::vector<Box> taken{layout.k.box, layout.v.box};  // what stands above the rows
    if (layout.has_chip && !scene.chip_folded) taken.push_back(layout.chip);
    if (layout.has_pointed) taken.push_back(layout.pointed);
    if (title > 0) taken.push_back({{whole.min.x, area.min.y - title}, {whole.max.x, area.min.y}});
    draw_sources(drawn, step_shelves(panel.rec, scene, layout, box), taken);
  }
  if (lit) light_cell(drawn, *lit, panel.ui.focused ? 2.0F : 1.0F);
  if (layout.has_chip && !scene.chip_folded)
    draw_chip_card(list, layout.chip, chip_scene(panel.rec, scene.at.event, panel.state.document.sweep.arch));
  // What a lesson has not spoken of yet is not explained either.
  if (panel.look.has(StepPart::legend)) {
    const TileScene* spelled = lit ? tile_of(scene, lit->slot) : nullptr;
    LegendScale scale = scale_legend(spelled != nullptr ? spelled->slot : Slot::s, panel.scales);
    if (panel.asks) scale.min.clear(), scale.max.clear();
    const LegendMarks marks = legend_marks(panel.rec, panel.scales);
    if (legend)
      draw_cell_legend({{whole.min.x, whole.max.y}, {whole.max.x, box.max.y - s.px(kFoot)}}, scale, marks);
    else
      draw_legend_button(beside_first_title(drawn), scale, marks);
  }
  show_pointed(panel, drawn, pointed);
  take_pencils(panel, scene);
  draw_asked_cell(panel, scene, layout);
  edit_cell(panel, scene, layout);
  list->PopClipRect();
}

}  // namespace attn
