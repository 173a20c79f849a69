// How a lesson guides the eye: what a beat lights and hides, where its answer leads, what is told of a near miss.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/gui/learn/learn_fixture.h"
#include "viz/draw/canvas.h"
#include "viz/learn/figure/figure.h"
#include "viz/step/facts/letters.h"
#include "viz/step/facts/scales.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

const LearnScene& learn(TestWindow& w) {
  return *w.controller().model().learn;
}

float key_number(TestWindow& w, std::int32_t key) {
  const Recording& rec = recording(w);
  return rec.values(rec.after(w.state().view.step.cursor, Slot::p))[static_cast<std::size_t>(key)];
}

// The answer to "what if 5 is added" is that run, at the same place: other scores, the same weights and output.
TEST(LearnGuide, AnAnswerMayShowAnotherRun) {
  TestWindow w;
  start(w, "weighted-average", "shift");
  const auto scale = recording(w).problem.scale;
  const float weight = key_number(w, 3);
  const auto before = w.state().document.inputs;
  w.controller().update({ChooseAnswer{0}, CheckAnswer{""}});
  w.draw_frames(3);
  EXPECT_TRUE(card(w).right);
  EXPECT_FALSE(card(w).away);
  EXPECT_FALSE(w.state().document.inputs == before);
  EXPECT_EQ(recording(w).problem.scale, scale);
  EXPECT_NEAR(key_number(w, 3), weight, 1e-6F);
  w.controller().update({GoToBeat{1}, GoToBeat{-1}});
  w.draw_frames(3);
  EXPECT_TRUE(w.state().document.inputs == before);  // a showing begins with its own run
}

TEST(LearnGuide, AnAnswerMayLightOtherParts) {
  TestWindow w;
  start(w, "masks", "first");
  EXPECT_TRUE(learn(w).look.has(StepPart::s));
  EXPECT_FALSE(learn(w).look.has(StepPart::p));
  w.controller().update({ShowAnswer{}});
  EXPECT_TRUE(learn(w).look.has(StepPart::p));
  EXPECT_FALSE(learn(w).look.has(StepPart::s));
}

// Chapter 0 to scale: the text doubles, and the scores take four times the room; then the roads, then what is saved.
TEST(LearnGuide, TheWallShowsWhatItsBeatSpeaksOf) {
  TestWindow w;
  const auto wall = [&w]() -> const WallScene& { return learn(w).figure->scenes->wall; };
  start(w, "wall", "twice");
  EXPECT_EQ(wall().between_bytes, 16.0 * 65536 * 65536 * 2);
  EXPECT_FALSE(wall().roads);
  w.controller().update({CheckAnswer{"4"}});
  EXPECT_EQ(wall().between_bytes, 4 * 16.0 * 65536 * 65536 * 2);
  EXPECT_EQ(wall().given_bytes, 2 * 16.0 * 65536 * 128 * 2);
  start(w, "wall", "far");
  EXPECT_TRUE(wall().roads && wall().written);
  start(w, "wall", "question");
  EXPECT_FALSE(wall().written);
  w.draw_frames(2);
}

// The cell that was asked for is followed, not the row's largest.
TEST(LearnGuide, AnAnswerFollowsTheCellThatWasAskedFor) {
  TestWindow w;
  start(w, "by-hand", "score");
  w.controller().update({ShowAnswer{}});
  EXPECT_EQ(w.state().document.selection, (Selection{0, 0, 0, Slot::s, 0}));
  start(w, "safe-softmax", "signs");
  w.controller().update({ShowAnswer{}});
  EXPECT_EQ(w.state().document.selection, (Selection{0, 0, 0, Slot::o_new, 1}));
  start(w, "by-hand", "largest");  // of the row: what the beat selects stays
  const Selection chosen = w.state().document.selection;
  w.controller().update({ShowAnswer{}});
  EXPECT_EQ(w.state().document.selection, chosen);
}

// What stands there already keeps its shade: the scale is that of the whole run before the answer, too.
TEST(LearnGuide, AnAnswerChangesNoShade) {
  TestWindow w;
  start(w, "by-hand", "weight");
  w.draw_frames(2);
  const TensorScales asked = w.shell().step_ui().cache->scales;
  w.controller().update({ShowAnswer{}});
  w.draw_frames(2);
  const TensorScales& told = w.shell().step_ui().cache->scales;
  for (const Slot slot : {Slot::q, Slot::k, Slot::v, Slot::s, Slot::m_new, Slot::l_new, Slot::o_new}) {
    EXPECT_EQ(scale_of(asked, slot).min, scale_of(told, slot).min) << name_of(slot);
    EXPECT_EQ(scale_of(asked, slot).max, scale_of(told, slot).max) << name_of(slot);
  }
  EXPECT_GT(scale_of(told, Slot::s).max, 7) << "of the tile that comes later";
}

// What a later beat asks is hidden in those before it, after their own answers too.
TEST(LearnGuide, WhatALaterBeatAsksStaysHiddenUntilThen) {
  TestWindow w;
  for (const char* beat : {"causal", "first"}) {
    start(w, "masks", beat);
    w.controller().update({ShowAnswer{}});
    w.draw_frames(2);
    EXPECT_FALSE(learn(w).hidden.on) << beat;
    EXPECT_TRUE(learn(w).hidden.map && learn(w).hidden.map_later && learn(w).hidden.traffic) << beat;
  }
  start(w, "masks", "skipped");
  EXPECT_TRUE(learn(w).hidden.map && !learn(w).hidden.map_later);
  w.controller().update({ShowAnswer{}});
  EXPECT_TRUE(!learn(w).hidden.map && learn(w).hidden.traffic);
  start(w, "masks", "bytes");
  w.controller().update({ShowAnswer{}});
  EXPECT_FALSE(learn(w).hidden.map || learn(w).hidden.traffic);
}

TEST(LearnGuide, WhatTheLessonsBeforeTaughtIsKnownFromTheStart) {
  TestWindow w;
  start(w, "wall", "fits");
  EXPECT_TRUE(card(w).learned.empty());
  for (const char* lesson : {"by-hand", "checkpoint-row", "checkpoint-merge"}) {
    start(w, lesson);
    EXPECT_FALSE(card(w).learned.empty()) << lesson;
  }
}

// A chapter that is opened first claims nothing of the one before it to be known.
TEST(LearnGuide, WhatNobodyReadYetIsToldAsTaughtInEarlierChapters) {
  TestWindow w;
  const auto counts = [&] {
    const DrawnText drawn;
    w.draw_frames(1);
    return std::pair(drawn.count("Known so far"), drawn.count("Taught in earlier chapters"));
  };
  start(w, "safe-softmax");
  const std::size_t taught = card(w).learned.size();
  EXPECT_GT(taught, 0U);
  EXPECT_EQ(card(w).unread, taught);
  EXPECT_EQ(counts(), std::pair(0, 1));
  // The sentence of a beat that was read, and it alone.
  start(w, "by-hand", "score");
  start(w, "safe-softmax");
  EXPECT_EQ(card(w).learned.size(), taught);
  EXPECT_EQ(card(w).unread, taught - 1);
  EXPECT_EQ(counts(), std::pair(1, 1));
  EXPECT_NE(plain_text(card(w).learned.back()).find("dot product"), std::string::npos);
}

// What the map says of a chapter stands within it too, where it begins.
TEST(LearnGuide, AChaptersFirstBeatSaysWhatItBuildsOn) {
  TestWindow w;
  start(w, "wall", "fits");
  EXPECT_EQ(plain_text(card(w).needs), "");
  start(w, "one-pass", "promise");
  EXPECT_EQ(plain_text(card(w).needs), "Builds on “By hand” (2).");
  start(w, "overlap", "rates");
  EXPECT_EQ(plain_text(card(w).needs), "Builds on “The outer loop” (9) and “Few warps can win” (10).");
  start(w, "overlap", "cast");
  EXPECT_EQ(plain_text(card(w).needs), "");
}

TEST(LearnGuide, CellsOfOneRowAreChosenByTheirOwnNumbers) {
  TestWindow w;
  start(w, "safe-softmax", "signs");
  for (int n = 0; n < 8; ++n) EXPECT_EQ(card(w).options[static_cast<std::size_t>(n)].digit, n);
  start(w, "by-hand", "largest");  // of two rows: by their places in the list
  EXPECT_EQ(card(w).options[0].digit, 1);
}

TEST(LearnGuide, ANearMissIsToldOnWhichSideItLies) {
  TestWindow w;
  start(w, "by-hand", "sum");  // within half a percent
  w.controller().update({CheckAnswer{"1.05"}});
  EXPECT_NE(plain_text(card(w).feedback).find("slightly too large"), std::string::npos);
  w.controller().update({CheckAnswer{"0.95"}});
  EXPECT_NE(plain_text(card(w).feedback).find("slightly too small"), std::string::npos);
  w.controller().update({CheckAnswer{"3"}});
  EXPECT_EQ(plain_text(card(w).feedback).find("slightly"), std::string::npos);
}

// A mistake has its own words also where it lies close to the truth.
TEST(LearnGuide, AUsualMistakeIsNamedBeforeANearMiss) {
  TestWindow w;
  start(w, "checkpoint-row", "m");
  const Recording& rec = recording(w);
  const auto scores = rec.values(rec.after(w.state().view.step.cursor, Slot::s));
  const float smaller = std::min(scores[0], scores[1]), larger = std::max(scores[0], scores[1]);
  for (const auto& [answer, told] : {std::pair(smaller, "the smaller score"), std::pair(-larger, "sign")}) {
    w.controller().update({CheckAnswer{fmt::format("{:.5f}", answer)}});
    EXPECT_NE(plain_text(card(w).feedback).find(told), std::string::npos) << plain_text(card(w).feedback);
  }
}

TEST(LearnGuide, OfMistakesSideBySideTheNearestIsMeant) {
  TestWindow w;
  start(w, "masks", "bytes");
  for (const auto& [answer, told] : {std::pair("2560", "only K and V"), std::pair("2592", "Half of the bytes")}) {
    w.controller().update({CheckAnswer{answer}});
    EXPECT_NE(plain_text(card(w).feedback).find(told), std::string::npos) << plain_text(card(w).feedback);
  }
}

TEST(LearnGuide, AWholeExponentInPlaceOfItsPowerIsRecognised) {
  LessonAsk ask;
  ask.within.decades = 0.5;
  ask.wrong = {{"", "exponent", ""}};
  Question question;
  question.truth = 1.6e-7;
  question.wrong = {-6.8};
  EXPECT_EQ(judge_answer(ask, question, {-7.0, {}}).text, "exponent");
  EXPECT_EQ(judge_answer(ask, question, {-9.0, {}}).text, "");
  EXPECT_TRUE(judge_answer(ask, question, {1e-7, {}}).right);
}

TEST(LearnGuide, ACheckpointFollowsOneRowFromBeatToBeat) {
  for (const auto& [lesson, beats] : {std::pair("checkpoint-row", std::vector{"m", "l", "alpha", "l2", "o2", "o"}),
                                      std::pair("checkpoint-merge", std::vector{"m", "alpha", "l"})}) {
    TestWindow w;
    start(w, lesson, beats.front());
    const auto inputs = w.state().document.inputs;
    for (const char* beat : beats) {
      w.controller().update({StartLesson{lesson, beat}});
      w.draw_frames(2);
      EXPECT_TRUE(w.state().document.inputs == inputs) << lesson << " " << beat;
    }
  }
}

// What spells out the largest score would be the answer: another cell is pinned, whichever is the largest.
TEST(LearnGuide, NoQuestionForTheMaximumPointsAtIt) {
  TestWindow w;
  for (const auto& [lesson, beat, pinned] : {std::tuple("checkpoint-row", "m", Selection{0, 0, 0, Slot::s, 0}),
                                             std::tuple("by-hand", "largest", Selection{0, 0, 1, Slot::s, 0}),
                                             std::tuple("by-hand", "newmax", Selection{0, 0, 0, Slot::m_old, 0})}) {
    start(w, lesson, beat);
    EXPECT_EQ(w.state().document.selection, pinned) << lesson << " " << beat;
  }
}

TEST(LearnGuide, WhatIsKnownGivesWayToWhatIsSaidBetterLater) {
  TestWindow w;
  start(w, "by-hand", "sum");
  std::string known;
  for (const TextRuns& one : card(w).learned) known += plain_text(one) + "\n";
  EXPECT_EQ(known.find("normalised"), std::string::npos) << known;
  EXPECT_EQ(known.find("scaled"), std::string::npos) << known;
  EXPECT_NE(known.find("at most 1"), std::string::npos) << known;
}

// Words about a dot keep off the beat's title, and do not stay when another beat comes under the pointer at rest.
TEST(LearnGuide, WordsAboutADotStandAboveItAndGoWithTheBeat) {
  TestWindow w;
  start(w, "by-hand", "score");
  const auto tip = [] {
    const ImGuiWindow* found = nullptr;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
      if ((window->Flags & ImGuiWindowFlags_Tooltip) != 0 && window->Active && !window->Hidden) found = window;
    return found;
  };
  EXPECT_TRUE(w.run([&](ImGuiTestContext* ctx) {
    ctx->SetRef(kLearn);
    const ImRect dot = ctx->ItemInfo("**/##lesson_beat_0").RectFull;
    ctx->MouseMoveToPos(dot.GetCenter());
    ctx->SleepNoSkip(1.0F, 1.0F / 30);
    IM_CHECK(tip() != nullptr);
    IM_CHECK_LE(tip()->Rect().Max.y, dot.Min.y);
    w.controller().update({GoToBeat{1}});
    ctx->SleepNoSkip(1.0F, 1.0F / 30);
    IM_CHECK(tip() == nullptr);
  }));
}

TEST(LearnGuide, TheRowThatIsAskedOfIsTheOneThatIsFollowed) {
  TestWindow w;
  start(w, "by-hand", "largest");
  EXPECT_EQ(w.state().document.selection.row, 1);
}

// A line that ends is another line; an exponent is never cut in two.
TEST(LearnGuide, TermsStandOnTheirLinesAndExponentsInOnePiece) {
  TestWindow w;
  w.draw_frames(2);
  const auto lines = [](const std::string& text, float width) {
    const TextRuns runs = runs_of(text, {}, Face::text, Token::text);
    return std::lround(draw_paragraph(nullptr, {}, width, 15, runs, 40, false) / line_height(15));
  };
  EXPECT_EQ(lines("one two three", 1000), 1);
  EXPECT_EQ(lines("one\ntwo\nthree", 1000), 3);
  const std::string power = "e^([m|old] − [m|new])";
  const TextRuns whole = runs_of(power, {}, Face::text, Token::text);
  // Too narrow for it: it stands on one line all the same.
  EXPECT_EQ(lines(power, runs_width(whole, 15) * 0.7F), 1);
  EXPECT_EQ(lines("take " + power, runs_width(whole, 15) * 1.05F), 2);
}

}  // namespace
}  // namespace attn
