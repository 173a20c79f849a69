// Who let a waiting lane go, against machines whose rules say so, and on the recordings that come with the program.
#include "profiling/timeline/releases.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "profiling/session/session.h"
#include "profiling/timeline/pipeline.h"
#include "tests/environment/paths.h"
#include "tests/profiling/timeline/machine.h"

namespace attn {
namespace {

using test::Machine;

Pipeline pipeline(const Timeline& t, std::int32_t block = 0) {
  auto p = pipeline_of(t, block);
  EXPECT_TRUE(p) << (p ? "" : p.error().message);
  return p ? *p : Pipeline();
}

// A copy takes longer than all else, and V is requested right behind K: every consumer waits for K of every tile, whose
// copy ends that wait, and finds V there.
TEST(Releases, OfAWaitForACopyIsTheCopy) {
  const Machine m{.consumers = 2, .slots = 2, .tiles = 8, .copy = 9000};
  const Timeline t = test::run(m);
  const Pipeline p = pipeline(t);
  int copies = 0;
  for (const Release& r : releases_of(t, p)) {
    if (r.slot < 0) continue;
    ++copies;
    EXPECT_EQ(r.by, p.lanes.front());
    EXPECT_GT(r.at, r.from);
    EXPECT_LE(r.at, r.to);
    const auto use = std::ranges::find_if(p.slots, [&](const SlotUse& x) { return x.landed == r.at; });
    ASSERT_NE(use, p.slots.end());
    EXPECT_FALSE(use->of_v);
    EXPECT_EQ(use->slot, r.slot);
    EXPECT_EQ(use->tile, r.tile);
    EXPECT_EQ(r.at - use->asked, m.copy);
  }
  EXPECT_EQ(copies, 2 * 8) << "two consumers, K of eight tiles";
}

// Copies take no time and the ring is small: the producer waits for the last consumer that reads a slot.
TEST(Releases, OfAWaitForASlotIsTheLastReaderThatLetItGo) {
  const Timeline t = test::run({.consumers = 3, .slots = 2, .tiles = 8, .copy = 1});
  const Pipeline p = pipeline(t);
  int slots = 0;
  for (const Release& r : releases_of(t, p)) {
    if (t.lanes[r.lane].kind != LaneKind::producer) continue;
    ++slots;
    EXPECT_EQ(t.lanes[r.by].kind, LaneKind::consumer);
    EXPECT_EQ(r.at, r.to) << "this machine's producer goes on at once";
    const auto is_last = [&](const SlotUse& use) {
      return use.freed == r.at &&
             std::ranges::any_of(use.readers, [&](const SlotReader& x) { return x.lane == r.by && x.to == r.at; });
    };
    EXPECT_TRUE(std::ranges::any_of(p.slots, is_last)) << r.at;
  }
  EXPECT_GT(slots, 8);
}

// A lane waits for a turn until another consumer has handed a product over: never for the lane that copies.
TEST(Releases, OfATurnIsAnotherConsumer) {
  const auto session = read_session(test::source_folder() + "/assets/sessions/h100-timeline.attn");
  ASSERT_TRUE(session) << session.error().message;
  int turns = 0;
  for (const Timeline& t : session->timelines) {
    const Pipeline p = pipeline(t, detailed_blocks(t).front());
    for (const Release& r : releases_of(t, p)) {
      EXPECT_NE(r.by, r.lane);
      EXPECT_GT(r.at, r.from);
      EXPECT_LE(r.at, r.to);
      const std::vector<LaneInterval>& own = intervals_of_lane(p, r.lane);
      const auto wait = std::ranges::find(own, r.from, &LaneInterval::from);
      ASSERT_NE(wait, own.end());
      if (t.tags[static_cast<std::size_t>(wait->tag)] != "wait turn") continue;
      ++turns;
      EXPECT_EQ(t.lanes[r.by].kind, LaneKind::consumer);
    }
  }
  EXPECT_GT(turns, 20);
}

// The producer asks for a slot only when every reader has let it go: no stamp of a reader may say otherwise, and what
// was let go last is a few instructions away, not a thousand clocks.
TEST(Releases, OfABundledRingIsTheReaderWhoseStampsLieAroundTheMoment) {
  const auto session = read_session(test::source_folder() + "/assets/sessions/h100-timeline.attn");
  ASSERT_TRUE(session) << session.error().message;
  std::size_t told = 0, far = 0, open = 0;
  for (const Timeline& t : session->timelines) {
    const Pipeline p = pipeline(t, detailed_blocks(t).front());
    for (std::size_t n = 0; n < p.slots.size(); ++n) {
      const auto next = std::find_if(p.slots.begin() + static_cast<std::ptrdiff_t>(n) + 1, p.slots.end(),
                                     [&](const SlotUse& use) { return use.slot == p.slots[n].slot; });
      if (next == p.slots.end()) continue;
      EXPECT_LE(p.slots[n].freed, next->asked);
      for (const SlotReader& r : p.slots[n].readers) EXPECT_LE(r.earliest, r.to);
    }
    for (const Release& r : releases_of(t, p)) {
      if (t.lanes[r.lane].kind != LaneKind::producer || t.lanes[r.by].kind != LaneKind::consumer || p.k_until_p)
        continue;
      ++told;
      far += r.to - r.at > 256;
      open += r.or_by.has_value();
    }
  }
  EXPECT_GT(told, 1000U);
  EXPECT_LT(far, told / 50);
  EXPECT_LT(open, told / 20);
}

// Step 11 with two slots: consumer 2 has no rows in one query tile and passes K on within 311 clocks around the moment
// at which the producer asks for key tile 4; consumer 1 let go 947 clocks before. Clocks are those of the CSV.
TEST(Releases, OfAPassedTileIsTheConsumerThatPassesIt) {
  const auto session = read_session(test::source_folder() + "/assets/sessions/h100-timeline.attn");
  ASSERT_TRUE(session) << session.error().message;
  constexpr std::int64_t kAsked = 105899912388, kHandsOn = 105899912265;
  const Timeline& t = session->timelines.at(4);
  const std::vector<Release> all = releases_of(t, pipeline(t, detailed_blocks(t).front()));
  const auto k4 = std::ranges::find_if(
      all, [&](const Release& r) { return t.lanes[r.lane].kind == LaneKind::producer && r.to == kAsked; });
  ASSERT_NE(k4, all.end());
  EXPECT_EQ(k4->tile, 4);
  EXPECT_EQ(t.lanes[k4->by].kind, LaneKind::consumer);
  EXPECT_EQ(t.lanes[k4->by].index, 2);
  EXPECT_FALSE(k4->or_by);
  EXPECT_EQ(k4->at, kAsked) << "at the latest";
  EXPECT_EQ(k4->earliest, kHandsOn);
}

}  // namespace
}  // namespace attn
