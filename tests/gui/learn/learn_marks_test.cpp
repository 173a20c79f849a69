// The card's marks and buttons: the dots of its beats, which button is Enter's, and what a choice turned out to be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "imgui_internal.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/learn/learn_fixture.h"
#include "viz/learn/card/learn_scene.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

TEST(LearnMarks, ADotOfTheCardLeadsToABeatThatWasSeenAndNoFurther) {
  TestWindow w;
  start(w, "one-pass");
  w.controller().update({GoToBeat{1}});
  w.controller().update({GoToBeat{1}});
  w.controller().update({GoToBeat{1}});
  w.draw_frames(3);
  ASSERT_EQ(card(w).beat, 3U);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    IM_CHECK(!ctx->ItemExists("**/##lesson_beat_3"));
    IM_CHECK(!ctx->ItemExists("**/##lesson_beat_4"));
    ctx->ItemClick("**/##lesson_beat_1");
    ctx->Yield(2);
    IM_CHECK_EQ(card(w).beat, 1U);
    ctx->ItemClick("**/##lesson_beat_0");
    ctx->Yield(2);
    IM_CHECK_EQ(card(w).beat, 0U);
  }));
}

// Its dot is a point, and says what it is; a question that was left is a way back, also from before it.
TEST(LearnMarks, ADotAheadSaysThatItsBeatIsNotReached) {
  TestWindow w;
  start(w, "wall", "fits");
  w.controller().update({GoToBeat{1}});
  w.controller().update({GoToBeat{1}});
  w.controller().update({GoToBeat{-2}});
  w.draw_frames(3);
  ASSERT_EQ(card(w).beat, 0U);
  EXPECT_EQ(card(w).marks[1], BeatMark::left);
  EXPECT_EQ(card(w).marks[3], BeatMark::tell);
  EXPECT_EQ(card(w).marks[4], BeatMark::ask);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    const ImRect one = ctx->ItemInfo("**/##lesson_beat_1").RectFull, two = ctx->ItemInfo("**/##lesson_beat_2").RectFull;
    const float step = two.GetCenter().x - one.GetCenter().x;
    const auto tip_at = [&](float steps) {
      ctx->MouseMoveToPos({one.GetCenter().x + steps * step, one.GetCenter().y});
      ctx->SleepNoSkip(1.0F, 1.0F / 30);
      const DrawnText drawn;
      ctx->Yield(2);
      for (const std::string& text : drawn.texts())
        if (text.find("reached") != text.npos || text.starts_with("To ")) return text;
      return std::string();
    };
    IM_CHECK_STR_EQ(tip_at(1).c_str(), "To beat 3 of 4");
    IM_CHECK_STR_EQ(tip_at(2).c_str(), "Beat 4 of 4, not reached yet");
    IM_CHECK_STR_EQ(tip_at(4).c_str(), "Exercise 1 of 3, not reached yet");
    ctx->ItemClick("**/##lesson_beat_1");
    ctx->Yield(2);
    IM_CHECK_EQ(card(w).beat, 1U);
  }));
}

// Whoever wandered off has one button that says Enter, and Enter is that button.
TEST(LearnMarks, OneButtonSaysEnterAndEnterPressesIt) {
  TestWindow w(1440, 900);
  start(w, "one-pass", "proof");
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->KeyPress(ImGuiKey_Home);
    ctx->Yield(2);
    IM_CHECK(card(w).away);
    {
      const DrawnText drawn;
      ctx->Yield();
      IM_CHECK_EQ(drawn.count("Enter"), 1);
      IM_CHECK_EQ(drawn.count("Backspace"), 1);
    }
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK_STR_EQ(w.state().view.learn.beat.c_str(), "past");
  }));
}

// A class is told one count: 3 of 4 leaves one, whatever exercises follow.
TEST(LearnMarks, AClassIsToldHowManyOfTheSameAreLeft) {
  TestWindow w(1440, 900);
  w.controller().update({Teach{true}});
  for (const auto& [beat, words] : {std::pair("fits", "3 left"), std::pair("far", "1 left"),
                                    std::pair("question", "the last one"), std::pair("ex-size", "2 left")}) {
    start(w, "wall", beat);
    const DrawnText drawn;
    w.draw_frames(2);
    EXPECT_TRUE(drawn.texts().contains(words)) << beat;
  }
}

// The number that the choice is about stays beside the word for what it turned out to be.
TEST(LearnMarks, AnAnsweredChoiceKeepsItsNumber) {
  TestWindow w(1440, 900);
  start(w, "by-hand", "largest");
  const auto right_value = [&] {
    for (const CardOption& option : card(w).options)
      if (option.right) return option.value;
    return std::string();
  };
  w.controller().update({ShowAnswer{}});
  w.draw_frames(2);
  const std::string value = right_value();
  ASSERT_FALSE(value.empty());
  const DrawnText drawn;
  w.draw_frames(1);
  const auto& places = drawn.places();
  const auto fate = std::ranges::find(places, "right", &DrawnText::Place::text);
  ASSERT_NE(fate, places.end());
  const auto beside = [&](const DrawnText::Place& p) { return p.text == value && std::abs(p.top - fate->top) < 6; };
  const auto number = std::ranges::find_if(places, beside);
  ASSERT_NE(number, places.end()) << value;
  EXPECT_LT(fate->right, number->left);
}

}  // namespace
}  // namespace attn
