// Walking a recording: what each step key reaches, in every order, forwards and backwards.
#include <gtest/gtest.h>

#include "app/state/apply/apply.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"

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

}  // namespace
}  // namespace attn
