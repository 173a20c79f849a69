#include "viz/step/tiles/flights_draw.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "kernels/model/order_row.h"
#include "viz/draw/theme.h"
#include "viz/step/place/place.h"
#include "viz/step/tiles/pointed.h"

namespace attn {
namespace {

constexpr float kShelf = 5, kShelfTop = 7, kShelfName = 36;  // logical
constexpr float kAlone = 0.55F;                              // of the motion: how long one column of several flies
constexpr float kAfterAlpha = 0.3F;                          // O is dimmed before more is added to it

// Slow at both ends.
float eased(float t, float begin, float end) {
  const float u = std::clamp((t - begin) / std::max(end - begin, 1e-6F), 0.0F, 1.0F);
  return u * u * (3 - 2 * u);
}

float between(float a, float b, float f) {
  return a + (b - a) * f;
}

Box between(const Box& a, const Box& b, float f) {
  return {{between(a.min.x, b.min.x, f), between(a.min.y, b.min.y, f)},
          {between(a.max.x, b.max.x, f), between(a.max.y, b.max.y, f)}};
}

Spot spot_of(const TilePlace& place) {
  return {&place, place.box};
}

bool same_extents(const TileScene& a, const TileScene& b) {
  return a.rows == b.rows && a.cols == b.cols;
}

// Cell by cell where there are as many, else spread over the tile.
Spot into(const TileScene& from, const Arrival& to) {
  return {same_extents(from, *to.tile) ? to.place : nullptr, to.place->box};
}

// Reads the order's row: what is brought, what is made of what, what goes.
class Planner {
 public:
  Planner(const Recording& rec, const TilesScene& now, const TilesScene& before, const TilesLayout& layout,
          const Box& card)
      : rec_(rec), now_(now), before_(before), layout_(layout), card_(card) {}
  StepFlights plan();
  std::vector<Shelf> shelves();

 private:
  struct Standing {
    const TileScene* tile = nullptr;
    const TilePlace* place = nullptr;
  };
  const TileScene& tile_at(Column c) const { return now_.tiles[static_cast<std::size_t>(c)]; }
  template <class Use>
  void each_made(const Use& use) const;
  Standing standing(Slot slot) const;
  Standing standing(const LitOperand& operand) const;
  const TileScene* held(const TileScene& tile) const;
  Shelf shelf(const TileScene& tile, const TilePlace& place, bool stores) const;
  void bring(const TileScene& tile, const TilePlace& place);
  void store();
  void make(const TileScene& tile, const TilePlace& place);
  void raise_maximum(const TileScene& tile, const TilePlace& place);
  void add_operand(Arrival& to, const LitOperand& operand, float begin);
  void add_product(Arrival& to, const ProductLook& product);
  void add_whole(const Standing& from, const Spot& to, bool dims = false);
  void add_columns(const Standing& from, Arrival& to, float begin);
  void sweep(const Standing& from, Arrival& to);

  const Recording& rec_;
  const TilesScene &now_, &before_;
  const TilesLayout& layout_;
  const Box& card_;
  StepFlights out_;
};

// A slot's tile as it stands after the step, else as it stood before it.
Planner::Standing Planner::standing(Slot slot) const {
  for (const TilesScene* scene : {&now_, &before_}) {
    const TileScene* tile = tile_of(*scene, slot);
    if (tile == nullptr || !tile->live || tile->folded) continue;
    const TilePlace& place = place_of_tile(*scene, layout_, *tile);
    if (!place.y.empty()) return {tile, &place};
  }
  return {};
}

Planner::Standing Planner::standing(const LitOperand& operand) const {
  const ColumnLook* column = now_.look->column(operand.column);
  if (column == nullptr) return {};
  if (operand.above) return column->above ? standing(*column->above) : Standing{};
  const Standing own = standing(column->slot);
  return own.tile != nullptr || !column->other ? own : standing(*column->other);
}

// What the slot showed before, where that was of the same tile: O so far, S before its mask.
const TileScene* Planner::held(const TileScene& tile) const {
  const auto of = [&](const TileScene& a) { return a.live && a.cells.size() == tile.cells.size() ? &a : nullptr; };
  if (tile.brought) return nullptr;
  if (&tile == &now_.k) return of(before_.k);
  if (&tile == &now_.v) return of(before_.v);
  for (std::size_t n = 0; n < now_.sides.size(); ++n)
    if (&tile == &now_.sides[n].tile) return n < before_.sides.size() ? of(before_.sides[n].tile) : nullptr;
  const auto n = static_cast<std::size_t>(&tile - now_.tiles.data());
  return n < before_.tiles.size() ? of(before_.tiles[n]) : nullptr;
}

Shelf Planner::shelf(const TileScene& tile, const TilePlace& place, bool stores) const {
  const Style& s = style();
  const SlotRow& row = slot_row(tile.slot);
  const bool by_key = row.rows == SlotRows::keys || row.columns == SlotColumns::keys;
  Shelf out;
  out.of = &tile;
  out.slot = place.box;
  // In bands it is at the top of the one that the tile stands in.
  float roof = card_.min.y;
  for (const TilesBand& band : layout_.bands)
    if (layout_.lanes_in_bands && band.top <= place.box.min.y) roof = band.top;
  const float top = roof + s.px(kShelfTop), least = s.px(60);
  // Its name stands before it.
  const float left = std::max(place.box.min.x, card_.min.x + s.px(kShelfName));
  out.box = {{left, top}, {std::max(place.box.max.x, left + least), top + s.px(kShelf)}};
  out.box.max.x = std::min(out.box.max.x, card_.max.x - s.px(8));
  out.hue = tile.hue;
  out.tiles = std::max(1, by_key ? rec_.key_tiles() : rec_.query_tiles());
  out.tile = std::clamp(by_key ? now_.at.j : now_.at.i, 0, out.tiles - 1);
  out.stores = stores;
  return out;
}

void Planner::add_whole(const Standing& from, const Spot& to, bool dims) {
  if (from.tile == nullptr) return;
  out_.flights.push_back({from.tile, spot_of(*from.place), to, 0, from.tile->rows, 0, from.tile->cols, 0, 1, dims});
}

void Planner::bring(const TileScene& tile, const TilePlace& place) {
  const Shelf from = shelf(tile, place, false);
  out_.shelves.push_back(from);
  out_.flights.push_back({&tile, {nullptr, from.segment()}, spot_of(place), 0, tile.rows, 0, tile.cols});
  out_.arrivals.push_back({&tile, &place, nullptr, std::vector<float>(static_cast<std::size_t>(tile.cols), 1.0F)});
}

// What the step writes to HBM: its bytes are counted, and it brings none of that tensor.
void Planner::store() {
  const EventIndex e = now_.at.event;
  if (e == 0) return;
  const auto& bytes = rec_.events[e].hbm_bytes;
  const auto& earlier = rec_.events[e - 1].hbm_bytes;
  const OrderPhase* phase = order_row(rec_.order).phase(rec_.events[e].id.phase);
  for (const ChipLook& part : now_.look->chip) {
    const auto n = static_cast<std::size_t>(part.part);
    if (bytes[n] == earlier[n] || part.part == TrafficPart::stats) continue;
    for (const auto& pair : part.slots) {
      const Slot slot = standing(pair[1]).tile != nullptr ? pair[1] : pair[0];
      const Standing from = standing(slot);
      if (from.tile == nullptr || slot_row(slot).input || from.tile->brought) continue;
      if (phase != nullptr && std::ranges::find(phase->brings, slot) != phase->brings.end()) continue;
      const Shelf to = shelf(*from.tile, *from.place, true);
      out_.shelves.push_back(to);
      add_whole(from, {nullptr, to.segment()});
    }
  }
}

// Each column on its own, one after another; they land where the columns of `to` are, or all in its one.
void Planner::add_columns(const Standing& from, Arrival& to, float begin) {
  if (from.tile == nullptr) return;
  const TileScene& tile = *from.tile;
  const std::int32_t across = to.tile->cols;
  const bool meets = across == tile.cols;
  const float alone = (1 - begin) * kAlone,
              apart = (1 - begin - alone) / static_cast<float>(std::max(tile.cols - 1, 1));
  for (std::int32_t c = 0; c < tile.cols; ++c) {
    Flight f{from.tile, spot_of(*from.place), {}, 0, tile.rows, c, c + 1};
    f.begin = begin + apart * static_cast<float>(c);
    f.end = f.begin + alone;
    const Box column{to.place->cell(0, meets ? c : 0).min,
                     to.place->cell(to.tile->rows - 1, meets ? c : across - 1).max};
    const bool rows_meet = tile.rows == to.tile->rows;
    f.to = meets && rows_meet ? spot_of(*to.place) : Spot{nullptr, column};
    out_.flights.push_back(f);
    if (meets) to.lands[static_cast<std::size_t>(c)] = f.end;
  }
}

// One number a row that goes over all columns: each is done once it has passed.
void Planner::sweep(const Standing& from, Arrival& to) {
  if (from.tile == nullptr) return;
  const std::int32_t last = to.tile->cols - 1;
  const Box end{to.place->cell(0, last).min, to.place->cell(to.tile->rows - 1, last).max};
  add_whole(from, {nullptr, end});
  const float x0 = from.place->box.min.x, x1 = end.min.x;
  for (std::int32_t c = 0; c <= last; ++c) {
    float& lands = to.lands[static_cast<std::size_t>(c)];
    if (lands < 1) continue;  // what falls into it says when
    // The time at which the sweep is there: eased() solved by halving.
    const float share = x1 > x0 ? std::clamp((to.place->cell(0, c).min.x - x0) / (x1 - x0), 0.0F, 1.0F) : 1.0F;
    float low = 0, high = 1;
    for (int n = 0; n < 12; ++n) {
      const float middle = (low + high) / 2;
      (eased(middle, 0, 1) < share ? low : high) = middle;
    }
    lands = c == last ? 1 : high;
  }
}

void Planner::add_operand(Arrival& to, const LitOperand& operand, float begin) {
  const Standing from = standing(operand);
  if (from.tile == nullptr || from.tile == to.tile) return;
  const bool one = to.tile->statistic && to.tile->cols == 1;
  switch (operand.part) {
    case OperandPart::row:
      return one ? add_columns(from, to, begin) : add_whole(from, into(*from.tile, to));
    case OperandPart::first_cell:
      return one ? add_whole(from, into(*from.tile, to)) : sweep(from, to);
    case OperandPart::column:
    case OperandPart::key_column:
    case OperandPart::key_cell:
      return add_columns(from, to, begin);
  }
}

void Planner::add_product(Arrival& to, const ProductLook& product) {
  for (const Slot slot : {product.left, product.right}) {
    const Standing from = standing(slot);
    if (from.tile == nullptr || from.tile == to.tile) continue;
    to.tile->statistic ? add_columns(from, to, 0) : add_whole(from, into(*from.tile, to));
  }
}

// The score that m takes, or the m so far where no score of this tile is larger.
void Planner::raise_maximum(const TileScene& tile, const TilePlace& place) {
  const Standing scores = now_.look->scores ? standing(tile_at(*now_.look->scores).slot) : Standing{};
  const std::optional<Slot> older = now_.look->slot(tile.slot).older;
  const Standing old = older ? standing(*older) : Standing{};
  for (std::int32_t r = 0; r < tile.rows; ++r) {
    const auto fly = [&](const Standing& from, std::int32_t c) {
      const Box end = place.cell(r, 0);
      out_.flights.push_back({from.tile, spot_of(*from.place), {nullptr, end}, r, r + 1, c, c + 1});
    };
    std::int32_t largest = -1;
    for (std::int32_t c = 0; scores.tile != nullptr && r < scores.tile->rows && c < scores.tile->cols; ++c)
      if (scores.tile->cell(r, c).largest) largest = c;
    if (largest >= 0)
      fly(scores, largest);
    else if (old.tile != nullptr && r < old.tile->rows)
      fly(old, 0);
  }
}

void Planner::make(const TileScene& tile, const TilePlace& place) {
  const SlotLook& look = now_.look->slot(tile.slot);
  const PhaseLook& phase = now_.look->phase(rec_.events[now_.at.event].id.phase);
  const bool output = now_.look->output && &tile == &tile_at(*now_.look->output);
  const bool divides = phase.divides_output && output && !phase.fills;
  const bool fills = phase.fills && phase.lights && &tile == &tile_at(*phase.lights);
  const bool product = look.explain == Explain::product && !divides;
  // What a mask, a rounding or a division of its own changes stays where it is.
  if (!fills && !product && !divides) return;
  Arrival to{&tile, &place, held(tile), std::vector<float>(static_cast<std::size_t>(tile.cols), 1.0F)};
  const std::size_t before = out_.flights.size();
  if (divides) {
    sweep(standing(output_sum_slot(rec_, now_.at.event)), to);
  } else if (now_.look->maximum && &tile == &tile_at(*now_.look->maximum)) {
    raise_maximum(tile, place);
  } else if (product) {
    add_product(to, look.product);
  } else {
    to.dims = output && now_.look->rescales_output && to.held != nullptr;
    const float begin = to.dims ? kAfterAlpha : 0;
    for (const LitOperand& operand : look.operands) add_operand(to, operand, begin);
    if (look.older && tile.statistic)
      add_whole(standing(*look.older), Spot{to.place, to.place->box}, now_.look->rescales_output);
  }
  if (out_.flights.size() > before) out_.arrivals.push_back(std::move(to));
}

template <class Use>
void Planner::each_made(const Use& use) const {
  const auto each = [&](const TileScene& tile, const TilePlace& place) {
    if (tile.made && tile.live && place.y.size() >= 2) use(tile, place);
  };
  for (const Column c : now_.columns) each(tile_at(c), layout_.places[static_cast<std::size_t>(c)]);
  each(now_.k, layout_.k);
  each(now_.v, layout_.v);
  for (std::size_t n = 0; n < now_.sides.size(); ++n) each(now_.sides[n].tile, layout_.sides[n]);
}

StepFlights Planner::plan() {
  each_made(
      [this](const TileScene& tile, const TilePlace& place) { tile.brought ? bring(tile, place) : make(tile, place); });
  store();
  return std::move(out_);
}

std::vector<Shelf> Planner::shelves() {
  each_made([this](const TileScene& tile, const TilePlace& place) {
    if (tile.brought) bring(tile, place);
  });
  store();
  return std::move(out_.shelves);
}

}  // namespace

Box Spot::cell(const TileScene& tile, std::int32_t r, std::int32_t c) const {
  if (place != nullptr) return place->cell(r, c);
  const float w = box.width() / static_cast<float>(std::max(tile.cols, 1));
  const float h = box.height() / static_cast<float>(std::max(tile.rows, 1));
  const ImVec2 at{box.min.x + w * static_cast<float>(c), box.min.y + h * static_cast<float>(r)};
  return {at, {at.x + w, at.y + h}};
}

// A part of a tile fills the whole of a box.
Box flight_cell(const Flight& f, std::int32_t r, std::int32_t c, float t) {
  const Box from = f.from.cell(*f.tile, r, c);
  Box to = f.to.place != nullptr ? f.to.place->cell(r, c) : f.to.box;
  if (f.to.place == nullptr) {
    const float w = to.width() / static_cast<float>(f.end_col - f.first_col);
    const float h = to.height() / static_cast<float>(f.end_row - f.first_row);
    const ImVec2 at{to.min.x + w * static_cast<float>(c - f.first_col),
                    to.min.y + h * static_cast<float>(r - f.first_row)};
    to = {at, {at.x + w, at.y + h}};
  }
  return between(from, to, eased(t, f.begin, f.end));
}

Box flight_box(const Flight& f, float t) {
  return {flight_cell(f, f.first_row, f.first_col, t).min, flight_cell(f, f.end_row - 1, f.end_col - 1, t).max};
}

Box Shelf::segment() const {
  const float whole = box.width(), least = std::min(style().px(4), whole);
  const float width = std::max(whole / static_cast<float>(tiles), least);
  const float left = tiles > 1 ? (whole - width) * static_cast<float>(tile) / static_cast<float>(tiles - 1) : 0;
  return {{box.min.x + left, box.min.y}, {box.min.x + left + width, box.max.y}};
}

std::array<ImVec2, 4> shelf_way(const Shelf& shelf, float least) {
  const Style& s = style();
  constexpr float kBeside = 9, kPastTitle = 6, kInto = 11;  // logical
  const float title = shelf.of == nullptr ? 0 : runs_width(shelf.of->title, 14);
  const float x = std::max({shelf.slot.max.x + s.px(kBeside), shelf.slot.min.x + title + s.px(kPastTitle), least});
  const float y = shelf.box.centre().y, end = shelf.slot.min.y + std::min(s.px(kInto), shelf.slot.height() / 2);
  return {{{shelf.box.max.x, y}, {x, y}, {x, end}, {shelf.slot.max.x + s.px(4), end}}};
}

float left_of(const TilesScene& scene, std::int32_t r) {
  const TileScene* alpha = tile_of(scene, Slot::alpha);
  if (alpha == nullptr || !alpha->live || r >= alpha->rows) return 1;
  const float left = alpha->cell(r, 0).value;
  return std::isfinite(left) ? std::clamp(left, 0.0F, 1.0F) : 1;
}

StepFlights step_flights(const Recording& rec, const TilesScene& now, const TilesScene& before,
                         const TilesLayout& layout, const Box& card) {
  return Planner(rec, now, before, layout, card).plan();
}

std::vector<Shelf> step_shelves(const Recording& rec, const TilesScene& now, const TilesLayout& layout,
                                const Box& card) {
  return Planner(rec, now, now, layout, card).shelves();
}

}  // namespace attn
