// A backward over a ring of processes: bit for bit what one process gives that walks the same ring.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "app/ring/ring.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/run.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/ring.h"
#include "tests/app/ring/copied_rank.h"

namespace attn {
namespace {

Problem small() {
  Problem p;
  p.pass = Pass::backward;
  p.Hq = 4, p.Hkv = 2;
  p.Lq = 70, p.Lk = 90;
  p.D = 20, p.Dv = 24;
  p.dtype = DType::f16;
  p.mask.window_right = 0;
  return p;
}

Inputs complete(const Problem& p) {
  InputSpec spec;
  spec.generator = Generator::normal;
  spec.seed = 5;
  auto in = make_all_inputs(p, spec, in_turn, 0, Stream{});
  EXPECT_TRUE(in);
  return *in;
}

Options ring_of_ranks(std::int64_t ranks, bool zigzag) {
  Options o;
  o.br = 8, o.bc = 8, o.threads = 2;
  choose(o, kRanks, ranks);
  choose(o, kDeal, zigzag ? 1 : 0);
  return o;
}

// Of all keys K and V go once past every rank but the last, dK and dV in f32 past every rank and home.
TEST(BackwardRing, ProcessesGiveTheBitsOfOneProcess) {
  const Problem p = small();
  const Inputs in = complete(p);
  const KernelRow& row = **ring_kernel(Pass::backward);
  EXPECT_EQ(row.id, "cpu_flash_bwd");
  for (const bool zigzag : {false, true}) {
    for (const std::int64_t ranks : {1, 2, 3, 5, 8}) {
      const Options o = ring_of_ranks(ranks, zigzag);
      auto ring = RingProcesses::start(row, p, o, in, {60, {}}, copied_rank);
      ASSERT_TRUE(ring) << ring.error().message;
      Outputs out;
      for (int repeat = 0; repeat < 2; ++repeat) {
        const auto run = ring->go(out, {60, {}});
        ASSERT_TRUE(run) << run.error().message;
        std::uint64_t sent = 0;
        for (const RankTimes& r : run->ranks) sent += r.sent_bytes;
        const auto numbers = static_cast<std::uint64_t>(p.Hkv * p.Lk * (p.D + p.Dv));
        const auto n = static_cast<std::uint64_t>(ranks);
        EXPECT_EQ(sent, ranks == 1 ? 0 : numbers * (2 * (n - 1) + 4 * n)) << ranks;
      }
      const auto alone = run_on_cpu(row, p, o, in, 0, {});
      ASSERT_TRUE(alone) << alone.error().message;
      EXPECT_TRUE(same_bits(*alone, out)) << ranks << (zigzag ? " by zigzag" : " in order");
    }
  }
}

// In the middle of a run; the words and the limit are a forward's.
TEST(BackwardRing, ARankThatIsStoppedIsNamed) {
  const Problem p = small();
  const Inputs in = complete(p);
  int started = 0;
  const auto second_stops = [&](Socket& left, Socket& right) {
    if (started++ != 1) return copied_rank(left, right);
    return Child::copy([](Socket& asker) {
      (void)asker.receive({});
      (void)asker.send(R"({"is": "ready"})", {}, {});
      (void)asker.receive({});
      ::raise(SIGSTOP);
      return 0;
    });
  };
  auto ring =
      RingProcesses::start(**ring_kernel(Pass::backward), p, ring_of_ranks(3, true), in, {60, {}}, second_stops);
  ASSERT_TRUE(ring) << ring.error().message;
  Outputs out;
  const auto run = ring->go(out, {0.5, {}});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message,
            "Rank 1 of 3, stopped by a signal, did not report for 0.5 s in turn 0, so the ring was stopped.");
}

}  // namespace
}  // namespace attn
