// Every chapter by mouse, and the map of a question by keyboard.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "app/state/lessons/lesson_files.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/gui/learn/learn_fixture.h"
#include "viz/learn/beat.h"
#include "viz/learn/card/learn_scene.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

void click(Ctx* ctx, const std::string& item) {
  ctx->ItemClick(("**/##lesson_" + item).c_str());
  ctx->Yield();
}

// Answers rightly, by clicks; a number is typed into the field that was clicked.
void answer_by_mouse(Ctx* ctx, const Truth& t) {
  if (t.beat->ask->kind == AskKind::num) {
    click(ctx, "answer");
    ctx->KeyChars(t.number().c_str());
  } else {
    const char* what = t.beat->ask->kind == AskKind::tiles ? "tile" : "option";
    for (std::size_t n = 0; n < t.question.right.size(); ++n)
      if (t.question.right[n]) click(ctx, fmt::format("{}_{}", what, n));
  }
  click(ctx, "check");
}

// The beat that is open, and the way back to it from the next: then its answer is shown.
void walk_beat(TestWindow& w, Ctx* ctx, const Lesson& lesson, std::size_t n, bool returns) {
  const Beat& beat = lesson.beats[n];
  IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), beat.id.c_str());
  if (beat.ask) {
    IM_CHECK(card(w).open);
    answer_by_mouse(ctx, truth_of(w, lesson, 0));
    IM_CHECK(card(w).right && !card(w).shown);
  }
  click(ctx, "next");
  if (!returns) return;
  IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), lesson.beats[n + 1].id.c_str());
  click(ctx, "back");
  IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), beat.id.c_str());
  IM_CHECK(card(w).open);
  click(ctx, "show");
  IM_CHECK(card(w).shown && !card(w).open);
  click(ctx, "next");
}

TEST(LearnWalk, EveryShippedLessonIsGoneThroughByMouse) {
  const FoundLessons found = read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons");
  ASSERT_EQ(found.lessons.size(), 18U) << "sixteen chapters and two checkpoints";
  TestWindow w(1280, 720);
  w.controller().update({ChooseWorkspace{Workspace::learn}});
  w.draw_frames(3);
  for (std::size_t chapter = 0; chapter < found.lessons.size(); ++chapter) {
    if (test::left_to_release(chapter, 3)) continue;
    const Lesson& lesson = found.lessons[chapter];
    const auto first = std::find_if(lesson.beats.begin(), lesson.beats.end(), [](const Beat& b) { return !!b.ask; });
    const auto asks_first = static_cast<std::size_t>(first - lesson.beats.begin());
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kLearn);
      ctx->ItemClick(("**/##chapter_" + lesson.id).c_str());
      ctx->Yield(2);
      for (std::size_t n = 0; n < lesson.beats.size(); ++n) walk_beat(w, ctx, lesson, n, n == asks_first);
      // It is over: the next chapter begins, after the last one there are the chapters.
      const bool more = lesson.id != found.lessons.back().id;
      IM_CHECK_EQ(w.controller().model().learn->card.has_value(), more);
      if (!more) return;
      IM_CHECK_STR_EQ(card(w).lesson.c_str(), (&lesson + 1)->id.c_str());
      w.controller().update({LeaveLesson{}});
      ctx->Yield(2);
    })) << lesson.id
        << ", beat " << w.state().view.learn.beat;
  }
  const auto& chapters = w.controller().model().learn->chapters;
  for (std::size_t chapter = 0; chapter < chapters.size(); ++chapter) {
    if (test::left_to_release(chapter, 3)) continue;
    EXPECT_EQ(chapters[chapter].known, chapters[chapter].questions) << chapters[chapter].id;
  }
}

// Tab, arrows, Space; the run stays where it stands.
TEST(LearnMap, TilesAreTickedByKeyboard) {
  TestWindow w(1280, 720);
  w.controller().update({StartLesson{"masks", "skipped"}});
  w.draw_frames(3);
  const EventIndex at = w.state().view.step.cursor;
  const auto chosen = [&](std::size_t n) { return card(w).options[n].chosen; };
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    const auto across = static_cast<std::size_t>(card(w).map_cols);
    IM_CHECK_EQ(across, 4U);
    ctx->KeyPress(ImGuiKey_Tab);
    IM_CHECK(!w.shell().step_ui().tiles.focused);
    ctx->KeyPress(ImGuiKey_LeftArrow);  // at the edge it stays
    ctx->KeyPress(ImGuiKey_UpArrow);
    ctx->KeyPress(ImGuiKey_Space);
    ctx->Yield(2);
    IM_CHECK(chosen(0));
    ctx->KeyPress(ImGuiKey_Space);
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->KeyPress(ImGuiKey_DownArrow);
    ctx->KeyPress(ImGuiKey_Space);
    ctx->Yield(2);
    IM_CHECK(!chosen(0));
    IM_CHECK(chosen(across + 1));
    IM_CHECK_EQ(w.state().view.step.cursor, at);
    ctx->KeyPress(ImGuiKey_Enter);  // a tile of the diagonal is not skipped
    ctx->Yield(2);
    IM_CHECK(card(w).missed);
    IM_CHECK_EQ(w.state().view.step.cursor, at);
  }));
}

TEST(LearnMap, TabGoesOnIntoTheTilesAndEscapeGivesTheArrowsBack) {
  TestWindow w(1280, 720);
  w.controller().update({StartLesson{"masks", "skipped"}});
  w.draw_frames(3);
  const EventIndex at = w.state().view.step.cursor;
  ASSERT_GT(at, 0U);
  const TilesUiState& tiles = w.shell().step_ui().tiles;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_Tab);
    ctx->KeyPress(ImGuiKey_Tab);
    ctx->Yield(2);
    IM_CHECK(tiles.focused);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->KeyPress(ImGuiKey_Tab);
    ctx->Yield();
    IM_CHECK(!tiles.focused);
    ctx->KeyPress(ImGuiKey_LeftArrow);  // over the map
    IM_CHECK_EQ(w.state().view.step.cursor, at);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->KeyPress(ImGuiKey_LeftArrow);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, at - 1);
    // It is left with the workspace: in Step arrows step.
    ctx->KeyPress(ImGuiKey_Tab);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_1);
    ctx->Yield(2);
    IM_CHECK(w.state().view.workspace == Workspace::step);
    const EventIndex there = w.state().view.step.cursor;
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, there + 1);
  }));
}

}  // namespace
}  // namespace attn
