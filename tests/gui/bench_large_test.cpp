// Bench at large scales and with a sweep that cannot run.
#include <array>
#include <string>

#include "tests/gui/bench_fixture.h"
#include "viz/bench/scene.h"

namespace attn {
namespace {

class BenchLargeTest : public BenchTest {};

bool overlap(const ImRect& a, const ImRect& b) {
  return a.Min.x < b.Max.x && b.Min.x < a.Max.x && a.Min.y < b.Max.y && b.Min.y < a.Max.y;
}

TEST_F(BenchLargeTest, AllFourChartsAreThereAtEveryScaleAndTallEnoughToRead) {
  for (const float scale : {1.0F, 1.5F, 2.0F, 3.0F}) {
    window.reset();  // one at a time
    open(1440, 900, scale);
    window->draw_frames(3);
    for (const char* chart : {"time", "bytes", "occupancy", "picked"}) {
      const ImGuiWindow* drawn = child_window(chart);
      ASSERT_NE(drawn, nullptr) << chart << " at " << scale;
      constexpr float kReadable = 160;  // logical pixels
      EXPECT_GE(drawn->Size.y, kReadable * scale) << chart << " at " << scale;
    }
  }
}

// What is shown stands in the strip's lines one under the other: no button over a word.
TEST_F(BenchLargeTest, ThePagesAreChosenAtEveryScaleByMouse) {
  for (const float scale : {1.0F, 2.0F, 3.0F}) {
    window.reset();  // one at a time
    open(1440, 900, scale);
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      IM_CHECK(look_at(ctx, "strip"));
      const std::array<const char*, 4> labels{"Charts", "Ladder", "Sources", "Tiles"};
      const ImRect screen{ImVec2(0, 0), ImGui::GetIO().DisplaySize};
      for (const char* label : labels) {
        const ImRect at = ctx->ItemInfo(label).RectFull;
        IM_CHECK(screen.Contains(at));
        for (const char* other : labels)
          if (other != label) IM_CHECK(!overlap(at, ctx->ItemInfo(other).RectFull));
      }
      ctx->ItemClick("Ladder");
      ctx->Yield(3);
      IM_CHECK(state().view.bench.page == BenchPage::ladder);
    })) << scale;
  }
}

TEST_F(BenchLargeTest, ASweepThatCannotRunHasNoLitButtonAndSaysWhy) {
  open(1440, 900, 1, false);
  SweepSpec impossible = sweep();
  impossible.kernels = {"flash_simt"};
  impossible.base.dtype = DType::f16;
  window->controller().update({SetSweep{impossible}});
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->Yield(3);
    IM_CHECK(look_at(ctx, "panel"));
    IM_CHECK((ctx->ItemInfo("###run").ItemFlags & ImGuiItemFlags_Disabled) != 0);
    SweepSpec possible = impossible;
    possible.kernels = {"cpu_flash"};
    window->controller().update({SetSweep{possible}});
    ctx->Yield(3);
    IM_CHECK((ctx->ItemInfo("###run").ItemFlags & ImGuiItemFlags_Disabled) == 0);
  }));
}

}  // namespace
}  // namespace attn
