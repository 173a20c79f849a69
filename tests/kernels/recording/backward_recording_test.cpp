// A backward's recording: right, replayed bit for bit, kept in a file, and every number within its bound of fp64.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/run.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/judge/gradients.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/shape_list.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/traffic.h"
#include "kernels/museum/right_run.h"
#include "kernels/museum/run_verdict.h"
#include "kernels/orders/backward/options.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/exact.h"
#include "kernels/recording/replay/replay.h"
#include "kernels/recording/size.h"
#include "tests/environment/asked.h"
#include "tests/kernels/recording/backward_steps.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

using test::expect_exact;
using test::inputs_for;

const KernelRow& kernel() {
  return **find_kernel("cpu_flash_bwd");
}

Recording recorded(const Problem& p, const Options& o, const Inputs& in) {
  auto rec = kernel().record(kernel(), p, o, in, {});
  EXPECT_TRUE(rec) << describe(p) << ": " << (rec ? "" : rec.error().message);
  return *std::move(rec);
}

// Causal and ragged, heads that share keys, a batch without most of its keys, everything that shapes a score.
Problem mixed() {
  Problem p;
  p.pass = Pass::backward;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 10;
  p.Lk = 13;
  p.D = 6;
  p.Dv = 5;
  p.mask.causal = true;
  p.mask.key_lengths = {13, 3};
  p.alibi.emplace();
  p.softcap = 3;
  return p;
}

Options tile(std::int32_t br, std::int32_t bc) {
  Options o;
  o.br = br;
  o.bc = bc;
  return o;
}

using namespace orders::backward;
constexpr std::int64_t kLoopsOutside[] = {kKeysOutside, kQueriesOutside};

Options walking(Options o, std::int64_t outside) {
  choose(o, kOutside, outside);
  return o;
}

Recording mixed_recording(DType dtype = DType::f32, std::int64_t outside = kKeysOutside) {
  Problem p = mixed();
  p.dtype = dtype;
  return recorded(p, walking(tile(4, 4), outside), inputs_for(p, 3));
}

EventIndex first_of(const Recording& rec, std::string_view phase) {
  const auto at = std::ranges::find(rec.events, *phase_named(phase), [](const Event& e) { return e.id.phase; });
  EXPECT_NE(at, rec.events.end()) << phase;
  return static_cast<EventIndex>(at - rec.events.begin());
}

TEST(BackwardRecording, IsCheckedAndReplayedBitForBit) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const std::int64_t outside : kLoopsOutside) {
      const Recording rec = mixed_recording(dtype, outside);
      EXPECT_EQ(name_of(rec.order), outside == kKeysOutside ? "backward" : "backward-queries");
      const auto good = check_recording(rec, "backward");
      ASSERT_TRUE(good) << good.error().message;
      const auto difference = replay(rec);
      EXPECT_FALSE(difference) << (difference ? difference->words : "");
    }
  }
}

TEST(BackwardRecording, HasTheKernelsOwnBitsWhereOneChunkWalks) {
  Problem p = mixed();
  p.B = 16;
  p.Hq = p.Hkv = 4;  // so many heads that each is one chunk
  p.mask.key_lengths.clear();
  const Inputs in = inputs_for(p, 5);
  for (const std::int64_t outside : kLoopsOutside) {
    const Options o = walking(tile(4, 4), outside);
    const Recording rec = recorded(p, o, in);
    const auto run = run_on_cpu(kernel(), p, o, in, 0, {});
    ASSERT_TRUE(run);
    EXPECT_TRUE(same_bits(rec.outputs, *run));
  }
}

// Each sum takes its parts in the same sequence.
TEST(BackwardRecording, BothLoopsGiveTheSameBits) {
  for (const DType dtype : {DType::f32, DType::bf16})
    EXPECT_TRUE(
        same_bits(mixed_recording(dtype, kKeysOutside).outputs, mixed_recording(dtype, kQueriesOutside).outputs));
}

TEST(BackwardRecording, IsRightByTheRule) {
  const Recording rec = mixed_recording();
  const RowSample sample = choose_rows(rec.problem, true);
  const auto reference = reference_rows(rec.problem, rec.inputs, sample.rows, 2, {});
  ASSERT_TRUE(reference);
  const Verdict v = judge(rec.problem, rec.inputs, *reference, rec.outputs, sample);
  EXPECT_TRUE(v.pass) << v.reason;
}

TEST(BackwardRecording, EachPhaseStandsWhereTheWalkHasIt) {
  Problem p = mixed();
  p.softcap.reset();
  p.alibi.reset();
  p.B = p.Hq = p.Hkv = 1;
  p.mask = {};
  p.Lq = 8;
  p.Lk = 4;
  const auto walk_of = [](const Recording& rec) {
    std::string walk;
    for (const Event& e : rec.events) walk += std::string(name_of(e.id.phase)) + " ";
    return walk;
  };
  const std::string products =
      "scores weights_again value_gradient weight_gradient score_gradient key_gradient query_gradient ";
  EXPECT_EQ(walk_of(recorded(p, tile(4, 4), inputs_for(p, 1))), "load_o row_dots load_o row_dots load_kv load_rows " +
                                                                    products + "load_rows " + products +
                                                                    "store_dkv store_dq store_dq ");
  p.Lq = 4;
  p.Lk = 8;
  EXPECT_EQ(walk_of(recorded(p, walking(tile(4, 4), kQueriesOutside), inputs_for(p, 1))),
            "load_o row_dots load_rows load_kv " + products + "load_kv " + products + "store_dq store_dkv store_dkv ");
}

TEST(BackwardRecording, EveryNumberOfEveryStepLiesWithinItsBoundOfFp64) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (const std::int64_t outside : kLoopsOutside) expect_exact(mixed_recording(dtype, outside));
}

// A bound that holds everything says nothing: of a plain problem each is a few units in the last place of its size.
TEST(BackwardRecording, BoundsAreTight) {
  Problem p;
  p.pass = Pass::backward;
  p.Lq = p.Lk = 16;
  p.D = p.Dv = 4;
  const Recording rec = recorded(p, tile(4, 4), inputs_for(p, 2));
  const ExactTile exact(rec, 0, 0, 2);
  for (const char* slot : {"delta", "dp", "ds", "dq", "dk", "dv"}) {
    double largest = 0, bound = 0;
    for (VersionId v = 0; v < rec.versions.size(); ++v) {
      if (rec.version(v).slot != *slot_named(slot)) continue;
      for (std::size_t n = 0; n < rec.values(v).size(); ++n) {
        const auto at = exact.at(v, n);
        if (!at) continue;
        largest = std::max(largest, std::fabs(at->exact));
        bound = std::max(bound, at->bound);
      }
    }
    EXPECT_GT(largest, 0) << slot;
    EXPECT_GT(bound, 0) << slot;
    EXPECT_LT(bound, 3e-5 * std::max(largest, 1.0)) << slot;
  }
}

TEST(BackwardRecording, EveryNumberOfRandomProblemsLiesWithinItsBoundOfFp64) {
  const std::int32_t wanted = test::asked("ATTNSCOPE_LONG_TESTS") ? 200 : 12;
  std::int32_t n = 0;
  for (std::uint64_t seed = 0; n < wanted; ++seed) {
    Problem p;
    p.pass = Pass::backward;
    const auto draw = [&, x = seed * 2654435761U + 12345]() mutable {
      x = x * 6364136223846793005ULL + 1442695040888963407ULL;
      return static_cast<std::int64_t>(x >> 33U);
    };
    auto next = draw;
    p.B = 1 + next() % 2;
    p.Hkv = 1 + next() % 2;
    p.Hq = p.Hkv * (1 + next() % 2);
    p.Lq = 1 + next() % 14;
    p.Lk = 1 + next() % 14;
    p.D = 1 + next() % 9;
    p.Dv = 1 + next() % 9;
    p.dtype = static_cast<DType>(next() % 3);
    p.mask.causal = next() % 2 == 0;
    if (next() % 3 == 0) p.mask.window_left = next() % 6;
    if (next() % 3 == 0) {
      for (std::int64_t b = 0; b < p.B; ++b) p.mask.key_lengths.push_back(next() % (p.Lk + 1));
    }
    if (next() % 3 == 0) p.softcap = 1.5;
    if (next() % 3 == 0) p.alibi.emplace();
    if (next() % 3 == 0) p.bias_shape = {1, p.Hq, p.Lq, p.Lk};
    const Options o = tile(static_cast<std::int32_t>(1 + next() % 6), static_cast<std::int32_t>(1 + next() % 6));
    const Inputs in = inputs_for(p, seed);
    for (const std::int64_t outside : kLoopsOutside) {
      const Recording rec = recorded(p, walking(o, outside), in);
      const auto good = check_recording(rec, "random");
      ASSERT_TRUE(good) << describe(p) << ": " << good.error().message;
      const auto difference = replay(rec);
      ASSERT_FALSE(difference) << describe(p) << ": " << difference->words;
      expect_exact(rec);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
    ++n;
  }
}

TEST(BackwardRecording, AnyChangedNumberIsFoundByTheReplay) {
  for (const char* slot : {"delta", "p", "dp", "ds", "dv", "dk", "dq"}) {
    Recording rec = mixed_recording();
    const auto at = std::ranges::find(rec.versions, *slot_named(slot), &Version::slot);
    ASSERT_NE(at, rec.versions.end());
    rec.arena[at->offset] += 0.5F;
    const auto difference = replay(rec);
    ASSERT_TRUE(difference) << slot;
    EXPECT_EQ(name_of(difference->slot), slot) << difference->words;
    EXPECT_EQ(difference->event, at->made_by);
  }
  Recording rec = mixed_recording();
  rec.outputs.d_k.set(3, rec.outputs.d_k.get(3) + 1);
  const auto difference = replay(rec);
  ASSERT_TRUE(difference);
  EXPECT_EQ(name_of(rec.events[difference->event].id.phase), "store_dkv") << difference->words;
}

TEST(BackwardRecording, BytesOfItsEventsAddUpToItsTileLoads) {
  for (const bool shortened : {false, true}) {
    Problem p = mixed();
    if (!shortened) p.mask.key_lengths.clear();
    for (const std::int64_t outside : kLoopsOutside) {
      const Recording rec = recorded(p, walking(tile(4, 4), outside), inputs_for(p, 4));
      std::uint64_t counted = 0;
      for (const std::uint64_t bytes : rec.events.back().hbm_bytes) counted += bytes;
      EXPECT_EQ(counted, tile_loads(rec.order, 0, rec.problem, rec.options).total());
      EXPECT_EQ(counted, tile_loads(kernel(), rec.problem, rec.options).total());
    }
  }
}

TEST(BackwardRecording, TakesAsManyBytesAsWereForeseen) {
  Problem p = mixed();
  p.mask.key_lengths.clear();
  for (const std::int64_t outside : kLoopsOutside) {
    const Recording rec = recorded(p, walking(tile(4, 4), outside), inputs_for(p, 4));
    EXPECT_EQ(rec.bytes(), recording_bytes(rec.order, rec.problem, rec.options));
  }
  const Recording hidden = mixed_recording();
  EXPECT_LE(hidden.bytes(), recording_bytes(hidden.order, hidden.problem, hidden.options));
}

// 16 x 4, tile 4 x 4, f32. The query tile outside, dQ and delta stay: each of 16 tiles brings K and V, and dK and dV
// come and go.
TEST(BackwardRecording, BytesSayWhatStaysAndWhatComesAndGoes) {
  Problem p;
  p.pass = Pass::backward;
  p.Lq = p.Lk = 16;
  p.D = p.Dv = 4;
  const std::uint64_t tile_bytes = 4 * 4 * 4, column = 4 * 4;
  const auto total = [&](std::int64_t outside) {
    return tile_loads(kernel(), p, walking(tile(4, 4), outside)).total();
  };
  EXPECT_EQ(total(kKeysOutside), 4 * (2 * tile_bytes + column)                        // O, dO, delta
                                     + 4 * (2 * tile_bytes + 2 * tile_bytes)          // K, V, dK, dV
                                     + 16 * (2 * tile_bytes + 2 * column)             // Q, dO, LSE, delta
                                     + 16 * 2 * tile_bytes + 4 * 2 * tile_bytes);     // dQ, and once more
  EXPECT_EQ(total(kQueriesOutside), 4 * (2 * tile_bytes + column)                     // O, dO, delta
                                        + 4 * (tile_bytes + column + tile_bytes)      // Q, LSE, dQ
                                        + 16 * (2 * tile_bytes)                       // K, V
                                        + 16 * 4 * tile_bytes + 4 * 4 * tile_bytes);  // dK, dV, and once more
}

Recording what_if(const Option& option, std::int64_t value, std::int64_t outside) {
  Options o = walking(tile(4, 4), outside);
  choose(o, option, value);
  Problem p = mixed();
  p.softcap.reset();
  return recorded(p, o, inputs_for(p, 3));
}

void expect_found(const Recording& rec, std::string_view phase, std::string_view slot, std::string_view cause) {
  const auto difference = replay(rec);
  EXPECT_FALSE(difference) << (difference ? difference->words : "") << ": a what-if is no fault of the kernel";
  const auto found = first_wrong_of(rec, {});
  ASSERT_TRUE(found && found->has_value());
  EXPECT_EQ(name_of((*found)->id.phase), phase);
  EXPECT_EQ(name_of((*found)->slot), slot);
  EXPECT_NE((*found)->cause.find(cause), std::string::npos) << (*found)->cause;
}

TEST(BackwardRecording, AForgottenDeltaIsHeldAgainstTheRightNumbers) {
  for (const std::int64_t outside : kLoopsOutside) {
    const Recording rec = what_if(kSubtractDelta, 0, outside);
    expect_found(rec, "score_gradient", "ds", "δ is missing");
    EXPECT_EQ(outcome_of(*verdict_of(rec, {})), Outcome::wrong);
    const EventIndex e = first_of(rec, "score_gradient");
    const ExactTile exact(rec, 0, 0, rec.events[e].id.i);
    const VersionId made = rec.after(e, *slot_named("ds"));
    const auto right = exact.at(made, 0);
    ASSERT_TRUE(right);
    EXPECT_GT(std::fabs(static_cast<double>(rec.values(made)[0]) - right->exact), right->bound);
  }
}

TEST(BackwardRecording, AnLseInSixteenBitsIsHeldAgainstTheOneThatWasGiven) {
  for (const std::int64_t outside : kLoopsOutside) {
    for (const DType type : {DType::f16, DType::bf16})
      expect_found(what_if(kLseType, static_cast<std::int64_t>(type), outside), "load_rows", "lse",
                   "LSE is kept in " + std::string(name_of(type)));
  }
}

TEST(BackwardRecording, FileGivesBackWhatWasRecorded) {
  for (const std::int64_t outside : kLoopsOutside) {
    const Recording rec = mixed_recording(DType::f16, outside);
    const TempFolder folder;
    const auto file = folder / "backward.attn";
    const auto written = write_recording(file, rec);
    ASSERT_TRUE(written) << written.error().message;
    const auto read = read_recording(file);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->problem, rec.problem);
    EXPECT_EQ(read->own_after, rec.own_after);
    EXPECT_EQ(read->arena, rec.arena);
    EXPECT_TRUE(same_bits(read->outputs, rec.outputs));
    EXPECT_EQ(*read->inputs.lse, *rec.inputs.lse);
    EXPECT_EQ(*read->inputs.o, *rec.inputs.o);
    EXPECT_EQ(*read->inputs.d_o, *rec.inputs.d_o);
    EXPECT_EQ(read->order, rec.order);
    EXPECT_EQ(read->options, rec.options);
    EXPECT_FALSE(replay(*read));
  }
}

TEST(BackwardRecording, FileOfTheOtherPassIsRefused) {
  Recording rec = mixed_recording();
  rec.problem.pass = Pass::forward;
  const TempFolder folder;
  const auto written = write_recording(folder / "wrong.attn", rec);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("order backward supports only a backward pass in layout bhld"),
            std::string::npos)
      << written.error().message;
  rec = mixed_recording();
  rec.outputs.d_k = Array(DType::f32, {1, 1, 1, 1});
  const auto small = write_recording(folder / "wrong.attn", rec);
  ASSERT_FALSE(small);
  EXPECT_NE(small.error().message.find("dK does not have the problem's shape"), std::string::npos)
      << small.error().message;
}

TEST(BackwardRecording, AStepWithoutWhatItReadsIsRefused) {
  Recording rec = mixed_recording();
  const EventIndex e = first_of(rec, "score_gradient");
  const std::size_t own = order_row(rec.order).own_slots.size();
  rec.own_after[(e - 1) * own + *order_row(rec.order).own(*slot_named("delta"))] = kNoVersion;
  EXPECT_FALSE(check_recording(rec, "backward"));
}

}  // namespace
}  // namespace attn
