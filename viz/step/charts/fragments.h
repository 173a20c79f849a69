// Tensor cores' fragments: which lane and register of a warp holds which element of a tile, where its 16-byte rows lie
// in shared memory, and how many turns reading them takes with the swizzle and without. Computed from the headers that
// the kernels are compiled with. Plain values; fragments_draw.cpp draws them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/problem/problem.h"
#include "viz/draw/inks.h"
#include "viz/state/view_step.h"

namespace attn {

// Where a warp has an element: register `reg` of lane `lane`, of 16-bit elements its low (0) or high (1) half.
struct ElementPlace {
  std::int32_t lane = 0, reg = 0, half = 0;
  bool operator==(const ElementPlace&) const = default;
};
// `row`, `column`: of the tile as it lies in memory; K and V have a row a key.
ElementPlace element_place(FragmentRung rung, FragmentTile tile, std::int32_t row, std::int32_t column);

// The tile that one instruction reads, or that two products make.
struct TileExtent {
  std::int32_t rows = 0, columns = 0;
};
TileExtent extent_of(FragmentRung rung, FragmentTile tile);

// ---- shared memory

// What a lane asks for at once: `bytes` from byte `at` of the tile on.
struct SharedAccess {
  std::int32_t lane = 0, at = 0, bytes = 0;
};
// How many turns of 128 bytes these accesses of one moment take: as many as the fullest of the 32 banks has different
// words.
std::int32_t turns_of(const std::vector<SharedAccess>& accesses);

struct BankCell {
  std::int32_t row = 0, chunk = 0;  // of the tile: 16 bytes
  std::int32_t first_bank = 0;      // it takes four from here on
  std::int32_t moment = -1;         // of the reads that are counted the one that takes it; -1 = none
};
// The tile's first rows, in rows of chunks, as they lie with the swizzle or one after the other.
struct BankMap {
  std::string title;
  std::int32_t rows = 0, width = 0;
  std::vector<BankCell> cells;  // row by row
  std::int32_t turns = 0;       // that reading (or writing) the tile of the fragments takes
};

struct FragmentCell {
  ElementPlace place;
  std::string reg;         // "a0", "b1": as the PTX manual calls it
  std::int32_t bank = -1;  // of its word in shared memory, as the kernel has it; -1: it never lies there
};

struct FragmentScene {
  FragmentRung rung = FragmentRung::flash_mma;
  FragmentTile tile = FragmentTile::q;
  TensorColour hue = TensorColour::q;
  TileExtent extent;
  std::vector<FragmentCell> cells;    // row by row
  std::string title;                  // "Q, 16 rows × 16 of D: operand A of mma.m16n8k16"
  std::string words;                  // what to see in it
  std::string row_name, column_name;  // "query", "d"
  std::array<BankMap, 2> maps;        // with the swizzle and without; no cells where it never lies in shared memory
  std::string shared;                 // how it gets there and back, and the turns of both maps
};
FragmentScene fragment_scene(FragmentRung rung, FragmentTile tile, const Problem& problem);

const FragmentCell& cell_at(const FragmentScene& scene, std::int32_t row, std::int32_t column);
// "Q[3][5]: lane 14, register a0, high half; row 3, chunk 0, bank 2"
std::string cell_words(const FragmentScene& scene, std::int32_t row, std::int32_t column);
// "Lane 14 holds 8 elements: Q[3][4], Q[3][5], ..."
std::string lane_words(const FragmentScene& scene, std::int32_t lane);

}  // namespace attn
