#include "app/control/tasks/tasks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <thread>

#include "app/control/tasks/log.h"

namespace attn {
namespace {

using namespace std::chrono_literals;

TEST(Tasks, ResultsArriveInTheDrainingThreadInOrder) {
  Tasks tasks;
  std::vector<int> got;
  const auto here = std::this_thread::get_id();
  tasks.start("count", [&](TaskHandle& t) -> Result<void> {
    for (int i = 0; i < 100; ++i) {
      t.deliver([&got, i, here] {
        EXPECT_EQ(std::this_thread::get_id(), here);
        got.push_back(i);
      });
    }
    return ok();
  });
  tasks.wait();
  ASSERT_EQ(got.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
}

TEST(Tasks, BetweenFramesOneRunsAtATimeInTheDrainingThread) {
  int woken = 0;
  Tasks tasks([&] { ++woken; }, TaskPlace::between_frames);
  std::vector<std::string> seen;
  const auto here = std::this_thread::get_id();
  const auto work = [&](const char* name) {
    return [&, name](TaskHandle& t) -> Result<void> {
      EXPECT_EQ(std::this_thread::get_id(), here);
      seen.emplace_back(name);
      t.deliver([&seen, name] { seen.push_back(std::string("of ") + name); });
      return ok();
    };
  };
  const TaskId first = tasks.start("first", work("first"));
  const TaskId second = tasks.start("second", work("second"));
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(woken, 2);
  EXPECT_TRUE(tasks.drain());
  EXPECT_EQ(seen, (std::vector<std::string>{"first", "of first"}));
  EXPECT_FALSE(tasks.running(first));
  EXPECT_TRUE(tasks.running(second));
  tasks.wait();
  EXPECT_EQ(seen.size(), 4U);
  EXPECT_FALSE(tasks.any_running());
}

TEST(Tasks, BetweenFramesATaskThatWaitsIsCancelledAndMayStartAnother) {
  Tasks tasks({}, TaskPlace::between_frames);
  bool stopped = false, ran = false;
  const TaskId waits = tasks.start("waits", [&](TaskHandle& t) -> Result<void> {
    stopped = t.stop().stop_requested();
    return ok();
  });
  tasks.cancel(waits);
  tasks.start("starts", [&](TaskHandle& t) -> Result<void> {
    t.deliver([&] {
      tasks.start("started", [&](TaskHandle&) -> Result<void> {
        ran = true;
        return ok();
      });
    });
    return ok();
  });
  tasks.wait();
  EXPECT_TRUE(stopped);
  EXPECT_TRUE(ran);
}

TEST(Tasks, BetweenFramesSlicesStopAfterAWhileAndLetOthersIn) {
  Tasks tasks({}, TaskPlace::between_frames);
  int slices = 0;
  bool other = false;
  std::string ended;
  const TaskId id = tasks.start_sliced(
      "long",
      [&](TaskHandle&) -> Result<bool> {
        std::this_thread::sleep_for(1ms);
        return ++slices == 50;
      },
      [&](const Result<void>& r) { ended = r ? "done" : r.error().message; });
  tasks.start("short", [&](TaskHandle&) -> Result<void> {
    other = true;
    return ok();
  });
  tasks.drain();
  EXPECT_GE(slices, 1);
  EXPECT_LE(slices, Tasks::kSlicesTogether.count());
  EXPECT_FALSE(other);
  tasks.drain();
  EXPECT_TRUE(other);
  EXPECT_TRUE(tasks.running(id));
  EXPECT_TRUE(ended.empty());
  tasks.wait();
  EXPECT_EQ(slices, 50);
  EXPECT_EQ(ended, "done");
}

// Slices and what they bring are never held against one frame together.
TEST(Tasks, WhatLongSlicesBringWaitsForADrainOfItsOwn) {
  Tasks tasks({}, TaskPlace::between_frames);
  bool ended = false;
  int others = 0;
  tasks.start_sliced(
      "long",
      [](TaskHandle&) -> Result<bool> {
        std::this_thread::sleep_for(Tasks::kSlicesTogether + 1ms);
        return true;
      },
      [&](const Result<void>&) { ended = true; });
  tasks.start_sliced("other", [&](TaskHandle&) -> Result<bool> { return ++others > 0; });
  EXPECT_FALSE(tasks.drain());
  EXPECT_FALSE(ended);
  EXPECT_TRUE(tasks.drain());
  EXPECT_TRUE(ended);
  EXPECT_EQ(others, 0);
  tasks.drain();
  EXPECT_EQ(others, 1);
  tasks.wait();
  EXPECT_FALSE(tasks.any_running());
}

TEST(Tasks, SlicesEndWithTheFirstError) {
  for (const TaskPlace place : {TaskPlace::threads, TaskPlace::between_frames}) {
    Tasks tasks({}, place);
    int slices = 0;
    const TaskId id = tasks.start_sliced("fails", [&](TaskHandle&) -> Result<bool> {
      if (++slices == 3) return bad_input("no more");
      return false;
    });
    tasks.wait();
    EXPECT_EQ(slices, 3);
    EXPECT_EQ(tasks.view(id).error, "no more");
  }
}

TEST(Tasks, CancelStopsTheWorkAndTheWindowHearsOfIt) {
  Tasks tasks;
  std::string said;
  const TaskId id = tasks.start(
      "forever",
      [](TaskHandle& t) -> Result<void> {
        while (!t.stop().stop_requested()) std::this_thread::sleep_for(1ms);
        return fail(ErrorKind::cancelled, "Cancelled.");
      },
      [&](const Result<void>& r) { said = r.error().message; });
  EXPECT_TRUE(tasks.running(id));
  tasks.cancel(id);
  tasks.wait();
  EXPECT_EQ(said, "Cancelled.");
  EXPECT_EQ(tasks.view(id).error, "Cancelled.");
}

TEST(Tasks, TheLastOneToGoCancelsAndJoins) {
  std::atomic<bool> ended = false;
  {
    Tasks tasks;
    tasks.start("forever", [&](TaskHandle& t) -> Result<void> {
      while (!t.stop().stop_requested()) std::this_thread::sleep_for(1ms);
      ended = true;
      return ok();
    });
  }
  EXPECT_TRUE(ended);
}

TEST(Tasks, ARunningTaskIsNotOverBeforeItsResultIsIn) {
  Tasks tasks;
  bool result = false;
  const TaskId id = tasks.start("quick", [&](TaskHandle& t) -> Result<void> {
    t.deliver([&] { result = true; });
    return ok();
  });
  while (tasks.running(id)) {
    EXPECT_FALSE(result);
    if (tasks.drain()) break;
  }
  tasks.wait();
  EXPECT_TRUE(result);
}

TEST(Tasks, WhatIsThrownBecomesWords) {
  Tasks tasks;
  const TaskId memory = tasks.start("memory", [](TaskHandle&) -> Result<void> { throw std::bad_alloc(); });
  tasks.wait();
  EXPECT_NE(tasks.view(memory).error.find("memory"), std::string::npos);
  const TaskId bug = tasks.start("bug", [](TaskHandle&) -> Result<void> { throw std::logic_error("x < 0"); });
  tasks.wait();
  EXPECT_NE(tasks.view(bug).error.find("x < 0"), std::string::npos);
}

TEST(Tasks, ProgressIsSeenAndWakesTheWindow) {
  std::atomic<int> woken = 0;
  std::atomic<bool> go_on = false;
  Tasks tasks([&] { ++woken; });
  const TaskId id = tasks.start("half", [&](TaskHandle& t) -> Result<void> {
    t.progress(0.5, "the second half", 3);
    while (!go_on) std::this_thread::sleep_for(1ms);
    return ok();
  });
  while (woken == 0) std::this_thread::sleep_for(1ms);
  const TaskView view = tasks.view(id);
  EXPECT_EQ(view.fraction, 0.5);
  EXPECT_EQ(view.now, "the second half");
  EXPECT_TRUE(view.running);
  go_on = true;
  tasks.wait();
}

TEST(Log, KeepsTheNewestEntriesFromAllThreads) {
  Log log;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 400; ++i) log.note("x");
    });
  }
  threads.clear();
  EXPECT_EQ(log.last_number(), 1600U);
  const auto kept = log.after(0);
  EXPECT_EQ(kept.size(), Log::kMaxEntries);
  EXPECT_EQ(kept.front().number, 601U);
  EXPECT_EQ(log.after(1599).size(), 1U);
}

}  // namespace
}  // namespace attn
