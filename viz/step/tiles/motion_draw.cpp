#include "viz/step/tiles/parts_draw.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "viz/draw/theme.h"
#include "viz/step/tiles/tiles_draw.h"

namespace attn::tiles {
namespace {

bool meet(const Box& a, const Box& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

bool flies(const Flight& f, float t) {
  return t >= f.begin && t < f.end;
}

// Where the cells of a flight stand before it or after it.
Box stands_in(const Flight& f, const Spot& spot) {
  if (spot.place == nullptr) return spot.box;
  return {spot.place->cell(f.first_row, f.first_col).min, spot.place->cell(f.end_row - 1, f.end_col - 1).max};
}

Moving moving_at(StepFlights flights, float t) {
  Moving out{std::move(flights), t, {}, {}};
  for (const Flight& f : out.flights.flights) {
    out.plates.push_back(flies(f, t) ? flight_box(f, t).grown(style().px(1)) : Box{});
    if (!flies(f, t)) continue;
    for (const Box& box : {out.plates.back(), stands_in(f, f.from), stands_in(f, f.to)}) out.quiet.push_back(box);
  }
  return out;
}

// Of a tile with more cells every n-th row and column flies: all would be a grey blur, and slow.
constexpr std::int32_t kSide = 16;

std::int32_t stride_of(std::int32_t cells) {
  return (cells + kSide - 1) / kSide;
}

// The slot before anything is in it.
TileScene emptied(const TileScene& tile) {
  TileScene out = tile;
  out.live = out.made = false;
  for (Cell& cell : out.cells) {
    cell.text.clear();
    cell.largest = false;
    if (cell.look == CellLook::value) cell.look = CellLook::empty;
  }
  return out;
}

// How far a row of what stood there is dimmed by now: O so far, times alpha.
float dimmed(const Drawn& d, std::int32_t row) {
  constexpr float kUntil = 0.3F;  // of the motion
  const float share = std::clamp(d.moving->at / kUntil, 0.0F, 1.0F);
  return 1 - (1 - left_of(d.scene, row)) * share;
}

// What the slot held, each row as strong as alpha leaves it.
void draw_dimmed(const Drawn& d, const Arrival& arrival) {
  const TileScene& tile = *arrival.held;
  const auto row_of = [&](std::int32_t r) { return dimmed(d, r); };
  const bool numbers = tile.cells.size() <= static_cast<std::size_t>(kSide) * kSide;
  for (std::int32_t r = 0; r < tile.rows; ++r) {
    for (std::int32_t c = 0; c < tile.cols; ++c) {
      Cell cell = tile.cell(r, c);
      if (cell.look != CellLook::value) continue;
      const Box box = arrival.place->cell(r, c);
      if (!numbers || keeps_quiet(d, box)) cell.text.clear();
      draw_flying_cell(d, tile, cell, box, arrival.place->text_size, row_of(r));
    }
  }
}

// `all`: its name is left out where it would lie on another, or on the line that leads from one.
void draw_shelf(const Drawn& d, const Shelf& shelf, const std::vector<Shelf>& all) {
  const Box segment = shelf.segment();
  d.list->AddRectFilled(shelf.box.min, shelf.box.max, colour_of(Token::field), d.s.px(1));
  // Of a sum those tiles are there that were stored before; of an input all are.
  const float end = shelf.stores ? segment.min.x : shelf.box.max.x;
  d.list->AddRectFilled(shelf.box.min, {end, shelf.box.max.y}, faded(colour_of(shelf.hue), 0.4F), d.s.px(1));
  if (!shelf.stores) d.list->AddRectFilled(segment.min, segment.max, colour_of(shelf.hue), d.s.px(1));
  draw_outline(d.list, segment, colour_of(Token::text), 1, 1);
  const char* words = "HBM";
  const float width = text_width(Face::bold, 11, words);
  const ImVec2 at{shelf.box.min.x - width - d.s.px(5), shelf.box.min.y - d.s.px(2)};
  const Box name{at, {at.x + width, at.y + line_height(11)}};
  const float air = d.s.px(6);  // between the name and what leads down beside it
  const auto covers = [&](const Shelf& other) {
    const float way = shelf_way(other, 0)[1].x;  // down from its end
    return meet(other.box, name) || (other.box.max.x < name.max.x && way > name.min.x - air && way < name.max.x + air);
  };
  if (std::ranges::any_of(all, covers)) return;
  draw_text(d.list, at, Face::bold, 11, colour_of(Token::dim), words);
}

// The n-th. A number that a later plate touches is not drawn: half of it is no number.
void draw_flight(const Drawn& d, std::size_t n) {
  const Flight& f = d.moving->flights.flights[n];
  const std::vector<Box>& plates = d.moving->plates;
  const float t = d.moving->at;
  const TileScene& tile = *f.tile;
  const std::int32_t rows = stride_of(f.end_row - f.first_row), cols = stride_of(f.end_col - f.first_col);
  const bool all = rows == 1 && cols == 1;
  // One thing on a plate of its own: what it passes over is not read through its gaps.
  const Box& plate = plates[n];
  const auto later = plates.begin() + static_cast<std::ptrdiff_t>(n) + 1;
  d.list->AddRectFilled(plate.min, plate.max, colour_of(Token::card), d.s.px(3));
  const float text = f.from.place != nullptr ? f.from.place->text_size : f.to.place->text_size;
  for (std::int32_t r = f.first_row; r < f.end_row; r += rows) {
    for (std::int32_t c = f.first_col; c < f.end_col; c += cols) {
      Cell cell = tile.cell(r, c);
      if (cell.look != CellLook::value) continue;
      if (!all) cell.text.clear(), cell.largest = false;
      const Box box{flight_cell(f, r, c, t).min,
                    flight_cell(f, std::min(r + rows, f.end_row) - 1, std::min(c + cols, f.end_col) - 1, t).max};
      if (std::any_of(later, plates.end(), [&](const Box& over) { return meet(over, box); })) cell.text.clear();
      draw_flying_cell(d, tile, cell, box, text, f.dims ? left_of(d.scene, r) : 1);
    }
  }
  // Of many narrow columns the edges alone would be seen.
  if (plate.width() >= d.s.px(12)) draw_outline(d.list, plate, faded(colour_of(tile.hue), 0.8F), 1, 3);
}

const Arrival* arrival_of(const Drawn& d, const TileScene& tile) {
  if (d.moving == nullptr) return nullptr;
  for (const Arrival& a : d.moving->flights.arrivals)
    if (a.tile == &tile) return &a;
  return nullptr;
}

// Columns from the left that have landed.
std::int32_t landed_columns(const Arrival& a, float t) {
  std::int32_t n = 0;
  while (n < a.tile->cols && t >= a.lands[static_cast<std::size_t>(n)]) ++n;
  return n;
}

void draw_landed(const Drawn& d, const Arrival& a) {
  const std::int32_t landed = landed_columns(a, d.moving->at);
  if (landed == 0) return;
  const Box& box = a.place->box;
  d.list->PushClipRect(box.min, {a.place->cell(0, landed - 1).max.x, box.max.y}, true);
  draw_tile(d, *a.tile, *a.place);
  d.list->PopClipRect();
}

// The step after which this one's slots were as it found them: of parts side by side the last of its own.
std::optional<EventIndex> step_before(const Recording& rec, EventIndex e) {
  const auto lane = rec.lane_of(e);
  EventIndex at = e - 1;
  while (lane && at > 0 && rec.lane_of(at) && rec.lane_of(at) != lane) --at;
  return !lane || rec.lane_of(at) == lane || !rec.lane_of(at) ? std::optional(at) : std::nullopt;
}

}  // namespace

void draw_slot(const Drawn& d, const TileScene& tile, const TilePlace& place) {
  if (tile.folded) return;
  const Arrival* a = arrival_of(d, tile);
  if (a == nullptr) return draw_tile(d, tile, place);
  const std::int32_t landed = landed_columns(*a, d.moving->at);
  const float left = landed == 0 ? place.box.min.x : place.cell(0, landed - 1).max.x;
  d.list->PushClipRect({left, place.box.min.y}, place.box.max, true);
  if (a->held == nullptr)
    draw_tile(d, emptied(tile), place);
  else if (a->dims)
    draw_dimmed(d, *a);
  else
    draw_tile(d, *a->held, place);
  d.list->PopClipRect();
}

namespace {

// What no line from HBM may cross: numbers, titles and captions.
std::vector<Box> in_the_way(const Drawn& d) {
  constexpr float kKeyNames = 16;  // logical
  std::vector<Box> boxes;
  for (const Column c : d.scene.columns)
    if (const auto n = static_cast<std::size_t>(c); !d.scene.tiles[n].folded) boxes.push_back(d.layout.places[n].box);
  for (const TilePlace& side : d.layout.sides) boxes.push_back(side.box);
  // V's keys are named on its left.
  const Box& v = d.layout.v.box;
  if (d.scene.v.rows > 0) boxes.push_back({{v.min.x - d.s.px(kKeyNames), v.min.y}, v.max});
  for (const InFlight& title : d.ui.titles) boxes.push_back({{title.left, title.top}, {title.right, title.bottom}});
  return boxes;
}

// How far to the right its line may stand: as near as it can, past the card of what is on chip, which stands over Q, or
// in one of the next gaps between columns.
std::vector<float> places_of_way(const Drawn& d, const Shelf& shelf) {
  constexpr std::size_t kGaps = 2;
  std::vector<float> out{0};
  if (d.layout.has_chip) out.push_back(d.layout.chip.max.x + d.s.px(5));
  const std::size_t before = out.size();
  for (std::size_t n = 0; n < d.scene.columns.size() && out.size() < before + kGaps; ++n) {
    const auto box = [&](std::size_t at) -> const Box& {
      return d.layout.places[static_cast<std::size_t>(d.scene.columns[at])].box;
    };
    const float end = n + 1 < d.scene.columns.size() ? box(n + 1).min.x : box(n).max.x + d.s.px(12);
    if (end > shelf.slot.max.x + d.s.px(8)) out.push_back((box(n).max.x + end) / 2);
  }
  return out;
}

}  // namespace

void draw_sources(const Drawn& d, const std::vector<Shelf>& shelves, std::span<const Box> taken) {
  constexpr float kLeft = 2, kRight = 12;  // logical: what a line keeps free, as a title may begin right of it
  const float thick = std::max(1.0F, d.s.px(1.5F)), head = d.s.px(4.5F), near = d.s.px(2), name = d.s.px(30);
  const std::vector<Box> words = in_the_way(d);
  const auto is_clear = [&](const Shelf& shelf, const std::array<ImVec2, 4>& way, bool far) {
    const Box down{{way[1].x - d.s.px(kLeft), way[1].y}, {way[1].x + (far ? near : d.s.px(kRight)), way[2].y}};
    if (std::ranges::any_of(taken, [&](const Box& box) { return meet(box, down); })) return false;
    for (std::size_t n = 0; n + 1 < way.size(); ++n) {
      const Box leg{{std::min(way[n].x, way[n + 1].x) - near, way[n].y - near},
                    {std::max(way[n].x, way[n + 1].x) + near, way[n + 1].y + near}};
      const auto crosses = [&](const Box& box) { return meet(box, leg); };
      // Near its own slot the last one ends.
      if (n < 2 || far) {
        if (std::ranges::any_of(words, crosses)) return false;
      }
      const auto passes = [&](const Shelf& other) {
        return &other != &shelf && meet({{other.box.min.x - name, other.box.min.y}, other.box.max}, leg);
      };
      if (far && std::ranges::any_of(shelves, passes)) return false;
    }
    return true;
  };
  for (const Shelf& shelf : shelves) {
    draw_shelf(d, shelf, shelves);
    const Box from = shelf.segment();
    d.ui.sources.push_back({shelf.of->slot, from.min.x, from.min.y, from.max.x, from.max.y});
    std::optional<std::array<ImVec2, 4>> found;
    for (const float least : places_of_way(d, shelf)) {
      const auto way = shelf_way(shelf, least);
      if (!is_clear(shelf, way, least > 0)) continue;
      found = way;
      break;
    }
    if (!found) continue;
    std::array<ImVec2, 4>& way = *found;
    d.ui.ways.push_back({shelf.of->slot, way[1].x - thick / 2, way[1].y, way[1].x + thick / 2, way[2].y});
    const ImU32 ink = colour_of(shelf.hue);
    ImVec2& end = shelf.stores ? way[0] : way[3];
    const ImVec2 tip = end;
    end.x += head;
    d.list->AddPolyline(way.data(), static_cast<int>(way.size()), ink, ImDrawFlags_None, thick);
    d.list->AddTriangleFilled(tip, {end.x, end.y - head * 0.8F}, {end.x, end.y + head * 0.8F}, ink);
  }
}

void draw_flights(const Drawn& d) {
  d.ui.flying.clear();
  if (d.moving == nullptr) return;
  const float t = d.moving->at;
  for (const Shelf& shelf : d.moving->flights.shelves) draw_shelf(d, shelf, d.moving->flights.shelves);
  for (const Arrival& a : d.moving->flights.arrivals) draw_landed(d, a);
  for (std::size_t n = 0; n < d.moving->flights.flights.size(); ++n) {
    const Flight& f = d.moving->flights.flights[n];
    if (!flies(f, t)) continue;
    draw_flight(d, n);
    const Box box = flight_box(f, t);
    d.ui.flying.push_back({f.tile->slot, box.min.x, box.min.y, box.max.x, box.max.y});
  }
}

bool keeps_quiet(const Drawn& d, const Box& box) {
  return d.moving != nullptr && std::ranges::any_of(d.moving->quiet, [&](const Box& q) { return meet(q, box); });
}

std::optional<Moving> moving_step(const TilesPanel& panel, const TilesScene& scene, const TilesLayout& layout,
                                  const Box& card) {
  const StepView& view = panel.state.view.step;
  const bool still = panel.state.preferences.reduced_motion || panel.ui.less_motion;
  const double takes = still ? 0 : motion_seconds(view.playing, static_cast<double>(view.play_steps_per_second));
  const EventIndex e = scene.at.event;
  const float at = panel.ui.motion(e, takes, ImGui::GetTime());
  if (!panel.ui.moving() || e == 0) return std::nullopt;
  const auto rest = [&] {
    panel.ui.rest();
    return std::nullopt;
  };
  if (!panel.ui.before) {
    const auto earlier = step_before(panel.rec, e);
    if (!earlier) return rest();
    auto before = std::make_shared<TilesScene>(
        tiles_scene(panel.rec, *earlier, panel.state.document.selection, scene.reading, panel.scales));
    if (before->look != scene.look) return rest();
    fold_tiles(*before, panel.look);
    // A guest that comes or goes with this step has no place in both.
    if (before->sides.size() != scene.sides.size()) before->sides.clear();
    give_texts(panel, *before, layout);
    panel.ui.before = std::move(before);
  }
  StepFlights flights = step_flights(panel.rec, scene, *panel.ui.before, layout, card);
  if (flights.flights.empty()) return rest();
  return moving_at(std::move(flights), at);
}

}  // namespace attn::tiles
