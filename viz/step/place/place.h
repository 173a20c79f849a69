// Where a step stands: the live head, tile and row, and what of the recording belongs to them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/traffic.h"  // stores_scores
#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"
#include "viz/state/state.h"

namespace attn {

// The place that an event and the pinned selection give together.
struct StepPlace {
  EventIndex event = 0;
  std::int32_t b = 0, h = 0;
  std::int32_t i = -1, j = -1;  // live tile; -1 where the phase has none
  std::int32_t br = 1, bc = 1;  // tile extents, never larger than the problem
  std::int32_t first_row = 0, rows = 0;
  std::int32_t first_key = 0, keys = 0;
  std::int32_t row = 0;  // followed query row (in the whole tensor): the pinned one, or the row at the
                         // same height of the live tile
};
StepPlace place_of(const Recording& rec, EventIndex e, const Selection& selection);

// The word that stands at a query row, or at a key, of a batch; empty: none.
std::string_view row_word(const Recording& rec, std::int32_t b, std::int64_t row);
std::string_view key_word(const Recording& rec, std::int32_t b, std::int64_t key);
// "row 11", or "row 11 “too”".
std::string row_name(const Recording& rec, std::int32_t b, std::int64_t row);

// One element of a live version, by query row or key, and column; none where the slot is empty there.
std::optional<float> live_value(const Recording& rec, EventIndex e, Slot slot, std::int32_t row, std::int32_t col);
// Whether the step goes over all keys of its rows at once, not over one key tile of several: m, l and O of a GPU's
// recording that is cut into tiles for the file alone. Its event names the last key tile.
bool takes_all_keys(const Recording& rec, EventIndex e);
// A query row of a version; empty where the version does not cover it.
std::span<const float> row_of(const Recording& rec, VersionId id, std::int32_t row);
// Its error bound against fp64; 0 for inputs and where `exact` does not know the version.
double bound_of(const Recording& rec, const ExactTile* exact, VersionId version, std::size_t element);

// The slot that shows O after event e: o_new once it is made, else o_old.
Slot output_slot(const Recording& rec, EventIndex e);
// l that O's version belongs to: l_new or l_old.
Slot output_sum_slot(const Recording& rec, EventIndex e);

// Keys of the tile at hand that its batch has, [first, last), and where the tile ends; all 0: no K is at hand. Of a
// run whose K and V lie in pages.
struct TileKeys {
  std::int64_t first = 0, last = 0, end = 0;
  bool has(std::int64_t key) const { return key >= first && key < last; }
  bool lacks_some() const { return last < end; }
};
TileKeys keys_of_tile(const Recording& rec, const StepPlace& at);
// What-if: the tile holds rows of a page that no key fills. `tail_of_tile`: those, as if they were keys.
TileKeys tail_of_tile(const Recording& rec, const StepPlace& at);
bool loads_tail(const Recording& rec, const StepPlace& at);

// In the order of the keys.
std::vector<std::int32_t> pages_of_tile(const Recording& rec, const StepPlace& at);
// "page 10", "pages 10, 6"; empty: the tile has no key.
std::string pages_of_tile_words(const Recording& rec, const StepPlace& at);

// What the two are called that a step merges, or will merge next, of more than two parts of the keys: "parts 1–2" and
// "part 3", counted as the parts' own steps are; of two "the first part" and "the second part". None of steps that
// merge nothing. After the last merge: those of that one.
struct MergedParts {
  std::string first, second;
  bool numbered = false;  // more than two parts
};
// Of a key tile, counted from 0.
std::int64_t part_of(const Recording& rec, std::int32_t key_tile);
std::optional<MergedParts> merged_parts(const Recording& rec, EventIndex e);

// "1/√8" where the scale is 1/sqrt(D), else a number.
std::string scale_words(const Problem& p);

}  // namespace attn
