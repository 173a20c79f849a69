// A tooltip speaks of what is shown: moved on by a key while the pointer rests, it follows or goes.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/environment/asked.h"
#include "tests/gui/gui_fixture.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

// What the tooltips that are shown have drawn, their place left out: equal for equal words. 0: there is none.
std::uint64_t tooltip_sum() {
  std::uint64_t sum = 0;
  for (const ImGuiWindow* w : ImGui::GetCurrentContext()->Windows) {
    if (!w->WasActive || w->Hidden || (w->Flags & ImGuiWindowFlags_Tooltip) == 0) continue;
    sum += 1;
    for (const ImDrawVert& v : w->DrawList->VtxBuffer) {
      sum = sum * 1099511628211ULL + static_cast<std::uint64_t>(static_cast<std::int64_t>((v.pos.x - w->Pos.x) * 8));
      sum = sum * 1099511628211ULL + static_cast<std::uint64_t>(static_cast<std::int64_t>((v.pos.y - w->Pos.y) * 8));
      sum = sum * 31 + v.col + static_cast<std::uint64_t>(v.uv.x * 65536) + static_cast<std::uint64_t>(v.uv.y * 4096);
    }
  }
  return sum;
}

// Long enough for every tooltip to come.
void rest(Ctx* ctx) {
  ctx->SleepNoSkip(1.2F, 0.1F);
  ctx->Yield(2);
}

void follows(Ctx* ctx, ImGuiKeyChord key, ImVec2 at) {
  ctx->MouseMoveToPos(at);
  rest(ctx);
  ctx->KeyPress(key);
  ctx->Yield(3);
  const std::uint64_t after = tooltip_sum();
  ctx->MouseMoveToPos({4, 4});
  ctx->Yield(3);
  ctx->MouseMoveToPos(at);
  rest(ctx);
  const std::uint64_t fresh = tooltip_sum();
  if (after != 0 && after != fresh) ctx->LogError("at %.0f, %.0f", at.x, at.y);
  IM_CHECK_SILENT(after == 0 || after == fresh);
}

TEST(TooltipsOfAStep, FollowItOrGo) {
  for (const StepChart chart : {StepChart::row, StepChart::attention}) {
    TestWindow w;
    w.controller().update({ChoosePreset{"late_outlier"}, GoToEvent{14}, ChooseStepChart{chart}});
    w.draw_frames(4);
    bool forwards = true;
    std::size_t places = 0;
    for (int y = 60; y < 900; y += 72)
      for (int x = 20; x < 1440; x += 103) {
        if (test::left_to_release(places++, 5)) continue;
        EXPECT_TRUE(w.run([&](Ctx* ctx) {
          follows(ctx, forwards ? ImGuiKey_RightArrow : ImGuiKey_LeftArrow,
                  {static_cast<float>(x), static_cast<float>(y)});
          forwards = !forwards;
        }));
      }
  }
}

}  // namespace
}  // namespace attn
