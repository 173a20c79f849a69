// "Pointed at": the cell under the pointer, its full value, and the sum behind it, term by term.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/recording/replay/exact.h"
#include "viz/draw/text_runs.h"
#include "viz/state/state.h"
#include "viz/step/tiles/tiles_scene.h"
#include "viz/step/tiles/tiles_ui_state.h"

namespace attn {

// One column of terms: q, k and their product, or p, v and theirs.
struct PointedTerm {
  std::string left, right, product;
};

// What made this cell the one that is spelled out.
enum class PointedBy : std::uint8_t {
  pointer,
  keyboard,
  pin,     // the selection
  score,   // none of these: the step's own, its row's largest score,
  output,  // or the first column of O,
  step,    // or a cell of what it made
};
struct Pointed {
  CellRef cell;
  PointedBy by = PointedBy::pointer;
};

struct PointedScene {
  std::string lead, short_lead;  // "Pinned: ", "Followed: the row's largest score: "; short where there is no room
  TextRuns title;                // "S 0,3 = q0·k3 / √2 = 15.203"
  std::string left_letter, right_letter;
  Ink left_ink, right_ink;
  std::vector<PointedTerm> terms;  // all of them; the drawing shows what fits and says how many more
  std::vector<double> products;
  int decimals = -1;       // of the products, where that prints them exactly; else -1
  TextRuns sum;            // "sum 21.50, / √2: 15.203"
  TextRuns words;          // where there is no sum: one sentence
  std::string full;        // nine digits: what Ctrl+C copies
  std::string full_words;  // "15.2027960, fp64 15.20279579"
};
// The terms after the first `shown`: "+ 5 more, 1315.23", to the decimals of those before them.
std::string rest_words(const PointedScene& scene, std::size_t shown);
PointedScene pointed_scene(const Recording& rec, const TilesScene& tiles, const Pointed& pointed,
                           const ExactTile* exact);

// The cell of a tile in the scene that `ref` names; null where it is not drawn.
const TileScene* tile_of(const TilesScene& scene, Slot slot);
const Cell* cell_of(const TilesScene& scene, const CellRef& ref);

// The cell that the pointer, the keyboard or the selection is on, in this order; else the step's own. A pinned cell
// that holds nothing at this step gives way to the step's own.
std::optional<Pointed> pointed_cell(const TilesScene& scene, const State& state, const TilesUiState& ui);

}  // namespace attn
