// A number that a lesson asks for is typed in its own cell of the tiles, by mouse and by keyboard.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "app/state/lessons/lesson_files.h"
#include "app/state/lessons/lesson_runs.h"
#include "tests/environment/paths.h"
#include "tests/gui/learn/learn_fixture.h"
#include "viz/learn/beat.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;
constexpr const char* kCell = "**/##asked_cell";

void type(Ctx* ctx, const char* text) {
  ctx->KeyChars(text);
  ctx->Yield(3);
}

TEST(LearnCell, TakesItsNumberByMouseAndGivesWayToTheAnswer) {
  TestWindow w(1280, 720);
  start(w, "by-hand", "score");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->ItemClick(kCell);
    type(ctx, "3.5");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(card(w).missed);  // the dot product, not divided
    IM_CHECK_STR_EQ(card(w).typed.c_str(), "3.5");
    ctx->ItemClick(kCell);
    type(ctx, "3.5/sqrt(2)");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(card(w).right);
    IM_CHECK(!ctx->ItemExists(kCell));
  }));
}

TEST(LearnCell, SharesItsTextWithTheCard) {
  TestWindow w(1280, 720);
  start(w, "by-hand", "score");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->ItemClick(kCell);
    type(ctx, "2.475");
    ctx->ItemClick("**/##lesson_check");
    ctx->Yield(3);
    IM_CHECK(card(w).right);
  }));
}

// Tab, arrows, the number, Enter; and then the card has the keyboard again.
TEST(LearnCell, TakesItsNumberByKeyboardAndTrapsNobody) {
  TestWindow w(1280, 720);
  start(w, "by-hand", "sum");
  const TilesUiState& tiles = w.shell().step_ui().tiles;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->KeyPress(ImGuiKey_Tab);
    ctx->Yield(2);
    IM_CHECK(tiles.focused && tiles.keyboard.has_value());
    for (int press = 0; press < 20 && tiles.keyboard->slot != Slot::l_new; ++press) {
      ctx->KeyPress(ImGuiKey_RightArrow);
      ctx->Yield();
    }
    IM_CHECK(tiles.keyboard == CellRef({Slot::l_new, 0, 0}));
    type(ctx, "1.2");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(card(w).missed);
    IM_CHECK_STR_EQ(card(w).typed.c_str(), "1.2");
    ctx->KeyPress(ImGuiKey_Tab);  // another number there, in place of the one that is wrong
    ctx->Yield(2);
    type(ctx, "1.0144");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_STR_EQ(card(w).typed.c_str(), "1.0144");
    IM_CHECK(card(w).right);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), "output");
  }));
}

TEST(LearnCell, IsGoneWhereTheLearnerLooksAtAnotherStep) {
  TestWindow w(1280, 720);
  start(w, "by-hand", "sum");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    IM_CHECK(ctx->ItemExists(kCell));
    ctx->KeyPress(ImGuiKey_LeftArrow);
    ctx->Yield(3);
    IM_CHECK(card(w).away);
    IM_CHECK(!ctx->ItemExists(kCell));
    ctx->KeyPress(ImGuiKey_Backspace);
    ctx->Yield(3);
    IM_CHECK(ctx->ItemExists(kCell));
  }));
}

// The pointer that clicked an answer in the tiles lies over others in the next beat: it points at nothing until it
// moves.
TEST(LearnCell, ARestingPointerPointsAtNothingInTheNextBeat) {
  TestWindow w(1280, 720);
  start(w, "checkpoint-row", "m");
  const TilesUiState& tiles = w.shell().step_ui().tiles;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->MouseMove("**/##tile_s");
    ctx->Yield(2);
    IM_CHECK(tiles.hovered.has_value());
    w.controller().update({StartLesson{"checkpoint-row", "l"}});
    ctx->Yield(4);
    IM_CHECK(!tiles.hovered.has_value());
    const ImVec2 at = ImGui::GetMousePos();
    ctx->MouseMoveToPos({at.x + 3, at.y});
    ctx->Yield(2);
    IM_CHECK(tiles.hovered.has_value());
  }));
}

// Where an answer fills the card, older points wait whole behind a button in place of being cut.
TEST(LearnCell, WhatTheCardHasNoRoomForWaitsBehindAButton) {
  TestWindow w(1280, 784);  // with the head of what earlier chapters taught
  start(w, "weighted-average", "weight");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    constexpr const char* kEarlier = "**/##lesson_known";
    IM_CHECK(!ctx->ItemExists(kEarlier));  // two points, and room for them
    w.controller().update({CheckAnswer{"0.4016"}});
    ctx->Yield(4);
    IM_CHECK(card(w).right);
    IM_CHECK(ctx->ItemExists(kEarlier));
    ctx->ItemClick(kEarlier);
    ctx->Yield(2);
    IM_CHECK(!ctx->ItemExists(kEarlier));
  }));
}

// Of every lesson: a cell is asked where the step that answers fills one of the tile on screen, and there is its field.
TEST(LearnCell, StandsInEveryTileWhoseNumberIsAsked) {
  const FoundLessons found = read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons");
  TestWindow w(1280, 720);
  int cells = 0, elsewhere = 0;
  for (const Lesson& lesson : found.lessons) {
    for (const Beat& beat : lesson.beats) {
      if (!beat.ask || beat.ask->kind != AskKind::num || beat.exercise || (beat.again && beat.again->at_once)) continue;
      LessonRuns runs(lesson, std::nullopt);
      auto scope = scope_of(beat, *row_of_beat(lesson, beat, std::nullopt), runs.as_function());
      const Question question = *question_of(beat, *scope);
      if (!question.cell) {
        ++elsewhere;
        continue;
      }
      ++cells;
      start(w, lesson.id, beat.id);
      EXPECT_TRUE(w.run([&](Ctx* ctx) {
        ctx->SetRef(kLearn);
        IM_CHECK(ctx->ItemExists(kCell));
      })) << lesson.id
          << ", " << beat.id;
    }
  }
  EXPECT_GE(cells, 8);
  EXPECT_GE(elsewhere, 20) << "a number that no cell holds has the card's field alone";
}

}  // namespace
}  // namespace attn
