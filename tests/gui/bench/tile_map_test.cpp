// The map of tiles under the hand: tuned by the mouse, on the CPU for true.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "tests/gui/bench/bench_fixture.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/tiles/tile_map.h"

namespace attn {
namespace {

class TilesTest : public ::testing::Test {
 protected:
  void open(int width = 1440, int height = 900, float scale = 1) {
    window.reset();  // one at a time
    window = std::make_unique<TestWindow>(width, height);
    SweepSpec sweep = window->state().document.sweep;
    sweep.kernels = {"cpu_flash"};
    sweep.axis = Axis::L;
    sweep.values = {48};
    sweep.base.D = sweep.base.Dv = 8;
    sweep.options.threads = 1;
    window->controller().update(
        {SetSweep{sweep}, ChooseWorkspace{Workspace::bench}, ChooseKernel{"cpu_flash"}, SetScale{scale}});
    window->draw_frames(4);
  }
  const State& state() const { return window->state(); }
  std::unique_ptr<TestWindow> window;
};

TEST_F(TilesTest, TuneInThePanelFillsTheMapAndACellSetsTheTile) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("###tune_tile");
    IM_CHECK(state().view.bench.page == BenchPage::tiles);
    window->controller().wait();
    const auto& result = window->controller().model().tuning.result;
    IM_CHECK(result != nullptr);
    IM_CHECK(result->decision.has_value());
    IM_CHECK(result->tried() == result->fitting());
    ctx->Yield(3);
    IM_CHECK(look_at(ctx, "tile_map"));
    ctx->ItemClick("tile_32x16");
    IM_CHECK(state().document.sweep.options.br == 32 && state().document.sweep.options.bc == 16);
    IM_CHECK(state().document.sweep.options.threads == 1);
  }));
}

TEST_F(TilesTest, TheStripLeadsThereAndEnterOnACellTakesIt) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "strip"));
    ctx->ItemClick("Tiles");
    IM_CHECK(state().view.bench.page == BenchPage::tiles);
    ctx->Yield(3);
    IM_CHECK(look_at(ctx, "tile_map"));
    ctx->NavMoveTo("tile_16x32");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK(state().document.sweep.options.br == 16 && state().document.sweep.options.bc == 32);
  }));
}

// The keyboard is on a cell, the pointer was left elsewhere: the words stand beside the cell.
TEST_F(TilesTest, TheWordsAboutACellStandBesideItWhereTheKeyboardIs) {
  open();
  window->controller().update({ChooseBenchPage{BenchPage::tiles}});
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->Yield(3);
    ctx->MouseMoveToPos({1300, 850});
    IM_CHECK(look_at(ctx, "tile_map"));
    ctx->NavMoveTo("tile_16x32");
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->SleepNoSkip(1.5F, 0.1F);
    ctx->Yield(2);
    const ImGuiContext& g = *ImGui::GetCurrentContext();
    IM_CHECK(g.NavHighlightItemUnderNav);
    const ImGuiWindow* tip = nullptr;
    for (const ImGuiWindow* w : g.Windows)
      if (w->WasActive && !w->Hidden && (w->Flags & ImGuiWindowFlags_Tooltip) != 0) tip = w;
    IM_CHECK(tip != nullptr);
    const ImRect cell = ctx->ItemInfo("tile_16x48").RectFull;
    IM_CHECK(std::abs(tip->Pos.y - cell.Max.y) < 40 || std::abs(tip->Pos.y + tip->Size.y - cell.Min.y) < 40);
    IM_CHECK(std::abs(tip->Pos.x - cell.Min.x) < 200);
  }));
}

TEST_F(TilesTest, ASweepOfTunedTilesOfWhichNoneIsKeptSaysSoBesideRun) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick(fmt::format("##field_{}", static_cast<int>(SweepField::tile)).c_str());
    ctx->KeyCharsReplaceEnter("tuned");
    IM_CHECK(state().document.sweep.tuned);
    window->controller().wait();
    ctx->Yield(3);
    const KeptTilesView& kept = window->controller().model().kept;
    IM_CHECK_EQ(kept.tiles.size(), 1U);
    IM_CHECK(!kept.tiles.front().tile);
    IM_CHECK(look_at(ctx, "panel"));
    IM_CHECK((ctx->ItemInfo("###run").ItemFlags & ImGuiItemFlags_Disabled) != 0);
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick(fmt::format("##field_{}", static_cast<int>(SweepField::tile)).c_str());
    ctx->KeyCharsReplaceEnter("usual");
    ctx->Yield(3);
    IM_CHECK(look_at(ctx, "panel"));
    IM_CHECK((ctx->ItemInfo("###run").ItemFlags & ImGuiItemFlags_Disabled) == 0);
  }));
}

TEST_F(TilesTest, ARunningTuningIsCancelledByTheButtonAndKeepsWhatItTried) {
  open();
  SweepSpec sweep = state().document.sweep;
  sweep.values = {512};
  sweep.base.D = sweep.base.Dv = 64;
  window->controller().update({SetSweep{sweep}});
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("###tune_tile");
    const auto tried = [&] {
      const auto& r = window->controller().model().tuning.result;
      return r == nullptr ? 0U : r->tried();
    };
    // The engine allows 3600 frames; each waits, so that drawing does not take the time from what is waited for.
    for (int n = 0; n < 3000 && tried() < 2; ++n) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ctx->Yield();
    }
    IM_CHECK(window->controller().model().task.running);
    IM_CHECK(look_at(ctx, "panel"));
    ctx->ItemClick("###run");
    window->controller().wait();
    ctx->Yield(2);
    const auto& r = window->controller().model().tuning.result;
    IM_CHECK(r != nullptr && !r->decision && r->tried() >= 2);
    IM_CHECK(!window->controller().model().tuning.running);
  }));
}

TEST_F(TilesTest, NoCellLeavesTheCardAtAnySize) {
  for (const auto& [width, height, scale] : {std::tuple(1440, 900, 1.0F), {1920, 1080, 1.0F}, {1440, 900, 2.0F}}) {
    open(width, height, scale);
    window->controller().update({ChooseBenchPage{BenchPage::tiles}});
    window->draw_frames(4);
    const ImGuiWindow* card = child_window("tile_map");
    ASSERT_NE(card, nullptr);
    EXPECT_LE(card->ContentSize.x, card->InnerRect.GetWidth() + 1) << width << " at " << scale;
  }
}

}  // namespace
}  // namespace attn
