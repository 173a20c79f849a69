// The controller where there are no threads, and what a page says of it as text.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/system/assets.h"
#include "app/web/mirror.h"
#include "app/web/steps_gif.h"
#include "profiling/session/session.h"
#include "tests/app/control/headless.h"
#include "viz/learn/card/learn_scene.h"

namespace attn {
namespace {

class InAPage : public control_test::Headless {
 protected:
  ControllerOptions in_a_page(State state = initial_state()) const {
    ControllerOptions o = options(std::move(state));
    o.tasks = TaskPlace::between_frames;
    if (const auto assets = find_assets()) o.lessons.folder = *assets / "lessons";
    return o;
  }
};

TEST_F(InAPage, ALargeRecordingComesInTheFrameAfterIt) {
  Controller c(in_a_page());
  SetProblem large{c.state().document.problem, 0};
  large.problem.Lq = large.problem.Lk = 128;
  large.problem.D = large.problem.Dv = 64;
  c.update({large});
  EXPECT_TRUE(c.tasks_run());
  const auto before = c.model().recording;
  c.update({});
  EXPECT_FALSE(c.tasks_run());
  EXPECT_NE(c.model().recording, before);
  EXPECT_EQ(c.model().recording->problem.Lq, 128);
}

TEST_F(InAPage, ASavedSessionIsWholeOnceItsTaskRan) {
  Controller c(in_a_page());
  c.update({SaveSession{}});
  c.update({});
  ASSERT_EQ(files(".attn").size(), 1U) << last_words(c);
  const auto session = read_session(files(".attn").front());
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->recordings.size(), 1U);
  Controller other(in_a_page());
  other.update({OpenFile{files(".attn").front().string()}});
  other.wait();
  EXPECT_EQ(other.model().recording->events.size(), c.model().recording->events.size());
}

TEST_F(InAPage, BundledRunsComeInManyFrames) {
  State state = initial_state();
  state.view.workspace = Workspace::bench;
  ControllerOptions o = in_a_page(state);
  const auto assets = find_assets();
  ASSERT_TRUE(assets);
  o.runs.bundled = *assets / "sessions";
  Controller c(std::move(o));
  c.look_around();
  int frames = 0;
  for (; c.model().runs.empty() && frames < 10000; ++frames) c.update({});
  EXPECT_GT(frames, 5);
  EXPECT_GT(c.model().runs.size(), 4U);
}

TEST_F(InAPage, TheMirrorSaysEachStepOnce) {
  Controller c(in_a_page());
  Mirror mirror;
  const auto first = mirror.follow(c.state(), c.model(), {});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->title.rfind("Step 1 of 34", 0), 0U) << first->title;
  EXPECT_FALSE(mirror.follow(c.state(), c.model(), {}));
  c.update({StepBy{}, StepBy{}});
  const auto third = mirror.follow(c.state(), c.model(), {});
  ASSERT_TRUE(third);
  EXPECT_EQ(third->title.rfind("Step 3 of 34", 0), 0U);
  EXPECT_NE(third->values.find("15.20280"), std::string::npos) << third->values;
}

TEST_F(InAPage, WhileALessonAsksTheMirrorSaysItsCardAlone) {
  State state = initial_state();
  state.view.workspace = Workspace::learn;
  state.view.learn.lesson = "one-pass";
  state.view.learn.beat = "past";
  Controller c(in_a_page(state));
  c.update({});
  ASSERT_TRUE(lesson_asks(c.state(), c.model()));
  Mirror mirror;
  const auto said = mirror.follow(c.state(), c.model(), {});
  ASSERT_TRUE(said);
  EXPECT_EQ(said->title.find("Step "), std::string::npos);
  EXPECT_EQ(said->values.find("rows "), std::string::npos) << said->values;
}

TEST_F(InAPage, AGifTakesEachStepAndGoesBack) {
  Controller c(in_a_page());
  c.update({GoToEvent{9}});
  StepsGif gif;
  Commands commands{SaveSteps{"steps.gif", 2, 4, 0.5F}};
  gif.take(commands, c.state().view.step.cursor, 34, folder_, c.log());
  ASSERT_TRUE(gif.running());
  EXPECT_TRUE(commands.empty());
  std::vector<EventIndex> seen;
  for (int frame = 0; frame < 100 && gif.running(); ++frame) {
    gif.before(commands);
    c.update(std::exchange(commands, {}));
    gif.after(
        [&] {
          seen.push_back(c.state().view.step.cursor);
          Image image{8, 8, std::vector<std::uint8_t>(256, static_cast<std::uint8_t>(40 * seen.size()))};
          return image;
        },
        commands, c.log());
  }
  c.update(commands);
  EXPECT_EQ(seen, (std::vector<EventIndex>{2, 3, 4}));
  EXPECT_EQ(c.state().view.step.cursor, 9U);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "steps.gif")) << last_words(c);
}

TEST_F(InAPage, StepsThatAreNotThereAreNotTaken) {
  Controller c(in_a_page());
  StepsGif gif;
  Commands commands{SaveSteps{"steps.gif", 30, 40, 1}};
  gif.take(commands, 0, 34, folder_, c.log());
  EXPECT_FALSE(gif.running());
  EXPECT_NE(last_words(c).find("this run has steps 1 to 34"), std::string::npos);
}

}  // namespace
}  // namespace attn
