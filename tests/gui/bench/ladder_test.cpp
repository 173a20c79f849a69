// The ladder and the two sources under the hand.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "imgui_internal.h"
#include "profiling/session/run.h"
#include "tests/gui/gui_fixture.h"
#include "tests/viz/profile/profile_rows.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

constexpr const char* kBench = "//###workspace/bench";

class LadderTest : public ::testing::Test {
 protected:
  void open(int width = 1440, int height = 900, float scale = 1) {
    window = std::make_unique<TestWindow>(width, height);
    ListedRun shown;
    shown.run = new_run("");
    for (const auto& [kernel, us] : {std::pair{"naive", 2571000.0}, {"tiled", 81600.0}, {"flash_simt", 59526.0}})
      shown.run.rows.push_back(profile_test::h100_row(kernel, us));
    window->controller().update({ChooseWorkspace{Workspace::bench}, SetScale{scale}});
    window->controller().show({shown}, nullptr);
    window->draw_frames(4);
  }
  const State& state() const { return window->state(); }
  bool look_at(Ctx* ctx, const char* name) {
    ImGuiWindow* found = child_window(name);
    if (found != nullptr) ctx->SetRef(found);
    return found != nullptr;
  }

  std::unique_ptr<TestWindow> window;
};

TEST_F(LadderTest, TheStripLeadsToItAndARungOpensInProfile) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "strip"));
    ctx->ItemClick("Ladder");
    IM_CHECK(state().view.bench.page == BenchPage::ladder);
    ctx->Yield(2);
    IM_CHECK(child_window("table") == nullptr);
    ctx->SetRef(kBench);
    ctx->ItemClick("**/rung_tiled");
    IM_CHECK(state().view.workspace == Workspace::profile);
    IM_CHECK_STR_EQ(bench_kernel(state()).c_str(), "tiled");
    IM_CHECK(state().view.bench.value == 16384);
  }));
}

TEST_F(LadderTest, F7GoesThereAndBackFromAnywhere) {
  open();
  window->controller().update({ChooseWorkspace{Workspace::step}});
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_F7);
    IM_CHECK(state().view.workspace == Workspace::bench);
    IM_CHECK(state().view.bench.page == BenchPage::ladder);
    ctx->KeyPress(ImGuiKey_F7);
    IM_CHECK(state().view.bench.page == BenchPage::charts);
  }));
}

TEST_F(LadderTest, WhatDiffersOpensTheTwoSourcesAndF8WalksTheirDifferences) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "strip"));
    ctx->ItemClick("Ladder");
    ctx->SetRef(kBench);
    ctx->ItemClick("**/what differs##flash_simt");
    ctx->Yield(2);
    IM_CHECK(state().view.bench.page == BenchPage::sources);
    IM_CHECK_STR_EQ(state().view.bench.sources[0].c_str(), "tiled");
    IM_CHECK_STR_EQ(state().view.bench.sources[1].c_str(), "flash_simt");
    const ImGuiWindow* lines = nullptr;
    for (const ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
      if (w->WasActive && std::string(w->Name).find("pair_lines") != std::string::npos) lines = w;
    IM_CHECK(lines != nullptr);
    const float before = lines->Scroll.y;
    for (int n = 0; n < 6; ++n) ctx->KeyPress(ImGuiKey_F8);
    ctx->Yield(2);
    IM_CHECK_GT(lines->Scroll.y, before);
    IM_CHECK_GT(lines->ScrollMax.x, 0.0F);  // to the end of the longest line
    IM_CHECK(look_at(ctx, "source_pair"));
    ctx->ItemClick("##source_left");
    ctx->ItemClick("//$FOCUSED/naive");
    IM_CHECK_STR_EQ(state().view.bench.sources[0].c_str(), "naive");
    IM_CHECK_STR_EQ(state().view.bench.sources[1].c_str(), "flash_simt");
  }));
}

TEST_F(LadderTest, UndoBringsBackThePageThatWasSeen) {
  open();
  window->controller().update({ChooseBenchPage{BenchPage::ladder}});
  SweepSpec other = state().document.sweep;
  other.base.Hq = other.base.Hkv = 3;
  window->controller().update({SetSweep{other}});
  window->controller().update({ChooseBenchPage{BenchPage::charts}});
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    IM_CHECK(state().view.bench.page == BenchPage::ladder);
  }));
}

// A metric is looked at in the charts: chosen in the palette it brings them back, and undo the ladder.
TEST_F(LadderTest, AMetricOfThePaletteBringsTheChartsBackAndUndoTheLadder) {
  open();
  window->controller().update({ChooseBenchPage{BenchPage::ladder}});
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    choose_in_palette(ctx, "registers_count");
    IM_CHECK(state().view.bench.page == BenchPage::charts);
    IM_CHECK_STR_EQ(state().view.bench.charts.back().c_str(), "registers_count");
    IM_CHECK(child_window("picked") != nullptr);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    ctx->Yield(2);
    IM_CHECK(state().view.bench.page == BenchPage::ladder);
    IM_CHECK(state().view.bench.charts.back().empty());
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Y);
    ctx->Yield(2);
    IM_CHECK(state().view.bench.page == BenchPage::charts);
    // Where the charts are shown there is nothing to undo.
    choose_in_palette(ctx, "tflops");
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    ctx->Yield(2);
    IM_CHECK(state().view.bench.page == BenchPage::ladder);
  }));
}

TEST_F(LadderTest, FindsRoomInASmallWindowAtTwiceTheSize) {
  open(900, 700, 2);
  window->controller().update({ChooseBenchPage{BenchPage::ladder}});
  window->draw_frames(3);
  EXPECT_NE(child_window("ladder"), nullptr);
  window->controller().update({CompareSources{{"tiled", "flash_simt"}}});
  window->draw_frames(3);
  EXPECT_NE(child_window("source_pair"), nullptr);
}

}  // namespace
}  // namespace attn
