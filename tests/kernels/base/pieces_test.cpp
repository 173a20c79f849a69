// A walk that pauses does what it does once and in its order, wherever it pauses.
#include "kernels/base/pieces.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace attn {
namespace {

// Steps side by side and within one another, loops with and without steps of their own, values that last a turn.
class Walk {
 public:
  explicit Walk(WalkMark& mark) : mark_(mark) {}

  void operator()() {
    mark_.once([&] { does("begin"); }, kAsked);
    mark_.each(0, 3, [&](std::int64_t n) {
      auto& own = mark_.kept<std::vector<std::int64_t>>();
      mark_.each(2, 5, [&](std::int64_t m) {
        mark_.once([&] { own.push_back(n * 10 + m); }, kAsked);
        if (!mark_.skips(kAsked)) does("m" + std::to_string(m));
      });
      mark_.once([&] { does(std::to_string(own.size()) + ":" + std::to_string(own.back())); }, kAsked);
    });
    mark_.each(
        0, 4, [&](std::int64_t n) { does("leaf" + std::to_string(n)); }, kAsked);
    mark_.each(0, 0, [&](std::int64_t) { does("never"); });
    auto& left = mark_.kept<int>(3);
    const auto again = [&] {
      does("again");
      return --left > 0;
    };
    mark_.repeat(again, kAsked);
    mark_.blocks(40, WalkMark::kBlock / 16,
                 [&](std::int64_t first, std::int64_t n) { does(std::to_string(first) + "+" + std::to_string(n)); });
    mark_.once([&] {
      mark_.once([&] { does("within"); });
      mark_.each(0, 2, [&](std::int64_t n) { does("within" + std::to_string(n)); });
    });
  }
  const std::vector<std::string>& done() const { return done_; }

 private:
  static constexpr std::int64_t kAsked = WalkMark::kLook;  // after each of these the pause is asked
  void does(std::string what) { done_.push_back(std::move(what)); }
  WalkMark& mark_;
  std::vector<std::string> done_;
};

std::vector<std::string> in_one_go() {
  WalkMark mark;
  Walk walk(mark);
  EXPECT_TRUE(mark.go_on([&] { walk(); }, {}));
  return walk.done();
}

TEST(WalkMark, InOneGoAllIsDoneInItsOrder) {
  const std::vector<std::string> done = in_one_go();
  const std::vector<std::string> begins = {"begin", "m2", "m3", "m4", "3:4", "m2", "m3", "m4", "3:14"};
  ASSERT_GT(done.size(), begins.size());
  EXPECT_EQ(std::vector(done.begin(), done.begin() + static_cast<std::ptrdiff_t>(begins.size())), begins);
  const std::vector<std::string> ends = {"again", "again",  "again",   "0+16",   "16+16",
                                         "32+8",  "within", "within0", "within1"};
  EXPECT_EQ(std::vector(done.end() - static_cast<std::ptrdiff_t>(ends.size()), done.end()), ends);
}

TEST(WalkMark, PausedAnywhereItDoesTheSame) {
  const std::vector<std::string> whole = in_one_go();
  // Asked the nth time it pauses; at each call n is the same.
  for (int often = 1; often < 6; ++often) {
    WalkMark mark;
    Walk walk(mark);
    int calls = 0;
    for (bool through = false; !through; ++calls) {
      ASSERT_LT(calls, 1000);
      int asked = 0;
      through = mark.go_on([&] { walk(); }, [&] { return ++asked >= often; });
    }
    EXPECT_EQ(walk.done(), whole) << often;
    EXPECT_GT(calls, 20 / often);
  }
}

TEST(WalkMark, ThePauseIsAskedAfterSoMuchWork) {
  WalkMark mark;
  int asked = 0;
  const auto walk = [&] { mark.each(0, 1024, [&](std::int64_t) { mark.once([] {}, 1024); }); };
  mark.go_on(walk, [&] {
    ++asked;
    return false;
  });
  EXPECT_GE(asked, 1024 * 1024 / (2 * WalkMark::kLook));
  EXPECT_LE(asked, 2 * 1024 * 1024 / WalkMark::kLook);
}

TEST(WalkMark, ABlockIsSixteenRowsOrAMultipleOrFewerThatCostAsMuch) {
  const auto largest = [](std::int64_t rows, std::int64_t cost_each) {
    WalkMark mark;
    std::int64_t most = 0, all = 0;
    const auto walk = [&] {
      mark.blocks(rows, cost_each, [&](std::int64_t first, std::int64_t n) {
        EXPECT_EQ(first, all);
        most = std::max(most, n);
        all += n;
      });
    };
    mark.go_on(walk, {});
    EXPECT_EQ(all, rows);
    return most;
  };
  EXPECT_EQ(largest(1000, 1), 1000);
  EXPECT_EQ(largest(1000, WalkMark::kBlock / 50), 48);
  EXPECT_EQ(largest(1000, WalkMark::kBlock / 16), 16);
  EXPECT_EQ(largest(1000, WalkMark::kBlock / 5), 5);
  EXPECT_EQ(largest(7, WalkMark::kBlock), 1);
  EXPECT_EQ(largest(7, WalkMark::kBlock * 4), 1);
}

TEST(WalkMark, WhatItKeepsEndsWithTheTurnOrWithTheMark) {
  std::vector<std::weak_ptr<int>> made;
  {
    WalkMark mark;
    const auto walk = [&] {
      mark.each(0, 4, [&](std::int64_t) {
        auto& kept = mark.kept<std::shared_ptr<int>>();
        mark.once([&] {
          kept = std::make_shared<int>(1);
          made.push_back(kept);
        });
        mark.once([] {}, WalkMark::kLook);
        mark.once([] {});
      });
    };
    for (int call = 0; call < 3; ++call) EXPECT_FALSE(mark.go_on(walk, [] { return true; }));
    ASSERT_EQ(made.size(), 3U);
    EXPECT_TRUE(made[0].expired());
    EXPECT_TRUE(made[1].expired());
    EXPECT_FALSE(made[2].expired());
  }
  EXPECT_TRUE(made[2].expired());
}

}  // namespace
}  // namespace attn
