// Answers that are computed: each number against where it comes from.
#include "viz/bench/scene/answers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/bytes.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "kernels/model/fits.h"
#include "kernels/model/kernel.h"
#include "tests/viz/bench/rows.h"
#include "viz/bench/scene/bench_scene.h"

namespace attn {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

State h100_state() {
  State s = bench_test::sweep_state();
  SweepSpec& sweep = s.document.sweep;
  sweep.kernels = {"naive", "tiled", "flash_simt"};
  sweep.values = {1024, 16384};
  sweep.base.Hq = sweep.base.Hkv = 16;
  sweep.base.D = sweep.base.Dv = 128;
  sweep.arch = "sm_90a";
  return s;
}

Model with_gpu(std::uint64_t bytes) {
  Model m;
  m.gpu.looked = true;
  m.gpu.gpus.push_back({0, "A GPU", "sm_90a", bytes, 132});
  return m;
}

std::uint64_t naive_bytes(std::int64_t l) {
  Problem p = h100_state().document.sweep.base;
  p.Lq = p.Lk = l;
  const KernelRow& naive = **find_kernel("naive");
  return bytes_needed(*naive.plan(naive, p, {}, *gpu::device_for("sm_90a")));
}

bool says(const std::string& words, const std::string& what) {
  return words.find(what) != std::string::npos;
}

// The L in "naive from L = 36 352 upwards", without the gaps.
std::int64_t first_too_long(std::string words, const std::string& kernel) {
  const std::string lead = kernel + " from L = ";
  const std::size_t at = words.find(lead);
  if (at == std::string::npos) return 0;
  words = words.substr(at + lead.size());
  words = words.substr(0, words.find(" upwards"));
  std::erase_if(words, [](char c) { return c < '0' || c > '9'; });
  return std::stoll(words);
}

TEST(Answers, NaiveRunsOutOfMemoryWhereItsPlanDoes) {
  const State s = h100_state();
  for (const std::uint64_t bytes : {8 * kGiB, 80 * kGiB}) {
    const std::string words = memory_answer(s, with_gpu(bytes));
    const std::int64_t first = first_too_long(words, "naive");
    ASSERT_GT(first, 1) << words;
    EXPECT_LE(naive_bytes(first - 1), bytes) << words;
    EXPECT_GT(naive_bytes(first), bytes) << words;
    EXPECT_TRUE(says(words, "A GPU (" + format_bytes(bytes) + ")")) << words;
    EXPECT_TRUE(says(words, "flash_simt, which stores neither")) << words;
  }
}

TEST(Answers, WithoutAGpuTheMemoryIsThatOfTheRunThatIsShownElseOfUsualOnes) {
  State s = h100_state();
  EXPECT_TRUE(says(memory_answer(s, {}), "a GPU of 24 GiB")) << memory_answer(s, {});
  EXPECT_TRUE(says(memory_answer(s, {}), "a GPU of 80 GiB"));
  Model m = bench_test::model_of({bench_test::timed_row(s.document.sweep, "naive", 1024, 9)});
  m.runs.front().run.provenance.device = "NVIDIA H100 80GB HBM3";
  const std::string words = memory_answer(s, m);
  EXPECT_TRUE(says(words, "NVIDIA H100 80GB HBM3 (about 80")) << words;
  EXPECT_FALSE(says(words, "24 GiB")) << words;
}

TEST(Answers, WhyThisTileNamesWhatItTakesAndWhatLimitsIt) {
  State s = h100_state();
  s.view.bench.kernel = "flash_simt";
  const std::string words = tile_answer(s, {});
  EXPECT_TRUE(says(words, "flash_simt on B=1 H=16 L=16384 D=128 f32: ")) << words;
  EXPECT_TRUE(says(words, "of shared memory")) << words;
  EXPECT_TRUE(says(words, "limited by")) << words;
}

// In flash-1 the key tile is outside: its number is what O, m and l are read and written by.
TEST(Answers, TheExtentThatIsSaidToSaveBytesIsThatOfTheOrder) {
  State s = h100_state();
  for (const auto& [kernel, words] :
       {std::pair("flash_simt", "A larger Br reads K and V fewer times. A larger Bc needs"),
        std::pair("cpu_flash", "A larger Br reads K and V fewer times. A larger Bc needs"),
        std::pair("cpu_flash1", "A larger Bc moves the query tiles fewer times."),
        std::pair("cpu_tiled", "A larger Bc reads Q fewer times.")}) {
    s.view.bench.kernel = kernel;
    EXPECT_TRUE(says(tile_answer(s, {}), words)) << tile_answer(s, {});
  }
  s.document.sweep.base.pass = Pass::backward;
  s.view.bench.kernel = "cpu_flash_bwd";
  EXPECT_TRUE(says(tile_answer(s, {}), "A larger Bc moves the query tiles")) << tile_answer(s, {});
  EXPECT_FALSE(says(tile_answer(s, {}), "warps")) << "of a CPU kernel: " << tile_answer(s, {});
}

TEST(Answers, TheVersionsAreThoseOfTheRunThatIsShown) {
  State s = h100_state();
  Model m = bench_test::model_of({bench_test::timed_row(s.document.sweep, "naive", 1024, 9)});
  Provenance& p = m.runs.front().run.provenance;
  p.device = "NVIDIA H100 80GB HBM3";
  p.driver = "for CUDA 13.0";
  p.cuda = "NVRTC 13.0, CUPTI 28";
  p.program_version = "0.1.0";
  p.commit = "a243a6215d2712345";
  const std::string words = versions_answer(s, m);
  for (const char* part : {"NVIDIA H100 80GB HBM3", "Driver for CUDA 13.0", "NVRTC 13.0, CUPTI 28",
                           "AttnScope 0.1.0, commit a243a6215d27"})
    EXPECT_TRUE(says(words, part)) << words;
  s.document.runs.shown.clear();
  EXPECT_TRUE(says(versions_answer(s, m), "No run is selected"));
}

// Why a kernel is not there at all is asked for where the others are compared.
TEST(Answers, TheReasonSaysFromWhereOnAKernelNoLongerFits) {
  State state = h100_state();
  SweepSpec& sweep = state.document.sweep;
  sweep.kernels = {"naive", "flash_simt"};
  std::vector<Measurement> rows{bench_test::timed_row(sweep, "naive", 1024, 100),
                                bench_test::timed_row(sweep, "flash_simt", 1024, 50)};
  for (Measurement& row : rows) row.processor = Processor::gpu, row.key.device = "NVIDIA H100 80GB HBM3";
  const Problem p = rows.front().key.problem;
  const auto heads = static_cast<double>(p.B * p.Hq), d = static_cast<double>(p.D);
  std::int64_t first = 1;  // with Q, K, V, O, LSE, and S and P of L x L in fp32
  const auto bytes = [&](double l) { return 4 * heads * (4 * l * d + l + 2 * l * l); };
  while (bytes(static_cast<double>(first)) <= 80.0 * (1 << 30)) ++first;
  std::string reason = bench_scene(state, bench_test::model_of(std::move(rows)), {}, "").verdict.reason;
  for (std::size_t at = 0; (at = reason.find("\u00a0")) != std::string::npos;) reason.erase(at, 2);
  const std::string words = "\nMemory: naive no longer fits from L = " + std::to_string(first) + " upwards (memory of ";
  EXPECT_NE(reason.find(words), std::string::npos) << reason;
}

}  // namespace
}  // namespace attn
