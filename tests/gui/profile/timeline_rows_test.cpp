// What stands on Profile's timeline at the sizes of a screen: all rows, every part's name, whole sentences.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tests/gui/drawn_text.h"
#include "tests/gui/profile/profile_fixture.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;
using profile_gui::child;

class TimelineRowsTest : public testing::Test {
 protected:
  void open(int width, int height) {
    window = std::make_unique<TestWindow>(width, height);
    window->controller().update({ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::timeline}});
    window->draw_frames(2);
    window->controller().wait();
    window->draw_frames(4);
  }
  const TimelinesView& timelines() { return window->controller().model().timelines; }
  void show(const Timeline& t) {
    window->controller().update({ChooseTimeline{id_of(t)}, ChooseTimeSpan{}});
    window->draw_frames(4);
  }
  // All that a frame draws, without its spaces.
  std::string drawn() {
    const DrawnText all;
    window->draw_frames(1);
    std::string words;
    for (const DrawnText::Place& place : all.places()) words += place.text;
    std::erase(words, ' ');
    return words;
  }
  static std::string without_spaces(std::string words) {
    std::erase(words, ' ');
    return words;
  }

  std::unique_ptr<TestWindow> window;
};

// Where the page goes on it fades: over the last pixels of what is in sight.
TEST_F(TimelineRowsTest, OfEveryRecordingStandAboveThePagesFadeAt1440x900) {
  constexpr float kFade = 24;
  open(1440, 900);
  ASSERT_EQ(timelines().all.size(), 28U);
  for (std::size_t n = 0; n < timelines().all.size(); ++n) {
    show(*timelines().all[n]);
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      const ImGuiWindow* page = child("evidence");
      IM_CHECK(page != nullptr);
      ctx->SetRef(child("profile_timeline"));
      const ImRect lanes = ctx->ItemInfo("timeline_lanes").RectFull;
      IM_CHECK_LE(lanes.Max.y, page->Pos.y + page->Size.y - kFade);
    })) << n;
  }
}

TEST_F(TimelineRowsTest, EveryPartOfThePathHasItsNameInTheBarOrBesideIt) {
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1440, 900), std::pair(900, 720)}) {
    window.reset();
    open(width, height);
    std::size_t parts = 0;
    for (std::size_t n = 0; n < timelines().all.size(); n += 3) {
      const Timeline& t = *timelines().all[n];
      show(t);
      const PipelineScene scene = timeline_scene(timelines().all[n], timelines(), t.kernel);
      const std::string words = drawn();
      for (const PathShare& share : scene.shares) {
        ++parts;
        const std::string whole = without_spaces(fmt::format("{}{}", share.words, share.value)),
                          brief = without_spaces(fmt::format("{}{}", share.brief, share.value));
        EXPECT_TRUE(words.find(whole) != std::string::npos ||
                    (!share.brief.empty() && words.find(brief) != std::string::npos))
            << share.words << ", " << width;
      }
    }
    EXPECT_GT(parts, 30U);
  }
}

TEST_F(TimelineRowsTest, WhatIsSaidBelowTheAnswersIsThereToItsEnd) {
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1440, 900), std::pair(900, 720)}) {
    window.reset();
    open(width, height);
    std::size_t turns = 0;
    for (std::size_t n = 0; n < timelines().all.size(); n += 3) {
      const Timeline& t = *timelines().all[n];
      show(t);
      const PipelineScene scene = timeline_scene(timelines().all[n], timelines(), t.kernel);
      if (scene.answers.empty()) continue;
      EXPECT_NE(drawn().find(without_spaces(scene.words)), std::string::npos) << scene.words << ", " << width;
      turns += scene.words.find("The gain from turns cannot be derived") != std::string::npos;
    }
    EXPECT_GT(turns, 0U);
  }
}

TEST_F(TimelineRowsTest, TheMarkAtTheAxisLeadsToTheKeyTileThatIsFollowed) {
  open(1440, 900);
  const auto shown = timelines().all.front();
  window->controller().update({ChooseTimeline{id_of(*shown)}, ChooseTimeSpan{1, 601}, FollowKeyTile{0}});
  window->draw_frames(4);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const ProfileView& view = window->state().view.profile;
    ctx->SetRef(child("profile_timeline"));
    IM_CHECK(ctx->ItemExists("timeline_followed"));
    ctx->ItemClick("timeline_followed");
    ctx->Yield(3);
    IM_CHECK(view.time_from_ns > 601);
    IM_CHECK_LE(std::abs(view.time_to_ns - view.time_from_ns - 600), 2);
    IM_CHECK_EQ(view.key_tile, 0);
    ctx->SetRef(child("profile_timeline"));
    IM_CHECK(!ctx->ItemExists("timeline_followed"));
    // By the keyboard the same.
    window->controller().update({ChooseTimeSpan{1, 601}});
    ctx->Yield(3);
    ctx->NavMoveTo("timeline_followed");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(view.time_from_ns > 601);
  }));
}

}  // namespace
}  // namespace attn
