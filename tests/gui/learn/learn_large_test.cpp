// Learn at 200 % and 300 % of a window of 1440 x 900: the card is usable, covers no tile, and its buttons stay in
// sight.
#include <gtest/gtest.h>

#include "imgui_internal.h"
#include "tests/gui/learn/learn_fixture.h"
#include "viz/learn/card/learn_scene.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

void start(TestWindow& w, float scale, const char* lesson, const char* beat) {
  w.controller().update({SetScale{scale}, ChooseWorkspace{Workspace::learn}, StartLesson{lesson, beat}});
  w.draw_frames(5);
}

// In sight: nothing of it is cut off by its own window or the screen.
bool in_sight(Ctx* ctx, const char* item) {
  const ImGuiTestItemInfo info = ctx->ItemInfo(item, ImGuiTestOpFlags_NoError);
  if (info.ID == 0) return false;
  const ImRect screen{ImVec2(0, 0), ImGui::GetIO().DisplaySize};
  return screen.Contains(info.RectFull) && info.RectClipped.GetHeight() >= info.RectFull.GetHeight() - 1 &&
         info.RectClipped.GetWidth() >= info.RectFull.GetWidth() - 1;
}

TEST(LearnAtLargeScales, TheCardsButtonsStayInSightAndBesideTheTiles) {
  for (const char* beat : {"stands", "past", "broken"}) {
    TestWindow w;
    start(w, 2, "one-pass", beat);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kLearn);
      for (const char* item : {"**/##lesson_check", "**/##lesson_show", "**/##lesson_back", "**/##lesson_skip"})
        IM_CHECK(in_sight(ctx, item));
      const ImRect tile = ctx->ItemInfo("**/##tile_alpha").RectFull;
      IM_CHECK(tile.Min.x > ctx->ItemInfo("**/##lesson_skip").RectFull.Max.x);
      ctx->ItemClick("**/##lesson_show");
      ctx->Yield(3);
      IM_CHECK(card(w).shown);
      IM_CHECK(in_sight(ctx, "**/##lesson_next"));
    })) << beat;
  }
}

// Also where its question comes after another one.
TEST(LearnAtLargeScales, TheFieldForTheAnswerIsInSightWhenItsQuestionOpens) {
  TestWindow w;
  start(w, 3, "by-hand", "score");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    IM_CHECK(in_sight(ctx, "**/##lesson_answer"));
    for (const char* beat : {"alpha", "transfer"}) {
      w.controller().update({StartLesson{"by-hand", beat}});
      ctx->Yield(4);
      IM_CHECK(card(w).asks == AskKind::num && card(w).open);
      IM_CHECK(in_sight(ctx, "**/##lesson_answer"));
    }
    ctx->KeyChars("1.5");
    ctx->Yield(4);
    IM_CHECK_STR_EQ(ImGui::GetInputTextState(ImGui::GetActiveID())->TextA.Data, "1.5");
  }));
}

TEST(LearnAtLargeScales, CardAndRunTakeTurnsWhereOneAloneHasRoomByKeyboard) {
  TestWindow w;
  start(w, 3, "by-hand", "score");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    IM_CHECK(in_sight(ctx, "**/##lesson_check"));
    IM_CHECK(!ctx->ItemExists("**/##lesson_to_card"));
    ctx->KeyPress(ImGuiMod_Alt | ImGuiKey_V);  // without Alt the letter goes into the field for the answer
    ctx->Yield(3);
    IM_CHECK(ctx->ItemExists("**/##lesson_to_card"));
    IM_CHECK(!ctx->ItemExists("**/##lesson_check"));
    ctx->KeyPress(ImGuiKey_V);
    ctx->Yield(3);
    ctx->KeyPress(ImGuiMod_Alt | ImGuiKey_W);
    ctx->Yield(3);
    IM_CHECK(card(w).shown && !card(w).open);
    IM_CHECK(in_sight(ctx, "**/##lesson_next"));
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), "largest");
  }));
}

// A cell of the run answers, and the next beat begins with its card.
TEST(LearnAtLargeScales, ACellOfTheRunAnswersByMouse) {
  TestWindow w;
  start(w, 3, "by-hand", "largest");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->ItemClick("**/##lesson_run");
    ctx->Yield(3);
    ctx->ItemClick("**/##lesson_to_card");
    ctx->Yield(3);
    IM_CHECK(!ctx->ItemExists("**/##lesson_option_1"));  // no answer is cut in half
    ctx->ItemClick("**/##lesson_more");
    ctx->Yield(3);
    ctx->ItemClick("**/##lesson_option_1");
    ctx->ItemClick("**/##lesson_check");
    ctx->Yield(3);
    IM_CHECK(card(w).right);
    ctx->ItemClick("**/##lesson_run");
    ctx->Yield(3);
    w.controller().update({GoToBeat{1}});
    ctx->Yield(3);
    IM_CHECK(ctx->ItemExists("**/##lesson_check"));
  }));
}

}  // namespace
}  // namespace attn
