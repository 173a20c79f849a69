// What a stamped launch left in memory becomes the timeline that its lanes wrote, or is refused.
#include "kernels/gpu/rungs/stamps/stamps.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "kernels/recording/timeline_clocks.h"
#include "tests/environment/paths.h"

namespace attn::gpu {
namespace {

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

std::vector<std::uint32_t> one(StampTag tag, unsigned clock, int tile, int slot) {
  return {stamp_word(tag, tile, slot, -1), clock};
}
// A query tile by both clocks.
std::vector<std::uint32_t> takes(int tile, unsigned clock, unsigned ns) {
  return {stamp_word(kStampTile, tile, -1, -1), clock, ns};
}
std::vector<std::uint32_t> joined(std::initializer_list<std::vector<std::uint32_t>> records) {
  std::vector<std::uint32_t> all;
  for (const auto& record : records) all.insert(all.end(), record.begin(), record.end());
  return all;
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
  m.plan.copies = kStampCopies;
  m.plan.args.blocks = 1;
  m.plan.args.detail_log2 = 6;
  m.plan.args.coarse_log2 = 4;
  for (unsigned block = 0; block < 2; ++block)
    for (unsigned lane = 0; lane < 3; ++lane) {
      const long long ahead = block == 0 ? 0 : 1000, ns = 5000 + 10 * lane;
      m.stamped.heads.push_back({ns, 2 * ns + ahead, ns + 400, 2 * (ns + 400) + ahead, block == 0 ? 4U : 7U, 2});
      const auto at = static_cast<unsigned>(2 * ns + ahead), told = static_cast<unsigned>(ns);
      if (block == 0)
        m.stamped.words.push_back(
            joined({one(kStampWaitK, at + 8, 3, 1), one(kStampDone, at + 700, static_cast<int>(kStampNoTile), -1)}));
      else
        m.stamped.words.push_back(joined({takes(9, at + 8, told + 4), takes(11, at + 100, told + 50)}));
    }
  return m;
}

// Events of the first block's last lane once it wrote these.
std::vector<TimelineEvent> events_of(const std::vector<std::uint32_t>& words) {
  Made m = made();
  m.stamped.words[2] = words;
  const auto t = timeline_of(m.plan, m.stamped);
  EXPECT_TRUE(t) << (t ? "" : t.error().message);
  if (!t) return {};
  const TimelineLane& lane = t->lanes[2];
  return {t->events.begin() + lane.first, t->events.begin() + lane.first + lane.count};
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

TEST(Stamps, AKeyTileIsARecordWithItsStatesInOrder) {
  // Every form of it: as many clocks as states, each its own, with the slot of what it is about.
  for (unsigned how = 0; how < 4; ++how) {
    const unsigned record = kStampCovering + how;
    const StampStates states = stamp_states(record);
    std::vector<std::uint32_t> words{stamp_word(record, 5, 2, 3)};
    for (int n = 0; n < states.count; ++n) words.push_back(10100U + 10U * static_cast<unsigned>(n));
    words = joined({words, one(kStampDone, 10700, -1, -1)});
    const auto events = events_of(words);
    ASSERT_EQ(events.size(), static_cast<std::size_t>(states.count) + 2);
    for (int n = 0; n < states.count; ++n) {
      const TimelineEvent& e = events[static_cast<std::size_t>(n) + 1];
      EXPECT_EQ(e.at, 10100 + 10 * n);
      EXPECT_EQ(e.tag, static_cast<std::int32_t>(states.tags[n]));
      EXPECT_EQ(e.tile, 5);
      const auto tag = static_cast<StampTag>(e.tag);
      const bool k = tag <= kStampMaximum && tag != kStampWaitV && tag != kStampWaitTurn;
      const bool none = tag == kStampP || tag == kStampWaitTurn;
      EXPECT_EQ(e.slot, none ? -1 : k ? 2 : 3) << stamp_tags()[static_cast<std::size_t>(e.tag)];
    }
    EXPECT_EQ(states.place(kStampWaitTurn) > 0, (how & kStampTakesTurns) != 0);
    EXPECT_EQ(states.place(kStampIssueO, 1) > 0, (how & kStampSplits) != 0);
    EXPECT_LE(states.all_words(), kStampMostWords);
  }
}

TEST(Stamps, InFormFourWhatIsDoneToOIsTheKeyTileBefore) {
  const unsigned record = kStampOverlapped + kStampTakesTurns;
  const StampStates states = stamp_states(record);
  for (const bool seam : {false, true}) {
    std::vector<std::uint32_t> words{stamp_word(record, 7, 0, 1), 8U | (seam ? kStampBegins : 0U)};
    for (int n = 0; n < states.count; ++n) words.push_back(10100U + 10U * static_cast<unsigned>(n));
    const auto events = events_of(joined({takes(42, 10050, 5025), words, one(kStampDone, 10700, -1, -1)}));
    ASSERT_EQ(events.size(), static_cast<std::size_t>(states.count) + 3);
    for (const TimelineEvent& e : events) {
      const auto tag = static_cast<StampTag>(e.tag);
      if (tag == kStampWaitV || tag == kStampIssueO || tag == kStampWaitO) {
        EXPECT_EQ(e.tile, 8);
        EXPECT_EQ(e.slot, 1);
      } else if (tag == kStampWaitK || tag == kStampIssueS || tag == kStampWaitTurn) {
        EXPECT_EQ(e.tile, 7);
      }
    }
    const TimelineEvent& last = events[events.size() - 2];
    EXPECT_EQ(static_cast<StampTag>(last.tag), seam ? kStampStore : kStampP);
    EXPECT_EQ(last.tile, seam ? 42 : 7);
  }
}

TEST(Stamps, TimeGoesAlongTheMomentsThatBothClocksTold) {
  Made m = made();
  // The SM slowed down after the first of its query tiles: half the clocks in the same time.
  StampHead& h = m.stamped.heads[5];
  m.stamped.words[5] = takes(9, static_cast<unsigned>(h.start_clock + 400), static_cast<unsigned>(h.start_ns + 200));
  h.end_clock = h.start_clock + 600;
  auto t = timeline_of(m.plan, m.stamped);
  ASSERT_TRUE(t) << t.error().message;
  t->problem = plan_of(1024, 64).problem;
  EXPECT_TRUE(check_timeline(*t, "it"));
  const double from = static_cast<double>(h.start_ns - 5000);
  EXPECT_NEAR(ns_at(*t, 7, h.start_clock), from, 1e-6);
  EXPECT_NEAR(ns_at(*t, 7, h.start_clock + 200), from + 100, 1e-6);
  EXPECT_NEAR(ns_at(*t, 7, h.start_clock + 500), from + 300, 1e-6);
  EXPECT_NEAR(ns_at(*t, 7, h.start_clock + 600), from + 400, 1e-6);
  EXPECT_NEAR(ns_at(*t, 7, h.start_clock + 700), from + 500, 1e-6);  // beyond: at the last rate
  // The chord from start to end passes the middle 400 / 600 of 400 ns in, 66.7 ns off.
  EXPECT_NEAR(t->sms[1].residual_ns, 66.67, 0.01);
  EXPECT_EQ(t->sms[0].residual_ns, 32);  // a step of the timer
}

TEST(Stamps, EachClockHasALineOfItsOwn) {
  Made m = made();
  auto t = timeline_of(m.plan, m.stamped);
  ASSERT_EQ(t->sms.size(), 2U);
  for (const SmClock& c : t->sms) {
    EXPECT_NEAR(c.ns_per_clock, 0.5, 1e-6);
    EXPECT_EQ(c.residual_ns, 32);
  }
  // Another rate on one of them: the other's stays.
  m.stamped.heads[5].end_clock += 80;
  t = timeline_of(m.plan, m.stamped);
  EXPECT_NEAR(t->sms[0].ns_per_clock, 0.5, 1e-6);
  EXPECT_LT(t->sms[1].ns_per_clock, 0.48);
}

TEST(Stamps, TheClocksLowerHalfMayPassZero) {
  Made m = made();
  const long long start = (1LL << 32) - 100;
  for (int lane = 0; lane < 3; ++lane) {
    StampHead& h = m.stamped.heads[static_cast<std::size_t>(lane)];
    h.start_clock = start;
    h.end_clock = start + 800;
    m.stamped.words[static_cast<std::size_t>(lane)] =
        joined({one(kStampWaitK, static_cast<unsigned>(start + 40), 0, 0), one(kStampDone, 300, -1, -1)});
  }
  const auto t = timeline_of(m.plan, m.stamped);
  ASSERT_TRUE(t);
  EXPECT_EQ(t->events[1].at, start + 40);
  EXPECT_EQ(t->events[2].at, (1LL << 32) + 300);
}

TEST(Stamps, ALaneThatHadNoRoomOrWroteNoRecordIsRefused) {
  Made m = made();
  m.stamped.heads[1].end_ns = 0;  // where there is no room it stops, and never says that it ended
  auto t = timeline_of(m.plan, m.stamped);
  ASSERT_FALSE(t);
  EXPECT_NE(t.error().message.find("lane 1 wrote more than its 64 words"), std::string::npos) << t.error().message;
  m = made();
  m.stamped.heads[4] = {};
  t = timeline_of(m.plan, m.stamped);
  ASSERT_FALSE(t);
  EXPECT_NE(t.error().message.find("block 1: lane 1 wrote nothing"), std::string::npos) << t.error().message;
  for (const std::vector<std::uint32_t>& words :
       {std::vector<std::uint32_t>{stamp_word(kStampCovering, 1, 0, 1), 10100}, {kStampOwn, 10100}}) {
    m = made();
    m.stamped.words[2] = words;  // cut off; a number that is none
    t = timeline_of(m.plan, m.stamped);
    ASSERT_FALSE(t);
    EXPECT_NE(t.error().message.find("lane 2 wrote an invalid record"), std::string::npos) << t.error().message;
  }
}

TEST(Stamps, ABlockThatIsNoneAndAKernelWithoutStampsAreRefusedInWords) {
  const Plan plan = plan_of(4096, 128);
  const auto fine = plan_stamps(plan, source(), {131, 1});
  ASSERT_TRUE(fine) << fine.error().message;
  EXPECT_EQ(fine->grid, 132);
  EXPECT_EQ(fine->args.lanes, 5);
  const auto beyond = plan_stamps(plan, source(), {131, 2});
  ASSERT_FALSE(beyond);
  EXPECT_NE(beyond.error().message.find("which has blocks 0 to 131"), std::string::npos) << beyond.error().message;
  const KernelRow& other = **find_kernel("flash_tf32x3");
  Problem p = plan.problem;
  p.dtype = DType::f32;
  const auto none = plan_stamps(*other.plan(other, p, {}, *device_for("sm_90a")), *source_of(other, p, {}), {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("flash_tf32x3 cannot record a timeline"), std::string::npos);
}

// ---- a kernel of the user's own

std::shared_ptr<const OwnKernel> own_timeline() {
  auto kernel = read_own_kernel(std::filesystem::path(test::source_folder()) / "tests/gpu/own_timeline.cu");
  EXPECT_TRUE(kernel) << (kernel ? "" : kernel.error().message);
  return kernel ? *kernel : nullptr;
}
Plan plan_of_own(const OwnKernel& kernel) {
  Problem p;
  p.Hq = p.Hkv = 4;
  p.Lq = p.Lk = 512;
  p.D = p.Dv = 64;
  p.dtype = DType::f16;
  return *kernel.plan(kernel, p, {}, *device_for("sm_90a"));
}

TEST(OwnStamps, ItsStatesAreThoseOfItsHeaderAndKnownOnesAreKnown) {
  const auto kernel = own_timeline();
  const Plan plan = plan_of_own(*kernel);
  const auto stamps = plan_stamps(plan, *source_of(*kernel, plan.problem, {}), {7, 1});
  ASSERT_TRUE(stamps) << stamps.error().message;
  EXPECT_EQ(stamps->grid, 171 * 4);
  EXPECT_EQ(stamps->args.grid, 171 * 4);
  EXPECT_EQ(stamps->args.lanes, 4);
  EXPECT_EQ(stamps->entry, "staged");
  std::vector<std::string> defines;
  add_stamped_defines(plan, defines);
  EXPECT_EQ(defines, (std::vector<std::string>{"ATTN_STAMPED=1", fmt::format("ATTN_STATE_load={}", +kStampOwn),
                                               fmt::format("ATTN_STATE_barrier={}", kStampOwn + 1),
                                               fmt::format("ATTN_STATE_P={}", kStampOwn + 2),
                                               fmt::format("ATTN_STATE_store={}", kStampOwn + 3)}));
  // Two blocks of two lanes; the second in detail.
  StampPlan two = *stamps;
  two.grid = two.args.grid = 2;
  two.args.lanes = 2;
  two.args.first = 1;
  Stamped stamped;
  for (int n = 0; n < 4; ++n) stamped.heads.push_back({5000, 10000, 5400, 10800, 3, 0});
  const auto record = [](unsigned state, unsigned clock, int tile) {
    return std::vector<std::uint32_t>{stamp_word(kStampOwn + state, tile, 1, -1), clock};
  };
  stamped.words = {{},
                   {},
                   joined({record(0, 10100, 4), record(1, 10200, 5), one(kStampDone, 10700, -1, -1)}),
                   joined({record(2, 10100, 4), record(3, 10200, 5), one(kStampDone, 10700, -1, -1)})};
  auto t = timeline_of(two, stamped);
  ASSERT_TRUE(t) << t.error().message;
  t->problem = plan.problem;
  EXPECT_TRUE(check_timeline(*t, "it"));
  std::vector<std::string> names;
  for (const TimelineEvent& e : t->events) names.push_back(t->tags[static_cast<std::size_t>(e.tag)]);
  EXPECT_EQ(names, (std::vector<std::string>{"set-up", "done", "set-up", "load", "barrier", "done", "set-up", "P",
                                             "store", "done"}));
  EXPECT_EQ(std::ranges::count(t->tags, "P"), 1);
  EXPECT_EQ(t->lanes[1].kind, LaneKind::warp);
  EXPECT_EQ(t->events[3].tile, 4);
  EXPECT_EQ(t->events[3].slot, 1);
  // A number beyond its states is none of them.
  stamped.words[2] = record(4, 10100, 4);
  EXPECT_FALSE(timeline_of(two, stamped));
}

TEST(OwnStamps, AKernelThatDeclaresNoneOrHasNoLinesIsRefused) {
  const auto kernel = own_timeline();
  std::string text = kernel->cu.text;
  text.replace(text.find("ATTN_LANE(warp"), 9, "if (0) int");
  const auto none = own_kernel_from("own_timeline.cu", std::string_view(text));
  ASSERT_TRUE(none) << none.error().message;
  const Plan plan = plan_of_own(**none);
  const auto refused = plan_stamps(plan, *source_of(**none, plan.problem, {}), {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("has no line \"ATTN_LANE(...);\""), std::string::npos)
      << refused.error().message;
}

TEST(Stamps, LanesHavePlacesOfTheirOwn) {
  const auto plan = plan_stamps(plan_of(4096, 128), source(), {5, 2});
  ASSERT_TRUE(plan);
  std::vector<std::pair<unsigned, unsigned>> places;
  for (int block = 0; block < plan->grid; ++block)
    for (int lane = 0; lane < plan->args.lanes; ++lane) {
      const unsigned from = stamp_place(plan->args, block, lane);
      places.emplace_back(from, from + static_cast<unsigned>(plan->room_of(block)));
      EXPECT_EQ(from % plan->room_of(block), 0U);  // the device tells its end by the upper bits
    }
  std::ranges::sort(places);
  for (std::size_t n = 1; n < places.size(); ++n) EXPECT_LE(places[n - 1].second, places[n].first);
  EXPECT_EQ(places.back().second, plan->words());
}

}  // namespace
}  // namespace attn::gpu
