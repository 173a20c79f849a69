// The newest line of the log: nothing moves for it, and the pointer goes through.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>

#include "tests/gui/bench/bench_fixture.h"

namespace attn {
namespace {

bool overlap(const Box& a, const ImRect& b) {
  return a.min.x < b.Max.x && b.Min.x < a.max.x && a.min.y < b.Max.y && b.Min.y < a.max.y;
}

// Where the workspace stands.
ImRect panels() {
  const ImGuiWindow* window = ImGui::FindWindowByName("###workspace");
  return window == nullptr ? ImRect() : window->OuterRectClipped;
}

constexpr const char* kShort = "Copied 0.25";
const std::string kLong =
    "flash_mma supports f16 or bf16, not f32; choose another pass or type on the left, or another kernel above. The "
    "largest L "
    "that fits into the memory of this GPU is 36352 (Lq = Lk, the rest unchanged), and this is a sentence more.";

TEST(Toast, NothingMovesForItAtAnySizeInAnyWorkspace) {
  for (const Workspace workspace : {Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn}) {
    for (const auto& [width, height, scale] :
         {std::tuple(1440, 900, 1.0F), {1280, 720, 1.0F}, {1440, 900, 2.0F}, {1440, 900, 3.0F}}) {
      TestWindow w(width, height);
      w.controller().update({ChooseWorkspace{workspace}, SetScale{scale}});
      w.draw_frames(4);
      const ImRect before = panels();
      for (const std::string& words : {std::string(kShort), kLong}) {
        w.controller().log().warn(words);
        w.draw_frames(3);
        const Toast& toast = w.shell().toast();
        ASSERT_TRUE(toast.shown);
        EXPECT_EQ(toast.text, words);
        const ImRect now = panels();
        EXPECT_TRUE(now.Min.x == before.Min.x && now.Min.y == before.Min.y && now.Max.x == before.Max.x &&
                    now.Max.y == before.Max.y)
            << words << " at " << scale;
        // In the bar whole, or over the lower half: never between the two.
        EXPECT_TRUE(toast.in_bar ? toast.box.max.y <= now.Min.y : toast.box.min.y > static_cast<float>(height) / 2)
            << words << " at " << scale;
        EXPECT_GE(toast.box.min.y, 0);
        EXPECT_GE(toast.box.min.x, 0);
        EXPECT_LE(toast.box.max.x, static_cast<float>(width));
        EXPECT_LE(toast.box.max.y, static_cast<float>(height));
      }
    }
  }
}

TEST(Toast, WhatItCoversCanBePressed) {
  TestWindow w(1440, 900);
  w.controller().update({ChooseWorkspace{Workspace::bench}, SetScale{2}});
  w.draw_frames(4);
  w.controller().log().warn(kLong);
  w.draw_frames(3);
  const Toast toast = w.shell().toast();
  ASSERT_TRUE(toast.shown && !toast.in_bar);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->MouseMoveToPos({(toast.box.min.x + toast.box.max.x) / 2, (toast.box.min.y + toast.box.max.y) / 2});
    const ImGuiWindow* under = ImGui::GetCurrentContext()->HoveredWindow;
    IM_CHECK(under != nullptr);
    IM_CHECK(under->RootWindow == ImGui::FindWindowByName("###workspace") ||
             std::string(under->Name).find("workspace") != std::string::npos);
  }));
}

TEST(Toast, InTheBarItLeavesWhatStandsThereFree) {
  TestWindow w;
  w.controller().update({ChooseWorkspace{Workspace::bench}});
  w.draw_frames(4);
  w.controller().log().note(kShort);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->Yield(2);
    const Toast toast = w.shell().toast();
    IM_CHECK(toast.shown && toast.in_bar);
    ctx->SetRef("//Bar");
    for (const char* item : {"Step", "Learn", "Kernel", "Crossing", "Origin", "Menu", "Keys"})
      IM_CHECK(!overlap(toast.box, ctx->ItemInfo(item).RectFull));
  }));
}

TEST(Toast, GoesWithTheWorkspaceThatItCameUpIn) {
  TestWindow w;
  w.draw_frames(8);
  w.controller().log().note(kShort);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->Yield(2);
    IM_CHECK(w.shell().toast().shown);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_2);
    ctx->Yield(2);
    IM_CHECK(!w.shell().toast().shown);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_1);
    ctx->Yield(2);
    IM_CHECK(!w.shell().toast().shown);
  }));
}

}  // namespace
}  // namespace attn
