// The order "hopper": the steps of a run in the order in which a recorded block took them; right, replayed bit for bit,
// kept in a file, every number within its bound of fp64 and that of the same run in flash order.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/run.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/traffic.h"
#include "kernels/museum/right_run.h"
#include "kernels/museum/run_verdict.h"
#include "kernels/orders/hopper/derived.h"
#include "kernels/orders/hopper/moments.h"
#include "kernels/orders/hopper/names.h"
#include "kernels/orders/hopper/recorded.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/replay/exact.h"
#include "kernels/recording/replay/replay.h"
#include "kernels/recording/size.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

using orders::hopper::RingSlot;
using orders::hopper::SlotState;

const KernelRow& kernel() {
  return **find_kernel("cpu_flash");
}

Inputs inputs_for(const Problem& p, std::uint64_t seed = 1) {
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = seed;
  return *make_inputs(p, spec);
}

Problem problem(std::int64_t keys = 32, DType dtype = DType::f32) {
  Problem p;
  p.Lq = 4;
  p.Lk = keys;
  p.D = p.Dv = 4;
  p.dtype = dtype;
  return p;
}

Options followed(bool follow = true, std::int32_t br = 2, std::int32_t bc = 4) {
  Options o;
  o.br = br;
  o.bc = bc;
  if (follow) choose(o, kPipeline, 1);
  return o;
}

Recording recorded(const Problem& p, const Options& o, const Inputs& in) {
  auto rec = kernel().record(kernel(), p, o, in, {});
  EXPECT_TRUE(rec) << describe(p) << ": " << (rec ? "" : rec.error().message);
  return *std::move(rec);
}

// Batches, heads that share keys, ragged tiles, keys that some row does not see, a softcap.
Problem mixed(DType dtype) {
  Problem p;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 7;
  p.Lk = 20;
  p.D = 6;
  p.Dv = 5;
  p.dtype = dtype;
  p.mask.key_lengths = {20, 19};
  p.softcap = 3;
  return p;
}

TEST(HopperRecording, IsCheckedReplayedAndHasTheKernelsOwnBits) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Problem p = mixed(dtype);
    const Inputs in = inputs_for(p, 3);
    for (const KeyOrder keys : {KeyOrder::left_to_right, KeyOrder::right_to_left}) {
      Options o = followed(true, 4, 3);
      o.key_order = keys;
      const Recording rec = recorded(p, o, in);
      EXPECT_EQ(name_of(rec.order), "hopper");
      const auto good = check_recording(rec, "hopper");
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

// m, alpha, P, l and O of each tile are bit for bit those of the run that nobody pipelined.
TEST(HopperRecording, EveryNumberIsThatOfTheSameRunInFlashOrder) {
  const Problem p = mixed(DType::f16);
  const Inputs in = inputs_for(p, 5);
  const Recording rec = recorded(p, followed(true, 4, 3), in), flash = recorded(p, followed(false, 4, 3), in);
  std::size_t compared = 0;
  for (EventIndex e = 0; e < flash.events.size(); ++e) {
    const EventId& id = flash.events[e].id;
    if (id.phase == Phase::load_kv) continue;
    const auto at = rec.find(id);
    ASSERT_TRUE(at) << name_of(id.phase);
    for (const Slot slot : {Slot::q, Slot::s, Slot::p, Slot::m_old, Slot::m_new, Slot::alpha, Slot::l_old, Slot::l_new,
                            Slot::o_old, Slot::o_new, Slot::lse}) {
      const VersionId a = flash.after(e, slot), b = rec.after(*at, slot);
      ASSERT_EQ(a == kNoVersion, b == kNoVersion) << name_of(id.phase) << " " << name_of(slot);
      if (a == kNoVersion) continue;
      const auto x = flash.values(a), y = rec.values(b);
      ASSERT_TRUE(std::equal(x.begin(), x.end(), y.begin(), y.end()));
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000U);
}

// Every number on show at any step.
TEST(HopperRecording, EveryNumberAtEveryStepIsWithinItsBoundOfFp64) {
  for (const Problem& p : {problem(), mixed(DType::bf16)}) {
    const Recording rec = recorded(p, followed(true, p.Lq == 4 ? 2 : 4, p.Lq == 4 ? 4 : 3), inputs_for(p, 2));
    std::size_t held = 0;
    for (std::int32_t b = 0; b < p.B; ++b) {
      for (std::int32_t h = 0; h < p.Hq; ++h) {
        for (std::int32_t i = 0; i < rec.query_tiles(); ++i) {
          const ExactTile exact(rec, b, h, i);
          for (VersionId v = 0; v < rec.versions.size(); ++v) {
            const Version& version = rec.version(v);
            const EventId& made = rec.events[version.made_by].id;
            if (is_input(version.slot) || made_as(version.slot) != version.slot) continue;
            if (made.b != b || made.h != h || made.i != i) continue;
            const auto values = rec.values(v);
            for (std::size_t n = 0; n < values.size(); ++n) {
              const auto at = exact.at(v, n);
              ASSERT_TRUE(at) << name_of(version.slot) << " of step " << version.made_by + 1;
              ++held;
              if (std::isinf(at->exact) && static_cast<double>(values[n]) == at->exact) continue;
              EXPECT_LE(std::fabs(static_cast<double>(values[n]) - at->exact), at->bound) << name_of(version.slot);
            }
          }
        }
      }
    }
    EXPECT_GT(held, 400U);
  }
}

TEST(HopperRecording, TakesAsManyBytesAsWereForeseenAndAsksForEachKeyTileOnceForBothConsumers) {
  const Problem p = problem();
  const Recording rec = recorded(p, followed(), inputs_for(p));
  EXPECT_EQ(rec.bytes(), recording_bytes(rec.order, rec.problem, rec.options));
  std::uint64_t counted = 0;
  for (const std::uint64_t bytes : rec.events.back().hbm_bytes) counted += bytes;
  EXPECT_EQ(counted, tile_loads(rec.order, 0, rec.problem, rec.options).total());
  const Traffic flash = tile_loads(Order::flash, 0, rec.problem, rec.options);
  EXPECT_EQ(2 * rec.events.back().hbm_bytes[static_cast<std::size_t>(TrafficPart::k)], flash.of(TrafficPart::k));
  EXPECT_EQ(rec.events.back().hbm_bytes[static_cast<std::size_t>(TrafficPart::q)], flash.of(TrafficPart::q));
}

TEST(HopperRecording, GoesIntoAFileAndComesBack) {
  const TempFolder folder;
  const Problem p = problem(16);
  const Recording rec = recorded(p, followed(), inputs_for(p));
  const auto path = folder.path() / "hopper.attn";
  const auto written = write_recording(path, rec);
  ASSERT_TRUE(written) << written.error().message;
  const auto read = read_recording(path);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->events.size(), rec.events.size());
  EXPECT_EQ(name_of(read->order), "hopper");
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    EXPECT_EQ(read->events[e].id, rec.events[e].id);
    EXPECT_EQ(read->lane_of(e), rec.lane_of(e));
  }
  EXPECT_FALSE(replay(*read));
}

// The steps are those of the recorded block, none more and none in another place.
TEST(HopperRecording, StepsStandInTheOrderOfTheRecordedMoments) {
  const Problem p = problem();
  const Recording rec = recorded(p, followed(), inputs_for(p));
  std::int32_t before = 0;
  std::map<std::int32_t, int> stamps;
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const auto moment = orders::hopper::moment_of(rec, e);
    EXPECT_EQ(moment.id, rec.events[e].id);
    EXPECT_GE(moment.at, before);
    before = moment.at;
    ++stamps[moment.at];
  }
  // Each stamp of the block is a step or some.
  for (const auto& stamp : orders::hopper::recorded_block().stamps) EXPECT_GE(stamps[stamp.at], 1) << stamp.at;
  EXPECT_EQ(stamps.size(), orders::hopper::recorded_block().stamps.size());
}

// What is in flight has no number: S from its issue until it comes, and K and V before they have landed.
TEST(HopperRecording, WhatIsInFlightIsNotThere) {
  const Problem p = problem();
  const Recording rec = recorded(p, followed(), inputs_for(p));
  const auto& n = orders::hopper_names();
  std::size_t flights = 0;
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const Phase phase = rec.events[e].id.phase;
    const auto there = [&](Slot s) { return rec.after(e, s) != kNoVersion; };
    const bool of_s = phase == n.issue_s || phase == n.wait_s, of_o = phase == n.issue_o || phase == n.wait_o;
    flights += of_s || of_o ? 1 : 0;
    EXPECT_FALSE(of_s && there(Slot::s));
    EXPECT_FALSE(of_o && (!there(Slot::v) || there(Slot::o_new)));
    EXPECT_FALSE(phase == n.wait_k && there(Slot::k));
    EXPECT_FALSE(phase == n.wait_turn && !there(Slot::k));
    EXPECT_FALSE(phase == n.wait_v && there(Slot::v));
    EXPECT_FALSE((phase == n.ask_k || phase == n.ask_v) && (there(Slot::k) || there(Slot::v)));
  }
  EXPECT_EQ(flights, 4U * 2U * 8U);
}

// Never more tiles than slots, none asked for before both consumers have let the one before go, none read before it is
// asked for; at the end all are free.
TEST(HopperRecording, TheRingHoldsEachTileFromItsAskingUntilBothConsumersLetItGo) {
  for (const std::int64_t keys : {16, 32}) {
    const Problem p = problem(keys);
    const Recording rec = recorded(p, followed(), inputs_for(p));
    std::vector<RingSlot> before(4);
    int asked = 0, freed = 0;
    for (EventIndex e = 0; e < rec.events.size(); ++e) {
      const auto ring = orders::hopper::ring_after(rec, e);
      ASSERT_EQ(ring.size(), 4U);
      for (std::size_t s = 0; s < ring.size(); ++s) {
        const bool begins = ring[s].state == SlotState::asked && before[s].state != SlotState::asked;
        const bool ends = before[s].state != SlotState::free && ring[s].state == SlotState::free;
        asked += begins ? 1 : 0;
        freed += ends ? 1 : 0;
        EXPECT_TRUE(!begins || before[s].state == SlotState::free) << "step " << e + 1;
        EXPECT_TRUE(!ends || before[s].let_go == 1) << "step " << e + 1;
        EXPECT_LT(ring[s].let_go, 2);
      }
      before = ring;
    }
    EXPECT_EQ(asked, 2 * keys / 4);
    EXPECT_EQ(freed, asked);
  }
}

// What a slot says of itself by hand: the step of a change is the step after which it is another one.
TEST(HopperRecording, ASlotKnowsTheStepsThatItChangedWith) {
  const Problem p = problem();
  const Recording rec = recorded(p, followed(), inputs_for(p));
  std::vector<RingSlot> before(4);
  std::vector<std::optional<EventIndex>> since(4), filled(4);
  std::array<std::vector<EventIndex>, 4> came;  // by state
  for (EventIndex e = 0; e < rec.events.size(); ++e) {
    const auto ring = orders::hopper::ring_after(rec, e);
    for (std::size_t n = 0; n < ring.size(); ++n) {
      if (ring[n].state != before[n].state) {
        since[n] = e;
        if (ring[n].state <= SlotState::asked) filled[n].reset();
        if (ring[n].state > SlotState::asked && !filled[n]) filled[n] = e;
        came.at(static_cast<std::size_t>(ring[n].state)).push_back(e);
      }
      ASSERT_EQ(ring[n].since, since[n]) << "slot " << n << " step " << e + 1;
      ASSERT_EQ(ring[n].filled, filled[n]) << "slot " << n << " step " << e + 1;
    }
    before = ring;
  }
  for (const SlotState state : {SlotState::free, SlotState::asked, SlotState::landed, SlotState::read}) {
    const std::vector<EventIndex>& steps = came.at(static_cast<std::size_t>(state));
    ASSERT_FALSE(steps.empty());
    EXPECT_EQ(orders::hopper::slot_becomes(rec, 0, state), steps.front() > 0 ? steps.front() : steps.at(1));
    EXPECT_EQ(orders::hopper::slot_becomes(rec, steps.front(), state), steps.at(1));
    EXPECT_EQ(orders::hopper::slot_becomes(rec, steps.back(), state), steps.front()) << "from the end to the first";
  }
}

TEST(HopperRecording, FewerKeyTilesAreThoseThatTheBlockVisitedFirst) {
  const Problem whole = problem(), part = problem(16);
  const Recording all = recorded(whole, followed(), inputs_for(whole)),
                  few = recorded(part, followed(), inputs_for(part));
  std::vector<std::pair<EventId, std::int32_t>> expected, found;
  for (EventIndex e = 0; e < all.events.size(); ++e)
    if (all.events[e].id.j < 4) expected.emplace_back(all.events[e].id, orders::hopper::moment_of(all, e).at);
  for (EventIndex e = 0; e < few.events.size(); ++e)
    found.emplace_back(few.events[e].id, orders::hopper::moment_of(few, e).at);
  EXPECT_EQ(found, expected);
}

// The rules of the pipeline explain the block: run again with nothing changed, no stamp lies elsewhere by more than a
// tenth of a key tile, and the block takes what it took.
TEST(DerivedBlock, RunAgainWithNothingChangedIsTheRecordedOne) {
  using namespace orders::hopper;
  const RecordedBlock& block = recorded_block();
  const std::vector<Stamp> again = run_again(block, Followed::recorded);
  ASSERT_EQ(again.size(), block.stamps.size());
  constexpr int kTile = 2911;  // clocks between two maxima of a consumer
  double off = 0;
  for (const Stamp& s : block.stamps) {
    const auto at = std::ranges::find_if(
        again, [&](const Stamp& x) { return x.state == s.state && x.consumer == s.consumer && x.visit == s.visit; });
    ASSERT_NE(at, again.end());
    EXPECT_EQ(at->slot, s.slot);
    EXPECT_LT(std::abs(at->at - s.at), kTile / 10) << s.at;
    off += std::abs(at->at - s.at);
  }
  EXPECT_LT(off / static_cast<double>(block.stamps.size()), 0.03 * kTile);
  EXPECT_NEAR(again.back().at, block.stamps.back().at, 0.005 * block.clocks);
}

Options derived(orders::hopper::Followed change) {
  Options o = followed();
  choose(o, kPipeline, static_cast<std::int64_t>(change));
  return o;
}

// Right, replayed bit for bit, with the recorded run's numbers; a ring of two holds each tile until both let it go.
TEST(DerivedBlock, IsARunLikeAnyOtherWithTheSameNumbers) {
  using namespace orders::hopper;
  const Problem p = problem();
  const Inputs in = inputs_for(p);
  const Recording plain = recorded(p, followed(), in);
  for (const Followed change : {Followed::one_slot, Followed::late_load, Followed::no_turns}) {
    const Recording rec = recorded(p, derived(change), in);
    EXPECT_EQ(name_of(rec.order), "hopper");
    const auto good = check_recording(rec, "derived");
    ASSERT_TRUE(good) << good.error().message;
    EXPECT_FALSE(replay(rec));
    EXPECT_TRUE(same_bits(rec.outputs, plain.outputs));
    const std::size_t turns = change == Followed::no_turns ? 16 : 0;  // of two consumers, eight key tiles each
    EXPECT_EQ(rec.events.size() + turns, plain.events.size());
    const std::size_t slots = change == Followed::one_slot ? 2 : 4;
    std::vector<RingSlot> before(slots);
    int asked = 0, freed = 0;
    for (EventIndex e = 0; e < rec.events.size(); ++e) {
      const auto ring = ring_after(rec, e);
      ASSERT_EQ(ring.size(), slots);
      for (std::size_t s = 0; s < slots; ++s) {
        const bool begins = ring[s].state == SlotState::asked && before[s].state != SlotState::asked;
        const bool ends = before[s].state != SlotState::free && ring[s].state == SlotState::free;
        asked += begins ? 1 : 0;
        freed += ends ? 1 : 0;
        EXPECT_TRUE(!begins || before[s].state == SlotState::free) << "step " << e + 1;
        EXPECT_TRUE(!ends || before[s].let_go == 1) << "step " << e + 1;
      }
      before = ring;
    }
    EXPECT_EQ(asked, 16);
    EXPECT_EQ(freed, 16);
  }
}

// What the change is shows in the steps, and the block takes longer by it.
TEST(DerivedBlock, OneSlotIsAskedForWhenItIsFreeAndALateLoadWhenItIsWaitedFor) {
  using namespace orders::hopper;
  const auto& n = orders::hopper_names();
  const Problem p = problem();
  const Inputs in = inputs_for(p);
  const Recording plain = recorded(p, followed(), in), one = recorded(p, derived(Followed::one_slot), in),
                  late = recorded(p, derived(Followed::late_load), in);
  const auto step = [](const Recording& rec, std::int32_t i, std::int32_t j, Phase phase) {
    return rec.find({0, 0, i, j, phase}).value();
  };
  // With two slots K 1 is asked for long before anybody has S 0; with one both must have it.
  EXPECT_LT(step(plain, -1, 1, n.ask_k), step(plain, 0, 0, Phase::scores));
  for (std::int32_t j = 1; j < 8; ++j)
    for (std::int32_t i = 0; i < 2; ++i) {
      EXPECT_GT(step(one, -1, j, n.ask_k), step(one, i, j - 1, Phase::scores)) << j;
      EXPECT_GT(step(one, -1, j, n.ask_v), step(one, i, j - 1, Phase::output)) << j;
    }
  // The late one is asked for behind the first consumer that waits for it, the others before.
  const auto first_wait = [&](const Recording& rec, std::int32_t j) {
    return std::min(step(rec, 0, j, n.wait_k), step(rec, 1, j, n.wait_k));
  };
  for (std::int32_t j = 0; j < 8; ++j) {
    EXPECT_EQ(step(late, -1, j, n.ask_k) > first_wait(late, j), j == kLateVisit) << j;
    EXPECT_LT(step(plain, -1, j, n.ask_k), first_wait(plain, j)) << j;
  }
  const auto length = [](const Recording& rec) {
    return moment_of(rec, static_cast<EventIndex>(rec.events.size() - 1)).at;
  };
  EXPECT_GT(length(one), 1.05 * length(plain));
  EXPECT_GT(length(late), 1.02 * length(plain));
  EXPECT_LT(length(one), 2 * length(plain));
  EXPECT_LT(length(late), length(plain) + 3 * 2911);
  EXPECT_EQ(followed_block(followed()).stamps.data(), recorded_block().stamps.data()) << "recorded, untouched";
}

TEST(HopperRecording, WhatTheBlockDidNotDoIsRefusedWithWhatWouldDo) {
  const auto refused = [](const Problem& p, const Options& o) {
    const auto rec = kernel().record(kernel(), p, o, inputs_for(p), {});
    return rec ? std::string("recorded") : rec.error().message;
  };
  EXPECT_NE(refused(problem(), followed(true, 4)).find("make 1. Use Br = 2."), std::string::npos);
  EXPECT_NE(refused(problem(), followed(true, 1)).find("make 4. Use Br = 2."), std::string::npos);
  EXPECT_NE(refused(problem(), followed(true, 2, 3)).find("make 11. Use Bc = 4."), std::string::npos);
  Problem causal = problem();
  causal.mask.causal = true;
  causal.Lk = 4;
  EXPECT_NE(refused(causal, followed(true, 2, 2)).find("Use a problem without a mask"), std::string::npos);
  Options split = followed();
  choose(split, kSplits, 2);
  EXPECT_NE(refused(problem(), split).find("Use splits=1."), std::string::npos);
}

}  // namespace
}  // namespace attn
