#include "kernels/cpu/thread_crew.h"
#include "tests/environment/asked.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace attn::cpu {
namespace {

TEST(ThreadCrew, EveryPieceOfEveryCallIsTakenOnceByOneOfItsThreads) {
  ThreadCrew crew(4);
  ASSERT_EQ(crew.threads(), 4);
  for (const std::int64_t pieces : {0, 1, 3, 4, 1000}) {
    std::vector<std::atomic<int>> taken(static_cast<std::size_t>(pieces));
    std::atomic<int> strangers{0};
    crew.run(pieces,
             [&](std::int64_t piece, std::int32_t worker) {
               ++taken[static_cast<std::size_t>(piece)];
               if (worker < 0 || worker >= 4) ++strangers;
             },
             {});
    for (const std::atomic<int>& times : taken) EXPECT_EQ(times.load(), 1) << pieces << " pieces";
    EXPECT_EQ(strangers.load(), 0);
  }
}

// A helper that had not noticed the end of a call would miss the next, or take its pieces twice.
TEST(ThreadCrew, ManyShortCallsOneAfterAnotherLoseNothing) {
  ThreadCrew crew(3);
  std::atomic<std::int64_t> sum{0};
  const int calls = test::asked("ATTNSCOPE_SANITIZED") ? 500 : 5000;
  for (int call = 0; call < calls; ++call) {
    crew.run(5, [&](std::int64_t piece, std::int32_t) { sum += piece; }, {});
    ASSERT_EQ(sum.load(), 10 * (call + 1));
  }
}

TEST(ThreadCrew, AStopEndsACallBeforeItsLastPieceAndTheNextRunsWhole) {
  ThreadCrew crew(2);
  std::stop_source source;
  std::atomic<int> taken{0};
  crew.run(
      1000000,
      [&](std::int64_t, std::int32_t) {
        if (++taken == 10) source.request_stop();
      },
      source.get_token());
  EXPECT_GE(taken.load(), 10);
  EXPECT_LT(taken.load(), 1000);
  taken = 0;
  crew.run(7, [&](std::int64_t, std::int32_t) { ++taken; }, {});
  EXPECT_EQ(taken.load(), 7);
}

TEST(Team, TakesTheStreamsThreadsWhereTheyAreAsManyAndElseOthersOfTheirKind) {
  ThreadCrew crew(3);
  const auto threads_seen = [&](std::int32_t threads, Crew* of_stream) {
    Team team(threads, Stream{{}, nullptr, of_stream});
    std::vector<std::thread::id> ids(static_cast<std::size_t>(threads));
    std::atomic<int> here{0};
    // Each waits for all: so every thread takes a piece.
    team.run(threads, [&](std::int64_t, std::int32_t worker) {
      ids[static_cast<std::size_t>(worker)] = std::this_thread::get_id();
      ++here;
      while (here.load() < threads) std::this_thread::yield();
    });
    return std::set<std::thread::id>(ids.begin(), ids.end());
  };
  const auto first = threads_seen(3, &crew);
  EXPECT_EQ(first.size(), 3U);
  EXPECT_EQ(threads_seen(3, &crew), first);
  EXPECT_EQ(threads_seen(2, &crew).size(), 2U);
  EXPECT_EQ(threads_seen(4, &crew).size(), 4U);
}

// So a program without threads runs every CPU kernel.
TEST(Team, OfAStreamWithoutACrewIsTheCallingThreadWhichTakesThePiecesInOrder) {
  Team team(4, Stream{});
  std::vector<std::int64_t> taken;
  team.run(5, [&](std::int64_t piece, std::int32_t worker) {
    EXPECT_EQ(worker, 0);
    taken.push_back(piece);
  });
  EXPECT_EQ(taken, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(Team, OfOneThreadStopsBetweenPieces) {
  std::stop_source source;
  Team team(1, Stream{source.get_token(), nullptr, nullptr});
  int taken = 0;
  team.run(1000, [&](std::int64_t, std::int32_t) {
    if (++taken == 3) source.request_stop();
  });
  EXPECT_EQ(taken, 3);
  EXPECT_TRUE(team.stopped());
}

TEST(ThreadCrew, OnePieceIsTheCallingThreads) {
  ThreadCrew crew(4);
  for (int call = 0; call < 100; ++call) {
    std::thread::id by;
    crew.run(1,
             [&](std::int64_t, std::int32_t worker) {
               by = std::this_thread::get_id();
               EXPECT_EQ(worker, 0);
             },
             {});
    ASSERT_EQ(by, std::this_thread::get_id());
  }
  std::stop_source stopped;
  stopped.request_stop();
  crew.run(
      1, [](std::int64_t, std::int32_t) { FAIL() << "it was stopped"; }, stopped.get_token());
}

// Of the threads of this process but the calling one: those that sleep.
int sleepers() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(::gettid())) continue;
    std::ifstream file(task.path() / "stat");
    std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    count += stat.substr(stat.rfind(')') + 2, 1) == "S" ? 1 : 0;  // R, starved or not, is awake
  }
  return count;
}

TEST(ThreadCrew, ItsHelpersStayAwakeBetweenCallsWhileItIsKeptWarmAndNoLonger) {
  if (test::asked("ATTNSCOPE_SANITIZED")) GTEST_SKIP() << "a sanitizer's own thread sleeps and wakes beside them";
  const int others = sleepers();
  ThreadCrew crew(3);
  const auto come_to = [&](int asleep) {
    for (int look = 0; look < 500 && sleepers() != asleep; ++look)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return sleepers();
  };
  const auto call = [&] { crew.run(6, [](std::int64_t, std::int32_t) {}, {}); };
  call();
  const int asleep = come_to(others + 2);
  ASSERT_EQ(asleep, others + 2);
  {
    const ThreadCrew::Warm warm(crew);
    call();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // far longer than a helper looks
    EXPECT_EQ(come_to(asleep - 2), asleep - 2);
    call();
  }
  EXPECT_EQ(come_to(asleep), asleep);
}

}  // namespace
}  // namespace attn::cpu
