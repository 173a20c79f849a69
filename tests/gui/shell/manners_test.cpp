// Manners of the window: keys in menus, Escape, Tab, the command palette, the layout, large scales, tooltips.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "app/state/apply/apply.h"
#include "imgui_internal.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

bool popup_open() {
  return ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

TEST(Menus, UpDownAndEnterChooseInStepWhereArrowsStep) {
  TestWindow w;
  const std::string before = w.state().document.kernel;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->ItemClick("//Bar/Kernel");
    ctx->Yield(2);
    IM_CHECK(popup_open());
    ctx->KeyPress(ImGuiKey_UpArrow);
    ctx->KeyPress(ImGuiKey_UpArrow);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK(!popup_open());
    IM_CHECK(w.state().document.kernel != before);
    IM_CHECK_EQ(w.state().view.step.cursor, 0U);
    // And the arrows step again.
    ctx->KeyPress(ImGuiKey_RightArrow);
    IM_CHECK_EQ(w.state().view.step.cursor, 1U);
  }));
}

TEST(Menus, EscapeClosesTheMenuAndNothingElse) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_Tab);
    ctx->Yield(2);
    IM_CHECK(w.shell().step_ui().tiles.focused);
    ctx->ItemClick("//Bar/Kernel");
    ctx->Yield(2);
    IM_CHECK(popup_open());
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    IM_CHECK(!popup_open());
    IM_CHECK(w.shell().step_ui().tiles.focused);
    ctx->KeyPress(ImGuiKey_Escape);
    IM_CHECK(!w.shell().step_ui().tiles.focused);
  }));
}

TEST(Menus, EscapeClosesWhatLiesOverTheSheetFirst) {
  TestWindow w;
  w.controller().update({ShowKeys{}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->Yield(2);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_B);
    ctx->Yield(2);
    IM_CHECK(popup_open());
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    IM_CHECK(!popup_open());
    IM_CHECK(w.state().view.keys_sheet);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    IM_CHECK(!w.state().view.keys_sheet);
  }));
}

// The controls that Tab reaches, and their windows, until it comes round.
struct Tour {
  std::set<ImGuiID> controls;
  std::set<std::string> windows;
};
Tour tab_through(Ctx* ctx, TestWindow& w) {
  Tour tour;
  for (int n = 0; n < 300; ++n) {
    ctx->KeyPress(ImGuiKey_Tab);
    ctx->Yield(3);
    if (w.shell().step_ui().tiles.focused && n > 0) break;
    const ImGuiContext& g = *ImGui::GetCurrentContext();
    tour.controls.insert(g.NavId);
    if (g.NavWindow != nullptr) tour.windows.insert(g.NavWindow->Name);
  }
  return tour;
}

TEST(Tab, InStepItEntersTheTilesThenReachesEveryControlAndComesRound) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    const Tour tour = tab_through(ctx, w);
    IM_CHECK(w.shell().step_ui().tiles.focused);
    for (const char* name : {"##step_play", "##step_next", "##bookmark", "##speed_faster", "##reading_divided",
                             "##whatif_max", "##preset", "##length", "##mask"})
      IM_CHECK_NO_RET(tour.controls.contains(ctx->GetID((std::string(kStep) + "/" + name).c_str())));
    for (const char* name : {"//Bar/Step", "//Bar/Learn", "//Bar/Kernel", "//Bar/Menu", "//Bar/Keys"})
      IM_CHECK_NO_RET(tour.controls.contains(ctx->GetID(name)));
  }));
}

TEST(Tab, InStepArrowsStepWhileItGoesThroughTheControls) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    // Into the tiles, then to the first control, the list of presets; a field would keep the arrows for its text.
    for (int n = 0; n < 2; ++n) ctx->KeyPress(ImGuiKey_Tab);
    ctx->Yield(3);
    IM_CHECK(!w.shell().step_ui().tiles.focused);
    ctx->KeyPress(ImGuiKey_RightArrow);
    IM_CHECK_EQ(w.state().view.step.cursor, 1U);
    // Escape gives Tab back to the tiles.
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->KeyPress(ImGuiKey_Tab);
    IM_CHECK(w.shell().step_ui().tiles.focused);
  }));
}

TEST(Tab, InBenchItGoesThroughPanelFiguresAndBar) {
  TestWindow w;
  w.controller().update({ChooseWorkspace{Workspace::bench}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    const Tour tour = tab_through(ctx, w);
    IM_CHECK_GT(tour.controls.size(), 30U);
    for (const char* name : {"//Bar/Bench", "//Bar/Kernel", "//Bar/Keys"})
      IM_CHECK_NO_RET(tour.controls.contains(ctx->GetID(name)));
    const auto in = [&](const char* part) {
      for (const std::string& window : tour.windows)
        if (window.find(part) != std::string::npos) return true;
      return false;
    };
    IM_CHECK_NO_RET(in("setup"));
    IM_CHECK_NO_RET(in("figures"));
    IM_CHECK_NO_RET(in("Bar"));
  }));
}

TEST(PaletteWindow, AFewLettersAndEnterDoIt) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
    ctx->Yield(2);
    IM_CHECK(popup_open());
    ctx->KeyCharsAppend("late outl");
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(!popup_open());
    IM_CHECK_STR_EQ(w.state().document.preset.c_str(), "late_outlier");
  }));
}

TEST(PaletteWindow, ArrowsChooseAndAPopupThatItAsksForOpens) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
    ctx->Yield(2);
    ctx->KeyCharsAppend("tiles at 2");
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_DownArrow);
    ctx->KeyPress(ImGuiKey_DownArrow);
    ctx->KeyPress(ImGuiKey_UpArrow);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_GT(w.state().preferences.scale, 1.0F);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
    ctx->Yield(2);
    ctx->KeyCharsAppend("all bookmarks");
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(4);
    IM_CHECK(popup_open());
    const ImGuiWindow* window = ImGui::FindWindowByName("Bookmarks");
    IM_CHECK(window != nullptr && window->Active);
  }));
}

TEST(PaletteWindow, WhatCannotBeDoneStaysAndEscapeLeavesAtOnce) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
    ctx->Yield(2);
    ctx->KeyCharsAppend("undo");
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(popup_open());
    IM_CHECK(ImGui::GetIO().WantTextInput);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(3);
    IM_CHECK(!popup_open());
    ctx->KeyPress(ImGuiKey_RightArrow);
    IM_CHECK_EQ(w.state().view.step.cursor, 1U);
  }));
}

TEST(Layout, AResetDocksThePanelsWhereTheyWereAtFirst) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_L);
    ctx->Yield(3);
    const ImGuiWindow* log = ImGui::FindWindowByName("Log###log");
    const ImVec2 at_first = log->Pos, size = log->Size;
    ctx->UndockWindow("###log");
    ctx->WindowMove("###log", ImVec2(300, 250));
    IM_CHECK(!log->DockIsActive);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
    ctx->Yield(2);
    ctx->KeyCharsAppend("reset layout");
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(5);
    IM_CHECK(log->DockIsActive);
    IM_CHECK_LT(std::abs(log->Pos.y - at_first.y), 2.0F);
    IM_CHECK_LT(std::abs(log->Size.x - size.x), 2.0F);
    const ImGuiWindow* workspace = ImGui::FindWindowByName("###workspace");
    IM_CHECK(workspace->DockIsActive);
  }));
}

TEST(LargeScales, TransportAndTimelineStayWhereTheyCanBePressed) {
  for (const auto& [width, height, scale] :
       {std::tuple{1440, 900, 2.0F}, {1440, 900, 3.0F}, {1280, 720, 2.0F}, {1280, 720, 3.0F}, {1920, 1080, 3.0F}}) {
    TestWindow w(width, height);
    w.controller().update({SetScale{scale}});
    w.draw_frames(4);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kStep);
      for (const char* name : {"##step_first", "##step_next", "##step_play", "##step_track"}) {
        const ImRect box = ctx->ItemInfo(name).RectFull;
        IM_CHECK_NO_RET(box.Min.x >= 0 && box.Max.x <= static_cast<float>(width) + 0.5F);
        IM_CHECK_NO_RET(box.Min.y >= 46 * scale && box.Max.y <= static_cast<float>(height) + 0.5F);
      }
      ctx->ItemClick("##step_next");
      IM_CHECK_EQ(w.state().view.step.cursor, 1U);
    })) << width
        << " x " << height << " at " << scale;
  }
}

TEST(Tooltips, NeitherCoverWhatTheyExplainNorLeaveTheWindow) {
  for (const auto& [width, height, scale] : {std::tuple{1440, 900, 1.0F}, {1280, 720, 2.0F}, {1440, 900, 3.0F}}) {
    TestWindow w(width, height);
    w.controller().update({SetScale{scale}});
    w.draw_frames(4);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      for (const char* path : {"//Bar/Keys", "//Bar/Menu", "//Bar/Origin", "//###workspace/step/##step_first",
                               "//###workspace/step/##step_next", "//###workspace/step/##step_play"}) {
        const ImRect item = ctx->ItemInfo(path).RectFull;
        ctx->MouseMoveToPos(item.GetCenter());
        ctx->SleepNoSkip(1.0F, 1.0F / 30);
        const ImGuiWindow* tip = nullptr;
        for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
          if ((window->Flags & ImGuiWindowFlags_Tooltip) != 0 && window->Active && !window->Hidden) tip = window;
        IM_CHECK(tip != nullptr);
        const ImRect box = tip->Rect();
        IM_CHECK_NO_RET(!box.Overlaps(item));
        IM_CHECK_NO_RET(box.Min.x >= 0 && box.Max.x <= static_cast<float>(width) + 0.5F);
        IM_CHECK_NO_RET(box.Min.y >= 0 && box.Max.y <= static_cast<float>(height) + 0.5F);
      }
    })) << width
        << " x " << height << " at " << scale;
  }
}

}  // namespace
}  // namespace attn
