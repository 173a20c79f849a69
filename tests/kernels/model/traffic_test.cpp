// Traffic counts against numbers worked out by hand, and the one rule a phase against the whole.
#include "kernels/model/traffic.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/recording.h"

namespace attn {
namespace {

std::uint64_t of(const std::array<std::uint64_t, kTrafficParts>& bytes, TrafficPart part) {
  return bytes[static_cast<std::size_t>(part)];
}

Problem square(std::int64_t L, std::int64_t D, DType t) {
  Problem p;
  p.Lq = p.Lk = L;
  p.D = p.Dv = D;
  p.dtype = t;
  return p;
}

Options tile(std::int32_t br, std::int32_t bc) {
  Options o;
  o.br = br;
  o.bc = bc;
  return o;
}

// Blackboard: N = 4, D = 2, 2 x 2 tiles, fp32.
// Q 32 B once, K and V 32 B each for each of two query tiles, O 32 B, LSE 16 B.
TEST(TileLoads, OfFlashOnTheBlackboardAre208Bytes) {
  const Traffic t = tile_loads(Order::flash, 0, square(4, 2, DType::f32), tile(2, 2));
  EXPECT_EQ(t.of(TrafficPart::q), 32U);
  EXPECT_EQ(t.of(TrafficPart::k), 64U);
  EXPECT_EQ(t.of(TrafficPart::v), 64U);
  EXPECT_EQ(t.of(TrafficPart::o), 32U);
  EXPECT_EQ(t.of(TrafficPart::stats), 16U);
  EXPECT_EQ(t.total(), 208U);
}

// S 16 elements: written 64 B, read three times 192 B; P written and read 64 B each; Q, K, V, O 32 B; LSE 16 B.
TEST(TileLoads, OfNaiveOnTheBlackboard) {
  const Traffic t = tile_loads(Order::naive, 3, square(4, 2, DType::f32), tile(1, 4));
  EXPECT_EQ(t.written[static_cast<std::size_t>(TrafficPart::s)], 64U);
  EXPECT_EQ(t.read[static_cast<std::size_t>(TrafficPart::s)], 192U);
  EXPECT_EQ(t.of(TrafficPart::p), 128U);
  EXPECT_EQ(t.total(), 64U + 192U + 128U + 4 * 32U + 16U);
  // It stands for whole passes: the tile that the walk shows changes nothing.
  EXPECT_EQ(tile_loads(Order::naive, 3, square(4, 2, DType::f32), tile(2, 2)).total(), t.total());
  EXPECT_EQ(tile_loads(Order::naive, 1, square(4, 2, DType::f32), tile(1, 4)).total(), t.total() - 128U);
}

// Q twice, K twice, V twice; S and P as naive.
TEST(TileLoads, OfTiledReadQForEachKeyTileAndKVForEachQueryTile) {
  const Traffic t = tile_loads(Order::tiled, 3, square(4, 2, DType::f32), tile(2, 2));
  EXPECT_EQ(t.of(TrafficPart::q), 64U);
  EXPECT_EQ(t.of(TrafficPart::k), 64U);
  EXPECT_EQ(t.of(TrafficPart::v), 64U);
  EXPECT_EQ(t.of(TrafficPart::s), 256U);
  EXPECT_EQ(t.of(TrafficPart::p), 128U);
  EXPECT_EQ(t.total(), 3 * 64U + 256U + 128U + 32U + 16U);
}

// f16, so that the fp32 state differs: K, V 16 B once; for each of two j all of Q (16 B), and O (32 B), m and l
// (32 B) read and written; then the state read once more, and O 16 B and LSE 16 B written.
TEST(TileLoads, OfFlash1BringTheStateBackAtEveryKeyTile) {
  const Traffic t = tile_loads(Order::flash1, 0, square(4, 2, DType::f16), tile(2, 2));
  EXPECT_EQ(t.of(TrafficPart::q), 32U);
  EXPECT_EQ(t.of(TrafficPart::k), 16U);
  EXPECT_EQ(t.of(TrafficPart::v), 16U);
  EXPECT_EQ(t.of(TrafficPart::o), 2 * 2 * 32U + 32U + 16U);
  EXPECT_EQ(t.of(TrafficPart::stats), 2 * 2 * 32U + 32U + 16U);
}

// The formula of FlashAttention-2's walk: e B Hq (ceil(Lq/Br) Lk (D + Dv) + Lq (D + Dv)) + 4 B Hq Lq, ragged tiles.
TEST(TileLoads, OfFlashFollowTheFormulaOnRaggedTiles) {
  Problem p = square(113, 40, DType::f16);
  p.Lk = 203;
  p.Dv = 24;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  const Traffic t = tile_loads(Order::flash, 0, p, tile(32, 48));
  EXPECT_EQ(t.total(), 2ULL * 8 * (4 * 203 * 64 + 113 * 64) + 4ULL * 8 * 113);
}

// Causal 8 x 8 in 2 x 2 tiles: 1 + 2 + 3 + 4 of 16 tiles are visited.
TEST(TileLoads, LeaveOutWhatTheMaskSkips) {
  Problem p = square(8, 4, DType::f32);
  p.mask.causal = true;
  const Traffic t = tile_loads(Order::flash, 0, p, tile(2, 2));
  EXPECT_EQ(t.of(TrafficPart::k), 10U * 2 * 4 * 4);
  EXPECT_EQ(t.of(TrafficPart::q), 8U * 4 * 4);
  const Traffic stored = tile_loads(Order::tiled, 3, p, tile(2, 2));
  EXPECT_EQ(stored.of(TrafficPart::k), 10U * 2 * 4 * 4);
  EXPECT_EQ(stored.of(TrafficPart::s), 64U * 4 * 4);
  const Traffic naive = tile_loads(Order::naive, 3, p, tile(2, 2));
  EXPECT_EQ(naive.of(TrafficPart::k), 8U * 4 * 4);
}

TEST(TileLoads, CountEachBatchsOwnKeyLength) {
  Problem p = square(8, 4, DType::f32);
  p.B = 2;
  p.mask.key_lengths = {3, 0};  // two of four key tiles, none
  EXPECT_EQ(tile_loads(Order::flash, 0, p, tile(4, 2)).of(TrafficPart::k), 2U * 2 * (2 * 4 * 4));
  EXPECT_EQ(tile_loads(Order::flash1, 0, p, tile(4, 2)).of(TrafficPart::k), 2U * 2 * 4 * 4);
}

TEST(TileLoads, ReadABroadcastBiasAtItsOwnExtent) {
  Problem p = square(4, 2, DType::f16);
  p.bias_shape = {1, 1, 1, 4};
  EXPECT_EQ(tile_loads(Order::flash, 0, p, tile(2, 2)).of(TrafficPart::bias), 4U * 2 * 4);
  p.bias_shape = {1, 1, 4, 4};
  EXPECT_EQ(tile_loads(Order::flash, 0, p, tile(2, 2)).of(TrafficPart::bias), 16U * 4);
}

// Every phase of every tile, visited one by one.
Traffic sum_of_events(Order order, const Problem& p, std::int64_t br, std::int64_t bc) {
  const bool stored = order == Order::naive || order == Order::tiled;
  Traffic sum;
  const auto add = [&](Phase phase, std::int32_t pass, std::int64_t i, std::int64_t rows, std::int64_t cols) {
    sum += event_traffic(order, p, phase, pass, i, rows, cols, 3);
  };
  for (std::int64_t i = 0; i * br < p.Lq; ++i) {
    const std::int64_t r0 = i * br, r1 = std::min(p.Lq, r0 + br), rows = r1 - r0;
    if (order == Order::naive || order == Order::flash) add(Phase::load_q, 0, i, rows, 0);
    for (std::int64_t c0 = 0; c0 < p.Lk; c0 += bc) {
      const std::int64_t c1 = std::min(p.Lk, c0 + bc), cols = c1 - c0;
      const bool skipped = p.cover(0, r0, r1, c0, c1) == TileCover::skipped;
      if (skipped) {
        for (const std::int32_t pass : {0, 1, 2}) {
          if (pass == 0 || stored) add(Phase::skipped, pass, i, rows, cols);
        }
        continue;
      }
      add(Phase::mask, 0, i, rows, cols);
      if (order == Order::flash) add(Phase::load_kv, 0, i, rows, cols);
      if (order == Order::flash1) {
        add(Phase::load_state, 0, i, rows, cols);
        add(Phase::store_state, 0, i, rows, cols);
      }
      if (!stored) continue;
      if (order == Order::tiled) add(Phase::load_q, 0, i, rows, cols);
      for (const Phase phase : {Phase::load_k, Phase::scores, Phase::store_s}) add(phase, 0, i, rows, cols);
      for (const Phase phase : {Phase::max, Phase::sum, Phase::weights}) add(phase, 1, i, rows, cols);
      for (const Phase phase : {Phase::load_v, Phase::output}) add(phase, 2, i, rows, cols);
    }
    add(Phase::store_o, 0, i, rows, 0);
  }
  for (std::int64_t c0 = 0; order == Order::flash1 && c0 < p.Lk; c0 += bc) {
    const std::int64_t c1 = std::min(p.Lk, c0 + bc);
    if (p.cover(0, 0, p.Lq, c0, c1) != TileCover::skipped) add(Phase::load_kv, 0, 0, 0, c1 - c0);
  }
  return sum;
}

// The count that visits no tile, for every kind of mask and of tile: one, few, many, the last of them narrower or not.
TEST(TileLoads, AreTheSumOfTheEvents) {
  Problem p = square(29, 5, DType::bf16);
  p.Lk = 37;
  p.Dv = 3;
  p.bias_shape = {1, 1, 29, 1};
  std::vector<Mask> masks(5);
  masks[1].causal = true;
  masks[2].window_left = 9;
  masks[2].window_right = 4;
  masks[3].window_right = -1;
  masks[3].window_left = 0;
  masks[4].key_lengths = {17};
  for (std::size_t n = 0; n < masks.size(); ++n) {
    p.mask = masks[n];
    for (const auto& [br, bc] : {std::pair(6, 7), {1, 1}, {1, 37}, {15, 19}, {29, 37}, {29, 5}, {10, 37}})
      for (const Order order : {Order::naive, Order::tiled, Order::flash, Order::flash1})
        EXPECT_EQ(tile_loads(order, 3, p, tile(br, bc)), sum_of_events(order, p, br, bc))
            << name_of(order) << ", mask " << n << ", " << br << " x " << bc;
  }
}

// A long problem in tiles of one row is counted, not walked: 16 Mi rows of naive.
TEST(TileLoads, OfAMillionQueryTilesAreCountedAtOnce) {
  Problem p = square(std::int64_t{1} << 24, 1, DType::f16);
  p.Lk = 2;
  const std::uint64_t rows = 1ULL << 24;
  const Traffic t = tile_loads(Order::naive, 3, p, tile(1, 2));
  EXPECT_EQ(t.of(TrafficPart::q), rows * 2);
  EXPECT_EQ(t.of(TrafficPart::k), 2U * 2);
  EXPECT_EQ(t.of(TrafficPart::s), 4 * rows * 2 * 4);
}

// The counters that a recording carries end at the prediction for the whole problem.
TEST(TileLoads, AreWhatARecordingCounts) {
  for (const KernelRow& row : cpu_kernel_table()) {
    if (row.record == nullptr) continue;
    for (const Preset& preset : presets()) {
      const Problem& p = preset.problem;
      if (!check_takes(row, p)) continue;  // pages
      InputSpec spec;
      spec.generator = preset.generator;
      spec.seed = preset.seed;
      Options o;
      o.br = preset.br;
      o.bc = preset.bc;
      const auto in = make_inputs(p, spec);
      ASSERT_TRUE(in) << preset.id;
      const auto rec = row.record(row, p, o, *in, {});
      ASSERT_TRUE(rec) << row.id << " " << preset.id << ": " << rec.error().message;
      std::array<std::uint64_t, kTrafficParts> predicted{};
      add_traffic(tile_loads(row, p, rec->options), predicted);
      EXPECT_EQ(rec->events.back().hbm_bytes, predicted) << row.id << " " << preset.id;
    }
  }
}

TEST(Compulsory, IsEachElementOnceAndForStoredScoresTwice) {
  Problem p = square(16, 8, DType::f16);
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  const std::uint64_t inputs = 2ULL * 2 * (4 * 16 * 16 + 2 * 16 * 16) + 4ULL * 2 * 4 * 16;
  EXPECT_EQ(compulsory(Order::flash, p).total(), inputs);
  EXPECT_EQ(compulsory(Order::naive, p).total(), inputs + 2ULL * 2 * 4 * 256 * (4 + 2));
  p.bias_shape = {1, 4, 1, 16};
  EXPECT_EQ(compulsory(Order::flash, p).total(), inputs + 4ULL * 64);
}

TEST(Compulsory, IsNeverMoreThanTileLoads) {
  for (const KernelRow& row : cpu_kernel_table()) {
    const Problem p = square(100, 16, DType::f16);
    EXPECT_LE(compulsory(row, p).total(), tile_loads(row, p, tile(16, 16)).total()) << row.id;
  }
}

TEST(OnChip, OfFlashHoldsEverythingAtOnce) {
  const auto bytes = on_chip_bytes(Order::flash, square(64, 8, DType::f32), tile(4, 4));
  EXPECT_EQ(of(bytes, TrafficPart::q), 128U);
  EXPECT_EQ(of(bytes, TrafficPart::k), 128U);
  EXPECT_EQ(of(bytes, TrafficPart::v), 128U);
  EXPECT_EQ(of(bytes, TrafficPart::s), 64U);
  EXPECT_EQ(of(bytes, TrafficPart::stats), 32U);
  EXPECT_EQ(of(bytes, TrafficPart::o), 128U);
  EXPECT_EQ(of(bytes, TrafficPart::p), 0U);
}

TEST(OnChip, KeepsScoresAndOutputInFp32ForSixteenBitInputs) {
  const auto bytes = on_chip_bytes(Order::flash1, square(64, 8, DType::bf16), tile(4, 4));
  EXPECT_EQ(of(bytes, TrafficPart::q), 64U);
  EXPECT_EQ(of(bytes, TrafficPart::s), 64U);
  EXPECT_EQ(of(bytes, TrafficPart::o), 128U);
}

TEST(OnChip, OfStoredScoresIsTheLargestPass) {
  // Scores pass: Q 128, K 128, S 64; output pass: P 64, V 128, O 128.
  const auto equal = on_chip_bytes(Order::tiled, square(64, 8, DType::f32), tile(4, 4));
  EXPECT_EQ(of(equal, TrafficPart::q) + of(equal, TrafficPart::k) + of(equal, TrafficPart::s), 320U);
  Problem wide = square(64, 8, DType::f32);
  wide.Dv = 64;
  const auto output = on_chip_bytes(Order::tiled, wide, tile(4, 4));
  EXPECT_EQ(of(output, TrafficPart::v), 1024U);
  EXPECT_EQ(of(output, TrafficPart::q), 0U);
}

TEST(OnChip, CutsTheTileToTheProblem) {
  const auto bytes = on_chip_bytes(Order::flash, square(2, 4, DType::f32), tile(64, 64));
  EXPECT_EQ(of(bytes, TrafficPart::s), 16U);
}

// A pass that takes the maximum, then the weights, then the sum reads S up to three times.
TEST(TileLoads, ScoresAreReadByAsManyPhasesAsTheRowSays) {
  Problem p;
  p.Lq = p.Lk = 8;
  const auto read = [&p](Phase phase, std::int32_t score_reads) {
    const Traffic t = event_traffic(Order::naive, p, phase, 1, 0, 4, 8, score_reads);
    return t.read[static_cast<std::size_t>(TrafficPart::s)];
  };
  const std::uint64_t tile = 4 * 8 * 4;
  for (const std::int32_t reads : {1, 2, 3}) {
    EXPECT_EQ(read(Phase::max, reads), tile) << reads;
    EXPECT_EQ(read(Phase::weights, reads), reads >= 2 ? tile : 0) << reads;
    EXPECT_EQ(read(Phase::sum, reads), reads >= 3 ? tile : 0) << reads;
  }
}

}  // namespace
}  // namespace attn
