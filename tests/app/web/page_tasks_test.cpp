// The controller where there are no threads, and what a page says of it as text.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "app/system/assets.h"
#include "app/web/mirror.h"
#include "app/web/steps_gif.h"
#include "kernels/base/files.h"
#include "profiling/session/session.h"
#include "tests/app/control/headless.h"
#include "viz/draw/text_runs.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/state/commands.h"

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

SetProblem large_problem(const Controller& c, std::int64_t length) {
  SetProblem large{c.state().document.problem, 0};
  large.problem.Lq = large.problem.Lk = length;
  large.problem.D = large.problem.Dv = 64;
  return large;
}

TEST_F(InAPage, ALargeRecordingComesInManyFramesAndIsTheDesktops) {
  ControllerOptions desktop = in_a_page();
  desktop.tasks = TaskPlace::threads;
  Controller c(in_a_page()), at_once(std::move(desktop));
  for (Controller* each : {&c, &at_once}) each->update({large_problem(*each, 256)});
  EXPECT_TRUE(c.tasks_run());
  const auto before = c.model().recording;
  int frames = 0;
  for (; c.tasks_run() && frames < 10000; ++frames) {
    EXPECT_EQ(c.model().recording, before);
    c.update({});
  }
  EXPECT_GT(frames, 5);
  at_once.wait();
  const Recording &page = *c.model().recording, &window = *at_once.model().recording;
  EXPECT_EQ(page.problem.Lq, 256);
  ASSERT_EQ(page.arena.size(), window.arena.size());
  EXPECT_EQ(std::memcmp(page.arena.data(), window.arena.data(), page.arena.size() * sizeof(float)), 0);
  EXPECT_EQ(page.outputs.out, window.outputs.out);
  EXPECT_EQ(page.events.size(), window.events.size());
  EXPECT_EQ(c.state().view.step.cursor, at_once.state().view.step.cursor);
}

TEST_F(InAPage, WhoGoesOnWhileALargeRecordingIsMadeSeesTheNextAlone) {
  Controller c(in_a_page());
  c.update({large_problem(c, 256)});
  for (int frame = 0; frame < 3; ++frame) c.update({});
  ASSERT_TRUE(c.tasks_run());
  c.update({large_problem(c, 128)});
  for (int frame = 0; c.tasks_run() && frame < 10000; ++frame) {
    c.update({});
    EXPECT_NE(c.model().recording->problem.Lq, 256);
  }
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

TEST_F(InAPage, OfALargeTileTheMirrorSaysTheFirstRows) {
  Controller c(in_a_page());
  Options whole = c.state().document.options;
  whole.br = whole.bc = 256;
  c.update({large_problem(c, 256), SetOptions{whole, 0}});
  c.wait();
  c.update({GoToEvent{2}});
  ASSERT_EQ(c.model().recording->events[2].id.phase, Phase::scores);
  Mirror mirror;
  const auto said = mirror.follow(c.state(), c.model(), {});
  ASSERT_TRUE(said);
  EXPECT_NE(said->values.find("… 240 more"), std::string::npos) << said->values.substr(0, 200);
  EXPECT_FALSE(mirror.follow(c.state(), c.model(), {}));
  c.update({ChoosePreset{"blackboard"}});
  c.wait();
  c.update({GoToEvent{2}});
  const auto other = mirror.follow(c.state(), c.model(), {});
  ASSERT_TRUE(other) << "the same step of another recording";
  EXPECT_EQ(other->title.rfind("Step 3 of 34", 0), 0U) << other->title;
}

TEST_F(InAPage, WhileALessonAsksTheMirrorSaysItsCardAlone) {
  State state = initial_state();
  state.view.workspace = Workspace::learn;
  state.view.learn.lesson = "one-pass";
  state.view.learn.beat = "past";
  Controller c(in_a_page(state));
  c.wait();
  ASSERT_TRUE(lesson_asks(c.state(), c.model()));
  Mirror mirror;
  const auto said = mirror.follow(c.state(), c.model(), {});
  ASSERT_TRUE(said);
  EXPECT_EQ(said->title.find("Step "), std::string::npos);
  EXPECT_EQ(said->values.find("rows "), std::string::npos) << said->values;
}

// A chapter that speaks of sessions: read in pieces, shown as the desktop shows it.
TEST_F(InAPage, ALinkToAChapterShowsItOnceAllIsRead) {
  State state = initial_state();
  state.view.workspace = Workspace::learn;
  state.view.learn.lesson = "wall";
  ControllerOptions desktop = in_a_page(state);
  desktop.tasks = TaskPlace::threads;
  Controller at_once(std::move(desktop));
  ASSERT_NE(at_once.model().learn, nullptr);
  ASSERT_TRUE(at_once.model().learn->card) << last_words(at_once);
  Controller c(in_a_page(state));
  EXPECT_EQ(c.model().learn, nullptr);
  int frames = 0;
  for (; c.tasks_run() && frames < 10000; ++frames) c.update({});
  EXPECT_GT(frames, 5);
  ASSERT_NE(c.model().learn, nullptr);
  ASSERT_TRUE(c.model().learn->card) << last_words(c);
  EXPECT_EQ(c.model().learn->chapters.size(), at_once.model().learn->chapters.size());
  for (const bool next : {false, true}) {
    if (next) {
      at_once.update({GoToBeat{1}});
      c.update({GoToBeat{1}});
      c.wait();
    }
    const CardScene &page = *c.model().learn->card, &window = *at_once.model().learn->card;
    EXPECT_EQ(plain_text(page.headline), plain_text(window.headline));
    EXPECT_EQ(plain_text(page.say), plain_text(window.say));
    EXPECT_EQ(c.model().learn->figure.has_value(), at_once.model().learn->figure.has_value());
    EXPECT_EQ(c.state().document.problem, at_once.state().document.problem);
  }
}

TEST_F(InAPage, AChapterChosenWhileChaptersAreReadOpensAfterwards) {
  Controller c(in_a_page());
  c.update({ChooseWorkspace{Workspace::learn}});
  c.update({StartLesson{"wall", ""}});
  c.update({StartLesson{"one-pass", "past"}});
  c.wait();
  ASSERT_NE(c.model().learn, nullptr);
  ASSERT_TRUE(c.model().learn->card) << last_words(c);
  EXPECT_EQ(c.model().learn->card->lesson, "one-pass");
  // Another is asked for before the sessions of the first are read.
  c.update({StartLesson{"wall", ""}});
  EXPECT_EQ(c.model().learn->card->lesson, "one-pass");
  c.update({});
  c.update({StartLesson{"overlap", ""}});
  c.wait();
  EXPECT_EQ(c.model().learn->card->lesson, "overlap");
}

// Seeds are tried for long before these beats can ask.
TEST_F(InAPage, ABeatsRunsComeInPiecesAndAreTheDesktops) {
  State state = initial_state();
  state.view.workspace = Workspace::learn;
  state.view.learn.lesson = "checkpoint-row";
  ControllerOptions desktop = in_a_page(state);
  desktop.tasks = TaskPlace::threads;
  Controller at_once(std::move(desktop)), c(in_a_page(state));
  c.wait();
  const std::size_t beats = at_once.model().learn->card->marks.size();
  for (std::size_t n = 0; n < beats; ++n) {
    ASSERT_TRUE(c.model().learn->card) << last_words(c);
    const CardScene &page = *c.model().learn->card, &window = *at_once.model().learn->card;
    EXPECT_EQ(page.beat, n);
    EXPECT_EQ(plain_text(page.headline), plain_text(window.headline));
    EXPECT_EQ(plain_text(page.say), plain_text(window.say));
    EXPECT_EQ(c.state().document.inputs.seed, at_once.state().document.inputs.seed);
    if (n + 1 == beats) break;
    at_once.update({GoToBeat{1}});
    c.update({GoToBeat{1}});
    c.wait();
  }
}

TEST_F(InAPage, TwoBeatsOnWhileTheFirstIsMadeIsTheSecond) {
  State state = initial_state();
  state.view.workspace = Workspace::learn;
  state.view.learn.lesson = "checkpoint-row";
  Controller c(in_a_page(state));
  c.wait();
  c.update({GoToBeat{1}, GoToBeat{1}});
  c.wait();
  ASSERT_TRUE(c.model().learn->card);
  EXPECT_EQ(c.model().learn->card->beat, 2U);
  c.update({GoToBeat{1}, LeaveLesson{}});
  c.wait();
  EXPECT_FALSE(c.model().learn->card);
  c.update({StartLesson{"two-halves", "transfer"}, ChooseWorkspace{Workspace::step}});
  c.wait();
  EXPECT_EQ(c.state().view.workspace, Workspace::step);
}

TEST_F(InAPage, ALinkLetsGoOfTheRunsBeforeItInManyFrames) {
  State state = initial_state();
  state.view.workspace = Workspace::bench;
  ControllerOptions o = in_a_page(state);
  const auto assets = find_assets();
  ASSERT_TRUE(assets);
  o.runs.bundled = *assets / "sessions";
  Controller before(std::move(o));
  before.look_around();
  before.wait();
  const std::weak_ptr<const KernelSamples> sampled = [&] {
    for (const ListedRun& r : before.model().runs)
      for (const Measurement& m : r.run.rows)
        if (m.samples != nullptr) return m.samples;
    return std::shared_ptr<const KernelSamples>();
  }();
  std::vector<SweepRun> runs = before.take_runs();
  EXPECT_GT(runs.size(), 4U);
  EXPECT_TRUE(before.model().runs.empty());
  Controller after(in_a_page());
  after.let_go(std::move(runs));
  EXPECT_FALSE(sampled.expired());
  after.wait();
  EXPECT_TRUE(sampled.expired());
}

TEST_F(InAPage, WhoeverLeavesWhileAChapterIsReadStaysThere) {
  Controller c(in_a_page());
  c.update({ChooseWorkspace{Workspace::learn}});
  c.wait();
  c.update({StartLesson{"wall", ""}});
  c.update({ChooseWorkspace{Workspace::step}});
  c.wait();
  EXPECT_EQ(c.state().view.workspace, Workspace::step);
  c.update({StartLesson{"no-such-lesson", ""}});
  EXPECT_NE(last_words(c).find("no-such-lesson"), std::string::npos);
}

TEST_F(InAPage, ALessonOfOnesOwnIsCheckedInManyFramesAndThenShown) {
  const auto assets = find_assets();
  ASSERT_TRUE(assets);
  const auto bytes = read_file(*assets / "lessons" / "04_one_pass.json", 1 << 20);
  ASSERT_TRUE(bytes);
  const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const auto opened = [&](std::string own, const char* from, const char* to) {
    for (const auto& [word, other] : {std::pair("\"one-pass\"", "\"own\""), std::pair(from, to)})
      if (const std::size_t at = own.find(word); at != own.npos) own.replace(at, std::strlen(word), other);
    const auto file = folder_ / "own.json";
    std::ofstream(file) << own;
    return file.string();
  };
  Controller c(in_a_page());
  c.update({OpenFile{opened(text, "", "")}});
  int frames = 0;
  for (; c.state().view.learn.lesson != "own" && frames < 10000; ++frames) c.update({});
  EXPECT_GT(frames, 5);
  EXPECT_EQ(c.state().view.workspace, Workspace::learn);

  Controller false_one(in_a_page());
  false_one.update({OpenFile{opened(text, "The empty sum", "The empty sum of 12.5")}});
  false_one.wait();
  EXPECT_TRUE(false_one.state().view.learn.lesson.empty());
  EXPECT_NE(last_words(false_one).find("the number 12.5 is typed by hand"), std::string::npos) << last_words(false_one);
}

TEST_F(InAPage, ThePalettesListOfChaptersComesWhereItIsAskedFor) {
  Controller c(in_a_page());
  EXPECT_EQ(c.model().learn, nullptr);
  c.update({Ask{Popup::palette}});
  c.wait();
  ASSERT_NE(c.model().learn, nullptr);
  EXPECT_GT(c.model().learn->chapters.size(), 10U);
  EXPECT_EQ(c.state().view.workspace, Workspace::step);
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
