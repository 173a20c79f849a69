// The museum by mouse and by keyboard.
#include <gtest/gtest.h>

#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

const ExaminationView& seen(TestWindow& w) {
  return w.controller().model().examination;
}

// Frames until the tasks have answered.
void settle(TestWindow& w, Ctx* ctx) {
  for (int frame = 0; frame < 400 && w.controller().tasks_run(); ++frame) ctx->Yield();
  ctx->Yield(3);
}

TEST(MuseumWindow, AnExhibitIsOpenedFoundOutAndLeftByMouse) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->ItemClick("//Bar/Kernel");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/Deliberately wrong");
    ctx->Yield(2);
    ctx->ItemClick("//**/Outside the range of V");
    settle(w, ctx);
    IM_CHECK_STR_EQ(w.state().document.kernel.c_str(), "museum_alpha_on_l_only");
    IM_CHECK(seen(w).verdict.has_value() && !seen(w).verdict->pass);
    ctx->SetRef(kStep);
    ctx->ItemClick("##show_patch");
    ctx->Yield(2);
    IM_CHECK(ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    ctx->ItemClick("##seek_first_wrong");
    settle(w, ctx);
    IM_CHECK(seen(w).first.has_value());
    ctx->ItemClick("##go_first_wrong");
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, seen(w).first->event);
    IM_CHECK(w.state().document.selection.slot == Slot::o_new);
    IM_CHECK_EQ(w.state().document.selection.row, seen(w).first->row);
    ctx->ItemClick("##leave_museum");
    settle(w, ctx);
    IM_CHECK_STR_EQ(w.state().document.kernel.c_str(), "cpu_flash");
    IM_CHECK(seen(w).of == nullptr);
    IM_CHECK(!ctx->ItemExists("##leave_museum"));
  }));
}

TEST(MuseumWindow, TheSameByKeyboard) {
  TestWindow w(1280, 720);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    choose_in_palette(ctx, "A peek at the next token");
    settle(w, ctx);
    IM_CHECK_STR_EQ(w.state().document.kernel.c_str(), "museum_mask_off_by_one");
    choose_in_palette(ctx, "Find the first wrong step");
    settle(w, ctx);
    IM_CHECK(seen(w).first.has_value());
    choose_in_palette(ctx, "Go to the first wrong step");
    IM_CHECK_EQ(w.state().view.step.cursor, seen(w).first->event);
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, seen(w).first->event + 1);
    choose_in_palette(ctx, "Leave the museum");
    settle(w, ctx);
    IM_CHECK_STR_EQ(w.state().document.kernel.c_str(), "cpu_flash");
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    settle(w, ctx);
    IM_CHECK_STR_EQ(w.state().document.kernel.c_str(), "museum_mask_off_by_one");
  }));
}

// Nothing on screen names it: the bar's and the chip's words are those of every exhibit.
TEST(MuseumWindow, ARandomExhibitIsDrawnAndRevealedByMouse) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->ItemClick("//Bar/Kernel");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/Deliberately wrong");
    ctx->Yield(2);
    ctx->ItemClick("//**/Random exhibit");
    settle(w, ctx);
    IM_CHECK(w.state().document.exhibit == Exhibit::sealed);
    IM_CHECK(seen(w).verdict.has_value());
    ctx->SetRef(kStep);
    IM_CHECK(!ctx->ItemExists("##seek_first_wrong") && !ctx->ItemExists("##show_patch"));
    ctx->ItemClick("##reveal_exhibit");
    settle(w, ctx);
    IM_CHECK(w.state().document.exhibit == Exhibit::revealed);
    IM_CHECK_EQ(ctx->ItemExists("##show_patch"), w.state().document.kernel != "cpu_flash");
    ctx->ItemClick("##leave_museum");
    settle(w, ctx);
    IM_CHECK(w.state().document.exhibit == Exhibit::none);
  }));
}

TEST(MuseumWindow, ARandomExhibitIsDrawnAndRevealedByKeyboard) {
  TestWindow w(1280, 720);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    choose_in_palette(ctx, "Random exhibit");
    settle(w, ctx);
    IM_CHECK(w.state().document.exhibit == Exhibit::sealed);
    choose_in_palette(ctx, "Reveal the exhibit");
    settle(w, ctx);
    IM_CHECK(w.state().document.exhibit == Exhibit::revealed);
    choose_in_palette(ctx, "Leave the museum");
    settle(w, ctx);
    IM_CHECK_STR_EQ(w.state().document.kernel.c_str(), "cpu_flash");
    IM_CHECK(w.state().document.exhibit == Exhibit::none);
  }));
}

}  // namespace
}  // namespace attn
