// A GPU's run in Step, by mouse and by keyboard: its numbers in both readings, and the CPU's run beside it.
#include <gtest/gtest.h>

#include "tests/gui/gui_fixture.h"
#include "viz/step/facts/gpu_run.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

void settle(TestWindow& w, Ctx* ctx) {
  for (int frame = 0; frame < 400 && w.controller().tasks_run(); ++frame) ctx->Yield();
  ctx->Yield(3);
}

void choose_in_palette(Ctx* ctx, const char* query) {
  ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
  ctx->Yield(3);
  ctx->KeyChars(query);
  ctx->Yield(3);
  ctx->KeyPress(ImGuiKey_Enter);
  ctx->Yield(3);
}

TEST(GpuRunWindow, IsReadAsHeldAndComparedByMouse) {
  TestWindow w;
  w.controller().update({ChoosePreset{std::string(kRecordedPreset)}, ChooseKernel{"flash_simt"}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    settle(w, ctx);
    IM_CHECK(recording(w).gpu.has_value());
    ctx->SetRef(kStep);
    ctx->ItemClick("##numbers_raw");
    ctx->Yield(3);
    IM_CHECK(w.state().view.step.raw);
    ctx->ItemClick("##numbers_formulas");
    ctx->Yield(3);
    IM_CHECK(!w.state().view.step.raw);
    const EventIndex before = w.state().view.step.cursor;
    ctx->ItemClick("##beside_0");
    ctx->Yield(3);
    IM_CHECK(w.state().view.step.cursor != before);
    const EventId& id = recording(w).events[w.state().view.step.cursor].id;
    IM_CHECK(id.phase == Phase::scores);
    IM_CHECK(w.state().document.selection.slot == Slot::s);
    IM_CHECK(w.state().document.selection.row / 16 == id.i);
    IM_CHECK(w.state().document.selection.col / 16 == id.j);
  }));
}

TEST(GpuRunWindow, IsReadAsHeldByKeyboard) {
  TestWindow w;
  w.controller().update({ChoosePreset{std::string(kRecordedPreset)}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    IM_CHECK(!ctx->ItemExists("##numbers_raw"));
    choose_in_palette(ctx, "flash_simt");
    settle(w, ctx);
    IM_CHECK(recording(w).gpu.has_value());
    choose_in_palette(ctx, "numbers as the kernel");
    IM_CHECK(w.state().view.step.raw);
    // Every phase of the first tile is drawn in it.
    for (int step = 0; step < 14; ++step) {
      ctx->KeyPress(ImGuiKey_RightArrow);
      ctx->Yield(2);
    }
    choose_in_palette(ctx, "numbers as the formulas");
    IM_CHECK(!w.state().view.step.raw);
  }));
}

// A low window has the differences behind a button.
TEST(GpuRunWindow, IsComparedInALowWindowByMouse) {
  TestWindow w(1280, 600);
  w.controller().update({ChoosePreset{std::string(kRecordedPreset)}, ChooseKernel{"flash_simt"}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    settle(w, ctx);
    ctx->SetRef(kStep);
    IM_CHECK(!ctx->ItemExists("##beside_0"));
    ctx->ItemClick("##beside_open");
    ctx->Yield(2);
    const EventIndex before = w.state().view.step.cursor;
    ctx->ItemClick("//$FOCUSED/##beside_1");
    ctx->Yield(3);
    IM_CHECK(w.state().view.step.cursor != before);
    IM_CHECK(!ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
  }));
}

}  // namespace
}  // namespace attn
