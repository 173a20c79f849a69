// The block that Step's pipeline follows is one of a timeline that comes with the program, stamp by stamp.
#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/orders/hopper/recorded.h"
#include "profiling/session/session.h"
#include "profiling/timeline/lane_states.h"
#include "profiling/timeline/pipeline.h"
#include "profiling/timeline/what_if.h"
#include "tests/environment/paths.h"

namespace attn {
namespace {

using orders::hopper::RecordedBlock;
using orders::hopper::Stamp;
using orders::hopper::State;

std::string_view tag_of(State s) {
  constexpr std::string_view kTags[] = {"ask Q",  "wait slot K", "ask K",     "wait slot V", "ask V",  "tile",
                                        "wait Q", "wait K",      "wait turn", "issue S",     "wait S", "maximum",
                                        "P",      "wait V",      "issue O",   "wait O",      "store",  "wait tile"};
  return kTags[static_cast<std::size_t>(s)];
}

// Clocks from the block's start, tag, key tile, slot.
using Said = std::tuple<std::int64_t, std::string_view, std::int32_t, std::int32_t>;

const Timeline& shown(const Session& session, const RecordedBlock& block) {
  const auto at = std::ranges::find_if(session.timelines, [&](const Timeline& t) {
    const auto step = std::ranges::find(t.options.further, std::string("step"), &Setting::name);
    return t.kernel == block.kernel && t.problem.Lk == block.L && t.problem.D == block.D && !t.problem.mask.causal &&
           t.options.bc == block.keys && t.options.br == block.rows && step != t.options.further.end() &&
           step->value == block.step;
  });
  EXPECT_NE(at, session.timelines.end());
  return *at;
}

// What the lanes of the detailed block say, but for what is of no pipeline: set-up, and the producers' query tiles.
std::vector<Said> said_by(const Timeline& t, std::int32_t block, LaneKind kind, std::int32_t index) {
  const std::int64_t start = t.blocks.at(static_cast<std::size_t>(block)).start_clock;
  std::vector<Said> said;
  for (const std::size_t n : lanes_of_block(t, block)) {
    const TimelineLane& lane = t.lanes[n];
    if (lane.kind != kind || lane.index != index) continue;
    bool stored = false;
    for (std::int64_t e = lane.first; e < lane.first + lane.count; ++e) {
      const TimelineEvent& event = t.events[static_cast<std::size_t>(e)];
      const std::string_view tag = t.tags[static_cast<std::size_t>(event.tag)];
      const bool between = tag == "set-up" || tag == "done" || tag == "next tile" || tag == "wait slot Q" ||
                           (tag == "wait tile" && !stored) || (tag == "tile" && kind == LaneKind::producer);
      stored = stored || tag == "store";
      if (!between) said.emplace_back(event.at - start, tag, event.tile, event.slot);
    }
  }
  return said;
}

void is_stamp_by_stamp(const RecordedBlock& block, const Timeline& t) {
  EXPECT_EQ(t.source_hash, block.source_hash);
  EXPECT_EQ(t.device, block.device);
  EXPECT_EQ(t.options.stages, block.slots);
  const std::int32_t row = detailed_blocks(t).front();
  const TimedBlock& timed = t.blocks.at(static_cast<std::size_t>(row));
  EXPECT_EQ(timed.end_clock - timed.start_clock, block.clocks);
  EXPECT_DOUBLE_EQ(ns_a_unit(t, row), block.ns_a_clock);
  std::size_t compared = 0;
  const auto holds = [&](LaneKind kind, std::int32_t index, const auto& is_its) {
    std::vector<Said> expected = said_by(t, row, kind, index), found;
    for (const Stamp& s : block.stamps) {
      if (!is_its(s)) continue;
      const auto n = found.size();
      ASSERT_LT(n, expected.size());
      const std::int32_t tile = s.visit < 0 ? std::get<2>(expected[n]) : block.key_tiles - 1 - s.visit;
      const std::int32_t slot = s.slot < 0 ? std::get<3>(expected[n]) : s.slot;
      found.emplace_back(s.at, tag_of(s.state), tile, slot);
    }
    EXPECT_EQ(found, expected);
    compared += found.size();
  };
  const auto copies_q = [](const Stamp& s) { return s.state == State::ask_q; };
  holds(LaneKind::producer, 0, [](const Stamp& s) { return s.consumer < 0; });
  holds(LaneKind::producer, 1, copies_q);
  for (std::int8_t c = 0; c < block.consumers; ++c)
    holds(LaneKind::consumer, c, [&](const Stamp& s) { return s.consumer == c && !copies_q(s); });
  EXPECT_EQ(compared, block.stamps.size());
  EXPECT_TRUE(std::ranges::is_sorted(block.stamps, {}, &Stamp::at));
}

TEST(RecordedBlock, IsTheBundledTimelinesStampByStamp) {
  const auto session = read_session(test::source_folder() + "/assets/sessions/h100-timeline.attn");
  ASSERT_TRUE(session) << session.error().message;
  is_stamp_by_stamp(orders::hopper::recorded_block(), shown(*session, orders::hopper::recorded_block()));
}

// Of the launch without turns there are two recordings: of several blocks, and of the first as here.
TEST(RecordedBlock, WithoutTurnsIsTheBundledTimelinesStampByStamp) {
  auto session = read_session(test::source_folder() + "/assets/sessions/h100-turns-timeline.attn");
  ASSERT_TRUE(session) << session.error().message;
  std::erase_if(session->timelines, [](const Timeline& t) { return detailed_blocks(t).size() > 1; });
  is_stamp_by_stamp(orders::hopper::recorded_without_turns(),
                    shown(*session, orders::hopper::recorded_without_turns()));
}

// A copy's time is that of the same launch with two slots, whose consumers wait for nearly every copy.
TEST(RecordedBlock, ACopyTakesWhatItTakesInTheRecordingWithTwoSlots) {
  const auto session = read_session(test::source_folder() + "/assets/sessions/h100-timeline.attn");
  ASSERT_TRUE(session) << session.error().message;
  const RecordedBlock& block = orders::hopper::recorded_block();
  const auto at = std::ranges::find_if(session->timelines, [&](const Timeline& t) {
    return t.problem == shown(*session, block).problem && t.options.stages == 2;
  });
  ASSERT_NE(at, session->timelines.end());
  EXPECT_EQ(at->options.bc, block.keys);
  EXPECT_EQ(at->device, block.device);
  const auto p = pipeline_of(*at, detailed_blocks(*at).front());
  ASSERT_TRUE(p);
  EXPECT_NEAR(copy_of(*at, *p).value_or(0), block.copy, 0.6);
}

// The lane that copies runs ahead: it asks for a slot as soon as the last reader has let it go. Where exponentials
// begin before the maximum is known that is behind P, a thousand clocks after S.
TEST(RecordedRings, AreAskedForAsSoonAsKIsLetGo) {
  const auto session = read_session(test::source_folder() + "/assets/sessions/h100-timeline.attn");
  ASSERT_TRUE(session) << session.error().message;
  int held = 0;
  for (const Timeline& t : session->timelines) {
    const auto step = std::ranges::find(t.options.further, std::string("step"), &Setting::name);
    if (step == t.options.further.end() || step->value < 8 || t.problem.Lk > 1024) continue;
    const auto p = pipeline_of(t, detailed_blocks(t).front());
    ASSERT_TRUE(p) << p.error().message;
    EXPECT_EQ(p->k_until_p, t.problem.D == 64 && step->value >= 11);
    held += p->k_until_p;
    std::vector<std::int64_t> gaps;
    for (std::size_t n = 0; n < p->slots.size(); ++n) {
      const auto next = std::find_if(p->slots.begin() + static_cast<std::ptrdiff_t>(n) + 1, p->slots.end(),
                                     [&](const SlotUse& use) { return use.slot == p->slots[n].slot; });
      if (!p->slots[n].of_v && next != p->slots.end()) gaps.push_back(next->asked - p->slots[n].freed);
    }
    ASSERT_GT(gaps.size(), 40U);
    std::ranges::sort(gaps);
    EXPECT_GT(gaps[gaps.size() / 2], 0);
    EXPECT_LT(gaps[gaps.size() / 2], 128) << "clocks";
    if (p->k_until_p) {
      EXPECT_GT(gaps.front(), 0);
    }
  }
  EXPECT_EQ(held, 2);
}

}  // namespace
}  // namespace attn
