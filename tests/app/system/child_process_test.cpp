// Children of the worker's kind: copies of a process in which other threads are at work.
#include "app/system/child_process.h"

#include <latch>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace attn
