#include "profiling/measure/cpu/cpu_peak.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attn {
namespace {

TEST(CpuPeak, IsPositiveAndFiniteOnEveryMachine) {
  const CpuPeak peak = measure_cpu_peak(1, 0.02);
  EXPECT_EQ(peak.threads, 1);
  EXPECT_GT(peak.gflops, 0);
  EXPECT_TRUE(std::isfinite(peak.gflops));
  EXPECT_TRUE(std::isfinite(peak.copy_gb_per_s));
}

TEST(CpuPeak, NoThreadsMeansOne) {
  EXPECT_EQ(measure_cpu_peak(0, 0.004).threads, 1);
}

}  // namespace
}  // namespace attn
