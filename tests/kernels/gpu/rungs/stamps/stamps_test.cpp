// What a stamped launch left in memory becomes the timeline that its lanes wrote, or is refused.
#include "kernels/gpu/rungs/stamps/stamps.h"

#include <string>

#include <gtest/gtest.h>

#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"

namespace attn::gpu {
namespace {

constexpr unsigned word(StampTag tag, unsigned tile, unsigned slot) {
  return tag | slot << kStampTagBits | tile << (kStampTagBits + kStampSlotBits);
}

Plan plan_of(std::int64_t L, std::int64_t D) {
  const KernelRow& row = **find_kernel("flash_hopper");
  Problem p;
  p.Hq = p.Hkv = 16;
  p.Lq = p.Lk = L;
  p.D = p.Dv = D;
  p.dtype = DType::f16;
  return *row.plan(row, p, {}, *device_for("sm_90a"));
}

KernelSource source() {
  return *source_of(**find_kernel("flash_hopper"), {}, {});
}

// Two blocks of three lanes; the first in detail. Clocks of SM 7 are 1000 ahead of those of SM 4, at 2 clocks a ns.
struct Made {
  StampPlan plan;
  Stamped stamped;
};
Made made() {
  Made m;
  m.plan.grid = 2;
  m.plan.args.lanes = 3;
  m.plan.args.blocks = 1;
  m.plan.args.detail_log2 = 4;
  m.plan.args.coarse_log2 = 2;
  for (unsigned block = 0; block < 2; ++block)
    for (unsigned lane = 0; lane < 3; ++lane) {
      const long long ahead = block == 0 ? 0 : 1000, ns = 5000 + 10 * lane;
      m.stamped.heads.push_back({ns, 2 * ns + ahead, ns + 400, 2 * (ns + 400) + ahead, block == 0 ? 4U : 7U, 2});
      const auto at = static_cast<unsigned>(2 * ns + ahead);
      if (block == 0)
        m.stamped.events.push_back({{at + 8, word(kStampWaitK, 3, 1)}, {at + 700, word(kStampDone, kStampNoTile, 15)}});
      else
        m.stamped.events.push_back({{at + 8, word(kStampTile, 9, 15)}, {at + 100, word(kStampTile, 11, 15)}});
    }
  return m;
}

TEST(Stamps, BecomeLanesWithTheirStatesFromTheBlocksStart) {
  const Made m = made();
  auto t = timeline_of(m.plan, m.stamped);
  ASSERT_TRUE(t) << t.error().message;
  t->problem = plan_of(1024, 64).problem;
  const auto good = check_timeline(*t, "it");
  EXPECT_TRUE(good) << good.error().message;
  ASSERT_EQ(t->lanes.size(), 4U);  // of the second block the first consumer alone
  EXPECT_EQ(t->lanes[2].kind, LaneKind::consumer);
  const auto events = std::span(t->events).subspan(static_cast<std::size_t>(t->lanes[1].first), 3);
  EXPECT_EQ(events[0].at, 10000);
  EXPECT_EQ(t->tags[static_cast<std::size_t>(events[0].tag)], "set-up");
  EXPECT_EQ(events[1].at, 10028);
  EXPECT_EQ(t->tags[static_cast<std::size_t>(events[1].tag)], "wait K");
  EXPECT_EQ(events[1].tile, 3);
  EXPECT_EQ(events[1].slot, 1);
  EXPECT_EQ(events[2].tile, -1);
  EXPECT_EQ(events[2].slot, -1);
  EXPECT_EQ(t->blocks[1].sm, 7);
  EXPECT_EQ(t->blocks[0].end_ns - t->blocks[0].start_ns, 420);
}

TEST(Stamps, EachClockHasALineOfItsOwn) {
  Made m = made();
  auto t = timeline_of(m.plan, m.stamped);
  ASSERT_EQ(t->sms.size(), 2U);
  for (const SmClock& c : t->sms) {
    EXPECT_NEAR(c.ns_per_clock, 0.5, 1e-6);
    EXPECT_EQ(c.residual_ns, 32);  // a step of the timer
  }
  // Another rate on one of them: the other's stays.
  for (std::size_t n = 3; n < 6; ++n) m.stamped.heads[n].end_clock += 8;
  t = timeline_of(m.plan, m.stamped);
  EXPECT_NEAR(t->sms[0].ns_per_clock, 0.5, 1e-6);
  EXPECT_NEAR(t->sms[1].ns_per_clock, 400.0 / 808, 1e-3);
  m = made();
  // One end that the timer told late: its distance is the residual, of that SM alone.
  m.stamped.heads[5].end_ns += 96;
  t = timeline_of(m.plan, m.stamped);
  EXPECT_GT(t->sms[1].residual_ns, 48);
  EXPECT_EQ(t->sms[0].residual_ns, 32);
}

TEST(Stamps, TheClocksLowerHalfMayPassZero) {
  Made m = made();
  const long long start = (1LL << 32) - 100;
  for (int lane = 0; lane < 3; ++lane) {
    StampHead& h = m.stamped.heads[static_cast<std::size_t>(lane)];
    h.start_clock = start;
    h.end_clock = start + 800;
    m.stamped.events[static_cast<std::size_t>(lane)] = {{static_cast<unsigned>(start + 40), word(kStampWaitK, 0, 0)},
                                                        {300, word(kStampDone, kStampNoTile, 15)}};
  }
  const auto t = timeline_of(m.plan, m.stamped);
  ASSERT_TRUE(t);
  EXPECT_EQ(t->events[1].at, start + 40);
  EXPECT_EQ(t->events[2].at, (1LL << 32) + 300);
}

TEST(Stamps, ALaneThatHadNoRoomOrWroteNothingIsRefused) {
  Made m = made();
  m.stamped.events[0].resize(16, m.stamped.events[0].front());
  auto t = timeline_of(m.plan, m.stamped);
  ASSERT_FALSE(t);
  EXPECT_NE(t.error().message.find("more than its 16 events"), std::string::npos) << t.error().message;
  m = made();
  m.stamped.heads[4] = {};
  t = timeline_of(m.plan, m.stamped);
  ASSERT_FALSE(t);
  EXPECT_NE(t.error().message.find("block 1: lane 1 wrote nothing"), std::string::npos) << t.error().message;
}

TEST(Stamps, ABlockThatIsNoneAndAKernelWithoutStampsAreRefusedInWords) {
  const Plan plan = plan_of(4096, 128);
  const auto fine = plan_stamps(plan, source(), {131, 1});
  ASSERT_TRUE(fine) << fine.error().message;
  EXPECT_EQ(fine->grid, 132);
  EXPECT_EQ(fine->args.lanes, 5);
  const auto beyond = plan_stamps(plan, source(), {131, 2});
  ASSERT_FALSE(beyond);
  EXPECT_NE(beyond.error().message.find("it has 0 to 131"), std::string::npos);
  const KernelRow& mma = **find_kernel("flash_mma");
  Problem p = plan.problem;
  const auto none = plan_stamps(*mma.plan(mma, p, {}, *device_for("sm_90a")), *source_of(mma, p, {}), {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("flash_mma keeps no timeline"), std::string::npos);
}

TEST(Stamps, LanesHavePlacesOfTheirOwn) {
  const auto plan = plan_stamps(plan_of(4096, 128), source(), {5, 2});
  ASSERT_TRUE(plan);
  std::vector<std::pair<unsigned, unsigned>> places;
  for (int block = 0; block < plan->grid; ++block)
    for (int lane = 0; lane < plan->args.lanes; ++lane) {
      const unsigned from = stamp_place(plan->args, block, lane);
      places.emplace_back(from, from + static_cast<unsigned>(plan->room_of(block)));
      EXPECT_EQ(from % plan->room_of(block), 0U);  // the device tells the last place by its lower bits
    }
  std::ranges::sort(places);
  for (std::size_t n = 1; n < places.size(); ++n) EXPECT_LE(places[n - 1].second, places[n].first);
  EXPECT_EQ(places.back().second, plan->events());
}

}  // namespace
}  // namespace attn::gpu
