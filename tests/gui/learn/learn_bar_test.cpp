// A number that is dragged along a line, and a line of a kernel's text that is clicked: by mouse and by keyboard.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/gui/learn/learn_fixture.h"
#include "viz/learn/card/number_bar.h"
#include "viz/learn/figure/figure.h"
#include "viz/learn/lesson/typed_number.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;
constexpr const char* kBar = "**/##lesson_bar";

double typed(TestWindow& w) {
  return typed_number(w.shell().card_ui().typed).value_or(-1);
}

// To a share of the line, pressed where it is.
void press_at(Ctx* ctx, double share) {
  const ImRect r = ctx->ItemInfo(kBar).RectFull;
  const float end = 9 * style().scale;  // the line ends before the box does
  ctx->MouseMoveToPos({r.Min.x + end + (r.GetWidth() - 2 * end) * static_cast<float>(share), r.GetCenter().y});
  ctx->MouseDown(0);
  ctx->Yield(2);
}

TEST(LearnBar, IsDraggedByMouseAndTheFieldSaysWhereItIs) {
  TestWindow w(1280, 720);
  start(w, "one-pass", "bar");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    IM_CHECK_EQ(typed(w), 1.0);  // the old weight: where its bar stands
    press_at(ctx, 1);
    press_at(ctx, 0.23);
    IM_CHECK(std::abs(typed(w) - 0.23) < 0.011);
    ctx->MouseUp(0);
    ctx->Yield(2);
    ctx->ItemClick("**/##lesson_check");
    ctx->Yield(2);
    IM_CHECK(card(w).missed);  // its share, had the row ended
    press_at(ctx, 0);
    ctx->MouseUp(0);
    ctx->Yield(2);
    IM_CHECK_EQ(typed(w), 0.0);
    ctx->ItemClick("**/##lesson_check");
    ctx->Yield(3);
    IM_CHECK(card(w).right);
    IM_CHECK(card(w).bar->truth && *card(w).bar->truth < 0.001);
    IM_CHECK(!ctx->ItemExists(kBar));  // nothing to drag once it is answered
  }));
}

// The bar itself, in the chart of its row: one number with the line on the card.
TEST(LearnBar, IsDraggedInTheChartOfItsRow) {
  TestWindow w;
  start(w, "one-pass", "bar");
  constexpr const char* kInChart = "**/##asked_bar";
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    const ImRect bar = ctx->ItemInfo(kInChart).RectFull;
    const auto press = [&](float y) {
      ctx->MouseMoveToPos({bar.GetCenter().x, y});
      ctx->MouseDown(0);
      ctx->Yield(2);
    };
    press(bar.Min.y + 1);
    IM_CHECK_EQ(typed(w), 1.0);
    press(bar.GetCenter().y);
    IM_CHECK(typed(w) > 0.3 && typed(w) < 0.7);
    press(bar.Max.y - 1);
    ctx->MouseUp(0);
    ctx->Yield(2);
    IM_CHECK_EQ(typed(w), 0.0);
    ctx->ItemClick("**/##lesson_check");
    ctx->Yield(3);
    IM_CHECK(card(w).right);
    IM_CHECK(!ctx->ItemExists(kInChart));  // the chart has the answer
  }));
}

// Arrows move the handle in place of the cursor, a shifted one ten places; Enter checks.
TEST(LearnBar, IsMovedByArrows) {
  TestWindow w(1280, 720);
  start(w, "one-pass", "bar");
  const EventIndex cursor = w.state().view.step.cursor;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->KeyPress(ImGuiKey_LeftArrow);
    ctx->Yield(2);
    IM_CHECK(std::abs(typed(w) - 0.99) < 1e-6);
    for (int press = 0; press < 10; ++press) ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_LeftArrow);
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->Yield(2);
    IM_CHECK(std::abs(typed(w) - 0.01) < 1e-6);
    IM_CHECK_EQ(w.state().view.step.cursor, cursor);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(card(w).right);
    const EventIndex shown = w.state().view.step.cursor;
    IM_CHECK(shown > cursor);           // the step that holds the answer
    ctx->KeyPress(ImGuiKey_LeftArrow);  // and are the cursor's again
    ctx->Yield(3);
    IM_CHECK_EQ(w.state().view.step.cursor, shown - 1);
  }));
}

// What is typed takes the place of what was dragged.
TEST(LearnBar, FollowsWhatIsTyped) {
  TestWindow w(1280, 720);
  start(w, "few-warps", "time");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    press_at(ctx, 0.9);
    ctx->MouseUp(0);
    ctx->KeyChars("100");
    ctx->Yield(3);
    IM_CHECK_EQ(typed(w), 100.0);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
    press_at(ctx, 0.444);
    ctx->MouseUp(0);
    ctx->Yield(2);
    IM_CHECK(typed(w) > 55 && typed(w) < 66);
    ctx->ItemClick("**/##lesson_check");
    ctx->Yield(3);
    IM_CHECK(card(w).right);
  }));
}

// What a class says stays hidden, so there is no handle.
TEST(LearnBar, ShowsAClassNoHandle) {
  TestWindow w(1280, 720);
  w.controller().update({Teach{true}});
  start(w, "one-pass", "bar");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    IM_CHECK(card(w).bar.has_value());
    IM_CHECK(!ctx->ItemExists(kBar));
  }));
}

// The text is there while its shares are not; a click on one of the lines is an answer, on another it is none.
TEST(LearnLines, AreChosenInTheText) {
  TestWindow w(1280, 720);
  start(w, "few-warps", "line");
  const auto& figure = [&]() -> const StageFigure& { return *w.controller().model().learn->figure; };
  const auto click = [&](Ctx* ctx, std::int32_t line) {
    const auto& windows = ImGui::GetCurrentContext()->Windows;
    const auto text = std::find_if(windows.begin(), windows.end(), [](const ImGuiWindow* window) {
      return window->Active && std::string(window->Name).find("/source_lines_") != std::string::npos;
    });
    IM_CHECK(text != windows.end());
    const float row = 18 * style().scale;
    ctx->MouseMoveToPos(
        {(*text)->Pos.x + 120, (*text)->Pos.y + (static_cast<float>(line) - 0.5F) * row - (*text)->Scroll.y});
    ctx->MouseClick(0);
    ctx->Yield(3);
  };
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    IM_CHECK(figure().waits && !figure().scenes->lines.sampled && figure().scenes->lines.hot.empty());
    IM_CHECK(
        std::none_of(card(w).options.begin(), card(w).options.end(), [](const CardOption& o) { return o.chosen; }));
    click(ctx, card(w).options[0].line + 1);
    IM_CHECK(
        std::none_of(card(w).options.begin(), card(w).options.end(), [](const CardOption& o) { return o.chosen; }));
    click(ctx, card(w).options[1].line);
    IM_CHECK(card(w).options[1].chosen);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(card(w).missed && !figure().scenes->lines.sampled);
    ctx->KeyPress(ImGuiKey_1);
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(card(w).right && figure().scenes->lines.sampled);
    IM_CHECK_EQ(figure().scenes->lines.hot.front(), card(w).options[0].line);
  }));
}

}  // namespace
}  // namespace attn
