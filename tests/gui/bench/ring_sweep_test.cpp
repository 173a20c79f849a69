// A sweep along the ranks of a ring in the window: it is run by processes, its chart has the ideal, its rows are found
// by the filter.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

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
  void open_rings() {
    window = std::make_unique<TestWindow>(1440, 900, "", false, KernelLister(), nullptr,
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

}  // namespace
}  // namespace attn
