// Figures of shared memory come from the instructions where those were counted, and a kernel without any used none.
#include "profiling/figures/exact_shared.h"

#include <memory>
#include <string_view>

#include <gtest/gtest.h>

#include "profiling/figures/counts.h"
#include "profiling/figures/metrics.h"

namespace attn {
namespace {

void set(Measurement& m, std::string_view metric, double value) {
  m.figures.resize(metric_table().size());
  m.figures[*find_metric(metric)] = Figure{Origin::measured, value, "a counter", "", false};
}

Measurement row() {
  Measurement m;
  m.time.n = 6;
  m.time.median = 100;
  set(m, "shared_wavefronts_count", 260);
  set(m, "shared_conflicts_count", 6);
  set(m, "shared_static_bytes", 0);
  set(m, "shared_dynamic_bytes", 4096);
  return m;
}

KernelCounts counts() {
  KernelCounts c;
  c.method = "CUPTI 13.0, SASS metrics";
  for (std::string& metric : c.metrics) metric = "a metric";
  CountedInstruction i;
  i.counts[InstructionCounter::shared] = 252;
  i.counts[InstructionCounter::shared_ideal] = 250;
  c.functions = {{"k", {i}}};
  return c;
}

TEST(ExactShared, CountsOfInstructionsTakeThePlaceOfTheRangesCounter) {
  Measurement m = row();
  EXPECT_FALSE(exact_shared(m));
  EXPECT_EQ(figure(with_exact_shared(m), "shared_conflicts_count").value, 6);
  m.counts = std::make_shared<const KernelCounts>(counts());
  EXPECT_TRUE(exact_shared(m));
  const Measurement exact = with_exact_shared(m);
  EXPECT_EQ(figure(exact, "shared_wavefronts_count").value, 252);
  EXPECT_EQ(figure(exact, "shared_conflicts_count").value, 2);
  const std::string& method = figure(exact, "shared_conflicts_count").method;
  EXPECT_NE(method.find("counted at each instruction"), std::string::npos) << method;
  EXPECT_NE(method.find("the counter for the whole range says 6"), std::string::npos) << method;
  KernelCounts without = counts();
  without.metrics[static_cast<std::size_t>(InstructionCounter::shared)].clear();
  m.counts = std::make_shared<const KernelCounts>(without);
  EXPECT_EQ(figure(with_exact_shared(m), "shared_wavefronts_count").value, 260) << "the chip does not count them";
}

TEST(ExactShared, AKernelThatHasNoSharedMemoryUsedNone) {
  Measurement m = row();
  set(m, "shared_dynamic_bytes", 0);
  EXPECT_EQ(figure(with_exact_shared(m), "shared_wavefronts_count").value, 0);
  EXPECT_EQ(figure(with_exact_shared(m), "shared_conflicts_count").value, 0);
  m.figures[*find_metric("shared_static_bytes")].min_of_launches = true;
  EXPECT_EQ(figure(with_exact_shared(m), "shared_wavefronts_count").value, 260) << "another launch may have some";
}

}  // namespace
}  // namespace attn
