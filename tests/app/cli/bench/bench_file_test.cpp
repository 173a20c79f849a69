// How often `bench -o` writes its session: as a whole, so a row must not cost the more the more there are.
#include "app/cli/bench/bench_file.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "tests/kernels/temp_folder.h"

namespace attn::cli {
namespace {

using Clock = std::chrono::steady_clock;

Measurement row(std::int64_t length) {
  Measurement m;
  m.key.kernel = "cpu_flash";
  m.key.problem.Lq = m.key.problem.Lk = length;
  m.samples_us = {1, 2, 3, 4, 5, 6};
  m.time.n = 6;
  return m;
}

TEST(BenchFile, IsNotDueAgainUntilTenTimesWhatWritingTook) {
  const TempFolder folder;
  auto file = BenchFile::open({.file = folder / "s.attn"}, "attn1,sweep_values=64", provenance_here());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->is_due()) << "the first row is on disk when it is told";
  for (std::int64_t l = 1; l <= 200; ++l) file->add(row(l));
  const auto begin = Clock::now();
  ASSERT_TRUE(file->write());
  const Clock::duration took = Clock::now() - begin;
  // Rows that come at once are not written one by one.
  int due = 0;
  for (std::int64_t l = 2000; l < 2020; ++l) {
    file->add(row(l));
    if (Clock::now() - begin < 5 * took) due += file->is_due() ? 1 : 0;
  }
  EXPECT_EQ(due, 0);
  std::this_thread::sleep_for(11 * took);
  EXPECT_TRUE(file->is_due()) << "what was not written for so long is lost with the process";
}

TEST(BenchFile, KeptInMemoryAloneIsToldAtOnce) {
  auto file = BenchFile::open({}, "attn1,sweep_values=64", provenance_here());
  ASSERT_TRUE(file);
  file->add(row(1));
  ASSERT_TRUE(file->write());
  EXPECT_TRUE(file->is_due());
}

}  // namespace
}  // namespace attn::cli
