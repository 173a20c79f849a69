// Where things lie in a tensor-core tile: against the tables of the PTX manual, and against the banks of shared memory.
#include "kernels/gpu/rungs/tensor_cores/mma_layout.h"

#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "kernels/gpu/rungs/tensor_cores/flash_mma_layout.h"
#include "kernels/gpu/rungs/tensor_cores/flash_tf32x3_layout.h"
#include "kernels/gpu/rungs/tensor_cores/flash_wmma_layout.h"

namespace attn::gpu {
namespace {

// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type": element i of lane `lane`, with its group and
// its place in the group.
struct Element {
  int row, column;
};
Element manual_a(int lane, int i) {
  const int group = lane / 4, in_group = lane % 4;
  const bool upper = i < 2 || (i >= 4 && i < 6);
  return {upper ? group : group + 8, in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Element manual_b(int lane, int i) {
  return {lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane / 4};
}
Element manual_c(int lane, int i) {
  return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)};
}

TEST(MmaLayout, FragmentsAreThoseOfThePtxManual) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 8; ++i) {
      const Element e = manual_a(lane, i);
      const FragmentPlace p = fragment_a(e.row, e.column);
      EXPECT_EQ(std::tuple(p.lane, p.reg, p.half), std::tuple(lane, i / 2, i % 2)) << "A " << lane << " " << i;
    }
    for (int i = 0; i < 4; ++i) {
      const Element e = manual_b(lane, i);
      const FragmentPlace p = fragment_b(e.row, e.column);
      EXPECT_EQ(std::tuple(p.lane, p.reg, p.half), std::tuple(lane, i / 2, i % 2)) << "B " << lane << " " << i;
    }
    for (int i = 0; i < 4; ++i) {
      const Element e = manual_c(lane, i);
      const FragmentPlace p = fragment_c(e.row, e.column);
      EXPECT_EQ(std::tuple(p.lane, p.reg, p.half), std::tuple(lane, i, 0)) << "C " << lane << " " << i;
    }
  }
}

// Why P needs no way through memory: what a lane has of two tiles of S is what it needs of P.
TEST(MmaLayout, TwoTilesOfSSideBySideAreAFactorP) {
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      const FragmentPlace s = fragment_c(row, column % 8), p = fragment_a(row, column);
      EXPECT_EQ(s.lane, p.lane);
      EXPECT_EQ(column / 8 * 2 + s.reg / 2, p.reg) << row << " " << column;
      EXPECT_EQ(s.reg % 2, p.half);
    }
  }
}

TEST(MmaLayout, ASwizzledRowKeepsItsChunks) {
  for (int width = 2; width <= 64; width += 2) {
    std::set<int> places;
    for (int row = 0; row < 16; ++row) {
      for (int chunk = 0; chunk < width; ++chunk) {
        const int at = swizzled(row, chunk, width);
        EXPECT_EQ(at / width, row) << width;
        places.insert(at);
      }
    }
    EXPECT_EQ(static_cast<int>(places.size()), 16 * width) << width;
  }
}

// ldmatrix reads the eight rows of a matrix of 8 x 8 at once: a row is a chunk of 16 bytes, four of the 32 banks.
TEST(MmaLayout, TheEightRowsOfAMatrixLieInDifferentBanks) {
  for (int width = 2; width <= 64; width += 2) {
    for (int first = 0; first < 64; first += 8) {
      for (int chunk = 0; chunk < width; ++chunk) {
        std::set<int> banks;
        for (int row = first; row < first + 8; ++row) banks.insert(swizzled(row, chunk, width) % 8);
        EXPECT_EQ(banks.size(), 8U) << "width " << width << ", rows from " << first << ", chunk " << chunk;
      }
    }
  }
}

// flash_tf32x3 reads V by eight bytes: lane (g, t) has row 2 t and the half g % 2 of chunk g / 2; sixteen lanes at
// once.
TEST(MmaLayout, TheReadsOfVInTf32LieInDifferentBanks) {
  for (int width = 8; width <= 64; width += 8) {
    for (int odd = 0; odd < 2; ++odd) {
      for (int half = 0; half < 2; ++half) {
        std::set<int> banks;
        for (int lane = 16 * half; lane < 16 * half + 16; ++lane) {
          const int g = lane / 4, t = lane % 4;
          banks.insert(swizzled(2 * t + odd, g / 2, width) % 8 * 2 + g % 2);
        }
        EXPECT_EQ(banks.size(), 16U) << width;
      }
    }
  }
}

TEST(MmaLayout, SharedMemoryHoldsItsPartsWithoutOverlapAndOnWholeChunks) {
  for (int d = 1; d <= 256; ++d) {
    for (const int dv : {1, d, 256}) {
      const FlashMmaLayout m = flash_mma_layout(d, dv, 64, 32, 64, 3);
      EXPECT_EQ(m.stages_at, 64 * m.d * 2);
      EXPECT_EQ(m.stage_bytes, 32 * (m.d + m.dv) * 2);
      EXPECT_GE(m.total, m.stages_at + 3 * m.stage_bytes);
      EXPECT_GE(m.total, 64 * m.dv * 2) << "O has to fit as well";
      const FlashTf32x3Layout t = flash_tf32x3_layout(d, dv, 64, 16, 64, 2);
      EXPECT_EQ(t.total, t.stages_at + 2 * t.stage_bytes);
      EXPECT_EQ(t.dv % 32, 0) << "rows of V begin in the same bank";
      const FlashWmmaLayout w = flash_wmma_layout(d, dv, 64, 32, 64);
      EXPECT_TRUE(w.k_at < w.v_at && w.v_at < w.s_at && w.s_at < w.factors_at && w.factors_at < w.total);
      for (const int at : {m.stages_at, m.k_bytes, t.stages_at, t.k_bytes, w.k_at, w.v_at, w.s_at, w.factors_at}) {
        EXPECT_EQ(at % 16, 0) << d << " " << dv;
      }
      // WMMA takes rows whose distance is a multiple of 16 bytes and tiles that begin at multiples of 32.
      EXPECT_TRUE(w.q_stride % 8 == 0 && w.v_stride % 8 == 0 && w.s_stride % 4 == 0);
      EXPECT_TRUE(16 * w.q_stride * 2 % 32 == 0 && w.k_at % 32 == 0 && w.v_at % 32 == 0 && w.s_at % 32 == 0);
    }
  }
}

TEST(MmaLayout, TwoWarpsOfTf32ShareRowsWhereOIsWideAndAllCanBeHalved) {
  struct Case {
    int d, dv, br, bc, threads, sharers;
  };
  for (const Case& c : {Case{128, 128, 128, 64, 256, 2},
                        {96, 96, 128, 32, 256, 2},
                        {64, 128, 128, 32, 256, 2},
                        {256, 256, 128, 32, 256, 2},
                        {64, 64, 128, 32, 256, 1},       // O has room for 32 rows a warp
                        {128, 128, 128, 32, 128, 1},     // 32 rows a warp are asked for
                        {128, 128, 128, 16, 256, 1},     // eight keys for each of them are half a step
                        {100, 100, 128, 32, 256, 1}}) {  // a loop of 32 dimensions would leave a rest
    const FlashTf32x3Layout t = flash_tf32x3_layout(c.d, c.dv, c.br, c.bc, c.threads, 2);
    SCOPED_TRACE(testing::Message() << c.d << " " << c.dv << " " << c.br << " x " << c.bc << ", " << c.threads);
    EXPECT_EQ(t.sharers, c.sharers);
    EXPECT_EQ(t.row_tiles * 16 * (c.threads / 32) / t.sharers, c.br) << "every row has its warps";
    if (c.sharers == 1) {
      EXPECT_EQ(t.total, t.stages_at + 2 * t.stage_bytes) << "nothing is handed over";
      continue;
    }
    EXPECT_EQ(t.dv % 64, 0) << "each warp's columns begin in the same bank";
    EXPECT_EQ(c.threads / 32 * t.p_bytes, c.br * c.bc * 4) << "the whole of P, each warp its half of a pair's keys";
    EXPECT_EQ(t.p_at, t.stages_at + 2 * t.stage_bytes);
    EXPECT_EQ(t.counters_at, t.p_at + c.threads / 32 * t.p_bytes);
    EXPECT_EQ(t.total, t.counters_at + 2 * 2 * 8) << "full and free of each stage, 8 bytes each";
    EXPECT_TRUE(t.p_at % 16 == 0 && t.p_bytes % 512 == 0 && t.counters_at % 8 == 0);
  }
}

}  // namespace
}  // namespace attn::gpu
