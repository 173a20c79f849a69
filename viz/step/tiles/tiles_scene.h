// The tiles of one step as plain data: what is drawn, said and coloured, without drawing. Pure functions of the
// recording, the step and the selection; the text of every cell is in the scene.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"
#include "viz/draw/text_runs.h"
#include "viz/state/state.h"
#include "viz/step/facts/scales.h"
#include "viz/step/orders/look.h"
#include "viz/step/place/place.h"

namespace attn {

struct StepFocus;

enum class CellLook : std::uint8_t {
  value,
  empty,     // not computed yet: dashed
  dropped,   // computed, and gone from chip: a flat plate with a dot
  masked,    // the mask or a skipped tile: hatched
  past_end,  // beyond a ragged tile: thin outline
  flight,    // hardware makes or brings it: hatched in its colour, and no number
};

struct Cell {
  CellLook look = CellLook::empty;
  bool largest = false;  // its row's maximum so far
  float value = 0;
  float shade = 0;   // -1 .. 1 on the tensor's scale
  std::string text;  // filled by write_numbers()
};

// One tile as it stands after the event. Rows and columns as drawn: K is transposed.
struct TileScene {
  Slot slot = Slot::q;
  TensorColour hue = TensorColour::q;
  TextRuns title;  // letter with index, and words
  std::int32_t rows = 0, cols = 0;
  std::int32_t first_row = 0;  // index in the whole tensor of row 0 and column 0 as drawn
  std::int32_t first_col = 0;
  bool transposed = false;
  bool live = false;        // holds values
  bool made = false;        // made in this step,
  bool brought = false;     // or came from HBM in it
  bool superseded = false;  // a newer version of it stands beside it: loses its fill
  bool gauge = false;       // alpha: filled as far as what is left
  bool by_key = false;      // its rows are keys
  bool gradient = false;    // its cells have a cut corner
  bool flight = false;      // on its way, or being made: nobody can read it
  bool statistic = false;   // one number a row, or one a lane
  bool folded = false;      // a lesson does not speak of it: not drawn
  int natural = -1;         // decimals of inputs
  std::vector<Cell> cells;  // row-major as drawn
  const Cell& cell(std::int32_t r, std::int32_t c) const { return cells[index(r, c)]; }
  Cell& cell(std::int32_t r, std::int32_t c) { return cells[index(r, c)]; }
  std::size_t index(std::int32_t r, std::int32_t c) const {
    return static_cast<std::size_t>(r) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(c);
  }
  // What a drawn cell is in its tensor.
  CellRef ref(std::int32_t r, std::int32_t c) const;
};

// The caption under a tile: the algorithm, one term each; the live one is underlined.
struct CaptionScene {
  TextRuns words;
  bool live = false;
};

// A tile above or under a column that comes and goes: what is summed by keys, a factor once more.
struct SideTile {
  Column column = Column::q;
  bool below = false;
  TileScene tile;
  CaptionScene caption;  // of one below
};

struct TilesScene {
  StepPlace at;
  OutputReading reading = OutputReading::as_summed;
  const OrderLook* look = nullptr;
  std::vector<Column> columns;   // left to right: the order of time
  std::vector<TileScene> tiles;  // by Column
  std::vector<CaptionScene> captions;
  TileScene k, v;  // above S, above O or dP; no rows where the order has none such
  std::vector<SideTile> sides;
  bool skipped = false;
  bool abreast = false;      // one of several parts, or of a block's consumers
  bool first_keys = false;   // that the query tile meets, or a part of the keys: m, l and O are empty before them
  bool folded = false;       // a lesson speaks of some tiles alone (fold.cpp): `columns` lacks the others,
  bool rows_folded = false;  // of none of the rows,
  bool chip_folded = false;  // nor of what is on chip
  std::vector<std::string> row_words, key_words;  // that stand at the rows and keys of the tile; empty: none do
  std::string next;                               // said in the tile that comes next, else empty
  Column next_column = Column::q;
  bool next_any = false;
};

TilesScene tiles_scene(const Recording& rec, EventIndex e, const Selection& selection, OutputReading reading,
                       const TensorScales& scales);
// Of one of several parts or query tiles that go abreast: as it stands after its own step e when the run has come to
// step `now`, which made nothing of it unless it is e.
TilesScene tiles_scene(const Recording& rec, EventIndex e, EventIndex now, const Selection& selection,
                       const TensorScales& scales);

// While a question is open: what is asked stands in the very tile that comes next, whose tag would lie on it, and how
// its numbers are made may be the answer (fold.cpp).
void keep_answers_back(TilesScene& scene);
// What stands over each tile, and which tile comes next (tile_titles.cpp); tiles_scene() calls it.
void add_titles(TilesScene& scene, const Recording& rec, OutputReading reading);
// |value - fp64| of a drawn cell is at most this. 0 without `exact`, and for inputs.
double cell_bound(const Recording& rec, const TilesScene& scene, const TileScene& tile, std::int32_t r, std::int32_t c,
                  const ExactTile* exact);
// Writes the texts of a tile of the scene whose cells have room for `room` characters, with as many digits as their
// bounds allow; below 3 there are none. `only_row`: that row as drawn alone; -1 = all.
void write_numbers(const Recording& rec, const TilesScene& scene, TileScene& tile, int room, const ExactTile* exact,
                   int only_row = -1);
// Characters that the widest text of the tile would like: what the layout asks before it gives room.
int wanted_characters(const TileScene& tile);

// Whether the step is of the keys that its query tile, or its part of the keys, meets first.
bool is_of_first_keys(const Recording& rec, EventIndex e);

// What a lesson does not speak of is neither placed nor drawn, and what it speaks of has the room. Nothing is folded
// where no tile would be left: then all of them stand. (fold.cpp)
void fold_tiles(TilesScene& scene, const StepFocus& look);

}  // namespace attn
