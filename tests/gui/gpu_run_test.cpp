// A GPU's run in Step, by mouse: its numbers in both readings, and the CPU's run beside it.
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
