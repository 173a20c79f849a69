// Queries and keys dealt to the ranks of a ring: in one process, and as ranks that know what they were dealt alone.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/ring.h"
#include "kernels/cpu/run.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/ring.h"
#include "kernels/recording/recording.h"
#include "tests/kernels/cpu/right.h"

namespace attn {
namespace {

using test::flash;

Options ring_of_ranks(std::int64_t ranks, bool zigzag = false, std::int32_t side = 16) {
  Options o;
  o.br = o.bc = side;
  choose(o, kRanks, ranks);
  choose(o, kDeal, zigzag ? 1 : 0);
  return o;
}

Inputs inputs(const Problem& p) {
  return test::normal_inputs(p, 11);
}

Problem square(std::int64_t L) {
  Problem p;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = p.Lk = L;
  p.D = 20;
  p.Dv = 24;
  return p;
}

void expect_right(const Problem& p, const Options& o) {
  test::expect_right(p, o, inputs(p), std::to_string(ranks_of(o)) + " ranks");
}

TEST(Ring, EveryTileIsDealtToOneRank) {
  for (const bool zigzag : {false, true}) {
    for (const std::int64_t ranks : {1, 2, 3, 5, 8}) {
      for (const std::int64_t tiles : {1, 2, 7, 16, 33}) {
        const Ring ring{ranks, zigzag, tiles, tiles};
        std::vector<int> owners(static_cast<std::size_t>(tiles));
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          for (std::int64_t n = 0; n < ring.chunks_each(); ++n) {
            const std::int64_t chunk = ring.chunk(rank, n);
            EXPECT_EQ(ring.rank_of_chunk(chunk), rank);
            for (std::int64_t t = ring.queries().first(chunk); t < ring.queries().end(chunk); ++t) {
              ++owners[static_cast<std::size_t>(t)];
              EXPECT_EQ(ring.rank_of_queries(t), rank);
            }
          }
        }
        EXPECT_EQ(std::ranges::count(owners, 1), tiles) << ranks << " ranks, " << tiles << " tiles";
      }
    }
  }
}

TEST(Ring, EveryRankSeesEveryShareOnceAndItsLeftNeighboursNext) {
  for (const std::int64_t ranks : {1, 2, 3, 8}) {
    const Ring ring{ranks, false, ranks, ranks};
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      std::vector<int> seen(static_cast<std::size_t>(ranks));
      for (std::int64_t turn = 0; turn < ranks; ++turn) {
        ++seen[static_cast<std::size_t>(ring.share(rank, turn))];
        if (turn > 0) {
          EXPECT_EQ(ring.share(ring.right_of(rank), turn), ring.share(rank, turn - 1));
        }
      }
      EXPECT_EQ(ring.share(rank, 0), rank);
      EXPECT_EQ(std::ranges::count(seen, 1), ranks);
    }
  }
}

// Under a causal mask the pairs of tiles that a rank computes: alike by zigzag, from few to many in order.
TEST(Ring, ZigzagGivesEveryRankTheSameWorkUnderACausalMask) {
  const std::int64_t ranks = 4, tiles = 32;
  const auto pairs = [&](bool zigzag) {
    const Ring ring{ranks, zigzag, tiles, tiles};
    std::vector<std::int64_t> of(static_cast<std::size_t>(ranks));
    for (std::int64_t i = 0; i < tiles; ++i) of[static_cast<std::size_t>(ring.rank_of_queries(i))] += i + 1;
    return of;
  };
  EXPECT_EQ(pairs(true), (std::vector<std::int64_t>{132, 132, 132, 132}));
  EXPECT_EQ(pairs(false), (std::vector<std::int64_t>{36, 100, 164, 228}));
}

TEST(Ring, IsRightForEveryNumberOfRanksMaskAndDeal) {
  for (const bool zigzag : {false, true}) {
    for (const std::int64_t ranks : {2, 3, 5, 8}) {
      for (const std::int64_t L : {1, 45}) {
        Problem p = square(L);
        expect_right(p, ring_of_ranks(ranks, zigzag));
        p.mask.causal = true;
        p.dtype = ranks == 3 ? DType::bf16 : DType::f32;
        expect_right(p, ring_of_ranks(ranks, zigzag));
        p.mask = {.window_left = 9, .key_lengths = {0, L}};
        expect_right(p, ring_of_ranks(ranks, zigzag));
      }
    }
  }
}

TEST(Ring, TakesWhatTheForwardTakes) {
  Problem p = square(70);
  p.Lk = 117;
  p.dtype = DType::f16;
  p.bias_shape = {1, 4, 70, 117};
  p.softcap = 4;
  p.alibi.emplace();
  Options o = ring_of_ranks(3, true);
  expect_right(p, o);
  o.key_order = KeyOrder::right_to_left;
  expect_right(p, o);
}

TEST(Ring, GivesTheSameBitsWithAnyNumberOfThreads) {
  Problem p = square(100);
  p.mask.causal = true;
  const Inputs in = inputs(p);
  const Outputs first = *run_on_cpu(flash(), p, ring_of_ranks(3, true), in, 0, {});
  for (const std::int32_t threads : {1, 2, 3}) {
    Options o = ring_of_ranks(3, true);
    o.threads = threads;
    EXPECT_TRUE(same_bits(*run_on_cpu(flash(), p, o, in, 0, {}), first)) << threads;
  }
}

TEST(Ring, OfOneRankIsTheKernelAsItWas) {
  const Problem p = square(90);
  const Inputs in = inputs(p);
  Options plain;
  plain.br = plain.bc = 16;
  EXPECT_TRUE(
      same_bits(*run_on_cpu(flash(), p, ring_of_ranks(1), in, 0, {}), *run_on_cpu(flash(), p, plain, in, 0, {})));
  EXPECT_TRUE(resolve(flash(), ring_of_ranks(1), cpu_device())->further.empty());
}

TEST(Ring, SaysWhatItIsNot) {
  const Problem p = square(40);
  Options both = ring_of_ranks(2);
  choose(both, kSplits, 3);
  const auto cut_twice = run_on_cpu(flash(), p, both, inputs(p), 0, {});
  ASSERT_FALSE(cut_twice);
  EXPECT_NE(cut_twice.error().message.find("ranks=2 and splits=3"), std::string::npos) << cut_twice.error().message;
  const auto recorded = flash().record(flash(), p, both, inputs(p), {});
  ASSERT_FALSE(recorded);
  EXPECT_NE(recorded.error().message.find("ranks=2 and splits=3"), std::string::npos) << recorded.error().message;
  Problem paged = p;
  paged.storage = {16, 8};
  const auto in_pages = flash().plan(flash(), paged, ring_of_ranks(2), cpu_device());
  ASSERT_FALSE(in_pages);
  EXPECT_NE(in_pages.error().message.find("dense K and V"), std::string::npos) << in_pages.error().message;
}

}  // namespace
}  // namespace attn
