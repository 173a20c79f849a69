// The shell's small windows at every scale: all of each is in the window, and its buttons can be pressed.
#include <gtest/gtest.h>

#include <string>

#include "app/shell/keys/shortcuts.h"
#include "imgui_internal.h"
#include "tests/gui/gui_fixture.h"
#include "viz/state/commands.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

struct Dialog {
  Popup popup;
  const char* name;
};
constexpr Dialog kDialogs[] = {{Popup::go_to, "Go to step"},
                               {Popup::bookmarks, "Bookmarks"},
                               {Popup::open_file, "Open a file"},
                               {Popup::save_as, "Save the session as"},
                               {Popup::input_files, "Your own inputs"},
                               {Popup::save_steps, "Pictures of several steps"},
                               {Popup::palette, "Commands"}};

// Its key.
ImGuiKeyChord chord_of(const State& state, Popup popup) {
  for (const KeyRow& row : key_table()) {
    Commands commands;
    if (row.act != nullptr) row.act(state, commands);
    const auto* ask = commands.size() == 1 ? command_as<Ask>(commands.front()) : nullptr;
    if (ask != nullptr && ask->popup == popup) return row.chord;
  }
  return 0;
}

void open(Ctx* ctx, const TestWindow& w, Popup popup) {
  const ImGuiKeyChord chord = chord_of(w.state(), popup);
  IM_CHECK(chord != 0);
  ctx->KeyPress(chord);
  ctx->Yield(6);
}

bool any_open() {
  return ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

ImRect screen() {
  return {ImVec2(0, 0), ImGui::GetIO().DisplaySize};
}

class DialogsAtLargeScales : public ::testing::TestWithParam<float> {};

TEST_P(DialogsAtLargeScales, AllOfEachIsInTheWindowAndEscapeClosesIt) {
  TestWindow w(1280, 720);
  w.controller().update({SetScale{GetParam()}});
  w.draw_frames(3);
  for (const Dialog& dialog : kDialogs) {
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      open(ctx, w, dialog.popup);
      const ImGuiWindow* window = ImGui::FindWindowByName(dialog.name);
      IM_CHECK(window != nullptr && window->WasActive);
      const ImRect all = window->Rect();
      IM_CHECK(screen().Contains(all));                                 // neither head nor foot is out of it
      IM_CHECK(window->ContentSize.x <= window->InnerRect.GetWidth());  // it scrolls up and down alone
      for (int n = 0; n < 2 && any_open(); ++n) {                       // of its field first
        ctx->KeyPress(ImGuiKey_Escape);
        ctx->Yield(2);
      }
      IM_CHECK(!any_open());
    })) << dialog.name;
  }
}

TEST_P(DialogsAtLargeScales, TheFieldAndTheButtonsOfOpenAreInSight) {
  TestWindow w(1280, 720);
  w.controller().update({SetScale{GetParam()}});
  w.draw_frames(3);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    open(ctx, w, Popup::open_file);
    ctx->SetRef("//Open a file");
    for (const char* item : {"open/##path", "open/Browse", "Close"}) {
      ctx->ScrollToItemY(item);
      ctx->Yield(2);
      const ImGuiTestItemInfo info = ctx->ItemInfo(item);
      IM_CHECK(info.ID != 0);
      IM_CHECK(screen().Contains(info.RectFull));
      IM_CHECK(info.RectClipped.GetWidth() >= info.RectFull.GetWidth() - 1);
    }
    ctx->ItemClick("Close");
    ctx->Yield(2);
    IM_CHECK(!any_open());
  }));
}

INSTANTIATE_TEST_SUITE_P(Scales, DialogsAtLargeScales, ::testing::Values(1.0F, 1.5F, 2.0F, 3.0F));

// A name that another dialog proposed is no file to open.
TEST(OpenDialog, BeginsWithAnEmptyPath) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    open(ctx, w, Popup::save_steps);
    ctx->SetRef("//Pictures of several steps");
    ctx->ItemClick("Close");
    ctx->Yield(2);
    open(ctx, w, Popup::open_file);
    ctx->SetRef("//Open a file");
    IM_CHECK((ctx->ItemInfo("Open").ItemFlags & ImGuiItemFlags_Disabled) != 0);
    ctx->ItemClick("Close");
  }));
}

}  // namespace
}  // namespace attn
