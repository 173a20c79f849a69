// The heartbeat under the hand: its page, a part of the run by dragging, all values at the pointer, why there is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "imgui_internal.h"
#include "profiling/session/run.h"
#include "tests/gui/gui_fixture.h"
#include "tests/viz/profile/heartbeat/beats.h"
#include "tests/viz/profile/profile_rows.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

ImGuiWindow* shown_child(const std::string& name) {
  for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->WasActive && std::string(window->Name).find("/" + name + "_") != std::string::npos) return window;
  return nullptr;
}

class HeartbeatWindowTest : public ::testing::Test {
 protected:
  void open(bool with_beats, int width = 1440, int height = 900, float scale = 1) {
    window = std::make_unique<TestWindow>(width, height);
    ListedRun shown;
    shown.run = new_run("");
    shown.run.provenance.device_arch = "sm_90a";
    shown.run.provenance.cores = 132;
    for (const auto& [kernel, launches] : {std::pair{"naive", 3}, std::pair{"flash_simt", 1}}) {
      Measurement m = profile_test::h100_row(kernel, 100.0 * launches);
      if (with_beats) m.heartbeat = std::make_shared<const Heartbeat>(profile_test::made_beats(launches, kernel));
      shown.run.rows.push_back(std::move(m));
    }
    window->controller().update(
        {ChooseWorkspace{Workspace::profile}, SetScale{scale}, ChooseProfilePage{ProfilePage::heartbeat}});
    window->controller().show({shown}, nullptr);
    window->draw_frames(4);
  }
  const ProfileView& view() const { return window->state().view.profile; }

  std::unique_ptr<TestWindow> window;
};

TEST_F(HeartbeatWindowTest, APartIsChosenByDraggingAndTheWholeRunByADoubleClick) {
  open(true);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(shown_child("profile_panel"));
    ctx->ItemClick("##profile_naive");
    ctx->Yield(2);
    ImGuiWindow* card = shown_child("profile_heartbeat");
    IM_CHECK(card != nullptr);
    ctx->SetRef(card);
    const ImRect chart = ctx->ItemInfo("beat_chart").RectFull;
    const auto at = [&](float share) { return ImVec2(chart.Min.x + share * chart.GetWidth(), chart.GetCenter().y); };
    ctx->MouseMoveToPos(at(0.25F));
    ctx->MouseDown(0);
    ctx->MouseMoveToPos(at(0.5F));
    ctx->MouseUp(0);
    ctx->Yield(2);
    // Three launches of 100 us and two pauses of 10 us.
    IM_CHECK(std::abs(view().beat_from_us - 80) <= 2);
    IM_CHECK(std::abs(view().beat_to_us - 160) <= 2);
    IM_CHECK(ctx->ItemExists("Whole run"));
    ctx->MouseMoveToPos(at(0.5F));
    ctx->MouseDoubleClick(0);
    ctx->Yield(2);
    IM_CHECK_EQ(view().beat_to_us, 0);
    IM_CHECK(!ctx->ItemExists("Whole run"));
  }));
}

TEST_F(HeartbeatWindowTest, AClickThatDoesNotDragChoosesNothing) {
  open(true);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(shown_child("profile_heartbeat"));
    ctx->ItemClick("beat_chart");
    ctx->Yield(2);
    IM_CHECK_EQ(view().beat_to_us, 0);
  }));
}

TEST_F(HeartbeatWindowTest, ThePointerReadsAllValuesAndLaunchesAreMarked) {
  open(true);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->SetRef(shown_child("profile_heartbeat"));
    IM_CHECK(ctx->ItemExists("launch_flash_simt_0"));
    IM_CHECK(ctx->ItemExists("launch_naive_0"));
    IM_CHECK(!ctx->ItemExists("launch_naive_1"));  // naive's second launch begins behind what is shown
    ctx->MouseMove("beat_chart");
    ctx->Yield(3);
    IM_CHECK(ctx->GetWindowByRef("//##Tooltip_00") != nullptr);
    ctx->ItemClick("strip_fma");
  }));
}

TEST_F(HeartbeatWindowTest, WhereThereIsNoneItIsSaidAndTheRestStays) {
  open(false);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(shown_child("profile_heartbeat") != nullptr);
    ctx->SetRef(shown_child("profile_heartbeat"));
    IM_CHECK(!ctx->ItemExists("beat_chart"));
    ctx->SetRef(shown_child("profile_strip"));
    IM_CHECK(ctx->ItemExists("Read heartbeat"));
    ctx->ItemClick("Figures");
    IM_CHECK(view().page == ProfilePage::figures);
    ctx->ItemClick("Heartbeat");
    IM_CHECK(view().page == ProfilePage::heartbeat);
  }));
}

TEST_F(HeartbeatWindowTest, FitsItsWindowAtEverySize) {
  for (const auto& [width, height, scale] :
       {std::tuple{1280, 720, 1.0F}, std::tuple{1440, 900, 1.0F}, std::tuple{1440, 900, 2.0F}}) {
    open(true, width, height, scale);
    const ImGuiWindow* card = shown_child("profile_heartbeat");
    ASSERT_NE(card, nullptr) << width;
    EXPECT_GE(card->Pos.x, 0) << width;
    EXPECT_LE(card->Pos.x + card->Size.x, static_cast<float>(width)) << scale;
    EXPECT_GT(card->Size.y, 300 * scale) << "the strips have their room";
    EXPECT_EQ(card->ScrollMax.y, 0) << "the page scrolls, not the card";
    window.reset();
  }
}

// Names and means stand over the strips where beside them the curves would have a tenth of the page.
TEST_F(HeartbeatWindowTest, TheCurvesHaveTheCardsWidthAtLargeLetters) {
  for (const float scale : {1.5F, 2.0F, 3.0F}) {
    open(true, 1440, 2700, scale);  // so high that nothing is scrolled out of sight
    window->controller().update({ChooseKernel{"naive"}});
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      const ImGuiWindow* card = shown_child("profile_heartbeat");
      IM_CHECK(card != nullptr);
      ctx->SetRef(card->ID);
      const float chart = ctx->ItemInfo("beat_chart").RectFull.GetWidth();
      IM_CHECK_GT(chart, 200 * scale);
      IM_CHECK(ctx->ItemExists("strip_fma"));
    }));
    // The card has room for every strip and all of the words.
    const ImGuiWindow* card = shown_child("profile_heartbeat");
    EXPECT_LE(card->ContentSize.y, card->Size.y) << scale;
    window.reset();
  }
}

// Hue is not all that tells two kernels apart: the mean of the other one is dashed.
TEST_F(HeartbeatWindowTest, TheOtherKernelsLineIsDashedAndItsOwnIsNot) {
  open(true);
  const auto share_drawn = [&](const char* kernel) {
    const ImU32 ink = kernel_colour(style().theme, kernel);
    std::set<int> columns;  // of the picture, where its line is
    for (const ImGuiWindow* w : ImGui::GetCurrentContext()->Windows) {
      if (!w->WasActive) continue;
      const ImDrawList& list = *w->DrawList;
      for (int n = 0; n + 2 < list.IdxBuffer.Size; n += 3) {
        std::array<ImDrawVert, 3> corners{};
        for (std::size_t i = 0; i < 3; ++i) corners[i] = list.VtxBuffer[list.IdxBuffer[n + static_cast<int>(i)]];
        const auto [left, right] = std::ranges::minmax(corners, {}, [](const ImDrawVert& v) { return v.pos.x; });
        // Slivers of the line alone: a mark or a fill is wider or of another ink.
        if (std::ranges::any_of(corners, [&](const ImDrawVert& v) { return v.col != ink; })) continue;
        if (right.pos.x - left.pos.x > 2.5F) continue;
        for (int x = static_cast<int>(left.pos.x); x <= static_cast<int>(right.pos.x); ++x) columns.insert(x);
      }
    }
    if (columns.size() < 100) return 0.0;
    // The middle of it, off the marks beside the names.
    const std::vector<int> at(columns.begin(), columns.end());
    const std::size_t from = at.size() / 4, to = 3 * at.size() / 4;
    return static_cast<double>(to - from) / (at[to] - at[from]);
  };
  const auto [dashed, whole] = std::minmax(share_drawn("naive"), share_drawn("flash_simt"));
  EXPECT_GT(whole, 0.9) << dashed;
  EXPECT_GT(dashed, 0.3);
  EXPECT_LT(dashed, 0.8);
}

}  // namespace
}  // namespace attn
