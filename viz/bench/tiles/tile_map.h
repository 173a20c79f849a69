// The tiles of one kernel on one problem as a map, Br down and Bc across: how fast each is, what does not fit, what
// spills, which one was chosen. Before anything ran: what is known of each. Plain values; tile_map_draw.cpp draws them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/spec/sweep_spec.h"
#include "profiling/tune/tune.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// The kernel whose tiles are looked at: the one that is chosen in Bench, and where none is, or the runs that are shown
// have it not, the one that the strip speaks of; without rows one that the sweep would run.
std::string tiles_kernel(const State& state, const Model& model);
// What the button tunes: that kernel, on the sweep's problem at the value that is looked at. The error says what would
// do.
Result<TuneSpec> tune_of(const State& state, const std::string& kernel);
// Tells one question from another: equal texts, equal surfaces.
std::string tuning_key(const TuneSpec& spec);
// The sweep with this tile in it, as numbers.
SweepSpec sweep_with_tile(SweepSpec sweep, const Options& tile, bool gpu);

enum class TileCellState : std::uint8_t { none, refused, waiting, timed, wrong, failed };

// One pair of Br and Bc: the fastest of its threads and stages.
struct TileCell {
  TileCellState state = TileCellState::none;  // none: no such tile
  std::string text;                           // "742", in TuneMap::unit; while nothing was timed the occupancy: "25 %"
  std::string small;                          // threads and stages of the fastest: "128 · 2"
  double share = 0;                           // of the best time: 1 = the best; 0: not timed
  bool chosen = false, usual = false, spills = false;
  Options options;  // of the fastest, or of the first that fits
  std::string tip;
};

struct TuneMap {
  std::string empty;  // why there is no map; then nothing below is set
  std::string kernel, headline, reason, note;
  std::string tile;                         // why its tile is no larger (tile_occupancy_words.h)
  std::vector<std::int32_t> rows, columns;  // Br, Bc
  std::vector<TileCell> cells;              // row by row
  bool measured = false;                    // some tile was timed
  std::string unit;                         // of the times in the cells
  bool gpu = false;
  bool running = false;
  std::vector<std::string> table_head;
  std::vector<std::vector<std::string>> table;  // the best, timed in turns
  const TileCell& at(std::size_t row, std::size_t column) const { return cells[row * columns.size() + column]; }
};

TuneMap tune_map(const State& state, const Model& model);
// Changes whenever the scene would, as far as the model goes.
std::string tiles_fingerprint(const State& state, const Model& model);

}  // namespace attn
