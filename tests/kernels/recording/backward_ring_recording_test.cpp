// A backward round a ring, recorded: ranks side by side, keys that travel and sums that follow them; right by the rule,
// replayed bit for bit, and every number within its bound of fp64.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/run.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/ring.h"
#include "kernels/model/traffic.h"
#include "kernels/museum/right_run.h"
#include "kernels/museum/run_verdict.h"
#include "kernels/orders/backward/options.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/lanes.h"
#include "kernels/recording/replay/replay.h"
#include "kernels/recording/size.h"
#include "tests/kernels/recording/backward_steps.h"
#include "tests/kernels/recording/walk.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

using test::expect_exact;
using test::inputs_for;

const KernelRow& kernel() {
  return **find_kernel("cpu_flash_bwd");
}

Options ring(std::int64_t ranks, bool zigzag, std::int32_t br = 2, std::int32_t bc = 2) {
  Options o;
  o.br = br;
  o.bc = bc;
  choose(o, kRanks, ranks);
  choose(o, kDeal, zigzag ? 1 : 0);
  return o;
}

Problem square(std::int64_t length, bool causal = true) {
  Problem p;
  p.pass = Pass::backward;
  p.Lq = p.Lk = length;
  p.D = p.Dv = 4;
  p.mask.causal = causal;
  return p;
}

// Heads that share keys, ragged, a batch without most of its keys, everything that shapes a score.
Problem mixed(DType dtype = DType::f32) {
  Problem p = square(13);
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lk = 17;
  p.D = 6;
  p.Dv = 5;
  p.dtype = dtype;
  p.mask.key_lengths = {17, 3};
  p.softcap = 3;
  p.alibi.emplace();
  return p;
}

Recording recorded(const Problem& p, const Options& o, std::uint64_t seed = 3) {
  auto rec = kernel().record(kernel(), p, o, inputs_for(p, seed), {});
  EXPECT_TRUE(rec) << describe(p) << ": " << (rec ? "" : rec.error().message);
  return *std::move(rec);
}

TEST(BackwardRingRecording, RanksAdvanceSideBySideAndSumsFollowTheirKeysHome) {
  std::string tile;
  for (const char* phase : {"load_kv", "load_rows", "scores", "weights_again", "value_gradient", "weight_gradient",
                            "score_gradient", "key_gradient", "query_gradient"})
    tile += std::string(phase) + "0 " + phase + "1 ";
  const Recording rec = recorded(square(4, false), ring(2, false));
  EXPECT_EQ(name_of(rec.order), "backward-ring");
  EXPECT_EQ(walk_of(rec), "send0 send1 load_o0 load_o1 row_dots0 row_dots1 " + tile +
                              "keep_sums0 keep_sums1 send_sums0 send_sums1 " + tile +
                              "add_sums0 add_sums1 sums_home0 sums_home1 store_dq0 store_dq1 store_dkv0 store_dkv1 ");
}

// Its own first, then those of its left neighbour; and what it adds to is what that neighbour left the turn before.
TEST(BackwardRingRecording, EveryRankAddsToWhatItsLeftNeighbourLeft) {
  const Slot dk = *slot_named("dk"), came = *slot_named("dk_came");
  for (const bool zigzag : {false, true}) {
    const Recording rec = recorded(square(24, false), ring(3, zigzag));
    const Ring r = ring_of(rec.options, rec.query_tiles(), rec.key_tiles());
    std::map<std::int32_t, std::pair<std::int64_t, VersionId>> left;  // by key tile: by whom, and what
    int added = 0;
    for (EventIndex e = 0; e < rec.events.size(); ++e) {
      const EventId& id = rec.events[e].id;
      const std::string_view phase = name_of(id.phase);
      if (phase != "keep_sums" && phase != "add_sums") continue;
      const std::int64_t rank = *rec.lane_of(e), turn = turn_of(rec, id);
      EXPECT_EQ(r.rank_of_chunk(r.keys().of_tile(id.j)), (rank + 3 - turn) % 3);
      EXPECT_EQ(phase == "keep_sums", turn == 0);
      if (turn > 0) {
        ++added;
        EXPECT_EQ(left[id.j].first, (rank + 2) % 3);
        EXPECT_EQ(rec.after(e, came), left[id.j].second);
      }
      left[id.j] = {rank, rec.after(e, dk)};
    }
    EXPECT_EQ(added, 2 * rec.key_tiles());
    // At the end the rank before the owner had them last.
    for (const auto& [j, last] : left) EXPECT_EQ(r.right_of(last.first), r.rank_of_chunk(r.keys().of_tile(j)));
  }
}

TEST(BackwardRingRecording, IsCheckedReplayedAndRightByTheRule) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Problem p = mixed(dtype);
    for (const std::int64_t ranks : {2, 3, 4}) {
      for (const bool zigzag : {false, true}) {
        const Recording rec = recorded(p, ring(ranks, zigzag, ranks == 4 ? 1 : 2));
        const auto good = check_recording(rec, "backward ring");
        ASSERT_TRUE(good) << good.error().message;
        const auto difference = replay(rec);
        EXPECT_FALSE(difference) << (difference ? difference->words : "");
        const RowSample sample = choose_rows(p, true);
        const auto reference = reference_rows(p, rec.inputs, sample.rows, 1, {});
        ASSERT_TRUE(reference);
        const Verdict v = judge(p, rec.inputs, *reference, rec.outputs, sample);
        EXPECT_TRUE(v.pass) << v.reason;
        const auto found = first_wrong_of(rec, {});
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_FALSE(found->has_value());
      }
    }
  }
}

// dK and dV are summed in one sequence however many chunks a rank's keys are cut into; dQ where it is one.
TEST(BackwardRingRecording, HasTheBitsOfTheRun) {
  for (const std::int64_t ranks : {2, 3, 4}) {
    for (const bool zigzag : {false, true}) {
      for (const DType dtype : {DType::f32, DType::bf16}) {
        Problem p = square(17);
        p.dtype = dtype;
        p.Hq = 2, p.Hkv = 1;
        const Options o = ring(ranks, zigzag, 2, 2);
        const Recording rec = recorded(p, o);
        const auto run = run_on_cpu(kernel(), p, o, rec.inputs, 0, {});
        ASSERT_TRUE(run);
        EXPECT_EQ(rec.outputs.d_k, run->d_k);
        EXPECT_EQ(rec.outputs.d_v, run->d_v);
        p.B = 64;  // so many heads that the keys of each are one chunk
        const Recording many = recorded(p, ring(ranks, zigzag, 3, 2));
        const auto whole = run_on_cpu(kernel(), p, ring(ranks, zigzag, 3, 2), many.inputs, 0, {});
        ASSERT_TRUE(whole);
        EXPECT_TRUE(same_bits(many.outputs, *whole));
      }
    }
  }
}

TEST(BackwardRingRecording, EveryNumberOfEveryStepLiesWithinItsBoundOfFp64) {
  for (const std::int64_t ranks : {2, 3, 4}) {
    for (const bool zigzag : {false, true}) {
      for (const bool causal : {false, true}) {
        Problem p = square(ranks == 4 ? 16 : 13, causal);
        p.Hq = 2;
        p.Hkv = causal ? 1 : 2;
        expect_exact(recorded(p, ring(ranks, zigzag)));
        ASSERT_FALSE(testing::Test::HasFailure()) << ranks << " ranks";
      }
    }
    for (const DType dtype : {DType::f32, DType::f16}) expect_exact(recorded(mixed(dtype), ring(ranks, true, 1, 2)));
  }
}

TEST(BackwardRingRecording, AnyChangedNumberIsFoundByTheReplay) {
  for (const char* phase :
       {"row_dots", "scores", "weights_again", "value_gradient", "weight_gradient", "score_gradient", "key_gradient",
        "query_gradient", "keep_sums", "add_sums", "store_dkv", "store_dq"}) {
    Recording rec = recorded(square(12), ring(3, true));
    std::size_t changed = 0;
    for (VersionId v = 0; v < rec.versions.size(); ++v) {
      const Version& version = rec.version(v);
      if (rec.events[version.made_by].id.phase != *phase_named(phase)) continue;
      for (const std::uint64_t n :
           {version.offset, version.offset + static_cast<std::uint64_t>(version.rows * version.cols) - 1}) {
        const float was = rec.arena[n];
        rec.arena[n] = was + 0.5F;
        const auto difference = replay(rec);
        ASSERT_TRUE(difference) << phase << " of step " << version.made_by + 1;
        EXPECT_EQ(difference->event, version.made_by) << difference->words;
        rec.arena[n] = was;
        ++changed;
      }
    }
    EXPECT_GT(changed, 0U) << phase;
  }
}

TEST(BackwardRingRecording, BytesAreThoseForeseenAndSayWhatTheTurnsAdd) {
  for (const std::int64_t ranks : {2, 4}) {
    for (const bool causal : {false, true}) {
      Problem p = square(16, causal);
      p.Hq = 4, p.Hkv = 2;
      const Recording rec = recorded(p, ring(ranks, true));
      std::uint64_t counted = 0;
      for (const std::uint64_t bytes : rec.events.back().hbm_bytes) counted += bytes;
      EXPECT_EQ(counted, tile_loads(kernel(), p, rec.options).total());
      EXPECT_LE(rec.bytes(), recording_bytes(rec.order, p, rec.options));
      if (causal) continue;
      // K and V are read by every rank; dK and dV are written by each, and read but by the first, and at the end.
      const std::uint64_t keys = 2 * 16 * 8 * 4, n = static_cast<std::uint64_t>(ranks);
      EXPECT_EQ(counted,
                tile_loads(*order_named("backward"), 0, p, rec.options).total() + (n - 1) * keys + 2 * n * keys);
    }
  }
  Problem hidden = mixed();
  const Recording rec = recorded(hidden, ring(3, false));
  std::uint64_t counted = 0;
  for (const std::uint64_t bytes : rec.events.back().hbm_bytes) counted += bytes;
  EXPECT_EQ(counted, tile_loads(kernel(), hidden, rec.options).total());
}

TEST(BackwardRingRecording, FileGivesBackWhatWasRecorded) {
  const Recording rec = recorded(mixed(DType::f16), ring(3, true));
  const TempFolder folder;
  const auto written = write_recording(folder / "ring.attn", rec);
  ASSERT_TRUE(written) << written.error().message;
  const auto read = read_recording(folder / "ring.attn");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->options, rec.options);
  EXPECT_EQ(read->arena, rec.arena);
  EXPECT_EQ(read->own_after, rec.own_after);
  EXPECT_EQ(walk_of(*read), walk_of(rec));
  EXPECT_FALSE(replay(*read));
}

// What is wrong in a rank's part is told as it is without a ring.
TEST(BackwardRingRecording, AForgottenDeltaIsTheFirstWrongStep) {
  Options o = ring(3, true);
  choose(o, orders::backward::kSubtractDelta, 0);
  const Recording rec = recorded(square(12), o);
  EXPECT_FALSE(replay(rec));
  const auto found = first_wrong_of(rec, {});
  ASSERT_TRUE(found && found->has_value());
  EXPECT_EQ(name_of((*found)->id.phase), "score_gradient");
}

TEST(BackwardRingRecording, WhatItCannotShowIsRefusedInWords) {
  const Problem p = square(6);
  const Inputs in = inputs_for(p, 1);
  const auto few = kernel().record(kernel(), p, ring(4, true), in, {});
  ASSERT_FALSE(few);
  EXPECT_NE(few.error().message.find("3 query tiles and 3 key tiles leave rank 1 of 4 without"), std::string::npos)
      << few.error().message;
  Options queries = ring(2, false);
  choose(queries, orders::backward::kOutside, orders::backward::kQueriesOutside);
  const auto outside = kernel().record(kernel(), p, queries, in, {});
  ASSERT_FALSE(outside);
  EXPECT_NE(outside.error().message.find("ranks=2 and outside=query_tile"), std::string::npos)
      << outside.error().message;
}

}  // namespace
}  // namespace attn
