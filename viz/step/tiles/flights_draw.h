// What a step moves, and where it is on its way: a tile from HBM to its slot, operands into what is made of them, a
// row's largest score up to m, O to HBM. Every cell that flies is one of the recording's, before this step or after it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/recording/recording.h"
#include "viz/draw/canvas.h"
#include "viz/step/tiles/layout_draw.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {

// A place that a flight leaves or reaches: a tile as it stands, or a box that its cells share evenly.
struct Spot {
  const TilePlace* place = nullptr;
  Box box;
  Box cell(const TileScene& tile, std::int32_t r, std::int32_t c) const;
};

// A tile or part of it on its way; [begin, end) of the motion's time.
struct Flight {
  const TileScene* tile = nullptr;
  Spot from, to;
  std::int32_t first_row = 0, end_row = 0, first_col = 0, end_col = 0;
  float begin = 0, end = 1;
  bool dims = false;  // by alpha of its row
};
// The box of what flies at time `t`, 0 to 1: of the cells named, corner by corner.
Box flight_box(const Flight& flight, float t);
Box flight_cell(const Flight& flight, std::int32_t r, std::int32_t c, float t);

// A slot that is being filled: until column c has landed it shows what it held before.
struct Arrival {
  const TileScene* tile = nullptr;
  const TilePlace* place = nullptr;
  const TileScene* held = nullptr;  // the slot before this step; null: it is shown empty
  std::vector<float> lands;         // by column, in the motion's time
  bool dims = false;                // what it held is dimmed by alpha meanwhile
};

// A tensor in HBM while tiles come from it or go there: one segment a tile.
struct Shelf {
  Box box;
  const TileScene* of = nullptr;  // the slot's tile that comes or goes,
  Box slot;                       // and where it stands
  TensorColour hue = TensorColour::q;
  std::int32_t tiles = 1, tile = 0;
  bool stores = false;
  Box segment() const;  // of the tile
};

struct StepFlights {
  std::vector<Flight> flights;
  std::vector<Arrival> arrivals;
  std::vector<Shelf> shelves;
};
// `before`: the scene of the step before, laid out alike. `card`: the tiles' card; HBM is at its upper edge.
StepFlights step_flights(const Recording& rec, const TilesScene& now, const TilesScene& before,
                         const TilesLayout& layout, const Box& card);

// The shelves of a step that stands still: what it has brought, and what it has stored.
std::vector<Shelf> step_shelves(const Recording& rec, const TilesScene& now, const TilesLayout& layout,
                                const Box& card);
// From the shelf's end to the slot's side, past the slot's title, at `least` or right of it: three lines, four corners.
std::array<ImVec2, 4> shelf_way(const Shelf& shelf, float least);

// What alpha leaves of row `r` of the tile; 1 where nothing is known of it.
float left_of(const TilesScene& scene, std::int32_t r);

}  // namespace attn
