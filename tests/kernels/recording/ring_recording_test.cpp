// A ring, recorded: ranks that advance side by side, turn after turn; right, replayed bit for bit, kept in a file, and
// every number within its bound of fp64.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/run.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/ring.h"
#include "kernels/model/traffic.h"
#include "kernels/museum/right_run.h"
#include "kernels/museum/run_verdict.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/exact.h"
#include "kernels/recording/replay/replay.h"
#include "kernels/recording/size.h"
#include "tests/kernels/recording/walk.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

const KernelRow& kernel() {
  return **find_kernel("cpu_flash");
}

Inputs inputs_for(const Problem& p, std::uint64_t seed) {
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = seed;
  return *make_inputs(p, spec);
}

Options ring(std::int64_t ranks, bool zigzag, std::int32_t br = 2, std::int32_t bc = 2) {
  Options o;
  o.br = br;
  o.bc = bc;
  choose(o, kRanks, ranks);
  choose(o, kDeal, zigzag ? 1 : 0);
  return o;
}

Recording recorded(const Problem& p, const Options& o, const Inputs& in) {
  auto rec = kernel().record(kernel(), p, o, in, {});
  EXPECT_TRUE(rec) << describe(p) << ": " << (rec ? "" : rec.error().message);
  return *std::move(rec);
}

Problem square(std::int64_t length, bool causal = true) {
  Problem p;
  p.Lq = p.Lk = length;
  p.D = p.Dv = 4;
  p.mask.causal = causal;
  return p;
}

// Causal and ragged, heads that share keys; rows without a key, and ranks of which some have nothing to do in a turn.
Problem mixed(DType dtype = DType::f32) {
  Problem p;
  p.B = 2;
  p.Hq = 2;
  p.Lq = 13;
  p.Lk = 27;
  p.D = 6;
  p.Dv = 5;
  p.dtype = dtype;
  p.mask.causal = true;
  p.mask.key_lengths = {27, 5};
  p.softcap = 3;
  return p;
}

Ring ring_of_run(const Recording& rec) {
  return ring_of(rec.options, rec.query_tiles(), rec.key_tiles());
}

TEST(RingRecording, RanksAdvanceSideBySideTurnAfterTurn) {
  const Problem p = square(4, false);
  const std::string merge =
      "load_part0 load_part1 merge_max0 merge_max1 merge_first0 merge_first1 merge_second0 "
      "merge_second1 merge_sum0 merge_sum1 merge_output0 merge_output1 ";
  std::string tile = "load_q0 load_q1 ";
  for (const char* phase : {"load_kv", "scores", "max", "rescale", "weights", "sum", "output"})
    tile += std::string(phase) + "0 " + phase + "1 ";
  const Recording rec = recorded(p, ring(2, false), inputs_for(p, 1));
  EXPECT_EQ(name_of(rec.order), "ring");
  EXPECT_EQ(walk_of(rec), "send0 send1 " + tile + "store_state0 store_state1 " + tile + merge +
                              "normalise0 normalise1 store_o0 store_o1 ");
}

// Each rank meets the keys of each once, its own first, then those of its left neighbour; and never another's at once.
TEST(RingRecording, EveryRankMeetsTheSharesInTheOrderInWhichTheyComeRound) {
  for (const bool zigzag : {false, true}) {
    const Recording rec = recorded(square(24, false), ring(3, zigzag), inputs_for(square(24), 1));
    const Ring r = ring_of_run(rec);
    std::map<std::int64_t, std::vector<std::int64_t>> met;  // by rank: whose keys
    for (EventIndex e = 0; e < rec.events.size(); ++e) {
      const EventId& id = rec.events[e].id;
      if (id.phase != Phase::load_kv) continue;
      const std::int64_t rank = *rec.lane_of(e), owner = r.rank_of_chunk(r.keys().of_tile(id.j));
      if (met[rank].empty() || met[rank].back() != owner) met[rank].push_back(owner);
      // What is on show is that very tile of K.
      EXPECT_EQ(rec.version(rec.after(e, Slot::k)).first_row, id.j * rec.options.bc);
    }
    EXPECT_EQ(met[0], (std::vector<std::int64_t>{0, 2, 1}));
    EXPECT_EQ(met[1], (std::vector<std::int64_t>{1, 0, 2}));
    EXPECT_EQ(met[2], (std::vector<std::int64_t>{2, 1, 0}));
  }
}

TEST(RingRecording, ByZigzagEveryRankHasTheSameWorkInEveryTurnUnderACausalMask) {
  const Recording rec = recorded(square(16), ring(4, true), inputs_for(square(16), 51));
  const Ring r = ring_of_run(rec);
  std::map<std::pair<std::int64_t, std::int64_t>, int> computed;  // by rank and turn: pairs of tiles
  for (EventIndex e = 0; e < rec.events.size(); ++e)
    if (const EventId& id = rec.events[e].id; id.phase == Phase::scores)
      ++computed[{*rec.lane_of(e), r.turn_of(*rec.lane_of(e), id.j)}];
  EXPECT_EQ(computed.size(), 16U);
  for (const auto& [where, pairs] : computed) {
    // In its own turn the pair of its later queries and earlier keys, and both that the diagonal cuts.
    EXPECT_EQ(pairs, where.second == 0 ? 3 : 2) << "rank " << where.first << " in turn " << where.second;
  }
}

TEST(RingRecording, IsCheckedReplayedAndHasTheKernelsOwnBits) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Problem p = mixed(dtype);
    const Inputs in = inputs_for(p, 3);
    for (const std::int64_t ranks : {2, 3, 5}) {
      for (const bool zigzag : {false, true}) {
        // Five ranks by zigzag are ten chunks: rows in tiles of one, so that each rank is dealt some.
        Options o = ring(ranks, zigzag, ranks == 5 ? 1 : 2);
        if (ranks == 3) o.key_order = KeyOrder::right_to_left;
        const Recording rec = recorded(p, o, in);
        const auto good = check_recording(rec, "ring");
        ASSERT_TRUE(good) << good.error().message;
        const auto difference = replay(rec);
        EXPECT_FALSE(difference) << (difference ? difference->words : "");
        EXPECT_TRUE(same_bits(rec.outputs, *run_on_cpu(kernel(), p, o, in, 0, {})));
        EXPECT_NE(outcome_of(*verdict_of(rec, {})), Outcome::wrong);
        const auto found = first_wrong_of(rec, {});
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_FALSE(found->has_value());
      }
    }
  }
}

// Every number on show at any step, in fp64 from Q, K and V alone.
void expect_exact(const Recording& rec) {
  std::set<VersionId> held;
  for (std::int32_t b = 0; b < rec.problem.B; ++b) {
    for (std::int32_t h = 0; h < rec.problem.Hq; ++h) {
      for (std::int32_t i = 0; i < rec.query_tiles(); ++i) {
        const ExactTile exact(rec, b, h, i);
        for (VersionId v = 0; v < rec.versions.size(); ++v) {
          const Version& version = rec.version(v);
          const EventId& made = rec.events[version.made_by].id;
          // What stands before the first key was set.
          if (is_input(version.slot) || made_as(version.slot) != version.slot) continue;
          if (made.b != b || made.h != h || made.i != i) continue;
          held.insert(v);
          const auto values = rec.values(v);
          for (std::size_t n = 0; n < values.size(); ++n) {
            const auto at = exact.at(v, n);
            ASSERT_TRUE(at) << name_of(version.slot) << " of step " << version.made_by + 1;
            const auto x = static_cast<double>(values[n]);
            if (!std::isfinite(x) || !std::isfinite(at->exact)) {
              EXPECT_EQ(x, at->exact);
              continue;
            }
            ASSERT_LE(std::fabs(x - at->exact), at->bound)
                << describe(rec.problem) << " " << name_of(version.slot) << " " << n << " of step "
                << version.made_by + 1 << " (" << name_of(made.phase) << "): " << x << " for " << at->exact;
          }
        }
      }
    }
  }
  // Whatever any step shows, but for the inputs and what was set, was among them.
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    for (std::size_t s = 0; s < slot_count(); ++s) {
      const VersionId v = rec.after(e, static_cast<Slot>(s));
      if (v == kNoVersion || is_input(rec.version(v).slot) || made_as(rec.version(v).slot) != rec.version(v).slot)
        continue;
      ASSERT_TRUE(held.contains(v)) << name_of(static_cast<Slot>(s)) << " of step " << e + 1;
    }
  }
  EXPECT_FALSE(held.empty());
}

// O and LSE of the whole in fp64, key by key: no turn, no merge, no maximum so far.
void expect_attention(const Recording& rec) {
  const RowSample sample = choose_rows(rec.problem, true);
  const auto reference = reference_rows(rec.problem, rec.inputs, sample.rows, 1, {});
  ASSERT_TRUE(reference);
  const Verdict v = judge(rec.problem, rec.inputs, *reference, rec.outputs, sample);
  EXPECT_TRUE(v.pass) << describe(rec.problem) << ": " << v.reason;
}

TEST(RingRecording, EveryNumberOfTwoHundredRandomProblemsLiesWithinItsBoundOfFp64) {
  int rings = 0;
  for (std::uint64_t seed = 0; rings < 200; ++seed) {
    ASSERT_LT(seed, 2000U);
    std::uint64_t x = seed * 2654435761U + 77;
    const auto next = [&x](std::int64_t most) {
      x = x * 6364136223846793005ULL + 1442695040888963407ULL;
      return 1 + static_cast<std::int64_t>((x >> 33U) % static_cast<std::uint64_t>(most));
    };
    Problem p;
    p.Hq = next(2);
    p.Lq = 1 + next(14), p.Lk = next(3) == 1 ? 2 + next(20) : p.Lq, p.D = next(8), p.Dv = next(8);
    p.dtype = static_cast<DType>(next(3) - 1);
    p.mask.causal = next(3) > 1;
    if (next(4) == 1) p.mask.key_lengths = {next(p.Lk)};
    if (next(4) == 1) p.mask.window_left = next(p.Lk);
    if (next(3) == 1) p.softcap = 2;
    if (next(3) == 1) p.alibi.emplace();
    Options o = ring(1 + next(6), next(2) == 1, static_cast<std::int32_t>(next(3)), static_cast<std::int32_t>(next(3)));
    if (next(3) == 1) o.key_order = KeyOrder::right_to_left;
    if (next(5) == 1) o.accumulate = static_cast<DType>(next(3) - 1);
    const Inputs in = inputs_for(p, seed);
    const auto rec = kernel().record(kernel(), p, o, in, {});
    if (!rec) {
      ASSERT_NE(rec.error().message.find("needs tiles for each rank"), std::string::npos) << rec.error().message;
      continue;
    }
    ++rings;
    const auto difference = replay(*rec);
    ASSERT_FALSE(difference) << describe(p) << ": " << difference->words;
    expect_exact(*rec);
    if (o.accumulate == DType::f32) expect_attention(*rec);
    ASSERT_FALSE(testing::Test::HasFailure()) << describe(p) << ", seed " << seed;
  }
}

TEST(RingRecording, AnyChangedNumberOfTheMergeIsFoundByTheReplay) {
  for (const char* phase : {"merge_max", "merge_first", "merge_second", "merge_sum", "merge_output"}) {
    Recording rec = recorded(square(8, false), ring(2, true), inputs_for(square(8), 4));
    const auto at = std::ranges::find(rec.versions, *phase_named(phase),
                                      [&](const Version& v) { return rec.events[v.made_by].id.phase; });
    ASSERT_NE(at, rec.versions.end()) << phase;
    rec.arena[at->offset] += 0.5F;
    const auto difference = replay(rec);
    ASSERT_TRUE(difference) << phase;
    EXPECT_EQ(difference->event, at->made_by) << difference->words;
  }
}

TEST(RingRecording, BytesAreThoseForeseenAndSayWhatTheTurnsAdd) {
  for (const std::int64_t ranks : {2, 4}) {
    const Recording rec = recorded(square(16), ring(ranks, true), inputs_for(square(16), 4));
    std::uint64_t counted = 0;
    for (const std::uint64_t bytes : rec.events.back().hbm_bytes) counted += bytes;
    EXPECT_EQ(counted, tile_loads(kernel(), rec.problem, rec.options).total());
    // In every turn but the first Q is read again, and O, m and l come back and go to memory.
    const std::uint64_t q = 16 * 4 * 4, state = 16 * 4 * 4 + 2 * 16 * 4, more = static_cast<std::uint64_t>(ranks) - 1;
    EXPECT_EQ(counted, tile_loads(Order::flash, 0, rec.problem, rec.options).total() + more * (q + 2 * state));
    EXPECT_LE(rec.bytes(), recording_bytes(rec.order, rec.problem, rec.options));
  }
}

TEST(RingRecording, FileGivesBackWhatWasRecorded) {
  const Recording rec = recorded(mixed(DType::f16), ring(3, true), inputs_for(mixed(DType::f16), 3));
  const TempFolder folder;
  const auto written = write_recording(folder / "ring.attn", rec);
  ASSERT_TRUE(written) << written.error().message;
  const auto read = read_recording(folder / "ring.attn");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->options, rec.options);
  EXPECT_EQ(read->arena, rec.arena);
  EXPECT_EQ(walk_of(*read), walk_of(rec));
  EXPECT_FALSE(replay(*read));
}

TEST(RingRecording, RanksWithoutATileAreRefusedInWords) {
  const Problem p = square(6);
  const auto rec = kernel().record(kernel(), p, ring(4, true), inputs_for(p, 1), {});
  ASSERT_FALSE(rec);
  EXPECT_NE(rec.error().message.find("3 query tiles and 3 key tiles leave rank 1 of 4 without"), std::string::npos)
      << rec.error().message;
}

}  // namespace
}  // namespace attn
