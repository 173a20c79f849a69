// What a person does to the window, key by key and click by click.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "app/shell/keys/shortcuts.h"
#include "app/state/apply/apply.h"
#include "app/window/settings.h"
#include "imgui_internal.h"
#include "tests/gui/gui_fixture.h"
#include "viz/draw/canvas.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

bool window_shown(const char* name) {
  const ImGuiWindow* window = ImGui::FindWindowByName(name);
  return window != nullptr && window->WasActive && !window->Hidden;
}

TEST(Window, ArrowsAndSpaceStepByPhaseBothWays) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_RightArrow);
    IM_CHECK_EQ(w.state().view.step.cursor, 1U);
    ctx->KeyPress(ImGuiKey_Space);
    IM_CHECK_EQ(w.state().view.step.cursor, 2U);
    ctx->KeyPress(ImGuiKey_LeftArrow);
    IM_CHECK_EQ(w.state().view.step.cursor, 1U);
  }));
}

TEST(Window, ShiftAndControlStepByKeyAndQueryTile) {
  TestWindow w;
  w.controller().update({ChoosePreset{"random"}});
  const Recording& r = *w.controller().model().recording;
  const EventIndex at = *r.find({0, 0, 1, 1, Phase::max});
  w.controller().update({GoToEvent{at}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_RightArrow);
    IM_CHECK(r.events[w.state().view.step.cursor].id == (EventId{0, 0, 1, 2, Phase::max}));
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_RightArrow);
    IM_CHECK(r.events[w.state().view.step.cursor].id == (EventId{0, 0, 2, 2, Phase::max}));
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_LeftArrow);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_LeftArrow);
    IM_CHECK_EQ(w.state().view.step.cursor, at);
    ctx->KeyPress(ImGuiKey_End);
    IM_CHECK_EQ(w.state().view.step.cursor, r.events.size() - 1);
    ctx->KeyPress(ImGuiKey_Home);
    IM_CHECK_EQ(w.state().view.step.cursor, 0U);
  }));
}

TEST(Window, GoToStepTakesTheNumberThatIsShown) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_G);
    ctx->Yield(2);
    ctx->KeyChars("12");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, 11U);
    // Arrows step again once the popup is gone.
    ctx->KeyPress(ImGuiKey_RightArrow);
    IM_CHECK_EQ(w.state().view.step.cursor, 12U);
  }));
}

TEST(Window, ASessionIsReplacedOnlyByTheButtonThatSaysSo) {
  TestWindow w;
  const std::filesystem::path file = w.folder() / "session.attn";
  put_file(file, "mine");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S);
    ctx->Yield(2);
    IM_CHECK(window_shown("Save the session as"));
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(window_shown("Save the session as"));
    w.controller().wait();
    IM_CHECK(get_file(file) == "mine");
    ctx->ItemClick("//$FOCUSED/Replace");
    ctx->Yield(2);
    IM_CHECK(!window_shown("Save the session as"));
    w.controller().wait();
    IM_CHECK(get_file(file) != "mine");
  }));
}

TEST(Window, AnActiveTextFieldKeepsItsKeys) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_O);
    ctx->Yield(2);
    IM_CHECK(ImGui::GetIO().WantTextInput);
    ctx->KeyCharsAppend("gp o?");
    ctx->KeyPress(ImGuiKey_LeftArrow);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_T);
    IM_CHECK_EQ(w.state().view.step.cursor, 0U);
    IM_CHECK(!w.state().view.step.playing);
    IM_CHECK(!w.state().view.keys_sheet);
    IM_CHECK(w.state().preferences.theme == Theme::dark);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    IM_CHECK(!ImGui::GetIO().WantTextInput);
    ctx->KeyPress(ImGuiKey_RightArrow);
    IM_CHECK_EQ(w.state().view.step.cursor, 1U);
  }));
}

TEST(Window, UndoAndRedoByKey) {
  TestWindow w;
  w.controller().update({ChoosePreset{"causal"}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    IM_CHECK_STR_EQ(w.state().document.preset.c_str(), "blackboard");
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Y);
    IM_CHECK_STR_EQ(w.state().document.preset.c_str(), "causal");
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z);
    IM_CHECK_STR_EQ(w.state().document.preset.c_str(), "causal");
  }));
}

TEST(Window, WorkspacesByClickAndByKey) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    const std::pair<const char*, Workspace> tabs[] = {{"//Bar/Bench", Workspace::bench},
                                                      {"//Bar/Profile", Workspace::profile},
                                                      {"//Bar/Learn", Workspace::learn},
                                                      {"//Bar/Step", Workspace::step}};
    for (const auto& [tab, workspace] : tabs) {
      ctx->ItemClick(tab);
      IM_CHECK(w.state().view.workspace == workspace);
    }
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_2);
    IM_CHECK(w.state().view.workspace == Workspace::bench);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_1);
    IM_CHECK(w.state().view.workspace == Workspace::step);
  }));
}

TEST(Window, ArrowsStepInTheStepWorkspaceAlone) {
  TestWindow w;
  w.controller().update({ChooseWorkspace{Workspace::learn}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->KeyPress(ImGuiKey_P);
    IM_CHECK_EQ(w.state().view.step.cursor, 0U);
    IM_CHECK(!w.state().view.step.playing);
  }));
}

TEST(Window, AnotherKernelIsChosenInTheBar) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->ItemClick("//Bar/Kernel");
    ctx->ItemClick("//$FOCUSED/flash-1, FlashAttention-1 order");
    ctx->Yield(2);
    IM_CHECK_STR_EQ(w.state().document.kernel.c_str(), "cpu_flash1");
    IM_CHECK(w.controller().model().recording->order == Order::flash1);
  }));
}

TEST(Window, ScaleAndThemeByKey) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    const float before = ImGui::GetStyle().FontSizeBase;
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Equal);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().preferences.scale, 1.1F);
    IM_CHECK_GT(ImGui::GetStyle().FontSizeBase, before);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Minus);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Minus);
    IM_CHECK_EQ(w.state().preferences.scale, 1.0F);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_T);
    ctx->Yield(2);
    IM_CHECK(w.state().preferences.theme == Theme::light);
    IM_CHECK_EQ(ImGui::GetColorU32(ImGuiCol_WindowBg), colour(Theme::light, Token::ground));
  }));
}

TEST(Window, TheSheetOpensByCharacterAndByClickAndClosesByEsc) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyChars("?");
    ctx->Yield(2);
    IM_CHECK(w.state().view.keys_sheet);
    IM_CHECK(window_shown("Keys"));
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    IM_CHECK(!w.state().view.keys_sheet);
    IM_CHECK(!window_shown("Keys"));
    ctx->ItemClick("//Bar/Keys");
    IM_CHECK(w.state().view.keys_sheet);
  }));
}

TEST(Window, PlayRunsAndPauses) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_P);
    IM_CHECK(w.state().view.step.playing);
    ctx->KeyPress(ImGuiKey_P);
    IM_CHECK(!w.state().view.step.playing);
  }));
}

TEST(Window, TheStateIsCopiedByKey) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) { ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_K); }));
  ASSERT_TRUE(w.requests.clipboard);
  EXPECT_EQ(*w.requests.clipboard, "attn1,preset=blackboard");
}

TEST(Window, TheLayoutIsRemembered) {
  std::string layout;
  ImVec2 position, size;
  {
    TestWindow w;
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_L);
      ctx->Yield(3);
      IM_CHECK(ImGui::FindWindowByName("Log###log")->DockIsActive);
      ctx->UndockWindow("###log");
      ctx->WindowMove("###log", ImVec2(300, 250));
      ctx->WindowResize("###log", ImVec2(500, 220));
      IM_CHECK(!ImGui::FindWindowByName("Log###log")->DockIsActive);
    }));
    const ImGuiWindow* log = ImGui::FindWindowByName("Log###log");
    position = log->Pos;
    size = log->Size;
    layout = w.shell().layout();
  }
  EXPECT_EQ(size.x, 500);
  EXPECT_TRUE(layout_is_sane(layout)) << layout;
  TestWindow again(1440, 900, layout);
  EXPECT_TRUE(again.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_L);
    ctx->Yield(3);
    const ImGuiWindow* log = ImGui::FindWindowByName("Log###log");
    IM_CHECK(!log->DockIsActive);
    IM_CHECK_EQ(log->Pos.x, position.x);
    IM_CHECK_EQ(log->Pos.y, position.y);
    IM_CHECK_EQ(log->Size.x, size.x);
    IM_CHECK_EQ(log->Size.y, size.y);
  }));
}

TEST(Window, FramesAloneChangeNothing) {
  TestWindow w;
  for (const Workspace workspace : {Workspace::step, Workspace::bench, Workspace::profile, Workspace::learn}) {
    w.controller().update({ChooseWorkspace{workspace}});
    w.draw_frames(3);
    const Document before = w.state().document;
    w.draw_frames(30);
    EXPECT_TRUE(w.state().document == before) << name_of(workspace);
    EXPECT_TRUE(w.controller().log().after(0).empty()) << name_of(workspace);
  }
}

TEST(Window, TheBarsPartsDoNotOverlapAtAnySizeAndScale) {
  for (const auto& [width, height, scale] : {std::tuple{1440, 900, 1.0F},
                                             {1920, 1080, 1.0F},
                                             {1280, 720, 1.0F},
                                             {1280, 720, 1.5F},
                                             {1440, 900, 2.0F},
                                             {1440, 900, 3.0F},
                                             {1280, 720, 3.0F},
                                             {640, 420, 1.0F},
                                             {640, 420, 3.0F}}) {
    TestWindow w(width, height);
    w.controller().update({SetScale{scale}});
    w.draw_frames(2);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      float left = 0;
      int parts = 0;
      // Tabs, or the menu that stands for them where the bar is narrow.
      for (const char* name : {"Step", "Bench", "Profile", "Learn", "Workspace", "Kernel", "Origin", "Menu", "Keys"}) {
        const ImGuiTestItemInfo item = ctx->ItemInfo((std::string("//Bar/") + name).c_str(), ImGuiTestOpFlags_NoError);
        if (item.ID == 0) continue;
        ++parts;
        IM_CHECK_GE_NO_RET(item.RectFull.Min.x, left - 0.5F);
        left = item.RectFull.Max.x;
      }
      IM_CHECK_GE(parts, static_cast<float>(width) / scale >= 560  ? 8
                         : static_cast<float>(width) / scale > 400 ? 5
                                                                   : 4);
      IM_CHECK_LE(left, static_cast<float>(width));
    })) << width
        << " x " << height << " at " << scale;
  }
}

TEST(Keys, NoChordMeansTwoThings) {
  std::set<ImGuiKeyChord> seen;
  for (const KeyRow& row : key_table()) {
    EXPECT_TRUE(seen.insert(row.chord).second) << row.what;
    if (row.other == 0) continue;
    EXPECT_TRUE(seen.insert(row.other).second) << row.what;
  }
}

TEST(Keys, NoLineOfTheSheetRunsUnderTheNextColumn) {
  constexpr float kRoom = 240;  // logical: of a column, behind its caps
  TestWindow w;
  w.draw_frames(2);
  for (const KeyRow& row : key_table()) EXPECT_LE(text_width(Face::text, 13, row.what), kRoom) << row.what;
}

// Pictures of steps, too: of a film the file, of a folder each picture in it.
TEST(Window, PicturesOfStepsAreReplacedOnlyByTheButtonThatSaysSo) {
  for (const char* there : {"steps.gif", "steps/step-0003.png"}) {
    TestWindow w;
    const std::filesystem::path file = w.folder() / there;
    std::filesystem::create_directories(file.parent_path());
    put_file(file, "mine");
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_F12);
      ctx->Yield(2);
      IM_CHECK(window_shown("Pictures of several steps"));
      if (file.extension() == ".png") {
        ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
        ctx->KeyChars(file.parent_path().string().c_str());
      }
      ctx->KeyPress(ImGuiKey_Enter);
      ctx->Yield(3);
      IM_CHECK(window_shown("Pictures of several steps"));
      w.controller().wait();
      IM_CHECK(get_file(file) == "mine");
      IM_CHECK(ctx->ItemExists("//$FOCUSED/Replace"));
      IM_CHECK(!ctx->ItemExists("//$FOCUSED/Create"));
      ctx->ItemClick("//$FOCUSED/Close");
      ctx->Yield(2);
    }));
  }
}

}  // namespace
}  // namespace attn
