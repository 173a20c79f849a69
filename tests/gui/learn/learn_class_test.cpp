// Learn for a class at a projector: what is on screen, what stays hidden, and that nothing of it is kept.
#include <gtest/gtest.h>

#include <string>

#include "app/state/lessons/lesson_progress.h"
#include "app/state/string/state_string.h"
#include "imgui_internal.h"
#include "tests/gui/learn/learn_fixture.h"
#include "viz/draw/text_runs.h"
#include "viz/draw/theme.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/learn/class_scale.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

bool is_shown(const char* window) {
  const ImGuiWindow* found = ImGui::FindWindowByName(window);
  return found != nullptr && found->Active && !found->Hidden;
}

void press(Ctx* ctx, ImGuiKeyChord chord) {
  ctx->KeyPress(chord);
  ctx->Yield(3);
}

TEST(ClassScale, IsAsLargeAsTheWindowHasRoomFor) {
  EXPECT_EQ(class_scale(1280, 720), 1.25F);
  EXPECT_EQ(class_scale(1440, 900), 1.25F);
  EXPECT_EQ(class_scale(1920, 1080), 1.5F);
  EXPECT_EQ(class_scale(2560, 1440), 2);
  EXPECT_EQ(class_scale(7680, 4320), 2);
  // Who has made it as large already gets no more.
  EXPECT_EQ(class_scale(1024, 768), 1);
  EXPECT_EQ(class_scale(720, 450), 1);
}

TEST(LearnClass, SeesCardAndRunAloneAndLeavesEverythingAsItWas) {
  TestWindow w;
  w.controller().update({ChoosePreset{"causal"}, GoToEvent{7}, ShowLog{true}, StartLesson{"by-hand", "score"},
                         CheckAnswer{"3.5"}, StepBy{StepUnit::phase, -1}});
  w.draw_frames(3);
  const auto file = w.folder().path() / "state" / "lessons.json";
  const LessonProgress kept = *load_progress(file);
  const State before = w.state();
  ASSERT_TRUE(card(w).missed);
  ASSERT_TRUE(is_shown("Bar") && is_shown("Log###log"));
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    press(ctx, ImGuiKey_F11);
    IM_CHECK(teaches(w.state().view) && card(w).teach);
    IM_CHECK(card(w).open && !card(w).missed);  // the same question, as if nobody had answered
    IM_CHECK_EQ(card(w).headline.front().text, std::string("What is the first score?"));
    IM_CHECK(!is_shown("Bar") && !is_shown("Log###log"));
    IM_CHECK_EQ(style().scale, 1.25F);
    ctx->SetRef(kLearn);
    IM_CHECK(ctx->ItemInfo("**/##problem_chip", ImGuiTestOpFlags_NoError).ID == 0);
    press(ctx, ImGuiKey_PageDown);
    IM_CHECK(card(w).shown);
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_T);
    press(ctx, ImGuiKey_PageDown);
    IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), "largest");
    press(ctx, ImGuiKey_PageUp);
    IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), "score");
    press(ctx, ImGuiKey_Escape);
    IM_CHECK(!teaches(w.state().view));
    IM_CHECK(is_shown("Bar") && is_shown("Log###log"));
    IM_CHECK_EQ(style().scale, 1.0F);
  }));
  EXPECT_TRUE(card(w).missed && card(w).open && !card(w).teach);
  EXPECT_EQ(card(w).typed, "3.5");
  EXPECT_TRUE(w.state().document == before.document);
  EXPECT_EQ(*state_string(w.state()), *state_string(before));
  EXPECT_EQ(w.state().preferences.theme, before.preferences.theme);
  EXPECT_EQ(*load_progress(file), kept);
  // What the lesson had set aside is there as well.
  w.controller().update({LeaveLesson{}, ChooseWorkspace{Workspace::step}});
  EXPECT_EQ(w.state().document.preset, "causal");
  EXPECT_EQ(w.state().view.step.cursor, 7U);
}

TEST(LearnClass, WhatTheClassSaysStaysHiddenUntilItIsRevealed) {
  TestWindow w;
  w.controller().update({StartLesson{"by-hand", "score"}, Teach{true}});
  w.draw_frames(3);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->KeyChars("3.5");
    ctx->Yield(2);
    const ImGuiTestItemInfo answer = ctx->ItemInfo("**/##lesson_answer");
    const ImGuiInputTextState* field = ImGui::GetInputTextState(answer.ID);
    IM_CHECK(field != nullptr && (field->Flags & ImGuiInputTextFlags_Password) != 0);
    IM_CHECK(card(w).said.empty());
    press(ctx, ImGuiKey_Enter);
    IM_CHECK(card(w).shown && !card(w).open);
  }));
  const std::string said = plain_text(card(w).said);
  EXPECT_NE(said.find("The class said 3.5."), std::string::npos) << said;
  EXPECT_NE(said.find("Divide by"), std::string::npos) << said;  // what its mistake is told
}

TEST(LearnClass, HandsAreCountedAndToldWithTheAnswer) {
  TestWindow w;
  w.controller().update({StartLesson{"by-hand", "largest"}, Teach{true}});
  w.draw_frames(3);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    for (const ImGuiKey key : {ImGuiKey_1, ImGuiKey_2, ImGuiKey_2, ImGuiKey_3, ImGuiKey_Minus}) press(ctx, key);
    IM_CHECK_EQ(card(w).votes, 3);
    IM_CHECK(!card(w).options[1].chosen && !card(w).options[1].right);  // nothing stands out before
    press(ctx, ImGuiKey_W);
    IM_CHECK(card(w).shown);
    IM_CHECK_EQ(card(w).options[0].votes, 1);
    IM_CHECK_EQ(card(w).options[1].votes, 2);
    IM_CHECK(card(w).options[1].right);
  }));
}

TEST(LearnClass, TeachesFromTheChaptersToTheirEndAndKeepsNothing) {
  TestWindow w;
  const auto file = w.folder().path() / "state" / "lessons.json";
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    press(ctx, ImGuiKey_F11);
    IM_CHECK(teaches(w.state().view) && !w.controller().model().learn->card);
    ctx->SetRef(kLearn);
    ctx->ItemClick("**/##chapter_checkpoint-row");
    ctx->Yield(3);
    IM_CHECK(card(w).teach);
    int pressed = 0;
    for (; w.controller().model().learn->card && pressed < 40; ++pressed) press(ctx, ImGuiKey_PageDown);
    IM_CHECK_EQ(pressed, 12);  // six questions: reveal, next
    IM_CHECK(teaches(w.state().view));
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_2);
    IM_CHECK(!w.state().view.learn.teach);
    IM_CHECK(w.state().view.workspace == Workspace::bench);  // who goes elsewhere stays there
  }));
  EXPECT_TRUE(load_progress(file)->beats.empty());
  for (const ChapterScene& c : w.controller().model().learn->chapters) EXPECT_EQ(c.seen, 0U) << c.id;
}

TEST(LearnClass, AStateStringReopensIt) {
  TestWindow w;
  w.controller().update({StartLesson{"one-pass", "past"}, Teach{true}});
  const std::string text = *state_string(w.state());
  const auto state = open_state_string(text);
  ASSERT_TRUE(state) << text;
  EXPECT_TRUE(teaches(state->view));
  EXPECT_EQ(state->view.learn.beat, "past");
}

}  // namespace
}  // namespace attn
