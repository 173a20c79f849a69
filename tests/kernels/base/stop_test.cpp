#include "kernels/base/stop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <vector>

#include "kernels/base/on_threads.h"
#include "kernels/base/pieces.h"
#include "kernels/model/inputs/inputs.h"

namespace attn {
namespace {

TEST(Stop, IsAskedForByWhoeverItWasMadeOf) {
  EXPECT_FALSE(Stop().stop_requested()) << "nobody asks";
  std::stop_source source;
  const Stop stop = source.get_token();
  const Stop copy = stop;
  EXPECT_FALSE(stop.stop_requested());
  source.request_stop();
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_TRUE(copy.stop_requested());
}

TEST(Stop, KeepsTheTokenThatItWasMadeOf) {
  Stop stop;
  {
    std::stop_source source;
    stop = source.get_token();
    source.request_stop();
  }
  EXPECT_TRUE(stop.stop_requested());
}

TEST(Pieces, AreEachTakenOnceByThreadsAndInTurn) {
  for (const TakePieces& take : {TakePieces(in_turn), TakePieces(on_threads)}) {
    std::vector<std::atomic<int>> taken(100);
    take(100, [&](std::int64_t piece) { ++taken[static_cast<std::size_t>(piece)]; });
    for (const auto& times : taken) EXPECT_EQ(times.load(), 1);
    take(0, [](std::int64_t) { FAIL(); });
  }
}

// Large enough to be cut: a seed means the same numbers with threads and without.
TEST(Pieces, GiveTheSameInputsWhoeverTakesThem) {
  Problem p;
  p.Lq = p.Lk = 40000;
  p.D = p.Dv = 64;
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = 3;
  const auto alone = make_inputs(p, spec), together = make_inputs(p, spec, on_threads);
  ASSERT_TRUE(alone && together);
  EXPECT_EQ(alone->q, together->q);
  EXPECT_EQ(alone->v, together->v);
}

}  // namespace
}  // namespace attn
