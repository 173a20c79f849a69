// From records, counts and the compiler's words to figures of a GPU row.
#include <gtest/gtest.h>

#include "profiling/figures/metrics.h"
#include "profiling/measure/gpu/compiled_figures.h"
#include "profiling/measure/gpu/counter_figures.h"
#include "profiling/measure/gpu/gpu_timing.h"

namespace attn {
namespace {

std::vector<Launch> launches(std::vector<std::string> names) {
  std::vector<Launch> all;
  for (std::string& name : names) all.emplace_back().name = std::move(name);
  return all;
}

TEST(KernelRecords, ARepeatIsTheUnionOfItsLaunchesWithoutTheFlush) {
  const auto plan = launches({"scores", "output"});
  const std::vector<KernelTime> records{{GpuPeaks::kFlushName, 0, 90000}, {"scores", 100000, 103000},
                                        {"output", 104000, 104500},       {GpuPeaks::kFlushName, 200000, 290000},
                                        {"scores", 300000, 302000},       {"output", 302000, 302250}};
  const auto times = repeats_of(records, plan, 2);
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(times->busy, (std::vector<double>{3.5, 2.25})) << "the sum, where none overlap";
  EXPECT_EQ(times->spans, (std::vector<double>{4.5, 2.25}));
  EXPECT_EQ(times->launches, (std::vector<std::vector<double>>{{3, 2}, {0.5, 0.25}}));
}

TEST(KernelRecords, ALaunchThatStartsEarlyIsNotCountedTwiceAndKeepsItsOwnTime) {
  const auto plan = launches({"parts", "joined"});
  const std::vector<KernelTime> records{
      {"parts", 1000, 4000}, {"joined", 3500, 4500}, {"parts", 9000, 9500}, {"joined", 9750, 10000}};
  const auto times = repeats_of(records, plan, 2);
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(times->busy, (std::vector<double>{3.5, 0.75}));
  EXPECT_EQ(times->spans, (std::vector<double>{3.5, 1}));
  EXPECT_EQ(times->launches, (std::vector<std::vector<double>>{{3, 0.5}, {1, 0.25}}));
}

TEST(KernelRecords, LostForeignOrBackwardRecordsAreNoTimes) {
  const auto plan = launches({"scores", "output"});
  EXPECT_FALSE(repeats_of({}, plan, 1));
  const std::vector<KernelTime> half{{"scores", 0, 10}};
  EXPECT_FALSE(repeats_of(half, plan, 1));
  const std::vector<KernelTime> swapped{{"output", 0, 10}, {"scores", 10, 20}};
  EXPECT_FALSE(repeats_of(swapped, plan, 1));
  const std::vector<KernelTime> backward{{"scores", 10, 0}, {"output", 20, 30}};
  EXPECT_FALSE(repeats_of(backward, plan, 1));
  const std::vector<KernelTime> whole{{"scores", 0, 10}, {"output", 20, 30}};
  EXPECT_TRUE(repeats_of(whole, plan, 1));
  EXPECT_FALSE(repeats_of(whole, plan, 2));
}

gpu::EntryReport entry(std::string name, std::int32_t registers, std::int32_t warps, std::int64_t dynamic_bytes) {
  gpu::EntryReport e;
  e.figures.name = std::move(name);
  e.figures.registers = registers;
  e.figures.spill_store_bytes = 8;
  e.figures.spill_load_bytes = 4;
  e.dynamic_bytes = dynamic_bytes;
  e.occupancy.warps = warps;
  e.occupancy.max_warps = 64;
  e.occupancy.limiter = "registers";
  return e;
}

TEST(CompiledFigures, OfOneLaunchAreItsOwn) {
  Measurement m;
  m.processor = Processor::gpu;
  const std::vector<gpu::EntryReport> one{entry("flash_simt", 128, 16, 49152)};
  put_compiled_figures(m, one);
  fill_figures(m);
  EXPECT_EQ(figure(m, "registers_count").value, 128);
  EXPECT_EQ(figure(m, "registers_count").origin, Origin::compiled);
  EXPECT_EQ(figure(m, "occupancy_theoretical_pct").value, 25);
  EXPECT_EQ(figure(m, "occupancy_theoretical_pct").method, "ptxas and the launch, limited by registers");
  EXPECT_EQ(figure(m, "occupancy_theoretical_pct").limiter, "registers");
  EXPECT_FALSE(figure(m, "occupancy_theoretical_pct").min_of_launches);
  EXPECT_EQ(figure(m, "shared_dynamic_bytes").value, 49152);
  EXPECT_EQ(figure(m, "spill_bytes").value, 12);
}

TEST(CompiledFigures, RegistersThatMoveAreToldBesideThoseOfTheStart) {
  Measurement m;
  m.processor = Processor::gpu;
  std::vector<gpu::EntryReport> one{entry("flash_hopper", 128, 16, 0)};
  one[0].registers_then = "384 threads compute with 160 registers each, 128 copy with 32";
  put_compiled_figures(m, one);
  EXPECT_EQ(figure(m, "registers_count").value, 128);
  EXPECT_EQ(figure(m, "registers_count").method,
            "ptxas; at the start, then 384 threads compute with 160 registers each, 128 copy with 32 (setmaxnreg)");
}

TEST(CompiledFigures, OfSeveralLaunchesNameTheOneThatTakesMost) {
  Measurement m;
  m.processor = Processor::gpu;
  const std::vector<gpu::EntryReport> three{entry("a", 32, 64, 0), entry("b", 236, 8, 0), entry("c", 40, 48, 0)};
  put_compiled_figures(m, three);
  fill_figures(m);
  EXPECT_EQ(figure(m, "registers_count").value, 236);
  EXPECT_EQ(figure(m, "registers_count").method, "ptxas; the most of 3 launches: b");
  EXPECT_FALSE(figure(m, "registers_count").min_of_launches);
  EXPECT_EQ(figure(m, "occupancy_theoretical_pct").value, 12.5);
  EXPECT_TRUE(figure(m, "occupancy_theoretical_pct").min_of_launches);
  EXPECT_EQ(figure(m, "occupancy_theoretical_pct").limiter, "registers");
}

TEST(CompiledFigures, ThatCannotBeHadSayWhy) {
  Measurement m;
  m.processor = Processor::gpu;
  put_no_compiled_figures(m, "the compiler's log does not mention naive_scores");
  fill_figures(m);
  EXPECT_FALSE(figure(m, "registers_count").available());
  EXPECT_EQ(figure(m, "registers_count").reason, "the compiler's log does not mention naive_scores");
}

TEST(CounterFigures, FewerValuesThanAskedForLeaveTheRestNotAvailable) {
  Measurement m;
  m.processor = Processor::gpu;
  Counts counts;
  counts.chip = "GH100";
  counts.passes = 1;
  counts.values = {{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 7}};
  put_counts(m, counts, "CUPTI 13.0");
  fill_figures(m);
  EXPECT_EQ(figure(m, "tensor_pipe_pct").value, 7);
  EXPECT_FALSE(figure(m, "dram_read_bytes").available());
  EXPECT_FALSE(figure(m, "dram_read_bytes").reason.empty());
}

}  // namespace
}  // namespace attn
