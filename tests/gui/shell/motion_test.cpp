// What the window draws while nobody does anything: nothing, but what has to move.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "app/graphics/frame_sum.h"
#include "imgui_internal.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

std::optional<std::uint64_t> sum_now() {
  // The renderer that throws all away forgets to say that it has uploaded.
  for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
    if (texture->Status == ImTextureStatus_WantUpdates) texture->SetStatus(ImTextureStatus_OK);
  }
  return frame_sum(*ImGui::GetDrawData());
}

// Until the layout of the first frames would have been saved.
void rest(TestWindow& w) {
  w.draw_frames(360);
}

void press(TestWindow& w, ImGuiKey key) {
  ImGui::GetIO().AddKeyEvent(key, true);
  w.draw_frames(2);
  ImGui::GetIO().AddKeyEvent(key, false);
  w.draw_frames(2);
}

TEST(Motion, AQuietWindowNeedsNoFrame) {
  TestWindow w;
  rest(w);
  for (const Workspace workspace : {Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn}) {
    w.controller().update({ChooseWorkspace{workspace}});
    w.draw_frames(10);
    EXPECT_TRUE(std::isinf(w.shell().seconds_to_motion())) << name_of(workspace);
    const auto before = sum_now();
    w.draw_frames(5);
    ASSERT_TRUE(before) << name_of(workspace);
    EXPECT_EQ(sum_now(), before) << name_of(workspace);
  }
}

// As a display's server sends what was typed while a frame was drawn: all of it before the next one.
TEST(Motion, AChordThatIsQuickerThanAFrameIsObeyed) {
  TestWindow w;
  const Theme before = w.controller().state().preferences.theme;
  ImGuiIO& io = ImGui::GetIO();
  for (const bool down : {true, false}) {
    io.AddKeyEvent(ImGuiMod_Ctrl, down);
    io.AddKeyEvent(ImGuiKey_LeftCtrl, down);
    io.AddKeyEvent(ImGuiKey_T, down);
  }
  w.draw_frames(4);
  EXPECT_NE(w.controller().state().preferences.theme, before);
  EXPECT_EQ(io.KeyMods, 0);
  EXPECT_FALSE(ImGui::IsKeyDown(ImGuiKey_T));
}

TEST(Motion, AnotherPictureHasAnotherSum) {
  TestWindow w;
  w.draw_frames(10);
  const auto first = sum_now();
  w.controller().update({StepBy{}});
  w.draw_frames(3);
  const auto second = sum_now();
  EXPECT_NE(first, second);
  w.controller().update({SetTheme{Theme::light}});
  w.draw_frames(3);
  EXPECT_NE(sum_now(), second);
}

TEST(Motion, ATooltipComesAlthoughThePointerRests) {
  TestWindow w;
  rest(w);
  ImGui::GetIO().AddMousePosEvent(1440 - 26, 20);  // the button of the sheet
  w.draw_frames(2);
  // Woken when it is asked to be and never else: each frame of the test takes a 60th of a second.
  int frames = 0;
  while (std::isfinite(w.shell().seconds_to_motion()) && frames < 200) {
    const double wait = w.shell().seconds_to_motion();
    w.draw_frames(std::max(1, static_cast<int>(std::ceil(wait * 60))));
    ++frames;
  }
  EXPECT_LE(frames, 8);
  const ImGuiWindow* tip = ImGui::FindWindowByName("##Tooltip_00");
  ASSERT_NE(tip, nullptr);
  EXPECT_TRUE(tip->Active && !tip->Hidden);
}

TEST(Motion, ACaretBlinks) {
  TestWindow w;
  rest(w);
  press(w, ImGuiKey_G);
  w.draw_frames(30);
  ASSERT_TRUE(ImGui::GetIO().WantTextInput);
  const auto before = sum_now();
  const double wait = w.shell().seconds_to_motion();
  EXPECT_GT(wait, 0);
  EXPECT_LT(wait, 1);
  w.draw_frames(static_cast<int>(std::ceil(wait * 60)) + 1);
  EXPECT_NE(sum_now(), before);
}

TEST(Motion, AToastGoesByItself) {
  TestWindow w;
  rest(w);
  w.controller().log().warn("a word");
  w.draw_frames(3);
  const double wait = w.shell().seconds_to_motion();
  EXPECT_GT(wait, 1);
  EXPECT_TRUE(std::isfinite(wait));
  w.draw_frames(static_cast<int>(std::ceil(wait * 60)) + 1);
  EXPECT_TRUE(std::isinf(w.shell().seconds_to_motion()));
}

TEST(Motion, TheComparisonWithFp64GoesOnUntilItIsDone) {
  TestWindow w;
  SetProblem large{w.state().document.problem, 0};
  large.problem.Lq = large.problem.Lk = 512;
  large.problem.D = large.problem.Dv = 64;
  SetOptions tiles{w.state().document.options, 0};
  tiles.options.br = tiles.options.bc = 32;
  rest(w);
  w.controller().update({tiles, large, ChooseStepChart{StepChart::error}});
  w.controller().wait();
  w.draw_frames(3);
  EXPECT_EQ(w.shell().seconds_to_motion(), 0);
  for (int n = 0; n < 60 && !std::isinf(w.shell().seconds_to_motion()); ++n) w.draw_frames(10);
  EXPECT_TRUE(std::isinf(w.shell().seconds_to_motion()));
}

TEST(Gestures, EachCellThatIsClickedIsAnEntryOfItsOwn) {
  TestWindow w;
  w.draw_frames(5);
  Selection first;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    const ImRect tile = ctx->ItemInfo("##tile_s").RectFull;
    const auto click = [&](float x, float y) {
      ctx->MouseMoveToPos({tile.Min.x + x * tile.GetWidth(), tile.Min.y + y * tile.GetHeight()});
      ctx->MouseClick();
      ctx->Yield(2);
    };
    click(0.1F, 0.1F);
    first = w.state().document.selection;
    click(0.9F, 0.9F);
    IM_CHECK(w.state().document.selection != first);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    IM_CHECK(w.state().document.selection == first);
  }));
}

TEST(Gestures, EachDragIsAnEntryOfItsOwn) {
  TestWindow w;
  w.draw_frames(5);
  const std::int64_t before = w.state().document.problem.Lq;
  std::int64_t after_one = 0;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    const auto drag = [&](float dx) {
      ctx->ItemDragWithDelta("##length_drag", {dx, 0});
      ctx->Yield(2);
    };
    drag(40);
    after_one = w.state().document.problem.Lq;
    IM_CHECK_GT(after_one, before);
    drag(60);
    IM_CHECK_GT(w.state().document.problem.Lq, after_one);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    IM_CHECK_EQ(w.state().document.problem.Lq, after_one);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    IM_CHECK_EQ(w.state().document.problem.Lq, before);
  }));
}

}  // namespace
}  // namespace attn
