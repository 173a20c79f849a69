// Turns on a GPU, with no GPU: what the worker is asked where ours and a peer's are timed in turns.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/worker/client.h"
#include "tests/app/worker/double.h"

namespace attn {
namespace {

Point turn_point(const std::string& kernel = "naive") {
  Point p;
  p.kernel = kernel;
  p.problem.Lq = p.problem.Lk = 5;
  p.problem.D = p.problem.Dv = 8;
  return p;
}

TEST(WorkerTurn, KeepsAsManyRepeatsAsWereAskedFor) {
  GpuClient client = client_with({});
  const auto times = client.turn(turn_point(), {2, 7, 0, 1}, {kPlenty, {}});
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(*times, std::vector<double>(7, 250.0));  // the double's events are 0.25 ms apart, the warm-up is not kept
}

TEST(WorkerTurn, KernelsTakeTurnsInOneWorkerAndAgainAfterItLetGo) {
  GpuClient client = client_with({});
  ASSERT_TRUE(client.turn(turn_point(), {1, 1, 0, 1}, {kPlenty, {}}));
  const int worker = client.worker_id();
  ASSERT_TRUE(client.turn(turn_point("tiled"), {1, 1, 0, 1}, {kPlenty, {}}));
  ASSERT_TRUE(client.turn(turn_point(), {1, 1, 0, 1}, {kPlenty, {}}));
  ASSERT_TRUE(client.let_go({kPlenty, {}}));
  ASSERT_TRUE(client.turn(turn_point(), {1, 1, 0, 1}, {kPlenty, {}}));
  EXPECT_EQ(client.worker_id(), worker);
}

TEST(WorkerTurn, ALostWorkerIsAnErrorAndTheNextTurnWorks) {
  GpuClient client = client_with({"record", Fault::How::die});
  const auto lost = client.turn(turn_point(), {1, 3, 0, 1}, {kPlenty, {}});
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message.find("signal 9"), std::string::npos) << lost.error().message;
  EXPECT_TRUE(client.turn(turn_point(), {1, 3, 0, 1}, {kPlenty, {}}));
}

TEST(WorkerTurn, WhatTheKernelDoesNotTakeIsSaid) {
  GpuClient client = client_with({});
  Point p = turn_point("flash_mma");  // f32
  const auto times = client.turn(p, {1, 3, 0, 1}, {kPlenty, {}});
  ASSERT_FALSE(times);
  EXPECT_NE(times.error().message.find("f32"), std::string::npos) << times.error().message;
}

}  // namespace
}  // namespace attn
