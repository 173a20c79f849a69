// The instructions of a kernel are counted through the worker, and whatever refuses says why while the row stays.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "app/worker/client.h"
#include "app/worker/collect.h"
#include "app/worker/disassemble.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/sampled_lines.h"
#include "tests/app/worker/double.h"

namespace attn {
namespace {

Measurement row_that_ran() {
  Measurement row;
  row.state = RowState::done;
  row.key.kernel = "naive";
  return row;
}

TEST(WorkerCount, GivesEachLaunchsInstructionsAtWhichAnythingWasCounted) {
  GpuClient client = client_with({});
  const auto c = client.count_instructions(small_point(), {kPlenty, {}});
  ASSERT_TRUE(c) << c.error().message;
  ASSERT_EQ(c->functions.size(), 3U);
  EXPECT_EQ(c->functions[0].name, "naive_scores");
  ASSERT_EQ(c->functions[0].instructions.size(), 1U) << "nothing was counted at the other";
  const CounterSums& sums = c->functions[0].instructions[0].counts;
  std::uint64_t n = 0;
  for (const InstructionCounterRow& counter : instruction_counter_table()) {
    EXPECT_EQ(sums[counter.counter], n += 10) << counter.id;
    EXPECT_EQ(c->metrics.at(static_cast<std::size_t>(counter.counter)), counter.metrics.front());
  }
  EXPECT_EQ(c->method, "a profiler, SASS metrics");
  EXPECT_EQ(c->chip, "GX999");
  EXPECT_FALSE(c->no_lines.empty());
}

TEST(WorkerCount, WhatTheChipDoesNotCountHasNoMetric) {
  GpuClient client = client_with({"no sectors"});
  const auto c = client.count_instructions(small_point(), {kPlenty, {}});
  ASSERT_TRUE(c) << c.error().message;
  EXPECT_TRUE(c->has(InstructionCounter::shared_ideal));
  EXPECT_FALSE(c->has(InstructionCounter::sectors));
  EXPECT_FALSE(derived(*c, sums_of(*c), DerivedCount::excess_sectors));
}

TEST(WorkerCount, WhatRefusesSaysWhyAndTheRowStays) {
  const std::pair<const char*, const char*> faults[] = {{"open_profiler", "libcupti"},
                                                        {"count_instructions", "count_instructions failed"}};
  for (const auto& [fault, words] : faults) {
    GpuClient client = client_with({fault});
    Measurement row = row_that_ran();
    count_row(client, small_point(), "sm_90a", {kPlenty, {}}, {}, row);
    EXPECT_EQ(row.state, RowState::done);
    EXPECT_EQ(row.counts, nullptr);
    EXPECT_NE(row.no_counts.find(words), std::string::npos) << row.no_counts;
  }
}

TEST(WorkerCount, ARowThatDidNotRunIsNotCounted) {
  GpuClient client = client_with({});
  Measurement row;
  row.state = RowState::refused;
  row.reason = "too large";
  count_row(client, small_point(), "sm_90a", {kPlenty, {}}, {}, row);
  EXPECT_EQ(row.no_counts, "it did not run: too large");
  EXPECT_EQ(client.worker_id(), -1) << "nobody asked a GPU";
}

}  // namespace
}  // namespace attn
