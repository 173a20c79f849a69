// The three lines of the bar are a menu: files, exports, settings, the log.
#include <string>

#include <gtest/gtest.h>

#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

TEST(BarMenu, HasOpenSaveExportSettingsAndTheLogInEveryWorkspace) {
  for (const Workspace workspace : {Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn}) {
    TestWindow w;
    w.controller().update({ChooseWorkspace{workspace}});
    w.draw_frames(3);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->ItemClick("//Bar/Menu");
      ctx->Yield(2);
      for (const char* words :
           {"Open a file", "Save the session", "Save under another name", "Export", "Settings", "Log"})
        IM_CHECK(ctx->ItemExists((std::string("//$FOCUSED/") + words).c_str()));
      ctx->ItemClick("//$FOCUSED/Log");
      ctx->Yield(2);
      IM_CHECK(w.state().view.log_panel);
      const Theme before = w.state().preferences.theme;
      ctx->ItemClick("//Bar/Menu");
      ctx->Yield(2);
      ctx->ItemClick("//$FOCUSED/Settings");
      ctx->Yield(2);
      ctx->ItemClick(before == Theme::dark ? "**/Light" : "**/Dark");
      ctx->Yield(2);
      IM_CHECK(w.state().preferences.theme != before);
      ctx->PopupCloseAll();
      // Motion off and the other theme: three clicks.
      const bool still = w.state().preferences.reduced_motion;
      ctx->ItemClick("//Bar/Menu");
      ctx->Yield(2);
      ctx->ItemClick("//$FOCUSED/Reduce motion");
      ctx->Yield(2);
      ctx->ItemClick("//$FOCUSED/Light theme");
      ctx->Yield(2);
      IM_CHECK(w.state().preferences.reduced_motion != still);
      IM_CHECK(w.state().preferences.theme == before);
      ctx->PopupCloseAll();
    }));
  }
}

// The pointer still rests on what opened the submenu: it does not open it again before it moves.
TEST(BarMenu, EscapeClosesASubmenuThenTheMenu) {
  for (const Workspace workspace : {Workspace::step, Workspace::bench}) {
    TestWindow w;
    w.controller().update({ChooseWorkspace{workspace}});
    w.draw_frames(3);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      const auto open = [] { return ImGui::GetCurrentContext()->OpenPopupStack.Size; };
      ctx->ItemClick("//Bar/Menu");
      ctx->Yield(2);
      IM_CHECK_EQ(open(), 1);
      ctx->MouseMove("//$FOCUSED/Settings");
      ctx->SleepNoSkip(0.8F, 0.1F);
      IM_CHECK_EQ(open(), 2);
      ctx->KeyPress(ImGuiKey_Escape);
      ctx->SleepNoSkip(0.8F, 0.1F);
      IM_CHECK_EQ(open(), 1);
      const ImVec2 pointer = ImGui::GetMousePos();
      ctx->MouseMoveToPos({pointer.x + 3, pointer.y});
      ctx->SleepNoSkip(0.8F, 0.1F);
      IM_CHECK_EQ(open(), 2);
      ctx->KeyPress(ImGuiKey_Escape);
      ctx->Yield(2);
      ctx->KeyPress(ImGuiKey_Escape);
      ctx->SleepNoSkip(0.8F, 0.1F);
      IM_CHECK_EQ(open(), 0);
    }));
  }
}

}  // namespace
}  // namespace attn
