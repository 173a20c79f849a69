// What the pictures of a ring draw alike: cells, rows of them, what goes from rank to rank and its way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "viz/draw/canvas.h"
#include "viz/draw/inks.h"
#include "viz/draw/text_runs.h"
#include "viz/draw/theme.h"
#include "viz/step/ring/ring_panel.h"

namespace attn::rings {

// Logical sizes.
constexpr float kLabels = 88, kBandLabels = 82, kGap = 13, kHeat = 9, kQHeat = 11, kHead = 46, kMostCell = 44,
                kNumbersFrom = 28, kBetweenRanks = 14, kWayRound = 11, kAfterNames = 6;

// Which columns stand beside each other: all of them, or, where they have no room, those of one of the bands below each
// other. `sums`: of a backward.
enum class Band : std::uint8_t { all, travel, work, sums };

constexpr float kNumber = 11;  // logical size of a number in a cell: none is smaller

struct Columns {
  Box q, next, here, scores, turn, so_far;  // their x; y is a row's
  Box d_o, delta, dq, part, sums;           // of a backward
  float labels = 0;                         // where the ranks' names begin
  float names = 0;                          // their width
  float name_room = 0;                      // of their words: less where the way round stands beside them
  float cell = 0;                           // width of a cell with a number
  float m = 0, l = 0, o = 0;                // widths; 0: a lesson does not speak of it
  bool states = true;                       // m, l or O is there
  float o_left(const Box& state) const { return state.max.x - o; }
};

struct Place {
  const RingPanel& panel;
  const Style& s;
  ImDrawList* list;
  Columns x;
  Box rows;           // of all ranks
  float rank = 0;     // height of a rank with the space below it
  float row = 0;      // of a row of cells
  float keys = 0;     // of one of dK and dV
  float between = 0;  // chunks of a rank
  std::int32_t first = 0, shown = 0;
  bool answers = true;  // a cell says what it is, and a click follows its row
};

// One letter that travels.
struct Carried {
  const char* letter;
  TensorColour hue;
};

// Rows of queries or keys from `left` on, all of `cell`'s width; returns where they end. Their frame, where this step
// made them, is drawn over what stands next to them: behind all cells, or with draw_rows() where nothing does.
float draw_cells(const Place& p, const RingRankRow& row, const RingGrid& grid, float left, float top, float cell);
void frame_rows(const Place& p, const RingRankRow& row, const RingGrid& grid, float left, float top, float cell);
float draw_rows(const Place& p, const RingRankRow& row, const RingGrid& grid, float left, float top, float cell);
// "ℓ, row 8: 2.020".
std::string cell_words(const RingRankRow& row, const RingGrid& grid, std::int32_t r, std::int32_t c);
// A number with fewer decimals, without the zero before the point, or as a power of ten, where it is longer than `room`
// characters; empty where even that is.
std::string text_in_room(const Cell& cell, int room);
void draw_cell(ImDrawList* list, const Box& outer, Slot slot, const Cell& cell, bool numbers);
// Where rows of so many keys end.
float rows_bottom(const Place& p, const std::vector<std::int32_t>& rows, float top, float high);
// "K V of 2", "dK and dV of 2".
TextRuns whose(std::span<const Carried> carried, std::int64_t rank);
// A rank's place in a column.
Box slot_box(const Place& p, const Box& column, std::size_t n);
// From where something is to where it will be: down to the next rank, and round from the last to the first, on the left
// or on the right.
void draw_way(const Place& p, const Box& from, const Box& to, std::span<const Carried> carried, bool on_right);
// A letter over a column, and words over it.
void draw_letter(const Place& p, float top, float left, float wide, const char* sign, TensorColour hue,
                 const char* after = "");
void draw_letters(const Place& p, float top, float left, float wide, const TextRuns& runs);
void draw_words(const Place& p, const Box& x, const char* text, float y);

inline constexpr std::array<Carried, 2> kKeys{{{"K", TensorColour::k}, {"V", TensorColour::v}}};
inline constexpr std::array<Carried, 2> kSums{{{"dK", TensorColour::k}, {"dV", TensorColour::v}}};

// ---- a backward: what is beyond the queries and the keys (ring_gradients_draw.cpp)

// Height of a row of dK and dV: as high as one of queries, where all fit.
float key_row_height(const Place& p);
Columns gradient_columns(const RingScene& scene, const Box& area, const StepFocus& look, Band band);
void draw_gradients(const Place& p, const RingRankRow& row, std::size_t n);
void draw_gradient_heads(const Place& p, float top);
void draw_gradient_ways(const Place& p);

}  // namespace attn::rings
