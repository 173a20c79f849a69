// What is told of a recorded pipeline, against machines whose bottleneck is known beforehand.
#include "profiling/timeline/pipeline.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/rungs/stamps/stamps.h"
#include "profiling/timeline/timeline_text.h"
#include "tests/profiling/timeline/machine.h"

namespace attn {
namespace {

using test::Machine;

Pipeline pipeline(const Timeline& t) {
  auto p = pipeline_of(t, 0);
  EXPECT_TRUE(p) << (p ? "" : p.error().message);
  return p ? *p : Pipeline();
}

double share(const Pipeline& p, PathOf of) {
  return static_cast<double>(p.on_path(of)) / static_cast<double>(p.length());
}

TEST(Pipeline, AMachinesTimelineIsOneThatARecorderCouldHaveWritten) {
  const auto good = check_timeline(test::run({}), "it");
  EXPECT_TRUE(good) << good.error().message;
}

// Two tables, a recorder's and a reader's: a state that only one has would be drawn as unknown work.
TEST(Pipeline, EveryStateThatARecorderWritesHasItsWords) {
  std::vector<std::string_view> known;
  for (const LaneState& state : lane_states()) known.push_back(state.tag);
  EXPECT_EQ(known.size(), gpu::stamp_tags().size());
  for (const std::string_view tag : gpu::stamp_tags()) EXPECT_EQ(std::ranges::count(known, tag), 1) << tag;
}

TEST(Pipeline, StatesOfALaneHaveNoGapAndAddUpToTheBlock) {
  const Timeline t = test::run({});
  for (std::size_t n = 0; n < t.lanes.size(); ++n) {
    const TimedBlock& b = t.blocks[static_cast<std::size_t>(t.lanes[n].block)];
    const auto all = intervals_of(t, n);
    EXPECT_EQ(all.front().from, b.start_clock);
    EXPECT_EQ(all.back().to, b.end_clock);
    for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].from, all[i - 1].to);
    std::int64_t sum = 0;
    for (const StateSum& s : sums_of(all)) sum += s.time;
    EXPECT_EQ(sum, b.end_clock - b.start_clock);
  }
}

TEST(Pipeline, AStampThatIsShiftedMovesOneEdge) {
  const Timeline t = test::run({});
  Timeline moved = t;
  const auto lane = static_cast<std::size_t>(1);
  const auto event = static_cast<std::size_t>(t.lanes[lane].first + 5);
  moved.events[event].at += 3;
  const auto before = intervals_of(t, lane), after = intervals_of(moved, lane);
  int edges = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    edges += before[i].from != after[i].from ? 1 : 0;
    edges += before[i].to != after[i].to ? 1 : 0;
  }
  EXPECT_EQ(edges, 2);  // the end of one state and the beginning of the next: one edge
  EXPECT_EQ(after[5].from, before[5].from + 3);
  EXPECT_EQ(after[4].to, before[4].to + 3);
}

TEST(Pipeline, ASlotIsAskedForLandedReadByAllAndFreeInThatOrder) {
  const Machine m{.consumers = 3, .slots = 4, .tiles = 12};
  const Timeline t = test::run(m);
  const Pipeline p = pipeline(t);
  ASSERT_EQ(p.slots.size(), 24U);
  for (const SlotUse& use : p.slots) {
    EXPECT_GE(use.landed, use.asked + m.copy);  // at most so early: a reader that comes late finds it there
    ASSERT_EQ(use.readers.size(), 3U);
    for (const SlotReader& r : use.readers) {
      EXPECT_GE(r.from, use.landed);
      EXPECT_GT(r.to, r.from);
      EXPECT_LE(r.to, use.freed);
    }
    for (const SlotUse& other : p.slots) {
      if (other.slot == use.slot && other.asked > use.asked) {
        EXPECT_GE(other.asked, use.freed);
      }
    }
  }
}

TEST(Pipeline, ThePathHasNoGapFromStartToEnd) {
  for (const Machine& m : {Machine{}, Machine{.consumers = 1}, Machine{.consumers = 3, .copy = 4000},
                           Machine{.slots = 2}, Machine{.exponentials = 3000}}) {
    const Pipeline p = pipeline(test::run(m));
    ASSERT_FALSE(p.path.empty());
    EXPECT_EQ(p.path.front().from, p.start);
    EXPECT_EQ(p.path.back().to, p.end);
    for (std::size_t i = 1; i < p.path.size(); ++i) EXPECT_EQ(p.path[i].from, p.path[i - 1].to);
  }
}

TEST(Pipeline, ThePathTellsWhatHeldTheMachineUp) {
  // Three consumers keep the tensor cores busy: nothing else matters.
  EXPECT_GT(share(pipeline(test::run({.consumers = 3})), PathOf::tensor_cores), 0.9);
  // A copy takes longer than both products of a tile of all consumers.
  const Pipeline starved = pipeline(test::run({.slots = 2, .copy = 9000}));
  EXPECT_GT(share(starved, PathOf::copy_k) + share(starved, PathOf::copy_v), 0.6);
  // One consumer, long exponentials: products and softmax stand behind one another.
  const Machine alone{.consumers = 1, .tiles = 40, .copy = 10, .exponentials = 4000};
  EXPECT_NEAR(share(pipeline(test::run(alone)), PathOf::work), 4096.0 / (4096 + 2 * 512 + 2 * 24), 0.03);
}

// Before its first copy a producer starts up, and no consumer does anything: that is not the consumers' time.
TEST(Pipeline, WhatAProducerDoesIsNotCountedAsTheConsumers) {
  const Pipeline p = pipeline(test::run({.slots = 2, .copy = 9000}));
  for (const PathStretch& s : p.path) {
    const bool producer = std::ranges::find(p.lanes, s.lane) == p.lanes.begin();
    EXPECT_FALSE(s.of == PathOf::work && producer) << s.from;
    EXPECT_FALSE(s.of == PathOf::producer_work && !producer) << s.from;
  }
  EXPECT_GT(share(p, PathOf::producer_work), 0);
}

// Where another consumer finds a copy first, who wakes up some clocks later has waited for it all the same.
TEST(Pipeline, AConsumerThatWakesUpLaterWaitedForTheCopy) {
  const Machine starved{.consumers = 2, .slots = 2, .copy = 9000};
  Timeline t = test::run(starved);
  const auto is_wait = [&](const TimelineEvent& e) {
    const std::string& tag = t.tags.at(static_cast<std::size_t>(e.tag));
    return tag == "wait K" || tag == "wait V";
  };
  int shifted = 0;
  for (const TimelineLane& lane : t.lanes) {
    if (lane.kind != LaneKind::consumer || lane.index != 1) continue;
    const auto events =
        std::span(t.events).subspan(static_cast<std::size_t>(lane.first), static_cast<std::size_t>(lane.count));
    for (std::size_t n = 0; n + 2 < events.size(); ++n) {
      if (!is_wait(events[n]) || events[n + 1].at + 4 > events[n + 2].at) continue;
      events[n + 1].at += 4;
      ++shifted;
    }
  }
  ASSERT_GT(shifted, 8);
  const Pipeline late = pipeline(t);
  EXPECT_GT(share(late, PathOf::copy_k) + share(late, PathOf::copy_v), 0.6);
}

TEST(Pipeline, ProductsAreInFlightFromTheirCommitToTheirReturn) {
  const Machine m{.consumers = 2, .tiles = 8};
  const Pipeline p = pipeline(test::run(m));
  EXPECT_EQ(p.products.size(), 2U * 2 * 8);
  for (const Product& x : p.products) {
    EXPECT_EQ(x.committed, x.issued + m.issue);
    EXPECT_GE(x.returned, x.committed + m.product);
  }
}

TEST(Pipeline, AReaderOfWhatNobodyAskedForIsRefused) {
  Timeline t = test::run({});
  const auto wait = static_cast<std::int32_t>(std::ranges::find(t.tags, "wait K") - t.tags.begin());
  for (TimelineEvent& e : t.events)
    if (e.tag == wait) e.tile += 1;
  const auto p = pipeline_of(t, 0);
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().message.find("no lane requested"), std::string::npos);
}

TEST(Pipeline, ABlockWithoutItsLanesHasNone) {
  const auto p = pipeline_of(test::run({}), 1);
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().message.find("event by event"), std::string::npos);
}

TEST(TimelineText, ATimelineAboveTheBoundHasNoPicture) {
  Timeline t = test::run({});
  EXPECT_EQ(why_no_picture(t), "");
  t.traced_us = t.plain_us * 1.11;
  EXPECT_NE(why_no_picture(t).find("1.110"), std::string::npos);
}

TEST(TimelineText, ATableHasARowAStateWithBothClocks) {
  const Machine m{.consumers = 1, .tiles = 2};
  const Timeline t = test::run(m);
  const std::string csv = timeline_csv(t);
  EXPECT_EQ(std::ranges::count(csv, '\n'), static_cast<std::ptrdiff_t>(1 + t.events.size()));
  // 40 clocks of set-up at 0.625 ns.
  EXPECT_NE(csv.find("0,3,producer,0,set-up,,,1000,1040,0.0,25.0\n"), std::string::npos) << csv.substr(0, 300);
}

TEST(TimelineText, ATraceNamesItsBlocksAndLanes) {
  const std::string trace = timeline_perfetto(test::run({}));
  for (const char* part : {"\"block 0 on SM 3\"", "\"consumer 1\"", "\"wait S\"", "\"recorded_over_plain\":1.03"})
    EXPECT_NE(trace.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace attn
