// A sweep along the ranks of a ring in the window: it is run by processes, its chart has the ideal, its rows are found
// by the filter.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>

#include "app/ring/ring_bench.h"
#include "kernels/model/ring.h"
#include "profiling/figures/metrics.h"
#include "tests/app/ring/copied_rank.h"
#include "tests/gui/bench/bench_fixture.h"
#include "tests/gui/drawn_text.h"
#include "viz/bench/scene/bench_scene.h"

namespace attn {
namespace {

class RingSweepTest : public BenchTest {
 protected:
  void open_rings(int width = 1440, int height = 900) {
    window.reset();  // one at a time
    window = std::make_unique<TestWindow>(width, height, "", false, KernelLister(), nullptr,
                                          std::make_shared<RingBench>(copied_rank));
    SweepSpec rings = sweep();
    rings.kernels = {"cpu_flash"};
    rings.axis = Axis(kRanks.name);
    rings.values = {1, 2, 3};
    rings.base.Hq = rings.base.Hkv = 1;
    rings.base.Lq = rings.base.Lk = 96;
    rings.base.D = rings.base.Dv = 16;
    rings.options.br = rings.options.bc = 16;
    rings.seconds_per_point = 0.01;
    rings.min_repeats = 1;
    window->controller().update({ChooseWorkspace{Workspace::bench}, SetSweep{rings}});
    window->draw_frames(4);
  }
  std::string drawn() {
    const DrawnText texts;
    window->draw_frames(2);
    std::string all;
    for (const std::string& text : texts.texts()) all += text + "\n";
    return all;
  }
};

TEST_F(RingSweepTest, ARunIsAProcessARankAndItsChartHasTheIdeal) {
  open_rings();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "panel"));
    ctx->ItemClick("###run");
    window->controller().wait();
    ctx->Yield(4);
    const auto& rows = window->controller().model().runs.at(0).run.rows;
    IM_CHECK_EQ(rows.size(), 3U);
    for (std::size_t n = 0; n < rows.size(); ++n) {
      IM_CHECK_STR_EQ(rows[n].reason.c_str(), "");
      IM_CHECK(rows[n].ranks && rows[n].ranks->devices.size() == n + 1);
      IM_CHECK(figure(rows[n], "ring_scaling_ratio").available());
    }
  }));
  const std::string all = drawn();
  EXPECT_NE(all.find("\nideal\n"), std::string::npos) << all;
  EXPECT_NE(all.find("dashed: one rank's time / number of ranks"), std::string::npos) << all;
}

TEST_F(RingSweepTest, TheFilterFindsTheRowOfOneRank) {
  open_rings();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "panel"));
    ctx->ItemClick("###run");
    window->controller().wait();
    ctx->Yield(4);
    IM_CHECK(look_at(ctx, "table"));
    ctx->ItemClick("##filter");
    ctx->KeyCharsReplaceEnter("ranks == 1");
    ctx->Yield(3);
    IM_CHECK_STR_EQ(state().view.bench.filter.c_str(), "ranks == 1");
  }));
  EXPECT_NE(drawn().find("keeps "), std::string::npos) << "of how many rows the filter keeps one";
  const BenchScene scene = bench_scene(state(), window->controller().model(), {}, "");
  ASSERT_EQ(scene.table.rows.size(), 1U);
  EXPECT_EQ(scene.table.rows.front().value, 1);
}

// Measured here, its lanes are a click away; each is reached by the pointer and the keyboard and says what it did.
TEST_F(RingSweepTest, TheLanesOfItsRanksAreAPageOfBench) {
  open_rings();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "strip"));
    IM_CHECK(!ctx->ItemExists("Ranks"));
    IM_CHECK(look_at(ctx, "panel"));
    ctx->ItemClick("###run");
    window->controller().wait();
    ctx->Yield(4);
    IM_CHECK(look_at(ctx, "strip"));
    ctx->ItemClick("Ranks");
    IM_CHECK(state().view.bench.page == BenchPage::ranks);
    ctx->Yield(3);
    IM_CHECK(look_at(ctx, "lanes"));
    // Rings of 1, 2 and 3.
    for (const char* lane : {"lane_0_0", "lane_1_1", "lane_2_2"}) IM_CHECK(ctx->ItemExists(lane));
    IM_CHECK(!ctx->ItemExists("lane_1_2"));
    ctx->NavMoveTo("lane_2_0");
    ctx->KeyPress(ImGuiKey_DownArrow);
    ctx->Yield(2);
    IM_CHECK_EQ(ImGui::GetCurrentContext()->NavId, ctx->ItemInfo("lane_2_1").ID);
    ctx->MouseMove("lane_2_1");
    ctx->SleepNoSkip(1.5F, 0.1F);
    IM_CHECK(look_at(ctx, "ranks"));
    ctx->ItemClick("###copy_lanes");
    ctx->Yield(2);
  }));
  ASSERT_TRUE(window->requests.clipboard);
  const std::string& csv = *window->requests.clipboard;
  EXPECT_TRUE(csv.starts_with("kernel,ranks,rank,turn,work,begin_us,end_us\ncpu_flash,1,0,0,compute,")) << csv;
  EXPECT_NE(csv.find("\ncpu_flash,3,2,1,send,"), std::string::npos) << csv;
  const std::string all = drawn();
  EXPECT_NE(all.find("waits for the next share"), std::string::npos) << all;
  EXPECT_NE(all.find("cpu_flash, ring of 3"), std::string::npos) << all;
}

TEST_F(RingSweepTest, NoLaneLeavesTheCardAtAnySize) {
  for (const auto& [width, height, scale] : {std::tuple(1440, 900, 1.0F), {1920, 1080, 1.0F}, {1440, 900, 2.0F}}) {
    open_rings(width, height);
    window->controller().update({SetScale{scale}, RunSweep{}});
    window->controller().wait();
    window->controller().update({ChooseBenchPage{BenchPage::ranks}});
    window->draw_frames(4);
    const ImGuiWindow* lanes = child_window("lanes");
    ASSERT_NE(lanes, nullptr);
    EXPECT_LE(lanes->ContentSize.x, lanes->InnerRect.GetWidth() + 1) << width << " at " << scale;
  }
}

}  // namespace
}  // namespace attn
