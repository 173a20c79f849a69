// Learn: lessons by mouse and keyboard, the card, what is kept, what is hidden while a question is open.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "app/state/lessons/lesson_files.h"
#include "app/state/lessons/lesson_hands.h"
#include "app/state/lessons/lesson_progress.h"
#include "imgui_internal.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/learn/learn_fixture.h"
#include "viz/draw/number_text.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/learn/figure/figure.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

const LearnScene& learn(TestWindow& w) {
  return *w.controller().model().learn;
}

void type_and_enter(Ctx* ctx, const std::string& text) {
  ctx->KeyChars(text.c_str());
  ctx->Yield(2);
  ctx->KeyPress(ImGuiKey_Enter);
  ctx->Yield(2);
}

// Answers the open question rightly, by keyboard.
void answer(Ctx* ctx, TestWindow& w, const Truth& t) {
  if (t.beat->ask->kind == AskKind::num) return type_and_enter(ctx, t.number());
  if (t.beat->ask->kind == AskKind::tiles) {
    tick_by_keyboard(ctx, t.question);
  } else {
    const auto at = std::find(t.question.right.begin(), t.question.right.end(), true) - t.question.right.begin();
    ctx->KeyPress(static_cast<ImGuiKey>(ImGuiKey_0 + *card(w).options[static_cast<std::size_t>(at)].digit));
  }
  ctx->Yield(2);
  ctx->KeyPress(ImGuiKey_Enter);
  ctx->Yield(2);
}

TEST(LearnWindow, EveryShippedLessonIsGoneThroughByKeyboard) {
  const FoundLessons found = read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons");
  TestWindow w(1280, 720);
  for (std::size_t chapter = 0; chapter < found.lessons.size(); ++chapter) {
    if (test::left_to_release(chapter + 1, 3)) continue;
    const Lesson& lesson = found.lessons[chapter];
    start(w, lesson.id, lesson.beats.front().id);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      for (const Beat& beat : lesson.beats) {
        IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), beat.id.c_str());
        IM_CHECK(!card(w).away);
        if (beat.ask) {
          IM_CHECK(card(w).open);
          answer(ctx, w, truth_of(w, lesson, 0));
          IM_CHECK(card(w).right);
        }
        ctx->KeyPress(ImGuiKey_Enter);
        ctx->Yield(2);
      }
      // It is over: the next chapter begins, after the last one there are the chapters.
      IM_CHECK_EQ(learn(w).card.has_value(), lesson.id != found.lessons.back().id);
    })) << lesson.id
        << ", beat " << w.state().view.learn.beat;
  }
  const auto& chapters = learn(w).chapters;
  for (std::size_t chapter = 0; chapter < chapters.size(); ++chapter) {
    if (test::left_to_release(chapter + 1, 3)) continue;
    EXPECT_EQ(chapters[chapter].known, chapters[chapter].questions) << chapters[chapter].id;
  }
}

TEST(LearnWindow, ALessonIsGoneThroughByMouse) {
  TestWindow w;
  w.controller().update({ChooseWorkspace{Workspace::learn}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->ItemClick("**/##chapter_by-hand");
    ctx->Yield(2);
    IM_CHECK_STR_EQ(w.state().view.learn.lesson.c_str(), "by-hand");
    ctx->ItemClick("**/##lesson_skip");
    ctx->ItemClick("**/##lesson_answer");
    ctx->KeyChars("3.5");
    ctx->ItemClick("**/##lesson_check");
    ctx->Yield(2);
    IM_CHECK(card(w).missed);  // the dot product, not divided
    IM_CHECK(plain_text(card(w).feedback).find("Divide by") != std::string::npos);
    ctx->ItemClick("**/##lesson_hint");
    ctx->Yield(2);
    IM_CHECK(!card(w).hint.empty());
    ctx->ItemClick("**/##lesson_show");
    ctx->Yield(2);
    IM_CHECK(card(w).shown && !card(w).open);
    IM_CHECK(recording(w).events[w.state().view.step.cursor].id.phase == Phase::scores);
    ctx->ItemClick("**/##lesson_next");
    ctx->Yield(2);
    ctx->ItemClick("**/##lesson_back");
    ctx->Yield(2);
    IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), "score");
    ctx->ItemClick("**/##lesson_skip");
    ctx->Yield(2);
    IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), "largest");
    // A cell that is clicked in the tiles is the answer.
    const ImRect tile = ctx->ItemInfo("**/##tile_s").RectFull;
    ctx->MouseMoveToPos({tile.Min.x + tile.GetWidth() * 0.75F, tile.Min.y + tile.GetHeight() * 0.75F});
    ctx->MouseClick();
    ctx->Yield(2);
    IM_CHECK(card(w).options[1].chosen);
    ctx->ItemClick("**/##lesson_check");
    ctx->Yield(2);
    IM_CHECK(card(w).right);
    ctx->ItemClick("**/##lesson_close");
    ctx->Yield(2);
    IM_CHECK(!learn(w).card);
  }));
}

// What pictures of beats after an answer are made with.
TEST(LearnWindow, HandsAnswerEveryQuestionRightlyAndWithAMistake) {
  const FoundLessons found = read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons");
  TestWindow w;
  int right = 0, wrong = 0;
  std::size_t asked = 0, walked = 0;
  for (const Lesson& lesson : found.lessons) {
    for (const Beat& beat : lesson.beats) {
      if (!beat.ask) continue;
      if (++asked; test::left_to_release(asked, 3)) continue;
      ++walked;
      w.controller().update({StartLesson{lesson.id, beat.id}});
      if (const auto hands = lesson_hands(lesson, beat, "wrong")) {
        w.controller().update(*hands);
        EXPECT_TRUE(card(w).missed && card(w).open && !card(w).feedback.empty()) << lesson.id << ", " << beat.id;
        ++wrong;
        w.controller().update({StartLesson{lesson.id, beat.id}});
      }
      const auto hands = lesson_hands(lesson, beat, "right");
      ASSERT_TRUE(hands) << lesson.id << ", " << beat.id << ": " << hands.error().message;
      w.controller().update(*hands);
      EXPECT_TRUE(card(w).right && !card(w).open) << lesson.id << ", " << beat.id;
      ++right;
    }
  }
  EXPECT_GE(asked, 75U);
  EXPECT_EQ(static_cast<std::size_t>(right), walked);
  EXPECT_GE(wrong, right * 9 / 10);
  // A mistake that was made in several lessons is one thing worth another look.
  std::set<std::string> words;
  for (const Misconception& m : w.controller().model().learn->misconceptions) {
    EXPECT_TRUE(words.insert(m.words).second) << m.words;
    EXPECT_GE(m.count, 2) << m.words;
  }
  EXPECT_TRUE(walked < asked || words.contains("sum without alpha"));
  const Lesson& wall = found.lessons[0];
  EXPECT_FALSE(lesson_hands(wall, wall.beats[wall.told() - 1], "right"));  // it tells
}

TEST(LearnWindow, TheUsersOwnProblemComesBackUntouched) {
  TestWindow w;
  w.controller().update({ChoosePreset{"causal"}, GoToEvent{7}, SetReading{OutputReading::divided}});
  const State before = w.state();
  start(w, "one-pass");
  EXPECT_FALSE(w.state().document == before.document);
  // Another workspace shows the user's; back in Learn stands the lesson.
  w.controller().update({ChooseWorkspace{Workspace::step}});
  EXPECT_TRUE(w.state().document == before.document);
  EXPECT_EQ(w.state().view.step.cursor, 7U);
  EXPECT_EQ(recording(w).problem, before.document.problem);
  EXPECT_TRUE(w.controller().history().can_undo(DocumentPart::step));
  w.controller().update({ChooseWorkspace{Workspace::learn}});
  EXPECT_EQ(w.state().document.preset, "late_outlier");
  EXPECT_FALSE(w.controller().history().can_undo(DocumentPart::step));
  w.controller().update({LeaveLesson{}, ChooseWorkspace{Workspace::step}});
  EXPECT_TRUE(w.state().document == before.document);
  EXPECT_TRUE(w.state().view.step.reading == OutputReading::divided);
  w.draw_frames(2);
}

TEST(LearnWindow, WhoWandersOffIsBroughtBack) {
  TestWindow w;
  start(w, "by-hand", "next");
  const EventIndex at = w.state().view.step.cursor;
  const Document own = w.state().document;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, at + 2);
    IM_CHECK(card(w).away);
    ctx->ItemClick("**/##lesson_return");
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, at);
    IM_CHECK(!card(w).away);
  }));
  w.controller().update({ChoosePreset{"causal"}});
  w.draw_frames(2);
  EXPECT_TRUE(card(w).away);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_Backspace);
    ctx->Yield(2);
  }));
  EXPECT_TRUE(w.state().document == own);
  EXPECT_EQ(w.state().view.step.cursor, at);
}

// Faint is what the beat does not speak of, and only while it is on screen.
TEST(LearnWindow, WhatABeatDoesNotSpeakOfIsFaint) {
  TestWindow w;
  const auto look = [&w] { return w.controller().model().learn->look; };
  start(w, "weighted-average", "likeness");
  for (const StepPart part : {StepPart::q, StepPart::k, StepPart::s}) EXPECT_TRUE(look().has(part));
  for (const StepPart part : {StepPart::m, StepPart::l, StepPart::chart, StepPart::timeline})
    EXPECT_FALSE(look().has(part));
  w.controller().update({ChoosePreset{"causal"}});
  w.draw_frames(2);
  EXPECT_TRUE(look().has(StepPart::m));  // the learner's own way
  start(w, "bug-museum");
  EXPECT_TRUE(look().has(StepPart::traffic));  // a beat that names nothing speaks of all
}

TEST(LearnWindow, NoStepLeadsPastAnOpenQuestion) {
  TestWindow w;
  start(w, "one-pass", "past");
  const EventIndex at = w.state().view.step.cursor;
  for (const Command& command :
       Commands{StepBy{StepUnit::phase, 1}, GoToEnd{true}, GoToEvent{at + 3}, StepBy{StepUnit::key_tile, 1}}) {
    w.controller().update({command});
    EXPECT_EQ(w.state().view.step.cursor, at);
  }
  w.controller().update({Play{true}});
  w.controller().advance(5);
  EXPECT_EQ(w.state().view.step.cursor, at);
  w.controller().update({StepBy{StepUnit::phase, -1}});
  EXPECT_EQ(w.state().view.step.cursor, at - 1);
  w.controller().update({ShowAnswer{}});
  EXPECT_EQ(w.state().view.step.cursor, at + 1);
  w.draw_frames(2);
}

// The recording that the panels get while a question is open, with every later version changed, is the same.
TEST(LearnWindow, NothingOnScreenDependsOnWhatComesAfterAnOpenQuestion) {
  TestWindow w;
  start(w, "one-pass", "past");
  ASSERT_TRUE(learn(w).hidden.on);
  const EventIndex at = learn(w).hidden.horizon;
  Recording changed = recording(w);
  int later = 0;
  for (const Version& v : changed.versions) {
    if (v.made_by <= at) continue;
    ++later;
    for (std::int32_t n = 0; n < v.rows * v.cols; ++n) changed.arena[v.offset + static_cast<std::size_t>(n)] += 17;
  }
  EXPECT_GT(later, 20);
  const auto a = recording_until(recording(w), at), b = recording_until(changed, at);
  EXPECT_EQ(a->arena, b->arena);
  EXPECT_EQ(a->outputs.out, b->outputs.out);
  // And it is what is drawn.
  const StepCache& cache = *w.shell().step_ui().cache;
  EXPECT_EQ(cache.recording->arena, a->arena);
  w.controller().update({ShowAnswer{}});
  w.draw_frames(2);
  EXPECT_EQ(cache.recording->arena, recording(w).arena);
}

// The bug museum: the learner walks back through the run, and neither bar nor palette tells what is asked.
TEST(LearnWindow, AnExhibitIsFoundOutWithoutTheSearchThatWouldTell) {
  TestWindow w;
  start(w, "bug-museum", "first");
  const EventIndex at = w.state().view.step.cursor;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    for (int frame = 0; frame < 400 && w.controller().tasks_run(); ++frame) ctx->Yield();
    ctx->SetRef(kLearn);
    IM_CHECK(w.controller().model().examination.verdict.has_value());
    IM_CHECK(ctx->ItemExists("**/##leave_museum"));
    IM_CHECK(!ctx->ItemExists("**/##seek_first_wrong"));
    IM_CHECK(!ctx->ItemExists("**/##show_patch"));
    for (int step = 0; step < 9; ++step) ctx->KeyPress(ImGuiKey_LeftArrow);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, at - 9);
    type_and_enter(ctx, "22");
    IM_CHECK(card(w).missed);
    IM_CHECK(plain_text(card(w).feedback).find("Another row") != std::string::npos);
    ctx->KeyPress(ImGuiMod_Alt | ImGuiKey_W);
    ctx->Yield(3);
    // The answer leads back to the step, its element pinned, and the program's own search is there again.
    IM_CHECK_EQ(w.state().view.step.cursor, 14U);
    IM_CHECK_EQ(w.state().document.selection.row, 1);
    IM_CHECK(w.state().document.selection.slot == Slot::o_new);
    IM_CHECK(!card(w).away);
    IM_CHECK(ctx->ItemExists("**/##seek_first_wrong"));
  }));
}

// A figure stands in Step's place, and is empty while the question is whose answer it would tell.
TEST(LearnWindow, ARooflineOfTheSessionStandsBesideTheCardOnceItIsAnswered) {
  TestWindow w(1280, 720);
  start(w, "few-warps", "intensity");
  ASSERT_TRUE(learn(w).figure);
  EXPECT_TRUE(learn(w).figure->waits);
  EXPECT_FALSE(shows_step(w.state().view));
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    IM_CHECK(!ctx->ItemExists("**/##tile_q"));
    IM_CHECK(plain_text(card(w).origin).find("NVIDIA H100 80GB HBM3, 2026-11-21") != std::string::npos);
    type_and_enter(ctx, "2822");
    IM_CHECK(card(w).right);
    ctx->KeyPress(ImGuiKey_Tab);  // the card's controls are reached as everywhere
    ctx->Yield(3);
    IM_CHECK(ImGui::GetIO().NavVisible);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(2);
  }));
  const StageFigure& figure = *learn(w).figure;
  EXPECT_FALSE(figure.waits);
  EXPECT_EQ(figure.empty, "");
  ASSERT_EQ(figure.scenes->roof.dots.size(), 3U);  // naive, tiled, flash_simt
  EXPECT_GT(ridge(figure.scenes->roof, figure.scenes->roof.peak_tflops), 0);
  // No step is on screen, so none can be walked away from; a beat without a figure shows Step again.
  w.controller().update({StepBy{StepUnit::phase, 1}});
  EXPECT_FALSE(card(w).away);
  start(w, "bytes", "two");
  EXPECT_FALSE(learn(w).figure);
  EXPECT_TRUE(shows_step(w.state().view));
}

TEST(LearnWindow, WhatAQuestionHidesComesBackWithItsAnswer) {
  TestWindow w;
  start(w, "masks", "skipped");
  ASSERT_TRUE(learn(w).hidden.on && learn(w).hidden.map);
  w.controller().update({ShowAnswer{}});
  EXPECT_FALSE(learn(w).hidden.on || learn(w).hidden.map);
  start(w, "masks", "bytes");
  ASSERT_TRUE(learn(w).hidden.on && learn(w).hidden.traffic);
  w.controller().update({ShowAnswer{}});
  EXPECT_FALSE(learn(w).hidden.on || learn(w).hidden.map || learn(w).hidden.traffic);
  w.draw_frames(2);
}

// Beside a large text the card is too low for all of it.
TEST(LearnWindow, WhatIsSaidOfAnAnswerComesIntoSight) {
  TestWindow w;
  w.controller().update({SetScale{2}});
  start(w, "one-pass", "past");
  ImGuiWindow* text = nullptr;
  for (ImGuiWindow* found : ImGui::GetCurrentContext()->Windows)
    if (std::string(found->Name).find("/text_") != std::string::npos && found->Active) text = found;
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->Scroll.y, 0);
  w.controller().update({CheckAnswer{"0.13"}});
  w.draw_frames(4);
  EXPECT_GT(text->Scroll.y, 0);
  EXPECT_TRUE(card(w).truth.empty());
  w.controller().update({ShowAnswer{}});
  EXPECT_NE(plain_text(card(w).truth).find("3.0464e"), std::string::npos) << plain_text(card(w).truth);
}

TEST(LearnWindow, WhatWasLearnedIsKeptAndCanBeForgotten) {
  TestWindow w;
  start(w, "by-hand", "score");
  w.controller().update({CheckAnswer{"3.5"}, CheckAnswer{"2.4749"}, GoToBeat{1}});
  const auto file = w.folder().path() / "state" / "lessons.json";
  const auto kept = load_progress(file);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->last_beat, "largest");
  EXPECT_TRUE(kept->beats.at("by-hand").at("score").known);
  EXPECT_FALSE(kept->beats.at("by-hand").at("score").first_try);
  EXPECT_EQ(kept->beats.at("by-hand").at("score").tries, 2);
  w.controller().update({LeaveLesson{}, StartLesson{"by-hand", ""}});
  EXPECT_EQ(w.state().view.learn.beat, "largest");  // where the learner stopped
  w.controller().update({LeaveLesson{}, ForgetLessons{}});
  EXPECT_TRUE(load_progress(file)->beats.empty());
  w.controller().update({Undo{}});
  EXPECT_EQ(load_progress(file)->beats.at("by-hand").at("score").tries, 2);
}

// What Step shows is not on screen there, so undo leaves it alone.
TEST(LearnWindow, UndoOnTheMapChangesNothingOfStep) {
  TestWindow w;
  w.controller().update({ChoosePreset{"causal"}});
  w.draw_frames(3);
  const std::string chosen = w.state().document.preset;
  w.controller().update({ChooseWorkspace{Workspace::learn}});
  w.draw_frames(3);
  w.controller().update({Undo{}});
  EXPECT_EQ(w.state().document.preset, chosen);
  w.controller().update({ChooseWorkspace{Workspace::step}});
  w.draw_frames(3);
  w.controller().update({Undo{}});
  EXPECT_NE(w.state().document.preset, chosen);
}

TEST(LearnWindow, TheSameQuestionComesWithOtherNumbers) {
  TestWindow w;
  start(w, "by-hand", "transfer");
  const auto first = w.state().document.inputs.seed;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_W);
    ctx->Yield(2);
    IM_CHECK(card(w).shown);
    ctx->KeyPress(ImGuiKey_R);
    ctx->Yield(2);
    IM_CHECK(card(w).open);
  }));
  EXPECT_NE(w.state().document.inputs.seed, first);
}

TEST(LearnWindow, TheCardMovesToTheOtherSide) {
  TestWindow w(1280, 720);
  start(w, "by-hand", "score");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    const float tile = ctx->ItemInfo("**/##tile_q").RectFull.Min.x;
    IM_CHECK_LT(ctx->ItemInfo("**/##lesson_answer").RectFull.Max.x, tile);  // it covers no tile
    const ImRect head = ctx->ItemInfo("**/##lesson_head").RectFull;
    ctx->MouseMoveToPos({head.Min.x + 20, head.GetCenter().y});
    ctx->MouseDown();
    ctx->MouseMoveToPos({1200, 300});
    ctx->MouseUp();
    ctx->Yield(3);
    IM_CHECK(w.state().preferences.card_right);
    IM_CHECK_GT(ctx->ItemInfo("**/##lesson_answer").RectFull.Min.x, ctx->ItemInfo("**/##tile_s").RectFull.Max.x);
    ctx->ItemClick("**/##lesson_side");
    ctx->Yield(2);
    IM_CHECK(!w.state().preferences.card_right);
  }));
}

}  // namespace
}  // namespace attn
