// A kernel's heartbeat is taken through the worker, and whatever refuses says why while the row stays.
#include <stop_token>
#include <string>

#include <gtest/gtest.h>

#include "app/worker/client.h"
#include "app/worker/collect.h"
#include "profiling/figures/heartbeat.h"
#include "tests/app/worker/double.h"

namespace attn {
namespace {

Measurement done_row() {
  Measurement row;
  row.state = RowState::done;
  row.key.kernel = "naive";
  return row;
}

TEST(WorkerHeartbeat, HasTheLaunchesOfOneRunOnOneAxisAndAValueAtEachTime) {
  GpuClient client = client_with({});
  const auto h = client.heartbeat(small_point(), {kPlenty, {}});
  ASSERT_TRUE(h) << h.error().message;
  ASSERT_EQ(h->launches.size(), 3U) << "the flush before it is not of the run";
  EXPECT_EQ(h->launches[0].kernel, "naive_scores");
  EXPECT_EQ(h->launches[2].end_us, 60);
  EXPECT_EQ(h->samples.size(), 8U);
  EXPECT_EQ(h->method, "a profiler, PM sampling");
  EXPECT_EQ(h->chip, "GX999");
  EXPECT_EQ(h->interval, 1000);
  EXPECT_EQ(h->tries, 1);
  EXPECT_EQ(h->kernel_us, 250) << "by the double's events";
  EXPECT_EQ(counter_of(*h, "issue")->values, std::vector<double>(8, 1));
  EXPECT_EQ(counter_of(*h, "fma"), nullptr);
  EXPECT_EQ(counter_of(*h, "tensor")->values, std::vector<double>(8, 3));
}

TEST(WorkerHeartbeat, ARunThatLostSamplesIsRunAgainReadLessOften) {
  GpuClient client = client_with({"beats lost once"});
  const auto h = client.heartbeat(small_point(), {kPlenty, {}});
  ASSERT_TRUE(h) << h.error().message;
  EXPECT_EQ(h->tries, 2);
  EXPECT_EQ(h->interval, 2000);
}

TEST(WorkerHeartbeat, WhatRefusesSaysWhyAndTheRowStays) {
  const std::pair<const char*, const char*> faults[] = {{"open_profiler", "libcupti"},
                                                        {"beat", "beat failed"},
                                                        {"beats lost", "lost"},
                                                        {"overflow", "buffer overflowed"}};
  for (const auto& [fault, words] : faults) {
    GpuClient client = client_with({fault});
    Measurement row = done_row();
    beat_row(client, small_point(), {kPlenty, {}}, {}, row);
    EXPECT_EQ(row.state, RowState::done);
    EXPECT_EQ(row.heartbeat, nullptr);
    EXPECT_NE(row.no_heartbeat.find(words), std::string::npos) << row.no_heartbeat;
  }
}

TEST(WorkerHeartbeat, IsCancelledWhileItHangs) {
  GpuClient client = client_with({"beat", Fault::How::hang});
  std::stop_source stop;
  Measurement row = done_row();
  beat_row(
      client, small_point(), {kPlenty, stop.get_token()},
      [&](const std::string& now) {
        if (now.starts_with("reading the heartbeat of naive")) stop.request_stop();
      },
      row);
  EXPECT_TRUE(stop.stop_requested()) << "it never said that it reads";
  EXPECT_EQ(row.heartbeat, nullptr);
  EXPECT_FALSE(row.no_heartbeat.empty());
  Measurement next = done_row();
  beat_row(client, small_point(), {kPlenty, {}}, {}, next);
  EXPECT_NE(next.heartbeat, nullptr) << next.no_heartbeat;
}

TEST(WorkerHeartbeat, ARowThatDidNotRunHasNone) {
  GpuClient client = client_with({});
  Measurement row;
  row.state = RowState::refused;
  row.reason = "too large";
  beat_row(client, small_point(), {kPlenty, {}}, {}, row);
  EXPECT_EQ(row.no_heartbeat, "it did not run: too large");
  EXPECT_EQ(client.worker_id(), -1) << "nobody asked a GPU";
}

}  // namespace
}  // namespace attn
