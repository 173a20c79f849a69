#include "viz/step/charts/fragments.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/gpu/rungs/tensor_cores/flash_mma_layout.h"
#include "kernels/gpu/rungs/tensor_cores/flash_tf32x3_layout.h"
#include "kernels/gpu/rungs/tensor_cores/mma_layout.h"

namespace attn {
namespace {

using gpu::FragmentPlace;

constexpr std::int32_t kChunkBytes = 16, kBanks = 32, kBankBytes = 4, kLanes = 32;

std::int32_t element_bytes(FragmentRung rung) {
  return rung == FragmentRung::flash_mma ? 2 : 4;
}
std::int32_t per_chunk(FragmentRung rung) {
  return kChunkBytes / element_bytes(rung);
}

// What ldmatrix x4 gives: lane l names row l % 8 of matrix l / 8 by an address; that row's sixteen bytes go to four
// lanes, four to each, in the order of the row, as register l / 8 (PTX ISA, ldmatrix). `row_of` and `chunk_of` are the
// addresses, as the kernel has them.
ElementPlace by_ldmatrix(int (*row_of)(int), int (*chunk_of)(int), std::int32_t row, std::int32_t column,
                         std::int32_t bytes) {
  const std::int32_t chunk = column * bytes / kChunkBytes, at = column * bytes % kChunkBytes;
  for (int lane = 0; lane < kLanes; ++lane)
    if (row_of(lane) == row && chunk_of(lane) == chunk)
      return {lane % 8 * 4 + at / kBankBytes, lane / 8, at % kBankBytes / bytes % 2};
  return {-1, -1, -1};
}

// The same with .trans: the matrix of eight by eight elements of 16 bits arrives transposed.
ElementPlace by_ldmatrix_transposed(int (*row_of)(int), int (*chunk_of)(int), std::int32_t row, std::int32_t column) {
  constexpr std::int32_t kSide = 8;
  for (int lane = 0; lane < kLanes; ++lane)
    if (row_of(lane) == row && chunk_of(lane) == column / kSide)
      return {column % kSide * 4 + lane % 8 / 2, lane / 8, lane % 2};
  return {-1, -1, -1};
}

// Two fragments of C side by side, four registers each.
ElementPlace in_c(std::int32_t row, std::int32_t column, std::int32_t fragment) {
  const FragmentPlace p = gpu::fragment_c(row, column);
  return {p.lane, p.reg + 4 * fragment, 0};
}

ElementPlace in_mma(FragmentTile tile, std::int32_t row, std::int32_t column) {
  switch (tile) {
    case FragmentTile::q:
      return by_ldmatrix(gpu::ldmatrix_row, gpu::ldmatrix_chunk, row, column, 2);
    case FragmentTile::k:
      return by_ldmatrix(gpu::ldmatrix_row_of_k, gpu::ldmatrix_chunk_of_k, row, column, 2);
    case FragmentTile::v:
      return by_ldmatrix_transposed(gpu::ldmatrix_row, gpu::ldmatrix_chunk, row, column);
    case FragmentTile::p: {
      const FragmentPlace p = gpu::fragment_a(row, column);
      return {p.lane, p.reg, p.half};
    }
    case FragmentTile::s:
    case FragmentTile::o:
      return in_c(row, column % 8, column / 8);
  }
  return {};
}

// flash_tf32x3.cu: the sum over keys does not mind their order, so P stays where S was and V's rows follow: step t of
// the product is key 2 t, step t + 4 key 2 t + 1. V's columns are dealt out to two fragments alike, so that O's are.
ElementPlace in_tf32(FragmentTile tile, std::int32_t row, std::int32_t column) {
  switch (tile) {
    case FragmentTile::q:
    case FragmentTile::k:  // two tiles of eight keys at once
      return by_ldmatrix(gpu::ldmatrix_row, gpu::ldmatrix_chunk, row, column, 4);
    case FragmentTile::s:
      return in_c(row, column % 8, column / 8);
    case FragmentTile::p: {
      const FragmentPlace c = gpu::fragment_c(row, column);
      return {c.lane, c.reg % 2 * 2 + c.reg / 2, 0};  // x.set(e, p[e % 2 * 2 + e / 2])
    }
    case FragmentTile::v:  // lane (g, t) reads rows 2 t and 2 t + 1 at columns 2 g and 2 g + 1
      return {column / 2 * 4 + row / 2, row % 2 * 2 + column % 2, 0};
    case FragmentTile::o:
      return in_c(row, column / 2, column % 2);
  }
  return {};
}

// ---- names

struct TileWords {
  const char *letter, *row, *column;
  TensorColour hue;
};
TileWords words_of(FragmentTile tile) {
  switch (tile) {
    case FragmentTile::q:
      return {"Q", tr("query"), "d", TensorColour::q};
    case FragmentTile::k:
      return {"K", tr("key"), "d", TensorColour::k};
    case FragmentTile::s:
      return {"S", tr("query"), tr("key"), TensorColour::s};
    case FragmentTile::p:
      return {"P", tr("query"), tr("key"), TensorColour::p};
    case FragmentTile::v:
      return {"V", tr("key"), "d", TensorColour::v};
    case FragmentTile::o:
      return {"O", tr("query"), "d", TensorColour::o};
  }
  return {"?", "", "", TensorColour::q};
}

// As the PTX manual counts them: A's and C's a0 and c0 on, B's b0 and b1 of each of its two fragments.
std::string register_name(FragmentRung rung, FragmentTile tile, const ElementPlace& place) {
  switch (tile) {
    case FragmentTile::q:
    case FragmentTile::p:
      return fmt::format("a{}", place.reg);
    case FragmentTile::s:
    case FragmentTile::o:
      return fmt::format("c{}{}", place.reg % 4, place.reg / 4 == 0 ? "" : "'");
    case FragmentTile::k:
    case FragmentTile::v: {
      // Of four registers that a lane reads the two fragments take 0, 1 and 2, 3 (f16), or n and n + 2 (TF32).
      const bool mma = rung == FragmentRung::flash_mma;
      const std::int32_t n = mma ? place.reg % 2 : place.reg / 2, fragment = mma ? place.reg / 2 : place.reg % 2;
      return fmt::format("b{}{}", n, fragment == 0 ? "" : "'");
    }
  }
  return "?";
}

std::string title_of(FragmentRung rung, FragmentTile tile, const TileExtent& extent) {
  const TileWords w = words_of(tile);
  const char* shape = rung == FragmentRung::flash_mma ? "mma.m16n8k16" : tr("mma.m16n8k8 in TF32");
  const char* operand = tile == FragmentTile::q || tile == FragmentTile::p   ? tr("operand A")
                        : tile == FragmentTile::k || tile == FragmentTile::v ? tr("two operands B")
                                                                             : tr("two sums C");
  return fmt::format("{}, {} × {}: {} of {}", w.letter, extent.rows, extent.columns, operand, shape);
}

std::string what_to_see(FragmentRung rung, FragmentTile tile) {
  const bool mma = rung == FragmentRung::flash_mma;
  switch (tile) {
    case FragmentTile::q:
      return mma ? tr("One ldmatrix brings it; a register holds two neighbours along d.")
                 : tr("One ldmatrix brings it; each number is split into two parts in its lane.");
    case FragmentTile::k:
      return mma ? tr("One ldmatrix brings both operands: keys 0 to 7 for one product, 8 to 15 for the next.")
                 : tr("One ldmatrix brings both operands: keys 0 to 7 for one product, 8 to 15 for the next, each "
                      "number split in its lane.");
    case FragmentTile::s:
      return mma ? tr("Two products side by side. Look at P next: the same lane has the same element.")
                 : tr("Two products side by side; P of eight keys stays in these lanes.");
    case FragmentTile::p:
      return mma ? tr("Each lane has just what it had of S, two to a register: S becomes P where it is.")
                 : tr("Each lane has just what it had of S. The operand wants keys t and t + 4 there, not 2 t and 2 t "
                      "+ 1: the sum over keys does not mind, so V's rows are read in the same order.");
    case FragmentTile::v:
      return mma ? tr("One ldmatrix with .trans brings it: a register holds two neighbouring keys.")
                 : tr("A lane reads two neighbours along d of two neighbouring keys: rows in P's order, columns dealt "
                      "out to two products.");
    case FragmentTile::o:
      return mma ? tr("The sum of all key tiles stays here; α multiplies it in its lanes.")
                 : tr("A lane ends up with four neighbours along d, one write of 16 bytes.");
  }
  return {};
}

// ---- shared memory

// Where the elements of the tile lie, in rows of `width` chunks. `moments`: what is asked for at one time.
struct SharedUse {
  std::int32_t rows = 0, width = 0;
  std::vector<std::vector<SharedAccess>> moments;
  bool writes = false;
};

std::int32_t byte_of(std::int32_t row, std::int32_t chunk, std::int32_t width, bool swizzle) {
  return kChunkBytes * (swizzle ? gpu::swizzled(row, chunk, width) : row * width + chunk);
}

std::int32_t width_of(FragmentRung rung, FragmentTile tile, const Problem& p) {
  const int d = static_cast<int>(p.D), dv = static_cast<int>(p.Dv);
  // Padded extents do not hang on the tile; any that the kernel takes will do.
  const bool of_v = tile == FragmentTile::v || tile == FragmentTile::o;
  if (rung == FragmentRung::flash_mma) {
    const gpu::FlashMmaLayout at = gpu::flash_mma_layout(d, dv, 64, 32, 64, 1);
    return (of_v ? at.dv : at.d) / per_chunk(rung);
  }
  const gpu::FlashTf32x3Layout at = gpu::flash_tf32x3_layout(d, dv, 64, 32, 64, 1);
  return (of_v ? at.dv : at.d) / per_chunk(rung);
}

// A matrix of ldmatrix a moment: eight rows of 16 bytes.
SharedUse read_by_ldmatrix(int (*row_of)(int), int (*chunk_of)(int), std::int32_t width, bool swizzle) {
  SharedUse t{16, width, {}, false};
  for (int matrix = 0; matrix < 4; ++matrix) {
    auto& moment = t.moments.emplace_back();
    for (int lane = 8 * matrix; lane < 8 * matrix + 8; ++lane)
      moment.push_back({lane, byte_of(row_of(lane), chunk_of(lane), width, swizzle), kChunkBytes});
  }
  return t;
}

// Eight bytes a lane: sixteen lanes a moment.
SharedUse read_v_of_tf32(std::int32_t width, bool swizzle) {
  SharedUse t{8, width, {}, false};
  for (int odd = 0; odd < 2; ++odd) {
    for (int half = 0; half < 2; ++half) {
      auto& moment = t.moments.emplace_back();
      for (int lane = 16 * half; lane < 16 * half + 16; ++lane) {
        const int g = lane / 4, row = lane % 4 * 2 + odd;
        moment.push_back({lane, byte_of(row, g / 2, width, swizzle) + g % 2 * 8, 8});
      }
    }
  }
  return t;
}

// O of flash_mma on its way out: a register of two neighbours a lane and store, in Q's place.
SharedUse write_o_of_mma(std::int32_t width, bool swizzle) {
  SharedUse t{16, width, {}, true};
  for (int h = 0; h < 2; ++h) {
    for (int n = 0; n < 2; ++n) {
      auto& moment = t.moments.emplace_back();
      for (int lane = 0; lane < kLanes; ++lane)
        moment.push_back({lane, byte_of(lane / 4 + 8 * h, n, width, swizzle) + lane % 4 * kBankBytes, kBankBytes});
    }
  }
  return t;
}

SharedUse shared_use(FragmentRung rung, FragmentTile tile, const Problem& p, bool swizzle) {
  const std::int32_t width = width_of(rung, tile, p);
  const bool mma = rung == FragmentRung::flash_mma;
  switch (tile) {
    case FragmentTile::q:
      return read_by_ldmatrix(gpu::ldmatrix_row, gpu::ldmatrix_chunk, width, swizzle);
    case FragmentTile::k:
      return mma ? read_by_ldmatrix(gpu::ldmatrix_row_of_k, gpu::ldmatrix_chunk_of_k, width, swizzle)
                 : read_by_ldmatrix(gpu::ldmatrix_row, gpu::ldmatrix_chunk, width, swizzle);
    case FragmentTile::v:
      return mma ? read_by_ldmatrix(gpu::ldmatrix_row, gpu::ldmatrix_chunk, width, swizzle)
                 : read_v_of_tf32(width, swizzle);
    case FragmentTile::o:
      return mma ? write_o_of_mma(width, swizzle) : SharedUse();
    case FragmentTile::s:
    case FragmentTile::p:
      return {};
  }
  return {};
}

BankMap map_of(const SharedUse& t, bool swizzle) {
  BankMap map;
  map.title = swizzle ? tr("Swizzled, as the kernel has it") : tr("Row after row");
  map.rows = t.rows;
  map.width = t.width;
  std::map<std::int32_t, std::int32_t> moment_at;  // by chunk in memory
  for (std::size_t n = 0; n < t.moments.size(); ++n) {
    map.turns += turns_of(t.moments[n]);
    for (const SharedAccess& a : t.moments[n]) moment_at.try_emplace(a.at / kChunkBytes, static_cast<std::int32_t>(n));
  }
  for (std::int32_t row = 0; row < t.rows; ++row) {
    for (std::int32_t chunk = 0; chunk < t.width; ++chunk) {
      const std::int32_t at = byte_of(row, chunk, t.width, swizzle);
      const auto moment = moment_at.find(at / kChunkBytes);
      map.cells.push_back({row, chunk, at / kBankBytes % kBanks, moment == moment_at.end() ? -1 : moment->second});
    }
  }
  return map;
}

std::string shared_words(const FragmentScene& scene, const SharedUse& t, const Problem& p) {
  const bool mma = scene.rung == FragmentRung::flash_mma;
  if (t.moments.empty())
    return scene.tile == FragmentTile::o
               ? tr("It leaves its registers straight for device memory, 16 bytes a lane.")
               : tr("It never lies in shared memory: it is made in registers and used there.");
  const bool of_v = scene.tile == FragmentTile::v || scene.tile == FragmentTile::o;
  const std::int64_t extent = of_v ? p.Dv : p.D;
  const std::int64_t padded = std::int64_t{scene.maps[0].width} * per_chunk(scene.rung);
  const std::string rows =
      phrase("A row of {} = {}{} takes {} chunks of 16 bytes", of_v ? "Dv" : "D", extent,
             padded > extent ? phrase(", padded to {},", padded) : std::string(), scene.maps[0].width);
  const char* how = t.writes                                ? tr("Its four stores on the way out take")
                    : !mma && scene.tile == FragmentTile::v ? tr("Its two reads of 8 bytes a lane take")
                                                            : tr("One ldmatrix of four matrices takes");
  return phrase("{}. {} {} turns swizzled and {} row after row; {} is the least.", rows, how, scene.maps[0].turns,
                scene.maps[1].turns, t.moments.size());
}

// As the kernel has it: swizzled.
std::int32_t bank_of(const FragmentScene& scene, std::int32_t row, std::int32_t column) {
  const BankMap& map = scene.maps[0];
  if (map.cells.empty()) return -1;
  const std::int32_t bytes = element_bytes(scene.rung), chunk = column * bytes / kChunkBytes;
  const BankCell& cell =
      map.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(map.width) + static_cast<std::size_t>(chunk)];
  return cell.first_bank + column * bytes % kChunkBytes / kBankBytes;
}

std::string element_name(const FragmentScene& scene, std::int32_t row, std::int32_t column) {
  return fmt::format("{}[{}][{}]", words_of(scene.tile).letter, row, column);
}

}  // namespace

ElementPlace element_place(FragmentRung rung, FragmentTile tile, std::int32_t row, std::int32_t column) {
  return rung == FragmentRung::flash_mma ? in_mma(tile, row, column) : in_tf32(tile, row, column);
}

TileExtent extent_of(FragmentRung rung, FragmentTile tile) {
  if (rung == FragmentRung::flash_mma) return {16, 16};
  switch (tile) {
    case FragmentTile::q:
    case FragmentTile::k:
    case FragmentTile::p:
      return {16, 8};
    case FragmentTile::v:
      return {8, 16};
    case FragmentTile::s:
    case FragmentTile::o:
      return {16, 16};
  }
  return {};
}

std::int32_t turns_of(const std::vector<SharedAccess>& accesses) {
  std::map<std::int32_t, std::set<std::int32_t>> words;  // by bank
  for (const SharedAccess& a : accesses)
    for (std::int32_t word = a.at / kBankBytes; word < (a.at + a.bytes) / kBankBytes; ++word)
      words[word % kBanks].insert(word);
  std::size_t most = 0;
  for (const auto& [bank, of_bank] : words) most = std::max(most, of_bank.size());
  return static_cast<std::int32_t>(most);
}

FragmentScene fragment_scene(FragmentRung rung, FragmentTile tile, const Problem& problem) {
  FragmentScene scene;
  scene.rung = rung;
  scene.tile = tile;
  scene.extent = extent_of(rung, tile);
  const TileWords words = words_of(tile);
  scene.hue = words.hue;
  scene.row_name = words.row;
  scene.column_name = words.column;
  scene.title = title_of(rung, tile, scene.extent);
  scene.words = what_to_see(rung, tile);
  const SharedUse kept = shared_use(rung, tile, problem, true), plain = shared_use(rung, tile, problem, false);
  scene.maps = {map_of(kept, true), map_of(plain, false)};
  scene.shared = shared_words(scene, kept, problem);
  for (std::int32_t row = 0; row < scene.extent.rows; ++row) {
    for (std::int32_t column = 0; column < scene.extent.columns; ++column) {
      const ElementPlace place = element_place(rung, tile, row, column);
      scene.cells.push_back({place, register_name(rung, tile, place), bank_of(scene, row, column)});
    }
  }
  return scene;
}

const FragmentCell& cell_at(const FragmentScene& scene, std::int32_t row, std::int32_t column) {
  const auto across = static_cast<std::size_t>(scene.extent.columns);
  return scene.cells[static_cast<std::size_t>(row) * across + static_cast<std::size_t>(column)];
}

std::string cell_words(const FragmentScene& scene, std::int32_t row, std::int32_t column) {
  const FragmentCell& cell = cell_at(scene, row, column);
  std::string words = phrase("{}: lane {}, register {}", element_name(scene, row, column), cell.place.lane, cell.reg);
  const bool halves =
      scene.rung == FragmentRung::flash_mma && scene.tile != FragmentTile::s && scene.tile != FragmentTile::o;
  if (halves) words += cell.place.half == 0 ? tr(", low half") : tr(", high half");
  if (cell.bank < 0) return phrase("{}; not in shared memory.", words);
  const std::int32_t chunk = column / per_chunk(scene.rung);
  return words + phrase("; in shared memory row {}, chunk {}, bank {}.", row, chunk, cell.bank);
}

std::string lane_words(const FragmentScene& scene, std::int32_t lane) {
  std::vector<std::string> names;
  for (std::int32_t row = 0; row < scene.extent.rows; ++row)
    for (std::int32_t column = 0; column < scene.extent.columns; ++column)
      if (cell_at(scene, row, column).place.lane == lane) names.push_back(element_name(scene, row, column));
  return phrase("Lane {} holds {} of {}: {}.", lane, names.size(), scene.cells.size(), fmt::join(names, ", "));
}

}  // namespace attn
