// Tensor cores' fragments: which lane and register of a warp holds which element of a tile, where its 16-byte rows lie
// in shared memory, and how many turns reading them takes with the swizzle and without: made from what a kernel's row
// says of itself (kernels/model/fragments.h). Plain values; fragments_draw.cpp draws them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/fragments.h"
#include "kernels/model/problem/problem.h"
#include "viz/draw/inks.h"

namespace attn {

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
  std::string reg;         // "a0", "b1": as the PTX manual calls it; empty: in no lane
  std::int32_t bank = -1;  // of its word in shared memory, as the kernel has it; -1: it never lies there
};

struct FragmentScene {
  const FragmentLayout* layout = nullptr;
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
// `layout` lives as long as the scene: a row's does as long as the program.
FragmentScene fragment_scene(const FragmentLayout& layout, FragmentTile tile, const Problem& problem);
// No lane holds it: the tensor cores read it from shared memory themselves.
bool in_no_lane(const FragmentScene& scene);
// Elements in a chunk of 16 bytes.
std::int32_t per_chunk(const FragmentScene& scene);

const FragmentCell& cell_at(const FragmentScene& scene, std::int32_t row, std::int32_t column);
// "Q[3][5]: lane 14, register a0, high half; row 3, chunk 0, bank 2"
std::string cell_words(const FragmentScene& scene, std::int32_t row, std::int32_t column);
// "Lane 14 holds 8 of 256: Q[3][4], Q[3][5], ..."
std::string lane_words(const FragmentScene& scene, std::int32_t lane);

}  // namespace attn
