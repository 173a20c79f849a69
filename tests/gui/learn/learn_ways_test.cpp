// The ways to a lesson: the doors and the line for newcomers, a file, the palette, Enter on the map.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/orders/hopper/recorded.h"
#include "profiling/timeline/lane_states.h"
#include "tests/environment/asked.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/learn/learn_fixture.h"
#include "viz/draw/number_text.h"
#include "viz/draw/text_runs.h"
#include "viz/learn/map_roads.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

// By mouse and by Tab, for whoever does not know the palette's key.
TEST(LearnWays, AWordIsFoundFromTheMap) {
  for (const bool by_mouse : {true, false}) {
    TestWindow w(1280, 720);
    w.controller().update({ChooseWorkspace{Workspace::learn}});
    w.draw_frames(3);
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      ctx->SetRef(kLearn);
      if (by_mouse) {
        ctx->ItemClick("**/##learn_find");
      } else {
        ctx->NavMoveTo("**/##learn_find");
        ctx->KeyPress(ImGuiKey_Space);
      }
      ctx->Yield(3);
      ctx->KeyChars("LSE");
      ctx->Yield(3);
      ctx->KeyPress(ImGuiKey_Enter);
      ctx->Yield(3);
      const PaletteEntry* shown = w.shell().answered();
      IM_CHECK(shown != nullptr);
      IM_CHECK_STR_EQ(shown->words.c_str(), "LSE");
    }));
  }
}

// 132 SMs with 65 536 registers of 4 bytes each.
TEST(LearnWays, TheFirstPageNamesTheNearestMemoryAndItsSize) {
  TestWindow w(1280, 720);
  w.controller().update({ChooseWorkspace{Workspace::learn}});
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->ItemClick("**/##learn_continue");
    ctx->Yield(3);
    const DrawnText drawn;
    ctx->Yield(2);
    IM_CHECK(drawn.count("registers, in the cores themselves, all 132 SMs together: 35 MB") > 0);
  }));
}

TEST(LearnWays, ThreeDoorsStandBesideAWindowThatSteps) {
  TestWindow w(1440, 900, "", true);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kStep);
    const EventIndex at = w.state().view.step.cursor;
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->Yield(2);
    IM_CHECK_EQ(w.state().view.step.cursor, at + 1);
    ctx->ItemClick("**/###door_measure");
    ctx->Yield(2);
    IM_CHECK(w.state().view.workspace == Workspace::bench);
    w.controller().update({ChooseWorkspace{Workspace::step}});
    ctx->Yield(2);
    ctx->ItemClick("**/###door_learn");
    ctx->Yield(2);
    IM_CHECK_STR_EQ(w.state().view.learn.lesson.c_str(), "wall");
    IM_CHECK(w.state().preferences.greet);  // closed by hand alone
  }));
}

TEST(LearnWays, TheDoorsAreClosedForGoodAndComeBackFromThePalette) {
  TestWindow w(1440, 900, "", true);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->ItemClick("**/##doors_close");
    ctx->Yield(2);
    IM_CHECK(!w.state().preferences.greet);
    IM_CHECK(ctx->ItemInfo("**/###door_learn", ImGuiTestOpFlags_NoError).ID == 0);
    choose_in_palette(ctx, "Where to start");
    ctx->Yield(2);
    IM_CHECK(w.state().preferences.greet);
    IM_CHECK(ctx->ItemInfo("**/###door_learn", ImGuiTestOpFlags_NoError).ID != 0);
  }));
}

// Chapter 1 names m and l where it first needs them: until then no picture of it does.
TEST(LearnWays, TheFirstPictureOfChapterOneHasNoLetterThatIsNotIntroduced) {
  TestWindow w;
  start(w, "weighted-average", "lookup");
  const auto drawn_of = [&] {
    const DrawnText drawn;
    w.draw_frames(1);
    return drawn.texts();
  };
  const std::set<std::string> first = drawn_of();
  EXPECT_TRUE(first.contains("scores "));
  for (const char* letter : {"m", "ℓ", "maximum ", "S − m"}) EXPECT_FALSE(first.contains(letter)) << letter;
  w.controller().update({StartLesson{"weighted-average", "weight"}, ShowAnswer{}});
  w.draw_frames(4);
  const std::set<std::string> later = drawn_of();
  for (const char* letter : {"m", "ℓ", "maximum ", "S − m"}) EXPECT_TRUE(later.contains(letter)) << letter;
}

TEST(LearnWays, EnterOnTheMapBeginsWhereTheLearnerIs) {
  TestWindow w;
  w.controller().update({ChooseWorkspace{Workspace::learn}});
  w.draw_frames(3);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK_STR_EQ(w.state().view.learn.lesson.c_str(), "wall");
  }));
}

TEST(LearnWays, OneClickLeadsToASentenceWhereTheWordsAreRows) {
  for (const auto& [width, scale] : {std::pair(1440, 1.0F), {1440, 2.0F}}) {
    TestWindow w(width, 900);
    Problem backward = w.state().document.problem;
    backward.pass = Pass::backward;  // a door leads to its sentence whatever was open
    w.controller().update({SetProblem{backward}, SetScale{scale}, ChooseWorkspace{Workspace::learn}});
    w.draw_frames(4);
    EXPECT_TRUE(w.run([&, scale = scale](Ctx* ctx) {
      if (scale > 1) {  // there it stands in the foot, under the chapters
        ctx->MouseMoveToPos({720, 600});
        ctx->MouseWheelY(-200);
        ctx->Yield(2);
      }
      ctx->ItemClick("**/##learn_words");
      ctx->Yield(3);
      IM_CHECK(w.state().view.workspace == Workspace::step);
      IM_CHECK_STR_EQ(w.state().document.preset.c_str(), "words");
      IM_CHECK(w.state().document.problem.pass == Pass::forward);
      IM_CHECK(w.state().view.step.chart == StepChart::sentence);
      // "cat" the second time, both heads done: its arcs say what they are about.
      IM_CHECK_EQ(w.state().document.selection.row, 9);
      IM_CHECK_EQ(w.state().view.step.cursor + 1, w.controller().model().recording->events.size());
    })) << scale;
  }
}

// Wherever the learner stands, the flag covers no name, no minutes and no other word of the map.
TEST(LearnWays, TheFlagOfTheMapStandsWhereItIsFree) {
  for (const auto& [width, height, scale] : {std::tuple(1440, 900, 1.0F), {1920, 1080, 1.0F}, {2880, 1800, 2.0F}}) {
    TestWindow w(width, height);
    w.controller().update({SetScale{scale}, ChooseWorkspace{Workspace::learn}});
    w.draw_frames(4);
    std::vector<std::string> ids;
    for (const ChapterScene& c : w.controller().model().learn->chapters) ids.push_back(c.id);
    ASSERT_EQ(ids.size(), 18U);
    std::size_t walked = 0;
    for (const std::string& id : ids) {
      if (test::left_to_release(walked++, 4)) continue;
      w.controller().update({StartLesson{id, ""}, LeaveLesson{}});
      w.draw_frames(3);
      const DrawnText drawn;
      w.draw_frames(1);
      std::vector<DrawnText::Place> flags;
      for (const DrawnText::Place& p : drawn.places())
        if (p.text == "You are here") flags.push_back(p);
      ASSERT_EQ(flags.size(), 1U) << id << " at " << width;
      DrawnText::Place flag = flags.front();
      flag.left -= 10 * scale, flag.right += 10 * scale, flag.top -= 4 * scale, flag.bottom += 4 * scale;
      for (const DrawnText::Place& p : drawn.places())
        EXPECT_TRUE(p.text == "You are here" || !p.meets(flag)) << id << " at " << width << " covers " << p.text;
    }
  }
}

float apart(RoadPoint a, RoadPoint b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

bool covers(const LabelBox& box, RoadPoint p) {
  return p.x > box.left && p.x < box.right && p.y > box.top && p.y < box.bottom;
}

// With the words and circles as they are drawn, whether all is ahead or all is walked.
TEST(LearnWays, EveryRoadOfTheMapEndsAtItsStopWithAHeadAndCrossesNoOther) {
  for (const auto& [width, height, scale] :
       {std::tuple(1440, 900, 1.0F), {1920, 1080, 1.0F}, {1280, 720, 1.0F}, {2880, 1800, 2.0F}}) {
    TestWindow w(width, height);
    w.controller().update({SetScale{scale}, ChooseWorkspace{Workspace::learn}});
    for (const bool begun : {false, true}) {
      if (begun) w.controller().update({StartLesson{"two-halves", ""}, LeaveLesson{}});
      w.draw_frames(4);
      const std::shared_ptr<MapRoads> roads = w.shell().card_ui().roads;
      ASSERT_TRUE(roads != nullptr) << width;
      const RoadGround& ground = roads->ground;
      ASSERT_EQ(ground.stops.size(), 18U);
      ASSERT_EQ(roads->paths.size(), 23U);
      for (std::size_t n = 0; n < roads->paths.size(); ++n) {
        const RoadPath& path = roads->paths[n];
        const auto [from, to] = ground.roads[n];
        const std::string name = fmt::format("{} to {} at {} x {}", from, to, width, height);
        EXPECT_NEAR(apart(path.p0, ground.stops[from].centre), ground.stops[from].radius, 0.5) << name;
        const float gap = apart(path.p1, ground.stops[to].centre) - ground.stops[to].radius;
        EXPECT_TRUE(gap >= 0 && gap < 5 * scale) << name;
        for (int k = 0; k <= 100; ++k) {
          const RoadPoint p = path.at(static_cast<float>(k) / 100);
          for (std::size_t stop = 0; stop < ground.stops.size(); ++stop)
            EXPECT_TRUE(stop == from || stop == to || apart(p, ground.stops[stop].centre) > ground.stops[stop].radius)
                << name << " through " << stop;
          for (const LabelBox& box : ground.words) EXPECT_FALSE(covers(box, p)) << name << " through words";
        }
        for (const RoadPoint p : {path.head_left, path.head_right})
          for (const LabelBox& box : ground.words) EXPECT_FALSE(covers(box, p)) << name << " has its head under words";
      }
    }
  }
}

// The first chapter ends beside the sentence on which it can be seen.
TEST(LearnWays, AChaptersEndHasADoorToItsPreset) {
  TestWindow w;
  w.controller().update({ChooseWorkspace{Workspace::learn}, StartLesson{"weighted-average", "lookup"}});
  w.draw_frames(3);
  const LearnScene* learn = w.controller().model().learn.get();
  EXPECT_TRUE(learn->card->door.empty()) << "not while it goes on";
  w.controller().update({StartLesson{"weighted-average", "transfer"}, ShowAnswer{}});
  w.draw_frames(3);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->ItemClick("**/##lesson_door");
    ctx->Yield(3);
    IM_CHECK(w.state().view.workspace == Workspace::step);
    IM_CHECK_STR_EQ(w.state().document.preset.c_str(), "words");
    IM_CHECK(!w.controller().model().learn->card.has_value());
  }));
}

// The chapter on overlap ends at the timeline of the very launch whose block its steps follow.
TEST(LearnWays, TheChapterOnOverlapEndsAtTheTimelineOfItsBlock) {
  TestWindow w;
  w.controller().update({ChooseWorkspace{Workspace::learn}, StartLesson{"overlap", "look"}});
  w.draw_frames(3);
  ASSERT_FALSE(w.controller().model().learn->card->door.empty());
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->SetRef(kLearn);
    ctx->ItemClick("**/##lesson_door");
    ctx->Yield(3);
  }));
  w.controller().wait();
  w.draw_frames(3);
  EXPECT_EQ(w.state().view.workspace, Workspace::profile);
  EXPECT_EQ(w.state().view.profile.page, ProfilePage::timeline);
  const TimelinesView& timelines = w.controller().model().timelines;
  const auto shown = timeline_shown(w.state().view.profile, timelines, "flash_mma", {});
  ASSERT_NE(shown, nullptr);
  ASSERT_TRUE(is_named(id_of(*shown), w.state().view.profile.timeline)) << "it is not bundled";
  const orders::hopper::RecordedBlock& block = orders::hopper::recorded_block();
  const auto rows = detailed_blocks(*shown);
  ASSERT_EQ(rows.size(), 1U);
  const TimedBlock& timed = shown->blocks.at(static_cast<std::size_t>(rows.front()));
  EXPECT_EQ(timed.end_clock - timed.start_clock, block.clocks);
  EXPECT_EQ(shown->source_hash, block.source_hash);
}

TEST(LearnWays, InALowWindowALineForNewcomersBeginsTheFirstLesson) {
  TestWindow w(1440, 500, "", true);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->ItemClick("//Bar/New here");
    ctx->Yield(2);
    IM_CHECK_STR_EQ(w.state().view.learn.lesson.c_str(), "wall");
    IM_CHECK(!w.state().preferences.greet);
  }));
}

TEST(LearnWays, TheLineForNewcomersStaysClosed) {
  TestWindow w(1440, 500, "", true);
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    ctx->ItemClick("//Bar/Close this line");
    ctx->Yield(2);
    IM_CHECK(!w.state().preferences.greet);
    IM_CHECK(ctx->ItemInfo("//Bar/New here", ImGuiTestOpFlags_NoError).ID == 0);
    IM_CHECK(w.state().view.workspace == Workspace::step);
  }));
}

TEST(LearnWays, ALessonOfTheUsersOwnOpensLikeAnyFile) {
  TestWindow w;
  const auto file = w.folder().path() / "mine.json";
  const auto write = [&](const std::string& value) {
    std::ofstream(file) << R"({"version": 1, "id": "mine", "minutes": 1, "runs": {"main": "attn1,preset=causal"},
 "beats": [{"id": "one", "at": "i0j0.scores", "ask": {"kind": "num", "value": ")" +
                               value + R"(", "within": "1%"}}],
 "text": {"title": "Mine", "goal": "A try.", "one.title": "What is [m]?", "one.say": "Take the largest."}})";
  };
  write("m[0]@i9j0");
  w.controller().update({OpenFile{file.string()}});
  const auto said = w.controller().log().after(0);
  EXPECT_NE(said.back().text.find("mine.json, beat 'one', field 'value'"), std::string::npos) << said.back().text;
  EXPECT_TRUE(w.state().view.learn.lesson.empty());
  write("m[0]");
  w.controller().update({OpenFile{file.string()}});
  EXPECT_EQ(w.state().view.learn.lesson, "mine");
  EXPECT_EQ(w.state().document.preset, "causal");
  w.draw_frames(2);
  EXPECT_EQ(plain_text(card(w).headline), "What is m?");
}

TEST(LearnWays, ABeatThatThereIsNoneOfChangesNothing) {
  TestWindow w;
  start(w, "by-hand", "14");
  EXPECT_TRUE(w.state().view.learn.lesson.empty());
  EXPECT_NE(w.controller().log().after(0).back().text.find("Lesson 'by-hand' has no beat '14'"), std::string::npos);
  start(w, "by-hand", "sum");
  ASSERT_EQ(w.state().view.learn.beat, "sum");
  start(w, "one-pass", "nowhere");
  EXPECT_EQ(w.state().view.learn.lesson, "by-hand");
  EXPECT_EQ(w.state().view.learn.beat, "sum");
  EXPECT_EQ(plain_text(card(w).headline), "What is the row's sum?");
}

TEST(LearnWays, ThePaletteFindsALessonBeforeLearnWasShown) {
  TestWindow w;
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    IM_CHECK(w.state().view.workspace == Workspace::step);
    choose_in_palette(ctx, "The bug museum");
    IM_CHECK(w.state().view.workspace == Workspace::learn);
    IM_CHECK_STR_EQ(w.state().view.learn.lesson.c_str(), "bug-museum");
  }));
}

// What is told of a chapter stands over the map, which keeps every other in sight.
TEST(LearnMap, TellsOfAChapterAboveTheMap) {
  for (const auto& [width, height, scale] : {std::tuple(1280, 720, 1.0F), {1440, 900, 1.0F}, {2880, 1800, 2.0F}}) {
    TestWindow w(width, height);
    w.controller().update({ChooseWorkspace{Workspace::learn}, SetScale{scale}});
    w.draw_frames(4);
    const LearnScene& learn = *w.controller().model().learn;
    EXPECT_TRUE(w.run([&](Ctx* ctx) {
      float top = static_cast<float>(height);  // of the map's stops
      for (const ChapterScene& c : learn.chapters)
        if (c.x > 0) top = std::min(top, ctx->ItemInfo(("**/##chapter_" + c.id).c_str()).RectFull.Min.y);
      for (const ChapterScene& c : learn.chapters) {
        if (c.x <= 0) continue;
        ctx->MouseMoveToPos(ctx->ItemInfo(("**/##chapter_" + c.id).c_str()).RectFull.GetCenter());
        ctx->Yield(2);
        const DrawnText drawn;
        ctx->Yield(1);
        const auto told = std::ranges::find(drawn.places(), c.goal, &DrawnText::Place::text);
        IM_CHECK(told != drawn.places().end());
        IM_CHECK_LT(told->bottom, top);
      }
    })) << width;
  }
}

}  // namespace
}  // namespace attn
