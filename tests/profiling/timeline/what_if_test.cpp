// What another number of slots would bring, told from a recording: against a machine that is run with that number, and
// against runs of the GPU in the recordings that come with the program.
#include "profiling/timeline/what_if.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "tests/profiling/timeline/machine.h"

namespace attn {
namespace {

Timeline recorded(test::Machine m, int slots) {
  m.slots = slots;
  Timeline t = test::run(m);
  t.options.stages = slots;
  t.options.bc = 128;  // 64 x 128 x 128 takes 512 clocks
  return t;
}
double length(const Timeline& t) {
  return static_cast<double>(t.blocks[0].end_clock - t.blocks[0].start_clock);
}

TEST(MoreSlots, AreToldAsTheMachineTakesThem) {
  test::Machine slow;
  slow.copy = 1500;
  slow.consumers = 2;
  slow.tiles = 32;
  const Timeline two = recorded(slow, 2);
  const auto p = pipeline_of(two, 0);
  ASSERT_TRUE(p) << p.error().message;
  for (const int slots : {3, 4, 6}) {
    const double really = length(recorded(slow, slots)) / length(two);
    const auto told = with_slots(two, *p, slots);
    ASSERT_TRUE(told);
    // Its products queue, by the second rule; the first is as far off as is told.
    EXPECT_NEAR(told->share, really, told->off + 0.02) << slots;
    EXPECT_NEAR(told->share - told->off, really, 0.3 * (1 - really)) << slots;
    EXPECT_LT(told->share, 0.95);
  }
  const auto same = with_slots(two, *p, 2);
  ASSERT_TRUE(same);
  EXPECT_NEAR(same->share, 1, 1e-4);
}

TEST(MoreSlots, BringNothingWhereNobodyWaitsForCopies) {
  test::Machine fast;
  fast.copy = 100;
  fast.tiles = 32;
  const Timeline t = recorded(fast, 4);
  const auto p = pipeline_of(t, 0);
  ASSERT_TRUE(p);
  const auto told = with_slots(t, *p, 5);
  if (told) {
    EXPECT_NEAR(told->share, 1, told->off + 0.02);
  }
  // With more slots than it ran with, no rule explains its stalls.
  test::Machine slow;
  slow.copy = 6000;
  slow.tiles = 32;
  Timeline strange = recorded(slow, 2);
  strange.options.stages = 6;
  const auto q = pipeline_of(strange, 0);
  ASSERT_TRUE(q);
  EXPECT_FALSE(with_slots(strange, *q, 7));
}

// One time for all copies would put the stalls of the late ones into the products, and three consumers would gain
// nothing.
TEST(MoreSlots, AreToldWhereSomeCopiesComeLate) {
  for (const int consumers : {2, 3}) {
    test::Machine uneven;
    uneven.copy = 1000;
    uneven.late = 1200;
    uneven.consumers = consumers;
    uneven.tiles = 64;
    const Timeline two = recorded(uneven, 2);
    const auto p = pipeline_of(two, 0);
    ASSERT_TRUE(p) << p.error().message;
    const double really = 1 - length(recorded(uneven, 3)) / length(two);
    EXPECT_GT(really, 0.05) << consumers;
    const auto told = with_slots(two, *p, 3);
    ASSERT_TRUE(told) << consumers;
    EXPECT_NEAR(1 - told->share, really, told->off + 0.02) << consumers;
    EXPECT_NEAR(1 - told->share + told->off, really, std::max(0.02, 0.3 * really)) << consumers;
  }
}

// Half of the copies come long before anybody looks: they say only that a copy takes no longer than that.
TEST(Copies, TakeTheMedianOfAllNotOfThoseThatWereWaitedFor) {
  test::Machine m;
  m.copy = 1500;
  m.tiles = 32;
  const Timeline t = recorded(m, 2);
  auto p = pipeline_of(t, 0);
  ASSERT_TRUE(p);
  EXPECT_NEAR(copy_of(t, *p).value_or(0), 1500, 1);
  // Those that were waited for took 1500 or 3000, the rest at most 1600: the middle of the former would be 3000.
  for (std::size_t n = 0; n < p->slots.size(); ++n) {
    SlotUse& use = p->slots[n];
    const std::int64_t took = n % 8 < 3 ? 3000 : n % 8 == 3 ? 1500 : 1600;
    use.asked = use.landed - took;
    if (n % 8 > 3) use.readers.clear();  // nobody was seen to wait
  }
  EXPECT_NEAR(copy_of(t, *p).value_or(0), 1500, 1);
}

TEST(Turns, AreToldAsTheMachineTakesThemWhereNoneAreTaken) {
  const auto session = read_session(test::source_folder() + "/assets/sessions/h100-turns-timeline.attn");
  ASSERT_TRUE(session) << session.error().message;
  const Timeline &without = session->timelines.at(0), &with = session->timelines.at(1);
  const double measured = 1 - with.plain_us / without.plain_us;
  for (const std::int32_t row : detailed_blocks(without)) {
    const auto p = pipeline_of(without, row);
    ASSERT_TRUE(p);
    const auto told = with_turns(without, *p);
    ASSERT_TRUE(told) << row;
    EXPECT_NEAR(1 - told->share, measured, 0.02) << row;
  }
  const auto taken = pipeline_of(with, detailed_blocks(with).front());
  ASSERT_TRUE(taken);
  EXPECT_FALSE(with_turns(with, *taken)) << "they take turns already";
  // A rule more makes nothing shorter; and a machine that hands over in turn anyway hardly takes longer by it.
  test::Machine m;
  m.copy = 1500;
  m.tiles = 32;
  const Timeline machine = recorded(m, 2);
  const auto p = pipeline_of(machine, 0);
  ASSERT_TRUE(p);
  const auto same = with_turns(machine, *p);
  ASSERT_TRUE(same);
  EXPECT_NEAR(same->share, 1, same->off + 0.02);
  EXPECT_GT(same->share, 1 - 1e-9);
}

TEST(BlocksThatStay, SaveWhatLiesBetweenBlocksAndBeforeTheFirstCopy) {
  Timeline t = recorded({}, 4);
  const auto p = pipeline_of(t, 0);
  ASSERT_TRUE(p);
  EXPECT_FALSE(with_blocks_that_stay(t, *p)) << "each SM ran one block";
  // A second block on the first one's SM, as long, 500 clocks later.
  const TimedBlock first = t.blocks[0];
  t.blocks[1] = first;
  t.blocks[1].block = 1;
  t.blocks[1].start_clock = first.end_clock + 500;
  t.blocks[1].end_clock = t.blocks[1].start_clock + p->length();
  constexpr double kSetUp = 40;  // of the machine
  const double all = 2 * static_cast<double>(p->length()) + 500;
  const auto told = with_blocks_that_stay(t, *p);
  ASSERT_TRUE(told);
  EXPECT_NEAR(*told, 1 - (500 + kSetUp) / all, 0.001);
}

}  // namespace
}  // namespace attn
