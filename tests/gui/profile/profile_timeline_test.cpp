// Profile's timeline by mouse: a part by dragging, the whole by a double click, a key tile by a click, another
// recording by its name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "tests/gui/profile/profile_fixture.h"
#include "tests/viz/profile/timeline/two_blocks.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;
using profile_gui::child;

class TimelineWindowTest : public testing::Test {
 protected:
  void open(int width) {
    window = std::make_unique<TestWindow>(width, 1100);
    window->controller().update({ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::timeline}});
    window->draw_frames(2);
    window->controller().wait();
    window->draw_frames(4);
  }
  const ProfileView& view() const { return window->state().view.profile; }

  std::unique_ptr<TestWindow> window;
};

TEST_F(TimelineWindowTest, IsWalkedByMouse) {
  open(1440);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ImGuiWindow* card = child("profile_timeline");
    IM_CHECK(card != nullptr);
    ctx->SetRef(card);
    const ImRect chart = ctx->ItemInfo("timeline_lanes").RectFull;
    const auto at = [&](float x, float y) {
      return ImVec2(chart.Min.x + x * chart.GetWidth(), chart.Min.y + y * chart.GetHeight());
    };
    ctx->MouseMoveToPos(at(0.25F, 0.5F));
    ctx->MouseDown(0);
    ctx->MouseMoveToPos(at(0.5F, 0.5F));
    ctx->MouseUp(0);
    ctx->Yield(2);
    IM_CHECK(view().time_to_ns > view().time_from_ns);
    const std::int64_t part = view().time_to_ns - view().time_from_ns;
    ctx->MouseMoveToPos(at(0.5F, 0.5F));
    ctx->MouseDoubleClick(0);
    ctx->Yield(2);
    IM_CHECK(view().time_to_ns - view().time_from_ns > 20 * part);
    IM_CHECK(ctx->ItemExists("Some tiles"));
    ctx->ItemClick("Some tiles");
    IM_CHECK_EQ(view().time_to_ns, 0);
    // A slot of the ring holds a key tile at nearly every moment; between two slots there is none.
    for (const float y : {0.985F, 0.97F, 0.955F}) {
      if (view().key_tile >= 0) break;
      ctx->MouseMoveToPos(at(0.4F, y));
      ctx->MouseClick(0);
      ctx->Yield(2);
    }
    IM_CHECK(view().key_tile >= 0);
    IM_CHECK(ctx->ItemExists("All tiles"));
    ctx->ItemClick("All tiles");
    IM_CHECK_EQ(view().key_tile, -1);
    ctx->ItemClick("Path");
    IM_CHECK(!view().time_path);
  }));
}

// Tab comes to the lanes; there the arrow keys go from stretch to stretch and Enter follows the key tile of one.
TEST_F(TimelineWindowTest, IsWalkedByKeyboard) {
  open(1440);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_timeline"));
    ctx->NavMoveTo("timeline_lanes");
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    const std::int32_t first = view().key_tile;
    IM_CHECK(first >= 0);
    for (int n = 0; n < 4; ++n) {
      ctx->KeyPress(ImGuiKey_RightArrow);
      ctx->Yield(2);
    }
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK(view().key_tile >= 0);
    IM_CHECK(view().key_tile != first);
  }));
}

// A span that was measured with Shift does not enlarge it.
TEST_F(TimelineWindowTest, AShiftedDragMeasuresAndMovesNothing) {
  open(1440);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_timeline"));
    const ImRect chart = ctx->ItemInfo("timeline_lanes").RectFull;
    const float y = chart.GetCenter().y;
    ctx->MouseMoveToPos({chart.Min.x + 0.25F * chart.GetWidth(), y});
    ctx->KeyDown(ImGuiMod_Shift);
    ctx->MouseDown(0);
    ctx->MouseMoveToPos({chart.Min.x + 0.5F * chart.GetWidth(), y});
    ctx->MouseUp(0);
    ctx->KeyUp(ImGuiMod_Shift);
    ctx->Yield(2);
    IM_CHECK_EQ(view().time_to_ns, 0);
    IM_CHECK_EQ(view().key_tile, -1);
  }));
}

// What the panel says and saves is behind a button where the window is too narrow for both.
TEST_F(TimelineWindowTest, TheRecordingsPanelIsBehindAButtonWhereItHasNoRoom) {
  open(1280);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(child("profile_panel") == nullptr || !child("profile_panel")->WasActive);
    ctx->SetRef(child("profile_timeline"));
    ctx->ItemClick("Recording");
    ctx->Yield(2);
    ImGuiWindow* panel = child("profile_panel");
    IM_CHECK(panel != nullptr && panel->WasActive);
    ctx->SetRef(panel);
    IM_CHECK(ctx->ItemExists("Perfetto"));
    IM_CHECK(ctx->ItemExists("CSV"));
  }));
}

// Every recording can be reached, however narrow the window.
TEST_F(TimelineWindowTest, EveryRecordingIsInTheMenuAndIsChosenByItsName) {
  open(900);
  const TimelinesView& timelines = window->controller().model().timelines;
  ASSERT_GE(timelines.all.size(), 6U);
  const PipelineScene scene = timeline_scene(timelines.all[0], timelines, "flash_hopper");
  ASSERT_EQ(scene.choices.size(), timelines.all.size());
  const PipelineScene::Choice other = scene.choices.back();
  ASSERT_FALSE(other.on);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_timeline"));
    ctx->ItemClick("##timeline_shown");
    for (const PipelineScene::Choice& c : scene.choices)
      IM_CHECK(ctx->ItemExists(("//$FOCUSED/" + c.words + "##" + c.id).c_str()));
    ctx->ItemClick(("//$FOCUSED/" + other.words + "##" + other.id).c_str());
    ctx->Yield(2);
    IM_CHECK(view().timeline == other.id);
  }));
}

TEST_F(TimelineWindowTest, ASecondOneIsPutBelowAndTakenAway) {
  open(1440);
  const TimelinesView& timelines = window->controller().model().timelines;
  const PipelineScene scene = timeline_scene(timelines.all[0], timelines, "flash_hopper");
  const auto at = std::ranges::find_if(scene.choices, &PipelineScene::Choice::may_be_beside);
  ASSERT_NE(at, scene.choices.end());
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_timeline"));
    ctx->ItemClick("##timeline_below");
    ctx->ItemClick(("//$FOCUSED/" + at->words + "##" + at->id).c_str());
    ctx->Yield(2);
    IM_CHECK(view().time_beside == at->id);
    ctx->SetRef(child("profile_timeline"));
    ctx->ItemClick("##timeline_below");
    ctx->ItemClick("//$FOCUSED/nothing##none");
    ctx->Yield(2);
    IM_CHECK(view().time_beside.empty());
  }));
}

// A recording and one of the same problem that may stand below it.
struct Pair {
  std::string above, above_words, below, below_words;
};
Pair comparable(const TimelinesView& timelines) {
  for (const auto& t : timelines.all) {
    const PipelineScene scene = timeline_scene(t, timelines, t->kernel);
    const auto shown = std::ranges::find(scene.choices, true, &PipelineScene::Choice::on);
    const auto other = std::ranges::find(scene.choices, true, &PipelineScene::Choice::may_be_beside);
    if (shown != scene.choices.end() && other != scene.choices.end())
      return {shown->id, shown->words, other->id, other->words};
  }
  ADD_FAILURE() << "no two recordings of one problem";
  return {};
}

TEST_F(TimelineWindowTest, TwoRecordingsAreComparedByMouseAndByKeyboard) {
  open(1440);
  const Pair pair = comparable(window->controller().model().timelines);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const auto choose = [&](const char* menu, const std::string& item) {
      ctx->SetRef(child("profile_timeline"));
      ctx->ItemClick(menu);
      ctx->ItemClick(("//$FOCUSED/" + item).c_str());
      ctx->Yield(2);
      ctx->SetRef(child("profile_timeline"));
    };
    const std::string below = pair.below_words + "##" + pair.below;
    if (view().timeline != pair.above && pair.above != pair.below)
      choose("##timeline_shown", pair.above_words + "##" + pair.above);
    IM_CHECK(!ctx->ItemExists("timeline_beside"));
    const float alone = child("profile_timeline")->Size.y;
    choose("##timeline_below", below);
    IM_CHECK(view().time_beside == pair.below);
    IM_CHECK(ctx->ItemExists("timeline_beside"));
    IM_CHECK(child("profile_timeline")->Size.y > alone);
    // The same axis: the second begins and ends where the first does.
    const ImRect above_it = ctx->ItemInfo("timeline_lanes").RectFull, its = ctx->ItemInfo("timeline_beside").RectFull;
    IM_CHECK_EQ(above_it.Min.x, its.Min.x);
    IM_CHECK_EQ(above_it.Max.x, its.Max.x);
    IM_CHECK(its.Min.y >= above_it.Max.y);
    // A part that is dragged over above is as long below.
    ctx->MouseMoveToPos({above_it.Min.x + 0.2F * above_it.GetWidth(), above_it.GetCenter().y});
    ctx->MouseDown(0);
    ctx->MouseMoveToPos({above_it.Min.x + 0.6F * above_it.GetWidth(), above_it.GetCenter().y});
    ctx->MouseUp(0);
    ctx->Yield(2);
    IM_CHECK(view().time_to_ns > view().time_from_ns);
    IM_CHECK(view().time_beside == pair.below);
    choose("##timeline_below", "nothing##none");
    IM_CHECK(view().time_beside.empty());
    IM_CHECK(!ctx->ItemExists("timeline_beside"));
    // By the keyboard the same: the menu opens, the item is taken.
    ctx->NavMoveTo("##timeline_below");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    ctx->NavMoveTo(("//$FOCUSED/" + below).c_str());
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    ctx->SetRef(child("profile_timeline"));
    IM_CHECK(view().time_beside == pair.below);
    IM_CHECK(ctx->ItemExists("timeline_beside"));
  }));
}

TEST_F(TimelineWindowTest, ABlockIsChosenByMouseAndByKeyboard) {
  auto session = read_session(test::source_folder() + "/assets/sessions/h100-timeline.attn");
  ASSERT_TRUE(session);
  const Timeline two = with_two_blocks(session->timelines.front());
  open(1440);
  window->controller().show(std::vector<Timeline>{two});
  window->controller().update({ChooseTimeline{id_of(two)}});
  window->draw_frames(4);
  const TimelinesView& timelines = window->controller().model().timelines;
  const PipelineScene scene = timeline_scene(timelines.all.front(), timelines, two.kernel);
  ASSERT_EQ(scene.blocks.size(), 2U);
  const std::int64_t shown = scene.block,
                     other = shown == scene.blocks.front() ? scene.blocks.back() : scene.blocks.front();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_timeline"));
    ctx->ItemClick("##timeline_block");
    ctx->ItemClick(fmt::format("//$FOCUSED/{}##block", other).c_str());
    ctx->Yield(2);
    IM_CHECK_EQ(view().time_block, other);
    ctx->SetRef(child("profile_timeline"));
    ctx->NavMoveTo("##timeline_block");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    ctx->NavMoveTo(fmt::format("//$FOCUSED/{}##block", shown).c_str());
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK_EQ(view().time_block, shown);
    IM_CHECK(view().timeline == id_of(two));
  }));
}

// The tail is in the first picture, a click enlarges it, and a click on a block goes back to lanes.
TEST_F(TimelineWindowTest, AllSmsAreBehindTheAnswerAboutTheTailAndAPageOfTheirOwn) {
  auto session = read_session(test::source_folder() + "/assets/sessions/h100-timeline.attn");
  ASSERT_TRUE(session);
  window = std::make_unique<TestWindow>(1440, 900);
  window->controller().update({ChooseWorkspace{Workspace::profile}, ChooseProfilePage{ProfilePage::timeline},
                               ChooseTimeline{id_of(session->timelines.front())}});
  window->draw_frames(2);
  window->controller().wait();
  window->draw_frames(4);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_timeline"));
    const ImRect tail = ctx->ItemInfo("timeline_tail").RectFull;
    IM_CHECK(tail.Max.y < 450);
    ctx->ItemClick("timeline_tail");
    ctx->Yield(2);
    IM_CHECK(view().time_sms);
    ctx->SetRef(child("profile_timeline"));
    IM_CHECK(!ctx->ItemExists("timeline_lanes"));
    const ImRect all = ctx->ItemInfo("timeline_sms").RectFull;
    IM_CHECK(all.Max.y < 900);
    IM_CHECK(all.GetHeight() > 300);
    ctx->ItemClick("All SMs");
    IM_CHECK(!view().time_sms);
    ctx->SetRef(child("profile_timeline"));
    IM_CHECK(ctx->ItemExists("timeline_lanes"));
  }));
}

TEST_F(TimelineWindowTest, TheBlockRecordedInDetailIsChosenAmongAllSms) {
  open(1440);
  const TimelinesView& timelines = window->controller().model().timelines;
  const auto shown = timelines.all.front();
  window->controller().update({ChooseTimeline{id_of(*shown)}, ShowAllSms{true}});
  window->draw_frames(4);
  const PipelineScene scene = timeline_scene(shown, timelines, shown->kernel);
  const auto band = std::ranges::find(scene.bands, true, &BlockBand::shown);
  ASSERT_NE(band, scene.bands.end());
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_timeline"));
    const ImRect all = ctx->ItemInfo("timeline_sms").RectFull;
    const auto x = static_cast<float>((band->from_ns + band->to_ns) / 2 / scene.launch_ns);
    const float y = (static_cast<float>(band->row) +
                     (static_cast<float>(band->place) + 0.5F) / static_cast<float>(scene.band_places)) /
                    static_cast<float>(scene.band_rows);
    ctx->MouseMoveToPos({all.Min.x + x * all.GetWidth(), all.Min.y + y * all.GetHeight()});
    ctx->MouseClick(0);
    ctx->Yield(2);
    IM_CHECK(!view().time_sms);
    IM_CHECK_EQ(view().time_block, band->block);
  }));
}

// The panel speaks of the recording, whatever run the other pages show.
TEST_F(TimelineWindowTest, ThePanelIsOfTheRecording) {
  open(1440);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(child("profile_panel"));
    IM_CHECK(ctx->ItemExists("Perfetto"));
    IM_CHECK(ctx->ItemExists("CSV"));
    IM_CHECK(child("recorded") != nullptr);
    IM_CHECK(child("profile_figures") == nullptr);
  }));
}

}  // namespace
}  // namespace attn
