// A ring of GPUs without a GPU: who computes which pairs, how rows are packed, what is said of ranks that are lost.
#include "app/ring/gpu/gpu_ring.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <vector>

#include "app/ring/gpu/forecast.h"
#include "app/ring/gpu/messages.h"
#include "app/ring/gpu/turns.h"
#include "app/worker/messages.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/model/inputs/inputs.h"

namespace attn {
namespace {

GpuTurns some_turns(std::int64_t ranks, GpuDeal deal, bool causal, std::int64_t length) {
  return {ranks, deal, causal, length, 4, 2};
}

// Where in the sequence a rank's n-th row lies.
std::vector<std::int64_t> places(const GpuTurns& t, std::int64_t rank) {
  std::vector<std::int64_t> all;
  for (const DealtRows& r : t.rows_of(rank))
    for (std::int64_t n = r.first; n < r.last; ++n) all.push_back(n);
  return all;
}

// How often each pair of query and key is computed, head by head of the first one that a rank has.
std::vector<int> computed(const GpuTurns& t) {
  std::vector<int> times(static_cast<std::size_t>(t.length * t.length), 0);
  for (std::int64_t rank = 0; rank < t.ranks; ++rank) {
    const auto own = places(t, rank);
    for (std::int64_t n = 0; n < t.turns(); ++n) {
      const GpuTurn work = t.turn(rank, n);
      const auto theirs = places(t, work.share);
      for (std::int64_t q = 0; q < work.queries.count(); ++q) {
        const std::int64_t seen = work.causal ? q + 1 + work.keys.count() - work.queries.count() : work.keys.count();
        for (std::int64_t k = 0; k < seen; ++k)
          ++times[static_cast<std::size_t>(own[static_cast<std::size_t>(work.queries.first + q)] * t.length +
                                           theirs[static_cast<std::size_t>(work.keys.first + k)])];
      }
    }
  }
  return times;
}

TEST(GpuTurns, EveryPairThatTheMaskLetsSeeIsComputedOnce) {
  for (const std::int64_t ranks : {1, 2, 3, 4, 5, 8})
    for (const GpuDeal deal : {GpuDeal::in_order, GpuDeal::zigzag})
      for (const bool causal : {false, true})
        for (const std::int64_t length : {16, 48, 61}) {
          const GpuTurns t = some_turns(ranks, deal, causal, length);
          const auto times = computed(t);
          for (std::int64_t q = 0; q < length; ++q)
            for (std::int64_t k = 0; k < length; ++k)
              ASSERT_EQ(times[static_cast<std::size_t>(q * length + k)], causal && k > q ? 0 : 1)
                  << ranks << " ranks, query " << q << ", key " << k;
        }
}

TEST(GpuTurns, ZigzagGivesAllRanksEqualWorkInEveryTurn) {
  for (const std::int64_t ranks : {2, 4, 8}) {
    const GpuTurns t = some_turns(ranks, GpuDeal::zigzag, true, 2 * ranks * 32);
    for (std::int64_t n = 0; n < t.turns(); ++n)
      for (std::int64_t rank = 1; rank < ranks; ++rank) EXPECT_EQ(t.pairs(rank, n), t.pairs(0, n)) << n;
  }
  const GpuTurns in_order = some_turns(2, GpuDeal::in_order, true, 128);
  EXPECT_TRUE(in_order.turn(0, 1).idle());
  EXPECT_FALSE(in_order.turn(1, 1).idle());
}

TEST(GpuTurns, PairsAddUpToTheMasks) {
  for (const std::int64_t ranks : {1, 2, 3}) {
    const GpuTurns t = some_turns(ranks, GpuDeal::zigzag, true, 60);
    double sum = 0;
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      for (std::int64_t n = 0; n < t.turns(); ++n) sum += t.pairs(rank, n);
    EXPECT_EQ(sum, 4 * 60 * 61 / 2);
  }
}

TEST(GpuTurns, HeadsThatShareKeysStayTogether) {
  GpuTurns t = some_turns(2, GpuDeal::heads, true, 32);
  EXPECT_EQ(t.turns(), 1);
  EXPECT_EQ(t.heads_of(0).last, 2);
  EXPECT_EQ(t.heads_of(1).first, 2);
  EXPECT_EQ(t.kv_heads_of(1).first, 1);
  EXPECT_EQ(t.rows_of(1).front().count(), 32);
  t.ranks = 1;
  EXPECT_EQ(t.heads_of(0).count(), 4);
}

Problem small_problem() {
  Problem p;
  p.Lq = p.Lk = 24;
  p.Hq = 4, p.Hkv = 2, p.D = p.Dv = 8;
  p.dtype = DType::f16;
  return p;
}

TEST(GpuRing, RowsComeBackToTheirPlaces) {
  const Problem p = small_problem();
  const auto in = make_inputs(p, {});
  ASSERT_TRUE(in);
  for (const GpuDeal deal : {GpuDeal::in_order, GpuDeal::zigzag, GpuDeal::heads}) {
    const GpuTurns t = some_turns(2, deal, false, p.Lq);
    Array back(p.dtype, {1, p.Hq, p.Lq, p.D});
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      const auto rows = t.rows_of(rank);
      std::vector<std::byte> block;
      take_rows(in->q, rows, t.heads_of(rank), block);
      ASSERT_EQ(block.size(), static_cast<std::size_t>(t.count_of(rank) * t.heads_of(rank).count() * p.D * 2));
      // [rows, heads, width]: the second head's first row comes right behind the first head's.
      const std::size_t row = static_cast<std::size_t>(p.D) * 2;
      const std::size_t second = static_cast<std::size_t>((t.heads_of(rank).first + 1) * p.Lq + rows[0].first) * row;
      EXPECT_TRUE(std::equal(block.begin() + static_cast<std::ptrdiff_t>(row),
                             block.begin() + static_cast<std::ptrdiff_t>(2 * row), in->q.data() + second));
      put_rows(block, rows, t.heads_of(rank), back);
    }
    EXPECT_TRUE(std::equal(back.data(), back.data() + back.bytes(), in->q.data()));
  }
}

GpuRingRequest two_gpus() {
  GpuRingRequest r;
  r.gpus = {0, 1};
  r.kernel = "flash_hopper";
  return r;
}

TEST(GpuRing, WhatItDoesNotTakeIsRefusedInWords) {
  const auto refused = [](Problem p, const GpuRingRequest& r, const char* words) {
    const auto good = check_gpu_ring(p, r);
    ASSERT_FALSE(good) << words;
    EXPECT_NE(good.error().message.find(words), std::string::npos) << good.error().message;
  };
  EXPECT_TRUE(check_gpu_ring(small_problem(), two_gpus()));
  Problem p = small_problem();
  p.dtype = DType::f32;
  refused(p, two_gpus(), "f16 and bf16");
  p = small_problem(), p.B = 2;
  refused(p, two_gpus(), "B = 1");
  p = small_problem(), p.Lk = 12;
  refused(p, two_gpus(), "the same number of keys");
  p = small_problem(), p.D = 12;
  refused(p, two_gpus(), "multiples of 8");
  p = small_problem(), p.mask.window_left = 3;
  refused(p, two_gpus(), "omit window");
  p = small_problem(), p.Lq = p.Lk = 3;
  refused(p, two_gpus(), "3 rows");
  GpuRingRequest twice = two_gpus();
  twice.gpus = {1, 1};
  refused(small_problem(), twice, "twice");
  GpuRingRequest heads = two_gpus();
  heads.gpus = {0, 1, 2}, heads.deal = GpuDeal::heads;
  refused(small_problem(), heads, "2 KV heads");
}

TEST(GpuRing, MessagesComeBackAsTheyWere) {
  GpuOpenRequest r;
  r.rank = 1, r.gpu = 7, r.kernel = "k", r.problem = small_problem(), r.travel = Travel::nccl, r.spared_sms = 4;
  r.problem.mask.causal = true;
  r.turns = turns_of(r.problem, two_gpus());
  r.nccl_folder = "/x";
  const auto open = gpu_open_from(to_json(r));
  ASSERT_TRUE(open);
  EXPECT_EQ(to_json(*open), to_json(r));
  EXPECT_TRUE(open->turns.causal);
  EXPECT_EQ(open->turns.length, 24);

  GpuConnectRequest c;
  c.left.flags[3] = std::byte{0xab}, c.right.slots[1][63] = std::byte{0x01}, c.id[127] = std::byte{0xff};
  c.right.sums[1][0] = std::byte{0x12};
  const auto connect = gpu_connect_from(to_json(c));
  ASSERT_TRUE(connect);
  EXPECT_EQ(connect->left, c.left);
  EXPECT_EQ(connect->right, c.right);
  EXPECT_EQ(connect->id, c.id);

  GpuRankTimes t;
  t.spans = {{RankWork::send, 0, 1.5, 2.5}};
  t.merge_us = 3, t.barrier_us = 4, t.sent_bytes = 5, t.sm_clock_mhz = 6, t.host_us = 7;
  const auto times = gpu_times_from(to_json(t));
  ASSERT_TRUE(times);
  EXPECT_EQ(to_json(*times), to_json(t));

  auto broken = to_json(c);
  broken["id"] = "12";
  EXPECT_FALSE(gpu_connect_from(broken));
  auto no_rank = to_json(r);
  no_rank["rank"] = 2;
  EXPECT_FALSE(gpu_open_from(no_rank));
  auto no_deal = to_json(r);
  no_deal["deal"] = 3;
  EXPECT_FALSE(gpu_open_from(no_deal));
}

// A turn of two: half of a half of all pairs, then the other; travelling is hidden unless it takes longer.
TEST(GpuRing, ForecastTakesTheSlowerOfComputingAndTravelling) {
  GpuTurns t = some_turns(2, GpuDeal::zigzag, false, 1000);
  RingRates rates{.us_a_pair = 1e-3, .link_bytes_a_us = 1e9, .us_a_merged_row = 0, .bytes_a_key = 64};
  const double one = 4 * 1000.0 * 1000.0 * 1e-3;
  EXPECT_NEAR(forecast_us(t, rates), one / 2, 1e-6);
  rates.us_a_merged_row = 0.5;
  EXPECT_NEAR(forecast_us(t, rates), one / 2 + 500 * 4 * 0.5, 1e-6);
  rates.us_a_merged_row = 0;
  rates.link_bytes_a_us = 16;  // 500 keys of 64 bytes: 2000 us, twice what a turn computes
  EXPECT_NEAR(forecast_us(t, rates), one / 4 + 2000, 1e-6);
  rates.link_bytes_a_us = 64;  // 500 us: hidden
  EXPECT_NEAR(forecast_us(t, rates), one / 2, 1e-6);
  t.deal = GpuDeal::heads;
  EXPECT_NEAR(forecast_us(t, rates), one / 2, 1e-6);
}

// 500 queries in tiles of 100 are 5 a head, 20 in all: on 16 multiprocessors two rounds, the second with 4.
TEST(GpuRing, ForecastPaysForTheLastRoundOfTiles) {
  const GpuTurns t = some_turns(2, GpuDeal::zigzag, false, 1000);
  const RingRates rates{.us_a_pair = 1e-3, .tile_rows = 100, .sms = 16, .link_bytes_a_us = 1e9};
  EXPECT_NEAR(last_round(500, 4, rates), 32.0 / 20, 1e-9);
  EXPECT_NEAR(last_round(0, 4, rates), 1, 1e-9);
  EXPECT_NEAR(forecast_us(t, rates), 4 * 1000.0 * 1000.0 * 1e-3 / 2 * 1.6, 1e-6);
  // Turn 0 is causal, and its short tiles fill the end.
  const GpuTurns causal = some_turns(2, GpuDeal::zigzag, true, 1000);
  EXPECT_NEAR(forecast_us(causal, rates), 4 * 1e-3 * (500 * 501 / 2.0 + 500 * 250 * 32 / 20.0), 1e-6);
}

// Two turns of 1000 us, 500 keys a rank: K and V are sent in turn 0, the sums of turn 0 in turn 1, those of turn 1
// home.
TEST(GpuRing, ForecastOfABackwardSendsItsSumsATurnBehindAndHome) {
  const GpuTurns t = some_turns(2, GpuDeal::zigzag, false, 1000);
  RingRates rates{.us_a_pair = 1e-3, .link_bytes_a_us = 1e9, .bytes_a_key = 64, .sums_bytes_a_key = 128};
  const double turn = 4 * 500 * 500 * 1e-3;
  EXPECT_NEAR(forecast_us(t, rates), 2 * turn, 1e-3);
  rates.link_bytes_a_us = 64;  // K and V 500 us and the sums 1000: hidden, but not their way home
  EXPECT_NEAR(forecast_us(t, rates), 2 * turn + 1000, 1e-6);
  rates.link_bytes_a_us = 32;  // K and V 1000 us, the sums 2000 in turn 1 and again home
  EXPECT_NEAR(forecast_us(t, rates), turn + 2000 + 2000, 1e-6);
  rates.us_a_merged_row = 0.5;  // of two heads of 500 keys, which come first
  EXPECT_NEAR(forecast_us(t, rates), turn + 2000 + 500 + 2000, 1e-6);
  rates.us_a_rounded_key = 0.3, rates.us_a_rounded_query = 0.1;  // 300 us after the way, 200 hidden in it
  EXPECT_NEAR(forecast_us(t, rates), turn + 2000 + 500 + 2000 + 300, 1e-6);
  rates.us_a_rounded_query = 1.5;  // 3000 us: longer than the way
  EXPECT_NEAR(forecast_us(t, rates), turn + 2000 + 500 + 3000 + 300, 1e-6);
  GpuTurns one = t;
  one.ranks = 1;
  EXPECT_NEAR(forecast_us(one, rates), 4 * turn, 1e-6) << "nothing travels, is added or goes home";
}

// Four ranks of 250 keys: in the turns between, K, V and the sums share the link.
TEST(GpuRing, ForecastOfABackwardLetsKeysAndSumsShareTheLink) {
  const GpuTurns t = some_turns(4, GpuDeal::in_order, false, 1000);
  const RingRates rates{.us_a_pair = 1e-6, .link_bytes_a_us = 1, .bytes_a_key = 2, .sums_bytes_a_key = 3};
  EXPECT_NEAR(forecast_us(t, rates), 250 * (2 + 5 + 5 + 3 + 3), 1e-6);
}

// 1000 rows of 4 heads, 2 of keys, on two ranks, f16, D = 64; one GPU takes 4400 us. A tile is 128 keys: 16 in all on
// 10 multiprocessors are two rounds where 1.6 would do. All by hand.
TEST(GpuRing, RatesOfABackwardAreThoseThatItsRunMeasured) {
  Problem p;
  p.pass = Pass::backward;
  p.Hq = 4, p.Hkv = 2, p.Lq = p.Lk = 1000, p.D = p.Dv = 64, p.dtype = DType::f16;
  GpuOpened opened;
  opened.sms = 10;
  opened.options.br = 64, opened.options.bc = 128;
  std::vector<GpuRankTimes> ranks(2);
  for (std::size_t n = 0; n < 2; ++n) {
    ranks[n].merge_us = n == 0 ? 40 : 60;
    ranks[n].spans = {{RankWork::compute, 1, 0, 900},
                      {RankWork::compute, 2, 1000, 1030},
                      {RankWork::wait, 2, 1030, 1500},
                      {RankWork::compute, 2, 1500, 1520}};
  }
  const GpuTurns t = some_turns(2, GpuDeal::zigzag, false, 1000);
  const RingRates rates =
      rates_of({.problem = p, .turns = t, .opened = opened, .one_gpu_us = 4400, .link_bytes_a_us = 77, .ranks = ranks});
  EXPECT_TRUE(rates.backward());
  EXPECT_EQ(rates.tile_rows, 128);
  EXPECT_EQ(rates.bytes_a_key, 2 * 128 * 2);
  EXPECT_EQ(rates.sums_bytes_a_key, 2 * 128 * 4);
  EXPECT_EQ(rates.link_bytes_a_us, 77);
  EXPECT_NEAR(rates.us_a_pair, 4400 / (4 * 1e6) / (20.0 / 16), 1e-12);
  EXPECT_NEAR(rates.us_a_merged_row, 100.0 / (2 * 500 * 2), 1e-12) << "of keys, in turn 1 alone";
  EXPECT_NEAR(rates.us_a_rounded_query, 60.0 / (1000 * 4), 1e-12);
  EXPECT_NEAR(rates.us_a_rounded_key, 40.0 / (1000 * 2), 1e-12);
  EXPECT_NEAR(forecast_us({1, GpuDeal::zigzag, false, 1000, 4, 2}, rates), 4400, 1e-9);
}

// docs/ring.md, measured on 2 H200s at 32k: 38.02 ms on one, 20.01 ms on two, 0.82 ms of them the way home, at 378 to
// 388 GB/s. The model knows nothing of the ring but its adding and its rounding.
TEST(GpuRing, ForecastOfABackwardIsNearWhatTwoGpusMeasured) {
  Problem p;
  p.pass = Pass::backward;
  p.Hq = p.Hkv = 16, p.Lq = p.Lk = 32768, p.D = p.Dv = 128, p.dtype = DType::f16;
  GpuOpened opened;
  opened.sms = 132;
  opened.options.br = 64, opened.options.bc = 128;
  const GpuTurns t{2, GpuDeal::zigzag, false, 32768, 16, 16};
  const RingRates rates =
      rates_of({.problem = p, .turns = t, .opened = opened, .one_gpu_us = 38020, .link_bytes_a_us = 383e3});
  EXPECT_NEAR(forecast_us(t, rates), 20010, 0.03 * 20010);
}

TEST(GpuRing, RunsAreFromTheFirstStartToTheLastEnd) {
  GpuRingRun run;
  run.ranks.resize(2);
  run.ranks[0].spans = {{RankWork::compute, 0, 2, 10}, {RankWork::send, 0, 1, 4}};
  run.ranks[1].spans = {{RankWork::compute, 0, 3, 12}};
  EXPECT_EQ(run.us(), 11);
}

Problem backward_problem() {
  Problem p = small_problem();
  p.pass = Pass::backward;
  p.D = p.Dv = 64;
  return p;
}

constexpr const char* kWaits = R"({"is": "news", "turn": 0, "waits": true})";

// Ranks that do as they are told up to a point; the first never comes to the end of a run.
Result<GpuRingProcesses> ring_with(const std::function<int(Socket&)>& second, double seconds,
                                   const Problem& p = small_problem()) {
  int started = 0;
  const auto in = make_all_inputs(p, {}, in_turn, 0, Stream{});
  EXPECT_TRUE(in);
  const auto good = [](Socket& asker) {
    while (auto message = asker.receive({})) {
      if (message->text.find("\"go\"") != std::string::npos) {
        (void)asker.send(kWaits, {}, {});
        ::pause();
      }
      const bool opens = message->text.find("\"open\"") != std::string::npos;
      (void)asker.send(opens ? to_json(GpuOpened{}).dump() : R"({"is": "ready"})", {}, {});
    }
    return 0;
  };
  GpuRingRequest r = two_gpus();
  if (p.pass == Pass::backward) r.kernel = kGpuBackwardRingKernel;
  return GpuRingProcesses::start(p, r, *in, {seconds, {}}, [&] { return Child::copy(started++ == 1 ? second : good); });
}

TEST(GpuRing, ARankThatDiesIsNamed) {
  const auto ring = ring_with(
      [](Socket& asker) {
        (void)asker.receive({});
        ::raise(SIGKILL);
        return 0;
      },
      20);
  ASSERT_FALSE(ring);
  EXPECT_NE(ring.error().message.find("Rank 1 of 2 exited unexpectedly"), std::string::npos) << ring.error().message;
  EXPECT_NE(ring.error().message.find("signal 9"), std::string::npos) << ring.error().message;
}

TEST(GpuRing, ARankThatIsSilentIsNamed) {
  const auto ring = ring_with(
      [](Socket& asker) {
        (void)asker.receive({});
        ::pause();
        return 0;
      },
      0.5);
  ASSERT_FALSE(ring);
  EXPECT_NE(ring.error().message.find("Rank 1 of 2 did not report for 0.5 s"), std::string::npos)
      << ring.error().message;
}

// On GPUs all is enqueued, and then all ranks wait: the one that is stopped is known by that alone.
TEST(GpuRing, ARankThatIsStoppedInItsRunIsNamedWhicheverThePass) {
  for (const Problem& p : {small_problem(), backward_problem()}) {
    auto ring = ring_with(
        [](Socket& asker) {
          (void)asker.receive({});
          (void)asker.send(to_json(GpuOpened{}).dump(), {}, {});
          (void)asker.receive({});
          (void)asker.send(R"({"is": "ready"})", {}, {});
          (void)asker.receive({});
          (void)asker.send(kWaits, {}, {});
          ::raise(SIGSTOP);
          return 0;
        },
        0.5, p);
    ASSERT_TRUE(ring) << ring.error().message;
    const auto run = ring->go({0.5, {}});
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().message,
              "Rank 1 of 2, stopped by a signal, did not report for 0.5 s in turn 0, so the ring was stopped.");
  }
}

TEST(GpuRing, ARanksOwnErrorIsTold) {
  const auto ring = ring_with(
      [](Socket& asker) {
        (void)asker.receive({});
        const Error none{ErrorKind::cannot_run, "there is no GPU 7: this machine has 2"};
        (void)asker.send(error_json(none, false).dump(), {}, {});
        return 1;
      },
      20);
  ASSERT_FALSE(ring);
  EXPECT_NE(ring.error().message.find("there is no GPU 7"), std::string::npos) << ring.error().message;
}

}  // namespace
}  // namespace attn
