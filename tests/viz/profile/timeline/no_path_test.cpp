// A recording whose lanes do not say who waits for whom: what is told of it, and where its door leads.
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "profiling/timeline/lane_states.h"
#include "profiling/timeline/pipeline.h"
#include "tests/viz/profile/timeline/bundled_timelines.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

// What is missing is said, and a button leads to a recording that has it.
TEST(PipelineSceneTest, ARecordingWithoutAPathLeadsToOneThatHasOne) {
  TimelinesView all = bundled_timelines({"h100-warps-timeline"});
  ASSERT_FALSE(all.all.empty());
  EXPECT_FALSE(timeline_scene(all.all.front(), all, "flash_mma").door);  // nowhere to go
  all = bundled_timelines({"h100-warps-timeline", "h100-timeline"});
  const PipelineScene s = timeline_scene(all.all.front(), all, "flash_mma");
  EXPECT_TRUE(s.shares.empty());
  EXPECT_NE(s.words.find("Recordings with a critical path: flash_hopper."), std::string::npos) << s.words;
  ASSERT_TRUE(s.door);
  EXPECT_EQ(s.door->words, "Timeline of flash_hopper");
  ProfileView view;
  view.timeline = s.door->id;
  const auto there = timeline_shown(view, all, "flash_mma", all.all.front()->problem);
  ASSERT_NE(there, nullptr);
  const PipelineScene answered = timeline_scene(there, all, "flash_mma");
  EXPECT_EQ(answered.timeline->kernel, "flash_hopper");
  EXPECT_FALSE(answered.answers.empty());
  EXPECT_FALSE(answered.door);
  double works = 0, waits = 0, lanes = 0;
  const auto p = pipeline_of(*all.all.front(), most_usual_block(*all.all.front(), detailed_blocks(*all.all.front())));
  ASSERT_TRUE(p);
  for (const auto& lane : p->intervals) {
    ++lanes;
    for (const LaneInterval& i : lane) {
      const LaneState& state = lane_state(all.all.front()->tags[static_cast<std::size_t>(i.tag)]);
      if (state.kind == StateKind::work) works += static_cast<double>(i.length());
      if (state.kind == StateKind::wait) waits += static_cast<double>(i.length());
    }
  }
  const double span = lanes * static_cast<double>(p->length());
  // All of the time is named.
  const double others = span - works - waits;
  EXPECT_EQ(s.headline, fmt::format("The lanes work {:.1f} % of the time, wait {:.1f} %, and set up or hand over work "
                                    "for {:.1f} %.",
                                    100 * works / span, 100 * waits / span, 100 * others / span));
}

}  // namespace
}  // namespace attn
