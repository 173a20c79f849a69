// Bench's charts under the hand: zoom, menu, hidden lines, and what charts and table show of one another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "imgui_internal.h"
#include "implot.h"
#include "implot_internal.h"
#include "tests/gui/bench/bench_fixture.h"

namespace attn {
namespace {

TEST_F(BenchTest, EveryChartTakesAnotherMetricFromItsTitleAndItsMenu) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "time"));
    ctx->ItemClick("pick_metric");
    ctx->ItemClick("//$FOCUSED/Peak memory");
    IM_CHECK_STR_EQ(state().view.bench.charts[0].c_str(), "memory_peak_bytes");
    const ImRect bytes = child_window("bytes")->Rect();
    ctx->MouseMoveToPos(bytes.GetCenter());
    ctx->MouseClick(ImGuiMouseButton_Right);
    ctx->ItemClick("//$FOCUSED/Show another metric");
    ctx->ItemClick("//**/Spread");
    IM_CHECK_STR_EQ(state().view.bench.charts[1].c_str(), "time_spread_pct");
    IM_CHECK(state().view.bench.charts[3].empty());
  }));
}

// Of the plot in this card: what it shows of an axis, and where it lies.
struct PlotRange {
  ImPlotRange x, y;
  ImRect box;
};
PlotRange range_of(const std::string& card) {
  ImPlotPlot* plot = ImPlot::GetCurrentContext()->Plots.GetByKey(child_window(card)->GetID("##plot"));
  if (plot == nullptr) return {};
  return {plot->Axes[ImAxis_X1].Range, plot->Axes[ImAxis_Y1].Range, plot->PlotRect};
}
bool same(const ImPlotRange& a, const ImPlotRange& b) {
  return std::abs(a.Min - b.Min) < 1e-6 * b.Max && std::abs(a.Max - b.Max) < 1e-6 * b.Max;
}

TEST_F(BenchTest, TheWheelZoomsEveryChartAndADoubleClickFitsThemAgain) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const PlotRange before = range_of("time"), other = range_of("picked");
    IM_CHECK(before.x.Max > before.x.Min);
    ctx->MouseMoveToPos(before.box.GetCenter());
    ctx->MouseWheelY(3);
    ctx->Yield(2);
    const PlotRange zoomed = range_of("time");
    IM_CHECK_LT(zoomed.x.Size(), 0.95 * before.x.Size());
    IM_CHECK(same(range_of("picked").x, zoomed.x));
    IM_CHECK(same(range_of("picked").y, other.y));  // the height is each chart's own
    // A click chooses a value and keeps what was zoomed to.
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK(state().view.bench.value.has_value());
    IM_CHECK(same(range_of("time").x, zoomed.x));
    ctx->MouseDoubleClick();
    ctx->Yield(2);
    IM_CHECK(same(range_of("time").x, before.x) && same(range_of("time").y, before.y));
    IM_CHECK(same(range_of("picked").x, before.x));
  }));
}

TEST_F(BenchTest, NoDragLeavesTheDataBehind) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const PlotRange before = range_of("time");
    ctx->MouseMoveToPos(before.box.GetCenter());
    for (const ImVec2 by : {ImVec2(400, 0), ImVec2(-400, 0), ImVec2(0, 200), ImVec2(0, -200)}) {
      ctx->MouseMoveToPos(before.box.GetCenter());
      ctx->MouseDragWithDelta(by);
      ctx->Yield(2);
      const PlotRange now = range_of("time");
      IM_CHECK(now.x.Min >= 0.999 * before.x.Min && now.x.Max <= 1.001 * before.x.Max);
      IM_CHECK(now.y.Min >= 0.999 * before.y.Min && now.y.Max <= 1.001 * before.y.Max);
    }
    ctx->MouseMoveToPos(before.box.GetCenter());
    ctx->MouseWheelY(-20);
    ctx->Yield(2);
    IM_CHECK(same(range_of("time").x, before.x));
  }));
}

TEST_F(BenchTest, TheMenuOfAChartFitsIt) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const PlotRange before = range_of("time");
    ctx->MouseMoveToPos(before.box.GetCenter());
    ctx->MouseWheelY(3);
    ctx->Yield(2);
    IM_CHECK(!same(range_of("time").x, before.x));
    ctx->MouseClick(ImGuiMouseButton_Right);
    ctx->ItemClick("//$FOCUSED/Fit");
    ctx->Yield(2);
    IM_CHECK(same(range_of("time").x, before.x) && same(range_of("time").y, before.y));
  }));
}

// Where the names are switched off too, or have no room.
TEST_F(BenchTest, AHiddenLineComesBackFromMenuStripAndTable) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const auto drawn = [&] {
      ctx->MouseMoveToPos({100, 600});  // off the charts
      ctx->Yield(3);
      return child_window("time")->DrawList->VtxBuffer.Size;
    };
    const auto menu = [&](const char* item) {
      ctx->MouseMoveToPos(range_of("time").box.GetCenter());
      ctx->MouseClick(ImGuiMouseButton_Right);
      ctx->ItemClick((std::string("//$FOCUSED/") + item).c_str());
    };
    IM_CHECK(look_at(ctx, "strip"));
    ctx->ItemClick("labels");
    const int before = drawn();
    menu("cpu_sequential");
    IM_CHECK_LT(drawn(), before);
    menu("Show all lines");
    IM_CHECK_EQ(drawn(), before);
    menu("cpu_sequential");
    IM_CHECK(look_at(ctx, "strip"));
    ctx->ItemClick("###hidden");
    IM_CHECK_EQ(drawn(), before);
    IM_CHECK(look_at(ctx, "rows_11"));
    for (const char* item : {"Hide its line", "Show its line"}) {
      ctx->ItemClick("**/##row_cpu_sequential_2048", ImGuiMouseButton_Right);
      ctx->ItemClick((std::string("//$FOCUSED/") + item).c_str());
      IM_CHECK_EQ(drawn() == before, std::string(item) == "Show its line");
    }
  }));
}

TEST_F(BenchTest, RowPointAndValueAgree) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    // The point of cpu_flash at 512: 1.024 ms.
    const PlotRange plot = range_of("time");
    const auto place = [](const ImPlotRange& r, double v) {
      return static_cast<float>(std::log(v / r.Min) / std::log(r.Max / r.Min));
    };
    const ImVec2 point(plot.box.Min.x + place(plot.x, 512) * plot.box.GetWidth(),
                       plot.box.Max.y - place(plot.y, 1.024) * plot.box.GetHeight());
    ctx->MouseMoveToPos(point);
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK(state().view.bench.value == 512);
    IM_CHECK_STR_EQ(bench_kernel(state()).c_str(), "cpu_flash");
    IM_CHECK(look_at(ctx, "rows_11"));
    IM_CHECK(ctx->ItemExists("**/##row_cpu_flash_512"));
    // Pointing at the row draws a ring round the same point in a chart, pointing at the point lights the row.
    const auto vertices = [&](const char* window_of) {
      ctx->Yield(3);
      return child_window(window_of)->DrawList->VtxBuffer.Size;
    };
    ctx->MouseMoveToPos({100, 600});
    const int plain = vertices("time");
    ctx->MouseMove("**/##row_cpu_multicore_512");
    IM_CHECK_GT(vertices("time"), plain);
    // Of every value, a row chooses its own.
    IM_CHECK(look_at(ctx, "table"));
    ctx->ItemClick("every L##every");
    ctx->Yield(2);
    IM_CHECK(look_at(ctx, "rows_12"));
    ctx->ItemClick("**/##row_cpu_multicore_2048");
    IM_CHECK(state().view.bench.value == 2048);
    IM_CHECK_STR_EQ(bench_kernel(state()).c_str(), "cpu_multicore");
  }));
}

TEST_F(BenchTest, ARowTheTableAndAChartAreCopied) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const auto copied = [&](const char* item) {
      window->requests = {};
      ctx->ItemClick((std::string("//$FOCUSED/") + item).c_str());
      ctx->Yield(2);
      return window->requests.clipboard.value_or("");
    };
    IM_CHECK(look_at(ctx, "rows_11"));
    ctx->ItemClick("**/##row_cpu_flash_2048", ImGuiMouseButton_Right);
    const std::string row = copied("Copy the row");
    IM_CHECK_EQ(std::count(row.begin(), row.end(), '\n'), 2);
    IM_CHECK(row.find("\ncpu_flash\t4.10\t") != std::string::npos);
    IM_CHECK(look_at(ctx, "rows_11"));
    ctx->ItemClick("**/##row_cpu_flash_2048", ImGuiMouseButton_Right);
    const std::string table = copied("Copy the table");
    IM_CHECK_EQ(std::count(table.begin(), table.end(), '\n'), 4);
    ctx->MouseMoveToPos(range_of("time").box.GetCenter());
    ctx->MouseClick(ImGuiMouseButton_Right);
    const std::string chart = copied("Copy the numbers");
    IM_CHECK_EQ(std::count(chart.begin(), chart.end(), '\n'), 4);
    for (const char* number : {"\n2048\t", "\t20.5", "\t61.4", "\t4.10"})
      IM_CHECK(chart.find(number) != std::string::npos);
  }));
}

TEST_F(BenchTest, ItsTooltipsKeepOffWhatTheyExplainAndWithinTheWindow) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    for (const auto& [where, what] : {std::pair{"table", "pick_columns"},
                                      {"table", "pick_value"},
                                      {"time", "pick_metric"},
                                      {"picked", "more"},
                                      {"setup", "name_cpu_flash"}}) {
      IM_CHECK(look_at(ctx, where));
      const ImRect item = ctx->ItemInfo(what).RectFull;
      ctx->MouseMoveToPos(item.GetCenter());
      ctx->SleepNoSkip(1.0F, 1.0F / 30);
      const ImGuiWindow* tip = nullptr;
      for (const ImGuiWindow* w : ImGui::GetCurrentContext()->Windows)
        if ((w->Flags & ImGuiWindowFlags_Tooltip) != 0 && w->Active && !w->Hidden) tip = w;
      IM_CHECK(tip != nullptr);
      IM_CHECK_NO_RET(!tip->Rect().Overlaps(item));
      IM_CHECK_NO_RET(tip->Rect().Min.x >= 0 && tip->Rect().Max.x <= 1440.5F);
      IM_CHECK_NO_RET(tip->Rect().Min.y >= 0 && tip->Rect().Max.y <= 900.5F);
    }
  }));
}

}  // namespace
}  // namespace attn
