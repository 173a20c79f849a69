// Step at 200 % and 300 %, and in small windows: nothing is cut off in the midst of a sentence, and what has no room is
// reached by the mouse all the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/gui/drawn_text.h"
#include "tests/gui/learn/learn_fixture.h"
#include "viz/draw/canvas.h"
#include "viz/step/bars/bars_draw.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

TEST(StepAtLargeScales, NoSentenceOfTheStripIsCutOff) {
  TestWindow w;
  for (const char* preset : {"late_outlier", "causal", "large_logits", "blackboard"}) {
    w.controller().update({ChoosePreset{preset}});
    w.draw_frames(2);
    EXPECT_TRUE(w.run([&](Ctx*) {
      const Recording& rec = recording(w);
      // Alone at 300 %, beside a lesson at 200 %, around the least width of one line, alone at 200 %, at 1280 px.
      for (const float width : {597.0F, 663.0F, 879.0F, 880.0F, 936.0F, 983.0F}) {
        const float room = style().px(width - 48), lines = static_cast<float>(strip_lines(width));
        for (EventIndex e = 0; e < rec.events.size(); ++e) {
          const StepPlace at = place_of(rec, e, {});
          const StripScene strip = strip_scene(rec, at, step_values(rec, at, {}, nullptr), w.shell().step_ui().texts);
          const float height = draw_paragraph(nullptr, {0, 0}, room, 14, strip.sentence, 9, false);
          IM_CHECK_LE_NO_RET(height, lines * line_height(14));
        }
      }
    })) << preset;
  }
}

TEST(StepAtLargeScales, WhatTheTimelineHasNoRoomForIsBehindAChip) {
  TestWindow w(1920, 1200);
  w.controller().update({SetScale{3}, ChoosePreset{"late_outlier"}});
  w.draw_frames(4);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    IM_CHECK(!ctx->ItemExists("##step_m_next"));
    ctx->ItemClick("##timeline_more");
    ctx->Yield(2);
    ctx->ItemClick("//$FOCUSED/##step_m_next");
    ctx->Yield(2);
    IM_CHECK(recording(w).events[w.state().view.step.cursor].id.phase == Phase::max);
    ctx->ItemClick("//$FOCUSED/##bookmark");
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.bookmarks.size(), 1U);
    const float speed = w.state().view.step.play_steps_per_second;
    ctx->ItemClick("//$FOCUSED/##speed_faster");
    ctx->Yield(2);
    IM_CHECK(w.state().view.step.play_steps_per_second > speed);
    const ImRect run = ctx->ItemInfo("//$FOCUSED/##step_scrubber").RectFull;
    ctx->MouseMoveToPos({run.Max.x - 30, run.Min.y + 36});
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK(w.state().view.step.cursor + 8 > recording(w).events.size());
    const EventIndex late = w.state().view.step.cursor;
    ctx->ItemClick("//$FOCUSED/##step_map");
    ctx->Yield(2);
    IM_CHECK(w.state().view.step.cursor != late);
    // All of it within the window.
    const ImGuiWindow* popup = ImGui::GetCurrentContext()->NavWindow;
    IM_CHECK(popup->Pos.y >= 0 && popup->ScrollMax.y == 0);
    ctx->KeyPress(ImGuiKey_Escape);
  }));
  w.controller().update({SetScale{1}});
  w.draw_frames(4);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    IM_CHECK(!ctx->ItemExists("##timeline_more"));
  }));
}

TEST(StepAtLargeScales, TheChartsBehindTheirChipAreScrolledToTheBytes) {
  TestWindow w(1920, 1200);
  w.controller().update({SetScale{3}});
  w.draw_frames(4);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef("//###workspace/step");
    ctx->ItemClick("**/##charts_chip");
    ctx->Yield(3);
    const ImGuiWindow* popup = ImGui::GetCurrentContext()->NavWindow;
    IM_CHECK(popup->ScrollMax.y > 0);
    IM_CHECK(popup->Pos.y + popup->Size.y <= ImGui::GetIO().DisplaySize.y);
    ctx->KeyPress(ImGuiKey_Escape);
  }));
}

TEST(StepAtLargeScales, FragmentsAreNoPageWithinThePage) {
  TestWindow w(1920, 1200);
  w.controller().update({SetScale{3}, ChooseStepChart{StepChart::fragments}});
  w.draw_frames(5);
  EXPECT_TRUE(w.run([&](Ctx*) {
    const ImGuiWindow *page = child_window("page"), *fragments = child_window("fragments");
    IM_CHECK(page != nullptr && page->ScrollMax.y > 0);
    IM_CHECK(fragments != nullptr);
    IM_CHECK_EQ(fragments->ScrollMax.y, 0);
  }));
}

TEST(StepAtLargeScales, ALessonsStepBeginsWithItsTilesInSight) {
  TestWindow w(1920, 1200);
  w.controller().update({SetScale{3}, ChooseWorkspace{Workspace::learn}, StartLesson{"by-hand", "next"}});
  w.draw_frames(6);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    const ImGuiTestItemInfo m = ctx->ItemInfo("**/##tile_m_new");
    IM_CHECK(m.ID != 0);
    IM_CHECK_EQ(m.RectClipped.GetHeight(), m.RectFull.GetHeight());
    // Who scrolls back stays there.
    ImGuiWindow* page = child_window("page");
    IM_CHECK(page != nullptr);
    ImGui::SetScrollY(page, 0);
    ctx->Yield(4);
    IM_CHECK_EQ(page->Scroll.y, 0);
  }));
}

// What each letter stands for is told whole: on a second line where the panel is too narrow for it.
TEST(StepLetters, EveryWordStandsWithinThePanel) {
  for (const auto& [width, height, scale] : {std::tuple(1440, 900, 1.0F), {2880, 1800, 2.0F}}) {
    TestWindow w(width, height);
    State state = w.state();
    state.document.problem.pass = Pass::backward;
    w.controller().update({SetScale{scale}, SetProblem{state.document.problem}});
    w.draw_frames(4);
    const DrawnText drawn;
    w.draw_frames(1);
    // The panel is the card at the left; its words keep clear of its edge.
    const auto& places = drawn.places();
    const auto head = std::ranges::find(places, "Letters", &DrawnText::Place::text);
    ASSERT_NE(head, places.end()) << width;
    constexpr float kPanel = 200, kMargin = 14;
    const float right = head->left + (kPanel - 2 * kMargin + 1) * scale;
    int words = 0;
    for (const DrawnText::Place& p : places) {
      if (p.left < head->left || p.left > right || p.top < head->bottom) continue;
      EXPECT_LE(p.right, right) << p.text;
      EXPECT_EQ(p.text.find("…"), std::string::npos) << p.text;
      ++words;
    }
    EXPECT_GT(words, 20);
  }
}

}  // namespace
}  // namespace attn
