// Bench under the hand: what a click, a typed text and a run do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "imgui_internal.h"
#include "profiling/figures/metrics.h"
#include "profiling/session/run.h"
#include "profiling/spec/sweep_point.h"
#include "tests/gui/bench/bench_fixture.h"
#include "tests/gui/drawn_text.h"
#include "viz/bench/sweep/sweep_fields.h"

namespace attn {
namespace {

TEST_F(BenchTest, TickingAKernelChangesTheSweepAndUndoBringsItBack) {
  open();
  const auto before = sweep().kernels;
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("##kernel_cpu_tiled");
    IM_CHECK_EQ(std::count(sweep().kernels.begin(), sweep().kernels.end(), "cpu_tiled"), 0);
    ctx->ItemClick("name_cpu_tiled");  // the name is as good as the box
    IM_CHECK(sweep().kernels == before);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    IM_CHECK_EQ(std::count(sweep().kernels.begin(), sweep().kernels.end(), "cpu_tiled"), 0);
  }));
}

// A field that is too narrow for its values says so between two of them, at every size; whoever types sees all.
TEST_F(BenchTest, AListOfValuesIsCutBetweenTwoOfThem) {
  for (const auto& [width, height, scale] : {std::tuple(1440, 900, 1.0F), {1280, 1000, 1.0F}, {1440, 1800, 2.0F}}) {
    window.reset();
    open(width, height, scale);
    SweepSpec s = sweep();
    s.values = {512, 1000, 2100, 3333, 8192, 12345, 16384};
    window->controller().update({SetSweep{s}});
    window->draw_frames(3);
    const std::string whole = axis_values_text(s.values);
    const DrawnText drawn;
    window->draw_frames(1);
    std::vector<std::string> cut;
    for (const std::string& text : drawn.texts())
      if (text.starts_with("512") && text.ends_with("…")) cut.push_back(text.substr(0, text.size() - 3));
    ASSERT_EQ(cut.size(), 1U) << "one field shows them, at " << scale;
    EXPECT_TRUE(whole.starts_with(cut[0] + ", ")) << cut[0];
  }
}

// Nothing is shown: the runs with the most rows are offered, three at most, and one click opens one.
TEST_F(BenchTest, TheLargestRunsAreOfferedWhereNothingIsShown) {
  open(1440, 900, 1, false);
  std::vector<ListedRun> runs;
  for (const std::size_t rows : {1U, 9U, 3U, 6U}) {
    ListedRun r;
    r.run = new_run("");
    r.run.id = fmt::format("{:016x}", rows);
    r.run.name = fmt::format("bundled-{}", rows);
    r.run.rows = rows_of(sweep());
    r.run.rows.resize(rows);
    r.from = RunFrom::bundled;
    runs.push_back(std::move(r));
  }
  window->controller().show(runs, nullptr);
  for (const ListedRun& r : runs) window->controller().update({ShowRun{r.run.id, false}});
  window->draw_frames(3);
  const auto label = [&](std::size_t rows) {
    const auto run = std::ranges::find(runs, fmt::format("{:016x}", rows), [](const ListedRun& r) { return r.run.id; });
    std::set<std::string> kernels;
    for (const Measurement& m : run->run.rows) kernels.insert(m.key.kernel);
    return fmt::format("Open the bundled run bundled-{}, {} kernel{}##offer_{:016x}", rows, kernels.size(),
                       kernels.size() == 1 ? "" : "s", rows);
  };
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "strip"));
    float x = 0;
    for (const std::size_t rows : {9U, 6U, 3U}) {
      const ImRect at = ctx->ItemInfo(label(rows).c_str()).RectFull;
      IM_CHECK_GT(at.Min.x, x);
      x = at.Min.x;
    }
    IM_CHECK(!ctx->ItemExists(label(1).c_str()));
    IM_CHECK(child_window("strip")->InnerRect.Contains(ctx->ItemInfo(label(3).c_str()).RectFull));
    ctx->ItemClick(label(6).c_str());
    IM_CHECK(is_shown(state().document.runs, "0000000000000006"));
  }));
}

TEST_F(BenchTest, TypedValuesBecomeTheSweep) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("##field_0");
    ctx->KeyCharsReplaceEnter("256..1024");
    IM_CHECK(sweep().values == (std::vector<std::int64_t>{256, 512, 1024}));
  }));
}

TEST_F(BenchTest, ARefusedTextStaysToBeMendedAndChangesNothing) {
  open();
  const auto before = sweep().values;
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("##field_0");
    ctx->KeyCharsReplaceEnter("256, many");
    ctx->Yield(2);
    IM_CHECK(sweep().values == before);
    ctx->ItemClick("##field_0");
    ctx->KeyCharsAppend("");
    IM_CHECK_STR_EQ(ImGui::GetInputTextState(ImGui::GetActiveID())->TextA.Data, "256, many");
    ctx->KeyCharsReplaceEnter("256");
    IM_CHECK(sweep().values == std::vector<std::int64_t>{256});
  }));
}

TEST_F(BenchTest, AnotherAxisComesWithValuesThatSuitIt) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("##axis");
    ctx->ItemClick("//$FOCUSED/threads");
    IM_CHECK(sweep().axis == Axis::threads);
    IM_CHECK(validate(sweep()).has_value());
  }));
}

TEST_F(BenchTest, ARunFillsChartsAndTableWithItsRows) {
  open(1440, 900, 1, false);
  SweepSpec quick = sweep();
  quick.kernels = {"cpu_multicore", "cpu_flash"};
  quick.values = {32, 64};
  quick.base.Hq = quick.base.Hkv = 1;
  quick.base.D = quick.base.Dv = 16;
  quick.seconds_per_point = 0.01;
  quick.min_repeats = 1;
  window->controller().update({SetSweep{quick}});
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "panel"));
    ctx->ItemClick("###run");
    window->controller().wait();
    ctx->Yield(4);
    IM_CHECK_EQ(window->controller().model().runs.at(0).run.rows.size(), 4U);
    IM_CHECK(child_window("rows_11") != nullptr);
    IM_CHECK(look_at(ctx, "rows_11"));
  }));
}

TEST_F(BenchTest, WhileItRunsTheSameButtonCancels) {
  open(1440, 900, 1, false);
  SweepSpec slow = sweep();
  slow.values = {64, 128, 256, 512};
  slow.seconds_per_point = 3600;
  window->controller().update({SetSweep{slow}});
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "panel"));
    ctx->ItemClick("###run");
    IM_CHECK(window->controller().model().task.running);
    ctx->ItemClick("###run");
    window->controller().wait();
    ctx->Yield(2);
    IM_CHECK(!window->controller().model().task.running);
  }));
}

TEST_F(BenchTest, ClickingInAChartChoosesTheValueForTableAndVerdict) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const ImRect box = child_window("time")->Rect();
    // Left third of the plot: the first of three values.
    ctx->MouseMoveToPos({box.Min.x + 0.14F * box.GetWidth(), box.GetCenter().y});
    ctx->MouseClick();
    IM_CHECK(state().view.bench.value == 512);
    ctx->MouseMoveToPos({box.Min.x + 0.44F * box.GetWidth(), box.GetCenter().y});
    ctx->MouseClick();
    IM_CHECK(state().view.bench.value == 1024);
  }));
}

TEST_F(BenchTest, TheTableTitleListsTheValues) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "table"));
    ctx->ItemClick("pick_value");
    ctx->ItemClick("//$FOCUSED/L = 512");
    IM_CHECK(state().view.bench.value == 512);
  }));
}

TEST_F(BenchTest, TheCheckOfTheAnswersCanBeTurnedOff) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("##check");
    ctx->ItemClick("//$FOCUSED/off");
    IM_CHECK(!sweep().verify);
  }));
}

TEST_F(BenchTest, GpuKernelsBringTheirChoicesAndEachIsTaken) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const auto choose = [&](const char* combo, const char* item) {
      look_at(ctx, "setup");
      ctx->ItemClick(combo);
      ctx->ItemClick((std::string("//$FOCUSED/") + item).c_str());
      ctx->Yield(2);
    };
    IM_CHECK(look_at(ctx, "setup"));
    IM_CHECK(!ctx->ItemExists("##l2"));  // nothing to say about a CPU
    ctx->ItemClick("##kernel_flash_simt");
    ctx->ItemClick("##kernel_naive");
    ctx->Yield(2);
    choose("##arch", "sm_80");
    IM_CHECK_STR_EQ(sweep().arch.c_str(), "sm_80");
    choose("##l2", "warm");
    IM_CHECK(sweep().l2 == L2State::warm);
    choose("##counters", "off");
    IM_CHECK(!sweep().counters);
    choose("##inputs", "uniform");
    IM_CHECK(sweep().generator == Generator::uniform);
    choose("##mask", "causal");
    IM_CHECK(sweep().base.mask.causal);
    choose("##dtype", "f16");
    IM_CHECK(sweep().base.dtype == DType::f16);
    choose("##dtype", "f32");
    choose("##baseline", "cpu_flash");
    IM_CHECK_STR_EQ(state().view.bench.baseline.c_str(), "cpu_flash");
    choose("##baseline", "usual");
    IM_CHECK(state().view.bench.baseline.empty());
    IM_CHECK(validate(sweep()).has_value());
  }));
}

TEST_F(BenchTest, DraggingAChartMovesItAndChoosesNothing) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    ctx->MouseMoveToPos(child_window("time")->Rect().GetCenter());
    ctx->MouseDragWithDelta({60, 0});
    IM_CHECK(!state().view.bench.value);
  }));
}

TEST_F(BenchTest, TheFourthChartTakesAnotherMetric) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "picked"));
    ctx->ItemClick("pick_metric");
    ctx->ItemClick("//$FOCUSED/Spread");
    IM_CHECK_STR_EQ(state().view.bench.charts[3].c_str(), "time_spread_pct");
  }));
}

TEST_F(BenchTest, CompilingForAnotherArchitectureAnswersBesideWhatIsMeasured) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    SweepSpec asked = sweep();
    asked.kernels.emplace_back("flash_simt");
    asked.values = {512, 1024, 2048};
    window->controller().update({SetSweep{asked}});
    ctx->Yield(2);
    IM_CHECK(!is_shown(state().document.runs, kPredictedRun));
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("##arch");
    ctx->ItemClick("//$FOCUSED/sm_80");
    ctx->Yield(2);
    IM_CHECK(is_shown(state().document.runs, kPredictedRun));
    bool found = false;
    for (int columns = 2; columns < 24 && !found; ++columns)
      found = look_at(ctx, "rows_" + std::to_string(columns)) && ctx->ItemExists("**/##row_flash_simt, predicted_2048");
    IM_CHECK(found);
  }));
}

TEST_F(BenchTest, ANameAtTheEndOfItsLineSwitchesTheLine) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "time"));
    const int before = child_window("time")->DrawList->VtxBuffer.Size;
    ctx->ItemClick("label_cpu_sequential");
    ctx->MouseMoveToPos({100, 600});  // off the charts
    ctx->Yield(3);
    IM_CHECK_LT(child_window("time")->DrawList->VtxBuffer.Size, before);
    IM_CHECK(look_at(ctx, "time"));
    ctx->ItemClick("label_cpu_sequential");  // still there to bring it back
    ctx->MouseMoveToPos({100, 600});         // off the charts
    ctx->Yield(3);
    IM_CHECK_EQ(child_window("time")->DrawList->VtxBuffer.Size, before);
  }));
}

TEST_F(BenchTest, AClickOnAHeadSortsTheRows) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "rows_11"));
    const auto height = [&](const char* kernel) {
      return ctx->ItemInfo((std::string("**/##row_") + kernel + "_2048").c_str()).RectFull.Min.y;
    };
    IM_CHECK_LT(height("cpu_sequential"), height("cpu_flash"));  // the ladder
    ctx->ItemClick("**/###time");
    ctx->Yield(2);
    IM_CHECK_LT(height("cpu_flash"), height("cpu_multicore"));
    IM_CHECK_LT(height("cpu_multicore"), height("cpu_sequential"));
  }));
}

TEST_F(BenchTest, ARowChoosesItsKernelInBenchAndLeavesStepAlone) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    const std::string before = state().document.kernel;
    IM_CHECK(look_at(ctx, "rows_11"));
    ctx->ItemClick("**/##row_cpu_sequential_2048");
    IM_CHECK_STR_EQ(bench_kernel(state()).c_str(), "cpu_sequential");
    IM_CHECK_STR_EQ(state().document.kernel.c_str(), before.c_str());
    ctx->ItemClick("//Bar/Crossing");
    ctx->Yield(2);
    IM_CHECK_STR_EQ(state().document.kernel.c_str(), "cpu_sequential");
  }));
}

TEST_F(BenchTest, EveryValueShowsEveryRow) {
  open();
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "table"));
    ctx->ItemClick("every L##every");
    ctx->Yield(2);
    IM_CHECK(look_at(ctx, "rows_12"));
    for (const char* value : {"512", "1024", "2048"})
      IM_CHECK(ctx->ItemExists((std::string("**/##row_cpu_flash_") + value).c_str()));
  }));
}

TEST_F(BenchTest, NothingToExportBeforeTheFirstRow) {
  open(1440, 900, 1, false);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(look_at(ctx, "panel"));
    IM_CHECK((ctx->ItemInfo("CSV").ItemFlags & ImGuiItemFlags_Disabled) != 0);
    IM_CHECK((ctx->ItemInfo("PNG").ItemFlags & ImGuiItemFlags_Disabled) == 0);
  }));
}

TEST_F(BenchTest, NarrowWindowsOpenTheSweepFromItsButton) {
  open(1280, 720, 2.5F);
  EXPECT_TRUE(window->run([&](Ctx* ctx) {
    IM_CHECK(child_window("panel") == nullptr);
    IM_CHECK(look_at(ctx, "strip"));
    ctx->ItemClick("sweep ...");
    ctx->Yield(3);
    IM_CHECK(child_window("setup") != nullptr);
    IM_CHECK(look_at(ctx, "setup"));
    ctx->ItemClick("##kernel_cpu_tiled");
    IM_CHECK_EQ(std::count(sweep().kernels.begin(), sweep().kernels.end(), "cpu_tiled"), 0);
  }));
}

struct Size {
  int width, height;
  float scale;
};

void PrintTo(const Size& size, std::ostream* out) {
  *out << size.width << 'x' << size.height << " at " << size.scale;
}

class BenchSizeTest : public BenchTest, public ::testing::WithParamInterface<Size> {};

// Charts keep a readable height, nothing is wider than its window, and what does not fit is reached by scrolling.
TEST_P(BenchSizeTest, FitsItsWindow) {
  const Size size = GetParam();
  open(size.width, size.height, size.scale);
  ImGuiWindow* figures = child_window("figures");
  ASSERT_NE(figures, nullptr);
  EXPECT_LE(figures->ScrollMax.x, 0);
  const float logical = static_cast<float>(size.width) / size.scale;
  EXPECT_NE(child_window("occupancy"), nullptr);
  EXPECT_EQ(child_window("panel") != nullptr, logical >= 664);
  for (const char* name : {"time", "picked", "table", "strip"}) {
    ImGuiWindow* window_of = child_window(name);
    ASSERT_NE(window_of, nullptr) << name;
    EXPECT_LE(window_of->Pos.x + window_of->Size.x, figures->Pos.x + figures->Size.x + 0.5F) << name;
    EXPECT_GE(window_of->Size.y, 40 * size.scale) << name;
  }
  const float end = child_window("table")->Pos.y + child_window("table")->Size.y - figures->Pos.y + figures->Scroll.y;
  EXPECT_NEAR(end, figures->Size.y + figures->ScrollMax.y, 1.5F * size.scale);
}

INSTANTIATE_TEST_SUITE_P(Sizes, BenchSizeTest,
                         ::testing::Values(Size{1280, 720, 1}, Size{1440, 900, 1}, Size{3840, 2160, 1},
                                           Size{3840, 2160, 2}, Size{1920, 1080, 1.5F}, Size{1280, 720, 1.5F},
                                           Size{1280, 720, 2}, Size{1280, 720, 3}, Size{2560, 1440, 3}),
                         [](const auto& each) {
                           return std::to_string(each.param.width) + "x" + std::to_string(each.param.height) + "at" +
                                  std::to_string(std::lround(100 * each.param.scale));
                         });

}  // namespace
}  // namespace attn
