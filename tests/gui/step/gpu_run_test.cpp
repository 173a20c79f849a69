// A GPU's run in Step, by mouse: its numbers in both readings, and the CPU's run beside it.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/ladder.h"
#include "tests/gui/drawn_text.h"
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

// Whose numbers stand there: nothing of a GPU's run was computed here.
TEST(GpuRunWindow, TheBadgeSaysWhereItWasRecorded) {
  for (const auto& [kernel, on_gpu] : {std::pair("flash_simt", true), std::pair("cpu_flash", false)}) {
    TestWindow w(1600, 900);
    w.controller().update({ChoosePreset{std::string(kRecordedPreset)}, ChooseKernel{kernel}});
    for (int n = 0; n < 3; ++n) {
      w.draw_frames(2);
      w.controller().wait();
    }
    const DrawnText drawn;
    w.draw_frames(2);
    const auto says = [&](std::string_view words) {
      return std::ranges::any_of(drawn.texts(), [&](const std::string& text) { return text.starts_with(words); });
    };
    EXPECT_EQ(says("recorded on a GPU"), on_gpu) << kernel;
    EXPECT_EQ(says("computed here"), !on_gpu) << kernel;
  }
}

// Tab until the keyboard is at this control.
bool tab_to(Ctx* ctx, const char* item) {
  const ImGuiID wanted = ctx->GetID(item);
  constexpr int kMostControls = 120;
  for (int n = 0; n < kMostControls && ImGui::GetCurrentContext()->NavId != wanted; ++n) ctx->KeyPress(ImGuiKey_Tab);
  return ImGui::GetCurrentContext()->NavId == wanted;
}

// From the first picture to the bundled recording, both readings and the place of the largest difference.
TEST(GpuRunWindow, IsOpenedReadAndComparedByKeyboard) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    choose_in_palette(ctx, "Late outlier, 64");
    settle(w, ctx);
    IM_CHECK_STR_EQ(w.state().document.preset.c_str(), std::string(kRecordedPreset).c_str());
    choose_in_palette(ctx, "flash on CUDA cores");
    settle(w, ctx);
    IM_CHECK(recording(w).gpu.has_value());
    choose_in_palette(ctx, "Numbers as the kernel holds them");
    IM_CHECK(w.state().view.step.raw);
    ctx->SetRef(kStep);
    IM_CHECK(tab_to(ctx, "##numbers_formulas"));
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(!w.state().view.step.raw);
    // Each phase's chip leads to its step, and pins the element.
    for (const char* chip : {"##beside_0", "##beside_1", "##beside_4"}) {
      w.controller().update({GoToEvent{0}});
      IM_CHECK(tab_to(ctx, chip));
      ctx->KeyPress(ImGuiKey_Enter);
      ctx->Yield(3);
      IM_CHECK(w.state().view.step.cursor > 0U);
      const EventId& id = recording(w).events[w.state().view.step.cursor].id;
      IM_CHECK_EQ(w.state().document.selection.row / 16, id.i);
    }
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

// From any problem: the menu names the runs that came with the program, and each opens with its own numbers.
TEST(GpuRunWindow, TheKernelMenuNamesTheRecordings) {
  TestWindow w;
  for (const RecordedRun& run : recorded_runs()) {
    w.controller().update({ChoosePreset{"blackboard"}, ChooseKernel{"cpu_flash"}});
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      const auto row = find_kernel(run.kernel);
      IM_CHECK(row.has_value());
      ctx->ItemClick("//Bar/Kernel");
      ctx->Yield(2);
      ctx->ItemClick("//$FOCUSED/Recorded on a GPU");
      ctx->Yield(2);
      ctx->ItemClick(("//**/" + std::string((*row)->title) + ", " + std::string(name_of(run.dtype))).c_str());
      ctx->Yield(3);
      settle(w, ctx);
      IM_CHECK(recording(w).gpu.has_value());
      IM_CHECK_EQ(recording(w).kernel, std::string(run.kernel));
      IM_CHECK(recording(w).problem.dtype == run.dtype);
    })) << run.kernel;
  }
}

}  // namespace
}  // namespace attn
