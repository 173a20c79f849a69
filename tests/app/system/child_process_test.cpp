// Children of the worker's kind: copies of a process in which other threads are at work.
#include "app/system/child_process.h"

#include <chrono>
#include <filesystem>
#include <latch>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

// Under the address sanitizer of older compilers such a child hung in its first allocation (tests/asan_fork.cpp).
TEST(Child, ACopyMayAllocateThoughOtherThreadsDidWhileItWasForked) {
  const auto round = [] {
    for (std::size_t size = 16; size < 4096; size += 16) std::make_unique<std::vector<char>>(size).reset();
  };
  // The thread sanitizer's child may hang where a thread is being made, or allocates for the first time: that is not
  // what is looked for.
  std::latch running(2);
  const auto allocate = [&](const std::stop_token& stop) {
    for (int n = 0; n < 10; ++n) round();
    running.count_down();
    while (!stop.stop_requested()) round();
  };
  const std::jthread first(allocate), second(allocate);
  running.wait();
  for (int n = 0; n < 40; ++n) {
    Result<Child> child = Child::copy([](Socket& socket) {
      std::vector<std::vector<char>> held;
      for (std::size_t size = 16; size < 4096; size += 16) held.emplace_back(size);
      return socket.send("done", {}, {.seconds = 10, .stop = {}}) ? 0 : 1;
    });
    ASSERT_TRUE(child) << child.error().message;
    const auto said = child->socket().receive({.seconds = 10, .stop = {}});
    ASSERT_TRUE(said) << "child " << n << ": " << said.error().words;
    EXPECT_EQ(said->text, "done");
  }
}

// A header of no text and 1 GiB of bytes, then bytes without end, as fast as they go and slowly.
Result<Child> flood(const std::string& pause) {
  const std::string script =
      "printf 'attnmsg1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\100\\0\\0\\0\\0' >&3; while printf xxxx >&3; do " + pause +
      "; done";
  return Child::start({"-c", script}, "/bin/sh");
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(Socket, DeadlineAndStopAreKeptWhileBytesArrive) {
  for (const char* pause : {":", "sleep 0.01"}) {
    const auto begin = std::chrono::steady_clock::now();
    Result<Child> late = flood(pause);
    ASSERT_TRUE(late) << late.error().message;
    const auto answer = late->socket().receive({.seconds = 0.5, .stop = {}});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().why, NoReply::too_late) << answer.error().words;
    Result<Child> stopped = flood(pause);
    std::stop_source stop;
    const std::jthread after([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      stop.request_stop();
    });
    const auto none = stopped->socket().receive({.seconds = 60, .stop = stop.get_token()});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().why, NoReply::stopped) << none.error().words;
    EXPECT_LT(seconds_since(begin), 10);
  }
}

TEST(Socket, WhoAnnouncesMoreThanIsAskedForSendsNoMessage) {
  for (const MessageLimit& most : {MessageLimit{1 << 20, 1 << 20}, MessageLimit{0, (1 << 30) - 1}}) {
    Result<Child> child = flood(":");
    ASSERT_TRUE(child) << child.error().message;
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = child->socket().receive({.seconds = 60, .stop = {}}, most);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().why, NoReply::broken) << answer.error().words;
    EXPECT_LT(seconds_since(begin), 10);
  }
}

TEST(Child, WorksInTheFolderThatItIsStartedIn) {
  const TempFolder folder;
  Result<Child> child = Child::start({"-c", "touch here; exit 7"}, "/bin/sh", folder.path().string());
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(child->finish(20), "exit code 7");
  EXPECT_TRUE(std::filesystem::exists(folder / "here"));
}

}  // namespace
}  // namespace attn
