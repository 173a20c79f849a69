// The exercises at the end of a chapter: a wrong answer and the right one by keyboard, other numbers, the chapter on
// paper.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "app/print/chapter_print.h"
#include "app/state/lessons/lesson_files.h"
#include "app/state/string/state_string.h"
#include "tests/environment/paths.h"
#include "tests/gui/learn/learn_fixture.h"
#include "tests/kernels/temp_folder.h"
#include "viz/draw/text_runs.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

Lesson shipped_lesson(const std::string& id) {
  FoundLessons found = read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons");
  for (Lesson& lesson : found.lessons)
    if (lesson.id == id) return std::move(lesson);
  return {};
}

const ExerciseScene& exercise(TestWindow& w) {
  return *w.controller().model().learn->exercise;
}

TEST(LearnExercises, AWrongAnswerAndThenTheRightOneByKeyboard) {
  const Lesson lesson = shipped_lesson("one-pass");
  TestWindow w(1440, 900);
  start(w, "one-pass", "ex-alpha");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    IM_CHECK_EQ(exercise(w).number, 1U);
    IM_CHECK_EQ(exercise(w).count, 3U);
    IM_CHECK(exercise(w).way.empty());
    const Truth t = truth_of(w, lesson, 0);
    ctx->KeyCharsAppend(fmt::format("{:.6g}", t.question.wrong.at(0)).c_str());
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(card(w).missed);
    IM_CHECK_STR_EQ(plain_text(card(w).feedback).c_str(), "That is inverted. The past shrinks, so α is below 1.");
    IM_CHECK(exercise(w).way.empty());
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
    ctx->KeyCharsReplace(t.number().c_str());
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(card(w).right);
    const std::string way = plain_text(exercise(w).way);
    IM_CHECK(way.find("rises from") != way.npos);
    IM_CHECK(way.find('{') == way.npos);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), "ex-output");
    IM_CHECK_EQ(exercise(w).number, 2U);
  }));
}

// The card has the worked line itself, not a bare number; beside it stands the whole way.
TEST(LearnExercises, AnAnswerThatIsShownComesWithItsWorkedLine) {
  TestWindow w(1440, 900);
  start(w, "one-pass", "ex-alpha");
  w.controller().update({ShowAnswer{}});
  w.draw_frames(2);
  const std::string line = plain_text(card(w).truth), way = plain_text(exercise(w).way);
  EXPECT_TRUE(line.starts_with("α = e")) << line;
  EXPECT_NE(line.find(" = 0.0"), line.npos) << line;
  EXPECT_TRUE(way.ends_with("\n" + line)) << way;
}

TEST(LearnExercises, OtherNumbersAreThoseOfTheNextSeedInTheStateString) {
  TestWindow w(1440, 900);
  start(w, "bytes", "ex-flash");
  std::string first;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    IM_CHECK_EQ(exercise(w).seed, 0U);
    first = plain_text(card(w).say);
    ctx->KeyPress(ImGuiKey_R);
    ctx->Yield(3);
    IM_CHECK_EQ(exercise(w).seed, 1U);
    IM_CHECK(plain_text(card(w).say) != first);
    ctx->ItemClick("**/##exercise_again");
    ctx->Yield(3);
    IM_CHECK_EQ(exercise(w).seed, 2U);
  }));
  const std::string third = plain_text(card(w).say);
  const auto text = state_string(w.state());
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("exercise_seed=2"), std::string::npos) << *text;
  const auto read = parse_state_string(*text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->state.view.learn.exercise_seed, 2U);
  EXPECT_EQ(read->state.view.learn.beat, "ex-flash");
  // Whoever leaves begins with the first numbers again.
  w.controller().update({LeaveLesson{}, StartLesson{"bytes", "ex-flash"}});
  w.draw_frames(2);
  EXPECT_EQ(plain_text(card(w).say), first);
  EXPECT_NE(first, third);
}

TEST(LearnExercises, ComeAfterTheLastBeatAndLeadToTheNextChapter) {
  const Lesson lesson = shipped_lesson("wall");
  ASSERT_GT(lesson.told(), 0U);
  TestWindow w(1280, 720);
  start(w, "wall", lesson.beats[lesson.told() - 1].id);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    IM_CHECK(card(w).to_exercises);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), "ex-size");
    ctx->KeyPress(ImGuiKey_W);  // the first is shown, the others are skipped: nothing is locked
    ctx->Yield(3);
    for (int n = 0; n < 3; ++n) {
      ctx->KeyPress(ImGuiKey_PageDown);
      ctx->Yield(3);
    }
    IM_CHECK_STR_EQ(w.state().view.learn.lesson.c_str(), "weighted-average");
  }));
  // Only the chapter's last beat was seen, and it tells: its two questions count as skipped as well.
  bool said = false;
  for (const LogEntry& line : w.controller().log().after(0))
    said |= line.text == "The wall: done, 2 questions skipped, 2 exercises skipped.";
  EXPECT_TRUE(said);
}

TEST(LearnExercises, AChapterIsPrintedFromTheWindow) {
  const TempFolder folder;
  const std::filesystem::path page = folder.path() / "sheet.pdf";
  TestWindow w(1280, 720);
  start(w, "masks", "ex-skipped");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->ItemClick("**/##exercise_print");
    ctx->Yield(3);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
    ctx->KeyCharsReplaceEnter(page.string().c_str());
    ctx->Yield(4);
  }));
  EXPECT_TRUE(std::filesystem::exists(page));
  EXPECT_TRUE(std::filesystem::exists(answers_beside(page)));
}

// From the map, from a chapter's head before its exercises, and by the palette from anywhere.
TEST(LearnExercises, AChapterIsPrintedBeforeItsExercisesAreReached) {
  const TempFolder folder;
  for (const std::string way : {"map", "head", "palette"}) {
    const std::filesystem::path page = folder.path() / (way + ".pdf");
    TestWindow w(1440, 900);
    if (way == "head") start(w, "masks", "");
    if (way == "map") w.controller().update({ChooseWorkspace{Workspace::learn}});
    w.draw_frames(3);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      if (way == "palette") choose_in_palette(ctx, "printable page");
      if (way == "head") ctx->ItemClick("**/##lesson_print");
      if (way == "map") ctx->ItemClick("**/##learn_print");
      ctx->Yield(3);
      if (way == "map") {  // the chapter is chosen, and with it the file's name
        ctx->SetRef("//$FOCUSED");
        ctx->ComboClick("##print_lesson/2  By hand##by-hand");
        ctx->Yield(2);
        ctx->ItemClick("print/##path");
      }
      ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
      ctx->KeyCharsReplaceEnter(page.string().c_str());
      ctx->Yield(4);
    })) << way;
    EXPECT_TRUE(std::filesystem::exists(page)) << way;
    EXPECT_TRUE(std::filesystem::exists(answers_beside(page))) << way;
    std::string said;
    for (const LogEntry& line : w.controller().log().after(0)) said += line.text + "\n";
    EXPECT_NE(said.find(page.string()), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace attn
