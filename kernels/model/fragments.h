// How the lanes of a warp hold the tiles of a kernel on tensor cores, and how the rows of those tiles lie in shared
// memory: what a kernel's row says of itself (KernelRow::fragments), computed from the headers that the kernel is
// compiled with. Step's Fragments chart shows it. Plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/problem/problem.h"

namespace attn {

enum class FragmentTile : std::uint8_t { q, k, s, p, v, o };
inline constexpr std::array kFragmentTiles{FragmentTile::q, FragmentTile::k, FragmentTile::s,
                                           FragmentTile::p, FragmentTile::v, FragmentTile::o};

// Where a warp has an element: register `reg` of lane `lane`, of 16-bit elements its low (0) or high (1) half. Lane -1:
// in no lane, since the tensor cores read it from shared memory themselves.
struct ElementPlace {
  std::int32_t lane = 0, reg = 0, half = 0;
  bool operator==(const ElementPlace&) const = default;
};

// The tile that one instruction reads, or that two products make.
struct TileExtent {
  std::int32_t rows = 0, columns = 0;
};

// What a lane asks for at once: `bytes` from byte `at` of the tile on.
struct SharedAccess {
  std::int32_t lane = 0, at = 0, bytes = 0;
};
// Where the tile's rows lie, in chunks of 16 bytes, and what is asked for at one moment.
struct SharedUse {
  std::int32_t rows = 0, width = 0;  // chunks a row
  std::vector<std::vector<SharedAccess>> moments;
};

// One tile. Texts are marked English (kernels/base/text.h).
struct FragmentRow {
  TileExtent extent;
  // `row`, `column`: of the tile as it lies in memory; K and V have a row a key.
  ElementPlace (*place)(std::int32_t row, std::int32_t column) = nullptr;
  std::string (*register_name)(const ElementPlace& place) = nullptr;  // "a0", "b1": as the PTX manual calls it
  bool halves = false;                                                // two elements share a register
  std::string_view operand;                                           // "operand A"
  std::string_view words;                                             // what to see in it
  // `width`: chunks a row. Null: it never lies in shared memory.
  SharedUse (*shared)(std::int32_t width, bool swizzled) = nullptr;
  // What takes the turns ("One ldmatrix of four matrices takes"); where it never lies there, why, as a sentence.
  std::string_view shared_words;
};

struct FragmentLayout {
  std::string_view shape;  // "mma.m16n8k16"
  std::int32_t element_bytes = 2;
  // Elements of a row that lie together, the next ones in a panel of their own; 0: a row lies in one piece.
  std::int32_t panel = 0;
  // Elements of a row of Q and K (or of V and O) as they lie in shared memory, with what is added to D (or Dv).
  std::int32_t (*padded)(const Problem& p, bool of_v) = nullptr;
  // Where chunk `chunk` of row `row` lies with the swizzle, in chunks from the beginning of tile or panel.
  int (*swizzled)(int row, int chunk, int width) = nullptr;
  std::array<FragmentRow, kFragmentTiles.size()> tiles;  // by FragmentTile

  const FragmentRow& tile(FragmentTile t) const { return tiles[static_cast<std::size_t>(t)]; }
};

}  // namespace attn
