// What another number of slots would bring, told from a recording: against a machine that is run with that number, and
// against runs of the GPU in the recordings that come with the program.
#include "profiling/timeline/what_if.h"

#include <algorithm>

#include <gtest/gtest.h>

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
    EXPECT_NEAR(*told, really, std::max(0.02, 0.3 * (1 - really))) << slots;
    EXPECT_LT(*told, 0.9);
  }
  EXPECT_NEAR(with_slots(two, *p, 2).value_or(0), 1, 1e-4);
}

TEST(MoreSlots, BringNothingWhereNobodyWaitsForCopies) {
  test::Machine fast;
  fast.copy = 100;
  fast.tiles = 32;
  const Timeline t = recorded(fast, 4);
  const auto p = pipeline_of(t, 0);
  ASSERT_TRUE(p);
  const auto told = with_slots(t, *p, 5);
  EXPECT_NEAR(told.value_or(1), 1, 0.01);
  // A product that takes twice what the tensor cores need is not explained by these rules.
  test::Machine odd;
  odd.copy = 700;
  odd.product = 1100;
  odd.tiles = 32;
  const Timeline strange = recorded(odd, 4);
  const auto q = pipeline_of(strange, 0);
  ASSERT_TRUE(q);
  EXPECT_FALSE(with_slots(strange, *q, 3));
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
