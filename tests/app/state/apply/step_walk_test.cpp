// Walking a recording: what each step key reaches, in every order, forwards and backwards.
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "app/state/apply/apply.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/model/ring.h"
#include "kernels/recording/lanes.h"

namespace attn {
namespace {

Recording record(const char* preset, const char* kernel) {
  const Preset& p = **find_preset(preset);
  InputSpec inputs;
  inputs.generator = p.generator;
  inputs.seed = p.seed;
  Options options;
  options.br = p.br;
  options.bc = p.bc;
  const KernelRow& row = **find_kernel(kernel);
  return *row.record(row, p.problem, options, *make_inputs(p.problem, inputs), {});
}

EventIndex last(const Recording& r) {
  return static_cast<EventIndex>(r.events.size() - 1);
}

TEST(StepWalk, PhaseForwardsThenBackwardsVisitsTheSameEventsInEveryOrder) {
  for (const KernelRow& row : cpu_kernel_table()) {
    const Recording r = record("blackboard", std::string(row.id).c_str());
    EventIndex e = 0;
    for (EventIndex want = 1; want <= last(r); ++want) {
      e = step_from(r, e, StepUnit::phase, 1);
      EXPECT_EQ(e, want) << row.id;
    }
    EXPECT_EQ(step_from(r, e, StepUnit::phase, 1), last(r)) << row.id;
    for (EventIndex want = last(r); want-- > 0;) {
      e = step_from(r, e, StepUnit::phase, -1);
      EXPECT_EQ(e, want) << row.id;
    }
    EXPECT_EQ(step_from(r, 0, StepUnit::phase, -1), 0U) << row.id;
  }
}

TEST(StepWalk, KeyTileKeepsThePhaseAndMovesToTheNextJ) {
  const Recording r = record("random", "cpu_flash");
  const EventIndex e = *r.find({0, 0, 1, 1, Phase::weights});
  const EventId next = r.events[step_from(r, e, StepUnit::key_tile, 1)].id;
  EXPECT_EQ(next, (EventId{0, 0, 1, 2, Phase::weights}));
  const EventId before = r.events[step_from(r, e, StepUnit::key_tile, -1)].id;
  EXPECT_EQ(before, (EventId{0, 0, 1, 0, Phase::weights}));
}

TEST(StepWalk, KeyTileAtTheEndOfARowGoesOnWithTheNextQueryTile) {
  const Recording r = record("random", "cpu_flash");
  const EventIndex e = *r.find({0, 0, 1, 3, Phase::sum});
  EXPECT_EQ(r.events[step_from(r, e, StepUnit::key_tile, 1)].id, (EventId{0, 0, 2, 0, Phase::sum}));
}

TEST(StepWalk, KeyTileTakesTheNearestPhaseWhereTheTileLacksIt) {
  const Recording r = record("causal", "cpu_flash");
  // Tile (1, 1) lies on the diagonal and is masked; (1, 0) is not.
  const EventIndex masked = *r.find({0, 0, 1, 1, Phase::mask});
  const EventId before = r.events[step_from(r, masked, StepUnit::key_tile, -1)].id;
  EXPECT_EQ(before.j, 0);
  EXPECT_EQ(before.phase, Phase::scores);
  // (1, 2) is skipped.
  EXPECT_EQ(r.events[step_from(r, masked, StepUnit::key_tile, 1)].id.phase, Phase::skipped);
}

TEST(StepWalk, QueryTileKeepsKeyTileAndPhase) {
  const Recording r = record("random", "cpu_flash");
  const EventIndex e = *r.find({0, 0, 1, 2, Phase::rescale});
  EXPECT_EQ(r.events[step_from(r, e, StepUnit::query_tile, 1)].id, (EventId{0, 0, 2, 2, Phase::rescale}));
  EXPECT_EQ(r.events[step_from(r, e, StepUnit::query_tile, -1)].id, (EventId{0, 0, 0, 2, Phase::rescale}));
}

TEST(StepWalk, QueryTileGoesOnWithTheNextHead) {
  const Recording r = record("heads", "cpu_flash");
  const EventIndex e = *r.find({0, 0, 1, 0, Phase::max});
  EXPECT_EQ(r.events[step_from(r, e, StepUnit::query_tile, 1)].id, (EventId{0, 1, 0, 0, Phase::max}));
}

TEST(StepWalk, Flash1StepsKeyTilesOutsideAndQueryTilesInside) {
  const Recording r = record("random", "cpu_flash1");
  const EventIndex e = *r.find({0, 0, 1, 0, Phase::weights});
  EXPECT_EQ(r.events[step_from(r, e, StepUnit::query_tile, 1)].id, (EventId{0, 0, 2, 0, Phase::weights}));
  EXPECT_EQ(r.events[step_from(r, e, StepUnit::key_tile, 1)].id, (EventId{0, 0, 1, 1, Phase::weights}));
}

TEST(StepWalk, TilesCanBeWalkedFromOneEndToTheOtherInEveryOrder) {
  for (const KernelRow& row : cpu_kernel_table()) {
    const Recording r = record("causal", std::string(row.id).c_str());
    for (const StepUnit unit : {StepUnit::key_tile, StepUnit::query_tile}) {
      EventIndex e = 0;
      std::size_t steps = 0;
      for (EventIndex next = step_from(r, e, unit, 1); next != e; next = step_from(r, e, unit, 1)) {
        e = next;
        ASSERT_LT(++steps, r.events.size()) << row.id << ": goes round in circles";
      }
      EXPECT_GE(r.events[e].id.i, r.query_tiles() - 1) << row.id;
    }
  }
}

Recording ring_of_four(Pass pass = Pass::forward) {
  Problem p;
  p.pass = pass;
  p.Lq = p.Lk = 16;
  p.D = p.Dv = 4;
  p.mask.causal = true;
  Options o;
  o.br = o.bc = 2;
  choose(o, kRanks, 4);
  choose(o, kDeal, 1);
  InputSpec inputs;
  inputs.generator = Generator::normal;
  const KernelRow& row = **find_kernel(pass == Pass::forward ? "cpu_flash" : "cpu_flash_bwd");
  return *row.record(row, p, o, *make_all_inputs(p, inputs, in_turn, 0, Stream{}), {});
}

// One press is a phase of all ranks: the cursor stands where the last of them has done it.
void expect_phases_of_all_ranks(const Recording& r) {
  const auto ranks_of_phase = [&](EventIndex e) {
    std::set<std::int64_t> ranks;
    for (EventIndex n = e + 1; n-- > 0 && r.events[n].id.phase == r.events[e].id.phase;) ranks.insert(*r.lane_of(n));
    return ranks.size();
  };
  std::vector<EventIndex> stops{0};
  for (EventIndex e = step_from(r, 0, StepUnit::phase, 1); e != stops.back(); e = step_from(r, e, StepUnit::phase, 1))
    stops.push_back(e);
  EXPECT_EQ(stops.back(), last(r));
  EXPECT_LT(stops.size() * 3, r.events.size());
  EXPECT_EQ(ranks_of_phase(stops[1]), 4U) << name_of(r.events[stops[1]].id.phase);
  for (std::size_t n = 1; n + 1 < stops.size(); ++n)
    EXPECT_TRUE(r.events[stops[n]].id.phase != r.events[stops[n] + 1].id.phase ||
                turn_of(r, r.events[stops[n]].id) != turn_of(r, r.events[stops[n] + 1].id));
  EventIndex back = last(r);
  for (std::size_t n = stops.size() - 1; n-- > 1;) {
    back = step_from(r, back, StepUnit::phase, -1);
    EXPECT_EQ(back, stops[n]);
  }
}

TEST(StepWalk, InARingAllRanksDoAPhaseAtOnce) {
  expect_phases_of_all_ranks(ring_of_four());
  expect_phases_of_all_ranks(ring_of_four(Pass::backward));
}

void expect_turns_and_single_ranks(const Recording& r) {
  std::vector<std::int64_t> turns;
  for (EventIndex e = 0;;) {
    turns.push_back(turn_of(r, r.events[e].id));
    const EventIndex next = step_from(r, e, StepUnit::key_tile, 1);
    if (next == e || next == last(r)) break;
    e = next;
  }
  EXPECT_EQ(turns, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EventIndex e = *r.find({0, 0, 3, 3, Phase::scores});  // rank 3 with its own keys
  const EventIndex in_turn_1 = step_from(r, e, StepUnit::key_tile, 1);
  EXPECT_EQ(turn_of(r, r.events[in_turn_1].id), 1);
  EXPECT_EQ(turn_of(r, r.events[step_from(r, in_turn_1, StepUnit::key_tile, -1)].id), 0);
  EXPECT_EQ(step_from(r, 5, StepUnit::query_tile, 1), 6U);
  EXPECT_EQ(step_from(r, 5, StepUnit::query_tile, -1), 4U);
}

TEST(StepWalk, InARingShiftGoesByTurnsAndCtrlByOneRank) {
  expect_turns_and_single_ranks(ring_of_four());
  expect_turns_and_single_ranks(ring_of_four(Pass::backward));
}

}  // namespace
}  // namespace attn
