// The fragments that Step shows: against the tables of the PTX manual, written here once more, and against the banks of
// shared memory counted one by one.
#include "viz/step/charts/fragments.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ladder.h"
#include "viz/state/view_step.h"

namespace attn {
namespace {

const FragmentLayout& layout_of(std::string_view kernel) {
  return *(*find_kernel(kernel))->fragments;
}
constexpr std::string_view flash_mma = "flash_mma", flash_tf32x3 = "flash_tf32x3", flash_hopper = "flash_hopper";

ElementPlace element_place(std::string_view kernel, FragmentTile tile, int row, int column) {
  return layout_of(kernel).tile(tile).place(row, column);
}
TileExtent extent_of(std::string_view kernel, FragmentTile tile) {
  return layout_of(kernel).tile(tile).extent;
}
bool in_lanes(std::string_view kernel, FragmentTile tile) {
  return element_place(kernel, tile, 0, 0).lane >= 0;
}
FragmentScene scene_of(std::string_view kernel, FragmentTile tile, const Problem& p) {
  return fragment_scene(layout_of(kernel), tile, p);
}
std::vector<std::string_view> kernels() {
  std::vector<std::string_view> ids;
  for (const KernelRow* row : kernels_with_fragments()) ids.push_back(row->id);
  return ids;
}

struct At {
  int row, column;
};

// PTX ISA 8.x, "Matrix Fragments for mma.m16n8k16 with floating point type": element a_i, b_i, c_i of a lane. Two of A
// and B share a register, the first in the low half.
At manual_a16(int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  const int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
  const int column = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
  return {row, column};
}
At manual_b16(int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  return {in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
}
At manual_c(int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  return {i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
}
// "Matrix Fragments for mma.m16n8k8" with .tf32: a register an element.
At manual_a8(int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  return {i == 0 || i == 2 ? group : group + 8, i < 2 ? in_group : in_group + 4};
}
At manual_b8(int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  return {i == 0 ? in_group : in_group + 4, group};
}

void expect_place(std::string_view rung, FragmentTile tile, int row, int column, ElementPlace wanted) {
  const ElementPlace p = element_place(rung, tile, row, column);
  EXPECT_EQ(std::tuple(p.lane, p.reg, p.half), std::tuple(wanted.lane, wanted.reg, wanted.half))
      << rung << " " << name_of(tile) << " " << row << " " << column;
}

TEST(Fragments, OfFlashMmaAreThoseOfTheManual) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 8; ++i) {
      const At a = manual_a16(lane, i);
      for (const FragmentTile tile : {FragmentTile::q, FragmentTile::p})
        expect_place(flash_mma, tile, a.row, a.column, {lane, i / 2, i % 2});
    }
    for (int n = 0; n < 2; ++n) {  // two products: B's columns are keys, of V columns of O
      for (int i = 0; i < 4; ++i) {
        const At b = manual_b16(lane, i);
        expect_place(flash_mma, FragmentTile::k, 8 * n + b.column, b.row, {lane, 2 * n + i / 2, i % 2});
        expect_place(flash_mma, FragmentTile::v, b.row, 8 * n + b.column, {lane, 2 * n + i / 2, i % 2});
      }
      for (int i = 0; i < 4; ++i) {
        const At c = manual_c(lane, i);
        for (const FragmentTile tile : {FragmentTile::s, FragmentTile::o})
          expect_place(flash_mma, tile, c.row, 8 * n + c.column, {lane, 4 * n + i, 0});
      }
    }
  }
}

TEST(Fragments, OfTf32AreThoseOfTheManualWhereTheKernelKeepsItsOrder) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const At a = manual_a8(lane, i);
      expect_place(flash_tf32x3, FragmentTile::q, a.row, a.column, {lane, i, 0});
    }
    for (int n = 0; n < 2; ++n) {
      for (int i = 0; i < 2; ++i) {  // the n-th product takes registers n and n + 2
        const At b = manual_b8(lane, i);
        expect_place(flash_tf32x3, FragmentTile::k, 8 * n + b.column, b.row, {lane, n + 2 * i, 0});
      }
      for (int i = 0; i < 4; ++i) {
        const At c = manual_c(lane, i);
        expect_place(flash_tf32x3, FragmentTile::s, c.row, 8 * n + c.column, {lane, 4 * n + i, 0});
      }
    }
  }
}

// Of a place, which element it holds.
using Held = std::map<std::tuple<int, int, int>, At>;
Held held_of(std::string_view rung, FragmentTile tile) {
  const TileExtent extent = extent_of(rung, tile);
  Held held;
  for (int row = 0; row < extent.rows; ++row) {
    for (int column = 0; column < extent.columns; ++column) {
      const ElementPlace p = element_place(rung, tile, row, column);
      held[{p.lane, p.reg, p.half}] = {row, column};
    }
  }
  return held;
}

TEST(Fragments, EveryPlaceHoldsOneElement) {
  for (const std::string_view rung : kernels()) {
    for (const FragmentTile tile : kFragmentTiles) {
      if (!in_lanes(rung, tile)) continue;
      const TileExtent extent = extent_of(rung, tile);
      EXPECT_EQ(static_cast<int>(held_of(rung, tile).size()), extent.rows * extent.columns)
          << rung << " " << name_of(tile);
    }
  }
}

// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", accumulator D and operand A; of warp 0 the first 16 rows.
TEST(Fragments, OfWgmmaAreThoseOfTheManual) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 8; ++i) {
      const int row = lane / 4 + (i % 4 < 2 ? 0 : 8), column = lane % 4 * 2 + i % 2 + i / 4 * 8;
      for (const FragmentTile tile : {FragmentTile::s, FragmentTile::o})
        expect_place(flash_hopper, tile, row, column, {lane, i, 0});
      const At a = manual_a16(lane, i);
      expect_place(flash_hopper, FragmentTile::p, a.row, a.column, {lane, i / 2, i % 2});
    }
  }
  for (const FragmentTile tile : {FragmentTile::q, FragmentTile::k, FragmentTile::v}) {
    const FragmentScene s = scene_of(flash_hopper, tile, {});
    EXPECT_TRUE(in_no_lane(s));
    EXPECT_TRUE(std::all_of(s.cells.begin(), s.cells.end(), [](const FragmentCell& c) { return c.place.lane == -1; }));
  }
}

// "128-byte swizzle" of the PTX manual: bits 4 to 6 of an address are exclusive-ored with bits 7 to 9.
TEST(Fragments, APanelOfWgmmaLiesInTheSwizzleThatTmaWrites) {
  const FragmentScene s = scene_of(flash_hopper, FragmentTile::k, {});
  ASSERT_EQ(s.maps[0].width, 8);
  for (const BankCell& cell : s.maps[0].cells) {
    const int plain = cell.row * 128 + cell.chunk * 16;
    EXPECT_EQ(cell.first_bank, (plain ^ (plain >> 7 & 7) << 4) / 4 % 32) << cell.row << " " << cell.chunk;
  }
}

// P V of flash_tf32x3: at each step of the sum P's key is V's key, each key comes once, and O's column is V's.
TEST(Fragments, OfTf32SumTheRightProducts) {
  const Held p = held_of(flash_tf32x3, FragmentTile::p), v = held_of(flash_tf32x3, FragmentTile::v),
             o = held_of(flash_tf32x3, FragmentTile::o);
  std::set<std::pair<int, int>> made;
  for (int product = 0; product < 2; ++product) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const At c = manual_c(lane, i), out = o.at({lane, 4 * product + i, 0});
        EXPECT_EQ(out.row, c.row);
        made.insert({out.row, out.column});
        std::set<int> keys;
        for (int a_lane = 0; a_lane < 32; ++a_lane) {
          for (int a = 0; a < 4; ++a) {
            const At x = manual_a8(a_lane, a);
            if (x.row != c.row) continue;
            for (int b_lane = 0; b_lane < 32; ++b_lane) {
              for (int b = 0; b < 2; ++b) {
                const At y = manual_b8(b_lane, b);
                if (y.row != x.column || y.column != c.column) continue;
                const At weight = p.at({a_lane, a, 0}), value = v.at({b_lane, product + 2 * b, 0});
                EXPECT_EQ(weight.row, out.row);
                EXPECT_EQ(weight.column, value.row);
                EXPECT_EQ(value.column, out.column);
                keys.insert(value.row);
              }
            }
          }
        }
        EXPECT_EQ(keys.size(), 8U);
      }
    }
  }
  EXPECT_EQ(made.size(), 256U);
}

TEST(Fragments, SBecomesPInItsLane) {
  for (const std::string_view rung : kernels()) {
    const TileExtent extent = extent_of(rung, FragmentTile::p);
    for (int row = 0; row < extent.rows; ++row)
      for (int key = 0; key < extent.columns; ++key)
        EXPECT_EQ(element_place(rung, FragmentTile::p, row, key).lane,
                  element_place(rung, FragmentTile::s, row, key).lane);
  }
}

// ---- banks

int turns_one_by_one(const std::vector<SharedAccess>& accesses) {
  int most = 0;
  for (int bank = 0; bank < 32; ++bank) {
    std::set<int> words;
    for (const SharedAccess& a : accesses)
      for (int byte = a.at; byte < a.at + a.bytes; ++byte)
        if (byte / 4 % 32 == bank) words.insert(byte / 4);
    most = std::max(most, static_cast<int>(words.size()));
  }
  return most;
}

TEST(Fragments, TurnsAreThoseOfTheFullestBank) {
  EXPECT_EQ(turns_of({}), 0);
  EXPECT_EQ(turns_of({{0, 0, 4}, {1, 0, 4}}), 1);    // one word for both
  EXPECT_EQ(turns_of({{0, 0, 4}, {1, 128, 4}}), 2);  // one bank
  EXPECT_EQ(turns_of({{0, 0, 16}, {1, 128, 16}, {2, 256, 16}}), 3);
  std::vector<SharedAccess> some;
  unsigned x = 7;
  for (int n = 0; n < 200; ++n) {
    x = x * 1664525U + 1013904223U;
    some.push_back({n % 32, static_cast<int>(x >> 20U) / 16 * 16, n % 2 == 0 ? 16 : 8});
    EXPECT_EQ(turns_of(some), turns_one_by_one(some));
  }
}

Problem problem_of(std::int64_t d, std::int64_t dv) {
  Problem p;
  p.D = d;
  p.Dv = dv;
  return p;
}

TEST(Fragments, SwizzledRowsAreReadWithoutConflictAndPlainOnesAreNot) {
  for (const std::string_view rung : kernels()) {
    for (const FragmentTile tile : kFragmentTiles) {
      for (const std::int64_t d : {2, 36, 64, 100, 128, 256}) {
        const FragmentScene s = scene_of(rung, tile, problem_of(d, d));
        if (s.maps[0].cells.empty()) continue;
        EXPECT_EQ(s.maps[0].turns, 4) << rung << " " << name_of(tile) << " D = " << d;
        EXPECT_GE(s.maps[1].turns, 4);
        if (d == 64 || d == 128) {
          EXPECT_GT(s.maps[1].turns, 4) << rung << " " << name_of(tile);
        }
      }
    }
  }
  // Eight rows of 128 bytes or a multiple begin in the same bank: each matrix takes eight turns.
  EXPECT_EQ(scene_of(flash_mma, FragmentTile::k, problem_of(128, 128)).maps[1].turns, 32);
}

TEST(Fragments, EachChunkLiesInFourBanksAndEachOfThirtyTwoIsUsedAlike) {
  const FragmentScene s = scene_of(flash_mma, FragmentTile::q, problem_of(64, 64));
  for (const BankMap& map : s.maps) {
    ASSERT_EQ(map.width, 8);
    ASSERT_EQ(map.rows, 16);
    std::map<int, int> used;
    for (const BankCell& cell : map.cells) ++used[cell.first_bank];
    EXPECT_EQ(used.size(), 8U);
    for (const auto& [bank, count] : used) EXPECT_EQ(count, 16) << bank;
  }
}

TEST(Fragments, WhatNeverLiesInSharedMemorySaysSo) {
  for (const FragmentTile tile : {FragmentTile::s, FragmentTile::p}) {
    const FragmentScene s = scene_of(flash_mma, tile, problem_of(64, 64));
    EXPECT_TRUE(s.maps[0].cells.empty());
    EXPECT_NE(s.shared.find("Never in shared memory"), std::string::npos);
    EXPECT_NE(cell_words(s, 3, 5).find("not in shared memory"), std::string::npos);
  }
}

TEST(Fragments, ACellAndALaneAreToldInWords) {
  const FragmentScene s = scene_of(flash_mma, FragmentTile::q, problem_of(64, 64));
  EXPECT_TRUE(s.words.ends_with(" A cell's number is the lane that holds it.")) << s.words;
  // Row 3, d = 5: group 3, place 2 of it, odd. Chunk 0 of row 3 lies at chunk 3, banks 12 to 15; d = 5 in the third.
  EXPECT_EQ(cell_words(s, 3, 5), "Q[3][5]: lane 14, register a0, high half; shared memory row 3, chunk 0, bank 14.");
  EXPECT_EQ(lane_words(s, 14),
            "Lane 14 holds 8 of 256: Q[3][4], Q[3][5], Q[3][12], Q[3][13], Q[11][4], Q[11][5], Q[11][12], Q[11][13].");
}

TEST(Fragments, AnotherHeadDimensionChangesTheRowsOfTheMap) {
  EXPECT_EQ(scene_of(flash_mma, FragmentTile::v, problem_of(64, 128)).maps[0].width, 16);
  EXPECT_EQ(scene_of(flash_mma, FragmentTile::k, problem_of(64, 128)).maps[0].width, 8);
  EXPECT_EQ(scene_of(flash_tf32x3, FragmentTile::k, problem_of(64, 128)).maps[0].width, 16);
}

TEST(Fragments, ATileThatNoLaneHoldsSaysWhereItLies) {
  const FragmentScene s = scene_of(flash_hopper, FragmentTile::k, problem_of(100, 100));
  EXPECT_TRUE(s.words.ends_with(" A cell's number is its bank.")) << s.words;
  EXPECT_EQ(cell_words(s, 3, 5), "K[3][5]: not in any lane; shared memory row 3, chunk 0, bank 14.");
  EXPECT_EQ(lane_words(s, 14), "No lane holds any of K.");
  EXPECT_EQ(s.shared,
            "A row of D = 100, padded to 128, fills 16 chunks of 16 bytes, in panels of 8. Reading four core matrices "
            "of 8 rows by 16 bytes takes 4 passes when swizzled and 32 when stored row by row. The minimum is 4.");
}

TEST(Fragments, AShortRowSaysThatItIsPadded) {
  EXPECT_TRUE(scene_of(flash_mma, FragmentTile::q, problem_of(2, 2))
                  .shared.starts_with("A row of D = 2, padded to 16, fills 2 chunks of 16 bytes."));
  EXPECT_TRUE(scene_of(flash_mma, FragmentTile::v, problem_of(64, 64))
                  .shared.starts_with("A row of Dv = 64 fills 8 chunks of 16 bytes."));
}

}  // namespace
}  // namespace attn
