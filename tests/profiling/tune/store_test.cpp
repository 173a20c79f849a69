// What tuning keeps, and what it refuses to read.
#include "profiling/tune/store.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/sweep/finished.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "profiling/figures/statistics.h"
#include "profiling/spec/sweep_spec.h"
#include "profiling/sweep/sweep.h"
#include "profiling/tune/export.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

class TunedStore : public ::testing::Test {
 protected:
  TunedStore() {
    problem.Hq = problem.Hkv = 4;
    problem.Lq = problem.Lk = 256;
    problem.D = problem.Dv = 16;
    key = tuned_key(row, problem, device, "abc", "");
  }
  // 96 x 32 was chosen.
  TuneResult chosen() const {
    TuneSpec s;
    s.kernel = row.id;
    s.problem = problem;
    TuneResult r = *tune_plan(s, device);
    for (std::size_t n = 0; n < r.tiles.size(); ++n) {
      TriedTile& t = r.tiles[n];
      if (t.fate == TileFate::refused) continue;
      const bool best = t.tile.options.br == 96 && t.tile.options.bc == 32;
      t.fate = TileFate::timed;
      t.verdict = "pass";
      t.time = statistics_of(std::vector<double>(8, best ? 50.0 : 100.0));
      if (best) r.chosen = n;
    }
    r.tiles[r.chosen].turns = r.tiles[r.chosen].time;
    r.decision = TuneDecision::faster;
    r.words = "96 x 32: faster";
    r.clock = "the test's";
    return r;
  }
  std::string text() const {
    std::ifstream in(tuned_file(folder.path(), key));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& words) const { std::ofstream(tuned_file(folder.path(), key)) << words; }
  std::string refusal() const {
    const auto r = read_tuned(folder.path(), key);
    EXPECT_FALSE(r);
    return r ? "" : r.error().message;
  }

  const KernelRow& row = **find_kernel("cpu_flash");
  Device device = cpu_device();
  Problem problem;
  TunedKey key;
  TempFolder folder;
};

TEST_F(TunedStore, WhatWasKeptIsReadBackWhole) {
  const TuneResult kept = chosen();
  ASSERT_TRUE(keep_tuned(folder.path(), key, kept));
  const auto read = read_tuned(folder.path(), key);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->date.empty());
  TuneResult dated = kept;
  dated.date = read->date;
  EXPECT_EQ(tiles_to_json_text(*read), tiles_to_json_text(dated));
  EXPECT_EQ(tiles_to_csv(*read), tiles_to_csv(dated));
}

TEST_F(TunedStore, TheOptionsGetItsTileAndKeepTheRest) {
  ASSERT_TRUE(keep_tuned(folder.path(), key, chosen()));
  Options o;
  o.threads = 2;
  o.subtract_max = false;
  const auto with = tuned_options(folder.path(), key, row, problem, o, device);
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(with->br, 96);
  EXPECT_EQ(with->bc, 32);
  EXPECT_EQ(with->threads, 2);
  EXPECT_FALSE(with->subtract_max);
}

TEST_F(TunedStore, WhereNothingIsKeptTheCommandThatFindsOneIsNamed) {
  const auto with = tuned_options(folder.path(), key, row, problem, {}, device);
  ASSERT_FALSE(with);
  EXPECT_EQ(with.error().kind, ErrorKind::cannot_run);
  EXPECT_NE(with.error().message.find("attnscope tune cpu_flash --b 1 --hq 4 --l 256 --d 16 --dtype f32"),
            std::string::npos)
      << with.error().message;
}

TEST_F(TunedStore, ADamagedFileIsRefusedInWordsAndStays) {
  ASSERT_TRUE(keep_tuned(folder.path(), key, chosen()));
  const std::string good = text();
  std::string changed = good;
  changed.replace(changed.find("\"br\": 96"), 8, "\"br\": 48");
  write(changed);
  EXPECT_NE(refusal().find("its checksum is wrong"), std::string::npos) << refusal();
  write(good.substr(0, good.size() / 2));
  EXPECT_NE(refusal().find("damaged: not a JSON object"), std::string::npos) << refusal();
  write("");
  EXPECT_NE(refusal().find("damaged"), std::string::npos) << refusal();
  write(good);
  EXPECT_TRUE(read_tuned(folder.path(), key));
}

TEST_F(TunedStore, AFileOfAnotherKeyOrVersionIsRefused) {
  TunedKey other = key;
  other.source_hash = "another";
  ASSERT_TRUE(keep_tuned(folder.path(), other, chosen()));
  std::filesystem::rename(tuned_file(folder.path(), other), tuned_file(folder.path(), key));
  EXPECT_NE(refusal().find("it has another key"), std::string::npos) << refusal();
  std::string words = text();
  words.replace(words.find("\"attnscope_tiles\": 1"), 20, "\"attnscope_tiles\": 9");
  write(words);
  EXPECT_NE(refusal().find("its version is 9, not 1"), std::string::npos) << refusal();
}

TEST_F(TunedStore, WithoutADecisionNothingIsKept) {
  TuneResult r = chosen();
  r.decision.reset();
  EXPECT_FALSE(keep_tuned(folder.path(), key, r));
  EXPECT_FALSE(std::filesystem::exists(tuned_file(folder.path(), key)));
}

TEST_F(TunedStore, EachPartOfTheKeyTellsItFromOthers) {
  const auto file = [&](const Problem& p, const std::string& hash = "abc") {
    return tuned_file(folder.path(), tuned_key(row, p, device, hash, ""));
  };
  EXPECT_EQ(file(problem), tuned_file(folder.path(), key));
  EXPECT_NE(file(problem, "abd"), file(problem));
  Problem p = problem;
  p.Lq = p.Lk = 300;  // the same band
  EXPECT_EQ(length_band(p), length_band(problem));
  p.Lq = p.Lk = 512;
  EXPECT_NE(file(p), file(problem));
  p = problem;
  p.mask.causal = true;
  EXPECT_NE(file(p), file(problem));
  p = problem;
  p.D = 32;
  EXPECT_NE(file(p), file(problem));
  p = problem;
  p.dtype = DType::f16;
  EXPECT_NE(file(p), file(problem));
  p = problem;
  p.B = 64;
  EXPECT_NE(file(p), file(problem));
  Device gpu = *gpu::device_for("sm_90a");
  const KernelRow& mma = **find_kernel("flash_mma");
  EXPECT_NE(tuned_file("", tuned_key(mma, problem, gpu, "abc", "NVRTC 13.0")),
            tuned_file("", tuned_key(mma, problem, gpu, "abc", "NVRTC 13.1")));
}

TEST(TunedKeys, MaskLengthAndBlocksFallIntoClasses) {
  Problem p;
  p.Hq = p.Hkv = 16;
  p.Lq = p.Lk = 4096;
  Device d;
  d.cores = 132;
  EXPECT_EQ(mask_class(p), "full");
  EXPECT_EQ(length_band(p), "4096..8191");
  EXPECT_EQ(blocks_band(p, d), "4..7");  // 16 heads x 64 tiles of 64 rows on 132 SMs
  p.mask.causal = true;
  EXPECT_EQ(mask_class(p), "causal");
  p.mask.window_left = 255;
  p.mask.window_right = 0;
  EXPECT_EQ(mask_class(p), "window");
  p.mask.key_lengths = {100};
  p.bias_shape = {1, 1, 4096, 4096};
  EXPECT_EQ(mask_class(p), "window+lengths+bias");
  p.Lq = 1;
  EXPECT_EQ(length_band(p), "1..1 x 4096..8191");
  EXPECT_EQ(blocks_band(p, d), "0..0");
}

TEST_F(TunedStore, ASweepTakesTheKeptTileAndItsRowsSayWhereItCameFrom) {
  SweepSpec s;
  s.kernels = {"cpu_flash"};
  s.base = problem;
  s.values = {256};
  s.seconds_per_point = 0.01;
  s.peak = {1, 1, 1};
  ASSERT_TRUE(keep_tuned(folder.path(), key, chosen()));
  SweepCallbacks callbacks;
  callbacks.tuned = [&](const KernelRow& r, const Problem& p, const Options& o, const Device& d) {
    return tuned_options(folder.path(), tuned_key(r, p, d, "abc", ""), r, p, o, d);
  };
  const auto usual = run_sweep(s, callbacks, {});
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->front().tile_from, "default");
  s.tuned = true;
  const auto tuned = run_sweep(s, callbacks, {});
  ASSERT_TRUE(tuned);
  EXPECT_EQ(tuned->front().tile_from, "tuned");
  EXPECT_EQ(tuned->front().key.options.br, 96);
  EXPECT_EQ(tuned->front().key.options.bc, 32);
  EXPECT_EQ(count_finished(s, *tuned, {}).finished, 1U);
  EXPECT_EQ(count_finished(s, *usual, {}).finished, 0U);
  s.values = {1024};
  const auto none = run_sweep(s, callbacks, {});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->front().state, RowState::refused);
  EXPECT_NE(none->front().reason.find("attnscope tune cpu_flash"), std::string::npos) << none->front().reason;
  s.tuned = false;
  s.options.br = 32;
  const auto asked = run_sweep(s, callbacks, {});
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->front().tile_from, "asked");
  s.tuned = true;
  EXPECT_FALSE(validate(s));  // tuned, and a number besides
}

}  // namespace
}  // namespace attn
