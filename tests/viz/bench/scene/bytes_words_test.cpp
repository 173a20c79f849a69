// How strip and table speak of DRAM bytes.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/viz/bench/scene_fixture.h"

namespace attn {
namespace {

using namespace bench_test;

// "1.50 times more" would be 2.50 times as many.
TEST_F(BenchSceneTest, MoreBytesAreGivenAsHowManyTimesAsMany) {
  for (const auto& [bytes, words] : {std::pair{3e6, "Bytes: it moves 1.50 times as many DRAM bytes as cpu_multicore"},
                                     std::pair{2e6, "Bytes: it moves as many DRAM bytes as cpu_multicore"}}) {
    Model m = three_kernels();
    for (Measurement& row : rows_of(m))
      for (const char* id : {"dram_read_bytes", "dram_write_bytes"})
        row.figures[find_metric(id).value()] = {Origin::measured, row.key.kernel == "cpu_flash" ? bytes : 2e6, "", ""};
    const std::string reason = scene(m).verdict.reason;
    EXPECT_NE(reason.find(words), std::string::npos) << reason;
    EXPECT_EQ(reason.find("times more"), std::string::npos) << reason;
  }
}

// At L = 2048: Q, K, V and O take 2 MiB each, LSE 32 KiB. One MiB of O was written while it was counted.
TEST_F(BenchSceneTest, FewerBytesThanTheLeastAreExplained) {
  const auto tip = [&](double written) {
    Measurement row = timed_row(sweep, "flash_simt", 2048, 100);
    row.processor = Processor::gpu;
    row.figures.resize(metric_table().size());
    row.figures[find_metric("dram_read_bytes").value()] = {Origin::measured, 6.0 * (1 << 20), "", ""};
    row.figures[find_metric("dram_write_bytes").value()] = {Origin::measured, written, "", ""};
    state.view.bench.value = 2048;
    return cell_tip(scene(model_of({row})).table, "flash_simt", "ratio");
  };
  EXPECT_NE(tip(1 << 20).find("had reached DRAM by the end, and the rest was still in the L2 cache."),
            std::string::npos)
      << tip(1 << 20);
  EXPECT_EQ(tip(3 << 20).find("L2 cache"), std::string::npos) << tip(3 << 20);
}

}  // namespace
}  // namespace attn
