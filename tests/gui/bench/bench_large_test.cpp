// Bench at large scales and with a sweep that cannot run.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>

#include "kernels/ladder.h"
#include "tests/gui/bench/bench_fixture.h"
#include "tests/gui/drawn_text.h"

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

TEST_F(BenchLargeTest, TheWheelBringsEachOfTheFourChartsWhollyIntoSight) {
  for (const float scale : {1.5F, 2.0F, 3.0F}) {
    window.reset();  // one at a time
    open(1440, 900, scale);
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      ctx->Yield(3);
      const ImGuiWindow* page = child_window("figures");
      IM_CHECK(page != nullptr);
      ctx->MouseMoveToPos(page->InnerClipRect.GetCenter());
      for (const char* chart : {"time", "bytes", "occupancy", "picked"}) {
        const ImGuiWindow* drawn = child_window(chart);
        IM_CHECK(drawn != nullptr);
        for (int n = 0; n < 40 && !page->InnerRect.Contains(drawn->Rect()); ++n) {
          ctx->MouseWheelY(drawn->Pos.y < page->InnerRect.Min.y ? 0.5F : -0.5F);
          ctx->Yield();
        }
        IM_CHECK(page->InnerRect.Contains(drawn->Rect()));
      }
    })) << scale;
  }
}

// Where there is no room for them beside a plot they stand under it: each can be pointed at and hides its line.
TEST_F(BenchLargeTest, EveryLineHasItsNameAtEveryScale) {
  const std::array kernels{"cpu_sequential", "cpu_multicore", "cpu_flash"};
  for (const float scale : {1.0F, 2.0F, 3.0F}) {
    window.reset();  // one at a time
    open(1920, 1200, scale);
    EXPECT_TRUE(window->run([&](Ctx* ctx) {
      IM_CHECK(look_at(ctx, "time"));
      const ImRect card = child_window("time")->Rect();
      for (const char* kernel : kernels) {
        const ImRect at = ctx->ItemInfo(("label_" + std::string(kernel)).c_str()).RectFull;
        IM_CHECK(card.Contains(at));
        for (const char* other : kernels)
          if (other != kernel) IM_CHECK(!overlap(at, ctx->ItemInfo(("label_" + std::string(other)).c_str()).RectFull));
      }
      IM_CHECK(look_at(ctx, "strip"));
      ctx->ItemClick("labels");
      ctx->Yield(2);
      IM_CHECK(look_at(ctx, "time"));
      IM_CHECK(!ctx->ItemExists("label_cpu_flash"));
    })) << scale;
  }
}

// Nothing is measured: what is known beforehand stays, columns that hold nothing go first.
TEST_F(BenchLargeTest, ATableThatIsTooWideDropsTheColumnsThatHoldNothingFirst) {
  open(1920, 1200, 2, false);
  std::vector<std::string> shown;
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  for (int n = 0; n < g.Tables.GetMapSize(); ++n) {
    const ImGuiTable* table = const_cast<ImGuiContext&>(g).Tables.TryGetMapData(n);
    if (table == nullptr || table->LastFrameActive + 1 < g.FrameCount) continue;
    for (int c = 0; c < table->ColumnsCount; ++c) shown.emplace_back(ImGui::TableGetColumnName(table, c));
  }
  const auto has = [&](std::string_view start) {
    return std::ranges::any_of(shown, [&](const std::string& name) { return name.starts_with(start); });
  };
  EXPECT_TRUE(has("kernel"));
  EXPECT_TRUE(has("tile loads")) << fmt::format("{}", fmt::join(shown, "|"));
  EXPECT_TRUE(has("workspace")) << fmt::format("{}", fmt::join(shown, "|"));
}

TEST_F(BenchLargeTest, TheMapOfTilesScrollsToItsLastRowAndItsNote) {
  open(1920, 1200, 3, false);
  window->controller().update({ChooseKernel{"cpu_flash"}, ChooseBenchPage{BenchPage::tiles}});
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->Yield(3);
    const ImGuiWindow* map = child_window("tile_map");
    IM_CHECK(map != nullptr);
    IM_CHECK_GT(map->ScrollMax.y, 0.0F);
    ctx->MouseMoveToPos(map->InnerClipRect.GetCenter());
    for (int n = 0; n < 40 && map->Scroll.y < map->ScrollMax.y; ++n) {
      ctx->MouseWheelY(-1);
      ctx->Yield();
    }
    IM_CHECK_GE(map->Scroll.y, map->ScrollMax.y - 1);
  }));
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

// Where there is little height the lists have it: all but Run scrolls with them.
TEST_F(BenchLargeTest, TheListOfKernelsHasRoomAtTwiceTheSizeAndRunStays) {
  open(1440, 900, 2);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ImGuiWindow* list = child_window("setup");
    IM_CHECK(list != nullptr);
    const ImRect inside = list->InnerClipRect;
    ctx->SetRef(list);
    for (const char* kernel : {"name_naive", "name_tiled", "name_flash_simt", "name_flash_wmma", "name_flash_mma",
                               "name_flash_tf32x3", "name_cpu_multicore"})
      IM_CHECK(inside.Contains(ctx->ItemInfo(kernel).RectFull));
    IM_CHECK(look_at(ctx, "panel"));
    IM_CHECK(ImRect(ImVec2(0, 0), ImGui::GetIO().DisplaySize).Contains(ctx->ItemInfo("###run").RectFull));
    ctx->SetRef(child_window("setup"));
    ctx->ItemClick("PNG");  // scrolls to it
    ctx->Yield(2);
  }));
  EXPECT_TRUE(window->requests.picture.has_value());
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

// What a kernel supports instead of the sweep's type: dots only where there are further types.
TEST_F(BenchLargeTest, AKernelOfOneTypeNamesItWithoutDots) {
  open(1280, 720, 1, false);
  SweepSpec backward = sweep();
  backward.base.pass = Pass::backward;
  backward.base.dtype = DType::f16;
  backward.kernels = {"flash_bwd_simt"};
  window->controller().update({SetSweep{backward}});
  window->draw_frames(4);
  const KernelRow& row = **find_kernel("flash_bwd_simt");
  ASSERT_EQ(row.dtypes.size(), 1U);
  const DrawnText drawn;
  window->draw_frames(1);
  EXPECT_EQ(drawn.count("f32 …"), 0);
  EXPECT_GT(drawn.count("f32") + drawn.count("f32 only"), 0);
}

}  // namespace
}  // namespace attn
