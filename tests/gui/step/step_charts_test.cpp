// Step's chart card by mouse: its tabs, the error map and "go there".
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gui/drawn_text.h"
#include "tests/gui/gui_fixture.h"
#include "tests/gui/step/phone.h"
#include "viz/draw/number_text.h"
#include "viz/step/charts/row.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

TEST(StepCharts, TabsChooseTheChartAtEveryStepAndInEveryOrder) {
  for (const char* kernel : {"cpu_sequential", "cpu_tiled", "cpu_flash1", "cpu_flash"}) {
    TestWindow w;
    w.controller().update({ChooseKernel{kernel}});
    w.draw_frames(3);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kStep);
      for (const StepChart chart :
           {StepChart::hindsight, StepChart::passes, StepChart::error, StepChart::attention, StepChart::row}) {
        ctx->ItemClick((std::string("##chart_") + std::string(name_of(chart))).c_str());
        ctx->Yield();
        IM_CHECK(w.state().view.step.chart == chart);
        w.controller().update({GoToEnd{false}});
        ctx->Yield();
        for (int n = 0; n < 40; ++n) {
          w.controller().update({StepBy{StepUnit::phase, 1}});
          ctx->Yield();
        }
      }
    })) << kernel;
  }
}

// A backward's bars have a scale of their own at each step: a full one may be 5e-6.
TEST(StepCharts, TheAxisOfWeightsHasItsUpperValueAtEveryStepOfABackward) {
  TestWindow w(1280, 720, "", false, {}, {}, {}, "attn1,preset=late_outlier,pass=backward,kernel=cpu_flash_bwd");
  w.draw_frames(8);
  const Recording& rec = recording(w);
  int weighed = 0;
  for (EventIndex e = 0; e < rec.events.size(); e += 9) {
    w.controller().update({GoToEvent{e}});
    w.draw_frames(2);
    const RowChartScene scene = row_chart_scene(rec, place_of(rec, e, w.state().document.selection));
    if (!scene.any_weight) continue;
    ++weighed;
    const DrawnText drawn;
    w.draw_frames(1);
    bool there = false;
    for (int digits = 1; digits <= 3; ++digits)
      for (const auto& place : drawn.places())
        there = there || (place.text == significant_text(scene.max_weight, digits) && place.left > 12 &&
                          place.right < 75 && place.top > 450);
    EXPECT_TRUE(there) << "step " << e + 1 << ": " << scene.max_weight;
  }
  EXPECT_GT(weighed, 5);
}

TEST(StepCharts, TheErrorMapGoesToTheFirstCellThatDiffers) {
  TestWindow w;
  Options options;
  options.accumulate = DType::f16;
  options.br = options.bc = 4;
  w.controller().update({ChoosePreset{"late_outlier"}, SetOptions{options, 0}, ChooseStepChart{StepChart::error}});
  w.draw_frames(4);
  const Recording& rec = *w.controller().model().recording;
  const ErrorScan& scan = w.shell().step_ui().cache->error_scan(0, 0);
  ASSERT_TRUE(scan.done());
  ASSERT_TRUE(scan.first.has_value());
  const FirstDifference first = *scan.first;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##error_go");
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, first.event);
    IM_CHECK_EQ(w.state().document.selection.row, first.row);
    IM_CHECK(w.state().document.selection.slot == first.slot);
    IM_CHECK(rec.events[w.state().view.step.cursor].id.phase == Phase::sum);
    // A click on the map pins that element of O.
    const ImRect map = ctx->ItemInfo("##error_map").RectFull;
    ctx->MouseMoveToPos({map.Min.x + map.GetWidth() * 2.5F / 8, map.Min.y + map.GetHeight() * 9.5F / 16});
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().document.selection.row, 9);
    IM_CHECK_EQ(w.state().document.selection.col, 2);
    IM_CHECK(w.state().document.selection.slot == Slot::o_new);
  }));
}

TEST(StepCharts, AClickOnTheAttentionMapPinsTheWeightAndGoesToItsTile) {
  TestWindow w;
  w.controller().update({ChoosePreset{"random"}, ChooseStepChart{StepChart::attention}});
  w.draw_frames(4);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    const ImRect map = ctx->ItemInfo("##attention_map").RectFull;
    ctx->MouseMoveToPos({map.Min.x + map.GetWidth() * 6.5F / 16, map.Min.y + map.GetHeight() * 9.5F / 16});
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().document.selection.row, 9);
    IM_CHECK(w.state().document.selection.slot == Slot::p);
    IM_CHECK_EQ(w.state().document.selection.col, 6);
    const EventId id = recording(w).events[w.state().view.step.cursor].id;
    IM_CHECK_EQ(id.i, 2);
    IM_CHECK_EQ(id.j, 1);
  }));
}

TEST(StepCharts, AHeadIsChosenOnTheAttentionMap) {
  TestWindow w;
  w.controller().update({ChoosePreset{"heads"}, ChooseStepChart{StepChart::attention}, GoToEvent{8}});
  w.draw_frames(4);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("$$6/##attention_head");  // batch 1, head 2
    ctx->Yield(2);
    const EventId id = recording(w).events[w.state().view.step.cursor].id;
    IM_CHECK_EQ(id.b, 1);
    IM_CHECK_EQ(id.h, 2);
  }));
}

// Large logits, with the maximum subtracted or not: what the error chart then finds.
const ErrorScan& errors_of_large_logits(TestWindow& w, bool subtract_max) {
  Options options;
  options.subtract_max = subtract_max;
  options.br = options.bc = 4;
  w.controller().update({ChoosePreset{"large_logits"}, SetOptions{options, 0}, ChooseStepChart{StepChart::error}});
  w.draw_frames(4);
  return w.shell().step_ui().cache->error_scan(0, 0);
}

TEST(StepCharts, OverflowWithoutTheMaximumIsOnTheMap) {
  TestWindow w;
  EXPECT_GT(errors_of_large_logits(w, false).overflows, 0);
  // Switched back on, the map is another recording's.
  EXPECT_EQ(errors_of_large_logits(w, true).overflows, 0);
}

// The button does not go where the sentences take the height.
TEST(StepCharts, InASmallWindowTheErrorsStillLeadToTheFirstOne) {
  TestWindow w(1280, 720);
  const ErrorScan& scan = errors_of_large_logits(w, false);
  ASSERT_TRUE(scan.first.has_value());
  const EventIndex first = scan.first->event;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##error_go");
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, first);
  }));
}

TEST(StepCharts, InALowWindowTheChartsAreBehindAChip) {
  TestWindow w(1000, 480);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    IM_CHECK(!ctx->ItemExists("##chart_hindsight"));
    ctx->ItemClick("##charts_chip");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/##chart_hindsight");
    ctx->Yield();
    IM_CHECK(w.state().view.step.chart == StepChart::hindsight);
    ctx->KeyPress(ImGuiKey_Escape);
  }));
}

TEST(StepCharts, AWideWindowShowsTheRowBesideAnother) {
  TestWindow w(2560, 1440);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    IM_CHECK(!ctx->ItemExists("##chart_row"));
    ctx->ItemClick("##chart_error");
    ctx->Yield();
    IM_CHECK(w.state().view.step.chart == StepChart::error);
  }));
}

TEST(StepCharts, AnotherOrderStandsAtTheCorrespondingStep) {
  TestWindow w;
  w.controller().update({ChoosePreset{"late_outlier"}});
  w.draw_frames(2);
  const auto model = [&]() -> const Recording& { return *w.controller().model().recording; };
  const EventIndex weights = *model().find({0, 0, 2, 1, Phase::weights});
  w.controller().update({GoToEvent{weights}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    for (const char* title : {"naive, one thread", "tiled, three passes", "flash-1, FlashAttention-1 order",
                              "flash, FlashAttention-2 order"}) {
      ctx->ItemClick("//Bar/Kernel");
      ctx->Yield(2);
      ctx->ItemClick((std::string("//$FOCUSED/") + title).c_str());
      ctx->Yield(3);
      const EventId id = model().events[w.state().view.step.cursor].id;
      IM_CHECK_EQ(id.i, 2);
      IM_CHECK_EQ(id.j, 1);
      IM_CHECK(id.phase == Phase::weights);
    }
    IM_CHECK_EQ(w.state().view.step.cursor, weights);
  }));
}

TEST(StepCharts, CGoesFromChartToChart) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    for (const StepChart chart : {StepChart::hindsight, StepChart::passes, StepChart::error, StepChart::attention,
                                  StepChart::fragments, StepChart::row}) {
      ctx->KeyPress(ImGuiKey_C);
      ctx->Yield();
      IM_CHECK(w.state().view.step.chart == chart);
    }
  }));
}

// By keyboard to the preset and its chart, by mouse to a page's keys, and the size of a page typed.
TEST(StepCharts, PagesAreWalkedThroughByKeysAndMouse) {
  for (const float scale : {1.0F, 2.0F}) {
    TestWindow w;
    w.controller().update({SetScale{scale}});
    w.draw_frames(2);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      choose_in_palette(ctx, "keys in pages");
      IM_CHECK_EQ(w.state().document.preset, std::string("pages"));
      IM_CHECK(w.state().view.step.chart == StepChart::pages);
      const auto press = [ctx](int times) {
        for (int n = 0; n < times; ++n) {
          ctx->KeyPress(ImGuiKey_C);
          ctx->Yield();
        }
      };
      press(1);
      IM_CHECK(w.state().view.step.chart == StepChart::row);
      press(6);
      IM_CHECK(w.state().view.step.chart == StepChart::pages);
      if (scale > 1) return;
      ctx->SetRef(kStep);
      ctx->ItemClick("##entry_1_1");
      ctx->Yield(2);
      const EventId id = recording(w).events[w.state().view.step.cursor].id;
      IM_CHECK_EQ(id.b, 1);
      IM_CHECK_EQ(id.j, 0);
      IM_CHECK(id.phase == Phase::load_kv);
      ctx->MouseMove("##page_3");
      ctx->Yield(2);
      ctx->ItemInput("##page");
      ctx->KeyCharsReplaceEnter("3");
      ctx->Yield(3);
      IM_CHECK_EQ(w.state().document.problem.storage.page, 3);
      IM_CHECK_EQ(recording(w).problem.storage.page, 3);
      choose_in_palette(ctx, "2 parts");
      IM_CHECK_EQ(splits_of(w.state().document.options), 2);
      IM_CHECK(name_of(recording(w).order) == "split");
      IM_CHECK(ctx->ItemExists("##entry_0_0"));
      ctx->ItemInput("##page");
      ctx->KeyCharsReplaceEnter("none");
      ctx->Yield(3);
      IM_CHECK(w.state().document.problem.storage.kind() == Storage::dense);
      IM_CHECK(!ctx->ItemExists("##entry_0_0"));
    })) << scale;
  }
}

// By mouse and by palette: the tail as it lies takes the second batch's rows, and pages in order change no number.
TEST(StepCharts, WhatIfsOfPagesAreRecordedAnew) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    choose_in_palette(ctx, "keys in pages");
    const auto out = [&](std::int64_t n) { return recording(w).outputs.out.get(n); };
    const Outputs before = recording(w).outputs;
    const std::int64_t half = before.out.size() / 2;
    ctx->SetRef(kStep);
    ctx->ItemClick("##whatif_tail");
    ctx->Yield(3);
    IM_CHECK(!zeroes_tail(w.state().document.options));
    IM_CHECK(!zeroes_tail(recording(w).options));
    for (std::int64_t n = 0; n < half; ++n) {
      IM_CHECK_EQ(out(n), before.out.get(n));
      IM_CHECK(std::isnan(out(half + n)));
    }
    choose_in_palette(ctx, "tail not zeroed");
    IM_CHECK(zeroes_tail(recording(w).options));
    const std::vector<std::int32_t> shuffled = recording(w).inputs.page_table;
    choose_in_palette(ctx, "pages in order");
    IM_CHECK(w.state().document.inputs.pages == PageOrder::in_order);
    IM_CHECK(recording(w).inputs.page_table != shuffled);
    for (std::int64_t n = 0; n < 2 * half; ++n) IM_CHECK_EQ(out(n), before.out.get(n));
    w.controller().update({GoToEvent{*recording(w).find({1, 0, 0, 1, Phase::load_kv})}});
    ctx->Yield(2);
    ctx->SetRef(kStep);
    ctx->MouseMove("##page_bytes");
    ctx->Yield(2);
    ctx->ItemClick("##whatif_pages");
    ctx->Yield(3);
    IM_CHECK(w.state().document.inputs.pages == PageOrder::shuffled);
    IM_CHECK(recording(w).inputs.page_table == shuffled);
  }));
}

TEST(StepCharts, SumsInBf16AreAWhatIf) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    ctx->ItemClick("##whatif_bf16");
    ctx->Yield(3);
    IM_CHECK(w.state().document.options.accumulate == DType::bf16);
    IM_CHECK(w.controller().model().recording->options.accumulate == DType::bf16);
    ctx->ItemClick("##whatif_f16");
    ctx->Yield(3);
    IM_CHECK(w.state().document.options.accumulate == DType::f16);
  }));
}

TEST(StepCharts, ControlAltCCopiesNothing) {
  TestWindow w;
  w.controller().update({GoToEvent{8}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->MouseMoveToPos({1, 1});
    ctx->Yield(2);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Alt | ImGuiKey_C);
    ctx->Yield(2);
  }));
  EXPECT_FALSE(w.requests.clipboard.has_value());
}

// A mark of a score that is not finite stands where words about all of them would.
TEST(RowChart, OfScoresThatAreNotFiniteHasNoWordsOverItsMarks) {
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1440, 900)}) {
    TestWindow w(width, height);
    w.controller().update({ChoosePreset{"non_finite"}});
    w.controller().wait();
    w.draw_frames(2);
    std::size_t marks = 0;
    for (EventIndex e = 0; e < recording(w).events.size(); ++e) {
      w.controller().update({GoToEvent{e}});
      w.draw_frames(2);
      const DrawnText drawn;
      w.draw_frames(1);
      const auto& places = drawn.places();
      for (std::size_t n = 0; n < places.size(); ++n) {
        if (places[n].text != "nan") continue;
        ++marks;
        for (std::size_t k = 0; k < places.size(); ++k)
          EXPECT_FALSE(k != n && collide(places[n], places[k]))
              << "step " << e + 1 << " at " << width << ": " << places[k].text;
      }
    }
    EXPECT_GT(marks, 20U);
  }
}

}  // namespace
}  // namespace attn
