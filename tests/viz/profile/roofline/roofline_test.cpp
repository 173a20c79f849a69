#include "viz/profile/roofline/roofline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tests/viz/profile/heartbeat/beats.h"
#include "tests/viz/profile/profile_rows.h"
#include "tests/viz/profile/toy_counts.h"
#include "viz/profile/figures/bytes_and_pipes.h"

namespace attn {
namespace {

using profile_test::h100_row;
using profile_test::put;

// 2 x 16 heads x 16384^2 pairs x (128 + 128) = 2.199e12 FLOP.
constexpr double kFlop = 2.0 * 16 * 16384.0 * 16384.0 * 256;

TEST(ProfileRoofline, ADotStandsAtItsUsefulWorkOverTheBytesCounted) {
  const Measurement m = h100_row("flash_simt", 59526);
  const std::array<const Measurement*, 1> rows{&m};
  const Roofline r = roofline(rows, "flash_simt");
  ASSERT_EQ(r.dots.size(), 1U);
  EXPECT_NEAR(r.dots[0].tflops, kFlop / 59526e-6 * 1e-12, 1e-6);
  ASSERT_TRUE(r.dots[0].measured && r.dots[0].predicted);
  EXPECT_NEAR(*r.dots[0].measured, kFlop / (652015104.0 + 127202048.0), 1e-6);
  // Q, K, V and O once, and the LSE of each row: 4 x 16 x 16384 x 128 x 4 B + 16 x 16384 x 4 B.
  EXPECT_NEAR(*r.dots[0].predicted, kFlop / (4.0 * 16 * 16384 * 128 * 4 + 16.0 * 16384 * 4), 1e-3);
  EXPECT_NEAR(r.peak_tflops, 65.23, 1e-6);
  EXPECT_NEAR(r.copy_gb_per_s, 2831, 1e-6);
  EXPECT_NEAR(ridge(r, r.peak_tflops), 65230.0 / 2831.0, 1e-6);
}

TEST(ProfileRoofline, AnAxisOfLessThanTwoDecadesHasNumbersBetweenThem) {
  EXPECT_EQ(roof_ticks(0.5, 200), (std::vector<double>{0.1, 1, 10, 100, 1000}));
  for (const auto& [from, to] : {std::pair(12.0, 80.0), std::pair(30.0, 300.0), std::pair(0.002, 0.02)}) {
    const auto ticks = roof_ticks(from, to);
    EXPECT_GE(std::ranges::count_if(ticks, [&](double x) { return x >= from && x <= to; }), 2) << from;
    EXPECT_TRUE(std::ranges::is_sorted(ticks));
  }
}

TEST(ProfileRoofline, ItsSentenceFollowsTheFigures) {
  Measurement m = h100_row("flash_simt", 59526);
  const std::array<const Measurement*, 1> rows{&m};
  const std::string before = roofline(rows, "flash_simt").words;
  EXPECT_NE(before.find("56.6 % of the fp32 multiply-add peak"), std::string::npos) << before;
  m = h100_row("flash_simt", 2 * 59526);
  EXPECT_NE(roofline(rows, "flash_simt").words.find("28.3 % of the fp32 multiply-add peak"), std::string::npos);
  m = h100_row("flash_simt", 59526 / 10.0);
  EXPECT_NE(roofline(rows, "flash_simt").words.find("impossible on the fp32 pipes"), std::string::npos);
  m = h100_row("flash_mma", 59526);
  put(m, "tensor_pipe_pct", 68.2);
  EXPECT_NE(
      roofline(rows, "flash_mma")
          .words.find(
              "busy in 68.2 of 100 cycles, so the fp32 roof does not apply, and the tensor-core peak was not measured"),
      std::string::npos);
  m = h100_row("flash_simt", 59526);
  m.figures[*find_metric("dram_read_bytes")] = Figure{};
  EXPECT_NE(roofline(rows, "flash_simt").words.find("were not counted"), std::string::npos);
  m.figures[*find_metric("compulsory_bytes")] = Figure{};
  EXPECT_NE(roofline(rows, "flash_simt").words.find("There is no mark"), std::string::npos);
}

// Of wgmma, where the kernel multiplies by warpgroups: mma.sync reaches two thirds of it.
TEST(ProfileRoofline, TheRoofOfWarpgroupsIsThatOfTheirOwnInstruction) {
  Measurement m = h100_row("flash_hopper", 3000);
  m.key.problem.dtype = DType::f16;
  m.peaks.tensor_gflops = 850000;
  m.peaks.products_each = 1;
  const std::array<const Measurement*, 1> rows{&m};
  const Roofline r = roofline(rows, "flash_hopper");
  EXPECT_EQ(r.tensor_name, "wgmma peak");
  EXPECT_DOUBLE_EQ(r.tensor_tflops, 850);
  EXPECT_NE(r.words.find("% of the measured peak of wgmma on the tensor cores."), std::string::npos) << r.words;
  EXPECT_NE(r.note.find("wgmma peak"), std::string::npos) << r.note;
}

// Algorithmic work against the peak of the pipe that does it: TF32's third where each product takes three.
TEST(ProfileRoofline, TheRoofOfTensorCoresIsOverTheProductsThatEachOfTheFormulaTakes) {
  Measurement m = h100_row("flash_tf32x3", 59526);
  m.peaks.tensor_gflops = 300000;
  m.peaks.products_each = 3;
  const std::array<const Measurement*, 1> rows{&m};
  const Roofline r = roofline(rows, "flash_tf32x3");
  EXPECT_DOUBLE_EQ(r.tensor_tflops, 100);
  EXPECT_DOUBLE_EQ(r.top_tflops, 100);
  EXPECT_EQ(r.tensor_name, "mma.sync peak / 3 products");
  // 2.199e12 FLOP in 59.526 ms are 36.94 TFLOP/s.
  EXPECT_NE(r.words.find("36.9 % of the measured peak of mma.sync on the tensor cores."), std::string::npos) << r.words;
  EXPECT_GT(r.y_max, 100);
  m.peaks.tensor_gflops = 600000;
  EXPECT_NE(roofline(rows, "flash_tf32x3").words.find("18.5 % of the measured peak of mma.sync"), std::string::npos);
}

// A dot of 440 TFLOP/s over a peak of 65: the roof stands in the picture, not at its edge.
// On CUDA cores the fp32 roof ends the way of flash_simt, not that of a kernel on tensor cores.
TEST(ProfileRoofline, ADotOfAnotherPipeIsKnownAsOne) {
  const Measurement simt = h100_row("flash_simt", 59526), tensor = h100_row("flash_tf32x3", 30000),
                    tiled = h100_row("tiled", 90000);
  const std::array<const Measurement*, 3> rows{&tensor, &simt, &tiled};
  const Roofline r = roofline(rows, "flash_simt");
  ASSERT_EQ(r.dots.size(), 3U);
  EXPECT_TRUE(r.dots[0].elsewhere);
  EXPECT_FALSE(r.dots[1].elsewhere);
  EXPECT_FALSE(r.dots[2].elsewhere);
  EXPECT_TRUE(roofline(rows, "flash_tf32x3").dots[1].elsewhere);
  // Whichever is chosen: who runs elsewhere says where, for its own roof may be drawn too.
  for (const Measurement* chosen : rows)
    for (const RoofDot& dot : roofline(rows, chosen->key.kernel).dots)
      EXPECT_EQ(dot.pipe, !dot.elsewhere ? "" : dot.kernel == "flash_tf32x3" ? "tensor cores" : "fp32 pipes");
}

// The peak of mma.sync is no roof of a kernel that multiplies by wgmma, nor the other way round.
TEST(ProfileRoofline, ADotOfAnotherTensorInstructionSaysWhich) {
  Measurement mma = h100_row("flash_mma", 9000), hopper = h100_row("flash_hopper", 4000),
              wmma = h100_row("flash_wmma", 12000);
  for (Measurement* m : {&mma, &hopper, &wmma}) {
    m->key.problem.dtype = DType::f16;
    m->peaks.tensor_gflops = m == &hopper ? 900000 : 600000;
    m->peaks.products_each = 1;
  }
  const std::array<const Measurement*, 3> rows{&mma, &hopper, &wmma};
  const auto pipes = [&](const char* chosen) {
    std::vector<std::string> all;
    for (const RoofDot& dot : roofline(rows, chosen).dots) {
      EXPECT_EQ(dot.elsewhere, !dot.pipe.empty());
      all.push_back(dot.pipe);
    }
    return all;
  };
  EXPECT_EQ(pipes("flash_mma"), (std::vector<std::string>{"", "wgmma", ""}));
  EXPECT_EQ(pipes("flash_hopper"), (std::vector<std::string>{"mma.sync", "", "mma.sync"}));
  // The fp32 roof beside that of tensor cores says that it is another pipe's; alone it is the kernels' own.
  EXPECT_EQ(roofline(rows, "flash_mma").peak_name, "multiply-add peak (fp32 pipes)");
  const Measurement simt = h100_row("flash_simt", 59526);
  const std::array<const Measurement*, 1> alone{&simt};
  EXPECT_EQ(roofline(alone, "flash_simt").peak_name, "multiply-add peak");
}

TEST(ProfileRoofline, ARoofFarUnderTheDotsIsInThePicture) {
  Measurement m = h100_row("flash_mma", 5000);
  m.peaks.peak_gflops = 65000;
  const std::array<const Measurement*, 1> rows{&m};
  const Roofline r = roofline(rows, "flash_mma");
  ASSERT_GT(r.dots.front().tflops, 400);
  EXPECT_LE(r.y_min, 65.0 / 2);
}

// 36.94 TFLOP/s. 2.199e12 FLOP over 1e9 sectors are 68.7 FLOP a byte: at 5 TB/s 343.6 TFLOP/s, of which it does 10.8 %.
// Over 4e8 turns of 128 bytes 42.9 FLOP a byte: at 1.1 TB/s 47.2 TFLOP/s, 78.2 %.
TEST(ProfileRoofline, EachLevelHasItsOwnBytesAndItsOwnRoof) {
  Measurement m = h100_row("flash_simt", 59526);
  put(m, "l2_sectors_count", 1e9);
  put(m, "shared_wavefronts_count", 4e8);
  m.peaks.l2_gb_per_s = 5000;
  const std::array<const Measurement*, 1> rows{&m};
  Roofline r = roofline(rows, "flash_simt");
  ASSERT_EQ(r.levels.size(), 2U) << "the shared memory has no roof yet";
  EXPECT_EQ(r.levels[0].name, "DRAM");
  EXPECT_NEAR(r.levels[1].intensity, kFlop / 32e9, 1e-9);
  EXPECT_NEAR(r.levels[1].allowed_tflops, kFlop / 32e9 * 5, 1e-9);
  m.peaks.shared_gb_per_s = 1100;
  r = roofline(rows, "flash_simt");
  ASSERT_EQ(r.levels.size(), 3U);
  EXPECT_NEAR(r.levels[2].intensity, kFlop / (4e8 * 128), 1e-9);
  EXPECT_EQ(r.level_words,
            "Fraction of the speed that each level's measured rate allows for its bytes: DRAM 0.462 %, L2 10.8 %, "
            "shared memory "
            "78.2 %; of the peak of the multiply-adds: 56.6 %. The nearest roof is shared memory.");
  EXPECT_TRUE(r.missing.empty());
  put(m, "l2_sectors_count", 1e10);
  EXPECT_NE(
      roofline(rows, "flash_simt")
          .level_words.find("L2 108 %, shared memory 78.2 %; of the peak of the multiply-adds: 56.6 %. The nearest "
                            "roof is L2."),
      std::string::npos);
  // A rate of its own that is nearer than any level's; and none that is near.
  put(m, "l2_sectors_count", 1e9);
  m.peaks.shared_gb_per_s = 2200;
  EXPECT_NE(roofline(rows, "flash_simt").level_words.find("The nearest roof is the multiply-adds."), std::string::npos);
  m.peaks.peak_gflops = 200000;
  EXPECT_NE(roofline(rows, "flash_simt").level_words.find("No roof is near. The nearest roof is shared memory."),
            std::string::npos);
}

TEST(ProfileRoofline, EveryRoofThatCannotBeHadSaysItsOwnReason) {
  Measurement m = h100_row("flash_mma", 5952);
  m.key.problem.dtype = DType::bf16;
  m.peaks.copy_gb_per_s = 0;
  m.peaks.why_not = {{kCopyPeak, "2 GB asked, 1 GB free."}, {kTensorPeak, "this GPU is sm_75"}};
  m.figures[*find_metric("l2_sectors_count")] = Figure{Origin::not_available, 0, "", "counters were turned off"};
  m.peaks.l2_gb_per_s = 5000;
  const std::array<const Measurement*, 1> rows{&m};
  Roofline r = roofline(rows, "flash_mma");
  EXPECT_EQ(r.note,
            "Roofs: fp32 multiply-add peak, measured on this device. No roof for the copy rate: 2 GB asked, 1 GB free. "
            "No roof for the tensor cores in bf16: this GPU is sm_75.");
  EXPECT_EQ(r.level_words,
            "No roof for L2: its accesses were not counted: counters were turned off. No roof for shared memory: not "
            "measured in this session.");
  m.peaks.copy_gb_per_s = 2831;
  m.peaks.tensor_gflops = 600000;
  m.peaks.why_not = {};
  r = roofline(rows, "flash_mma");
  EXPECT_EQ(r.note, "Roofs: copy rate, fp32 multiply-add peak and mma.sync peak, measured on this device.");
}

TEST(ProfileRoofline, OfASessionWithoutTheInnerRoofsItSaysSoOnce) {
  Measurement m = h100_row("flash_simt", 59526);
  put(m, "l2_sectors_count", 1e9);
  const std::array<const Measurement*, 1> rows{&m};
  const Roofline r = roofline(rows, "flash_simt");
  EXPECT_EQ(r.level_words, "No roof for L2 and shared memory: not measured in this session.");
  EXPECT_EQ(r.note, "Roofs: copy rate and fp32 multiply-add peak, measured on this device.")
      << "its products run on the fp32 pipes: no roof of tensor cores is missing";
  ASSERT_EQ(r.levels.size(), 1U);
  EXPECT_EQ(r.levels[0].name, "DRAM");
}

TEST(ProfileRoofline, AKernelOfTheCpuMissesNoRoofOfAGpu) {
  Measurement m = h100_row("cpu_flash", 59526);
  m.processor = Processor::cpu;
  m.peaks.copy_gb_per_s = 0;
  const std::array<const Measurement*, 1> rows{&m};
  const Roofline r = roofline(rows, "cpu_flash");
  EXPECT_EQ(r.level_words, "");
  EXPECT_EQ(r.note,
            "Roofs: fp32 multiply-add peak, measured on this device. No roof for the copy rate: not measured in this "
            "session.");
}

// 2.199e12 FLOP in 5.9526 ms are 369.4 TFLOP/s: 566 % of the fp32 peak, which is no roof of f16 products.
TEST(ProfileRoofline, APeerOf16BitsIsSetAgainstTheTensorPeakOfItsOwnType) {
  Measurement peer = h100_row("torch-cudnn", 5952.6), ours = h100_row("flash_mma", 9000);
  peer.peer.emplace();
  peer.peaks = {};
  ours.peaks.tensor_gflops = 600000;
  for (Measurement* m : {&peer, &ours}) m->key.problem.dtype = DType::f16;
  const std::array<const Measurement*, 2> rows{&ours, &peer};
  Roofline r = roofline(rows, "torch-cudnn");
  EXPECT_DOUBLE_EQ(r.tensor_tflops, 600);
  EXPECT_DOUBLE_EQ(r.top_tflops, 600);
  EXPECT_NE(r.words.find("61.6 % of the measured peak of mma.sync on the tensor cores."), std::string::npos) << r.words;
  ours.peaks.tensor_gflops = 0;
  r = roofline(rows, "torch-cudnn");
  EXPECT_EQ(r.top_tflops, 0) << "multiply-adds are no roof of tensor cores";
  EXPECT_NE(r.words.find("The tensor-core peak in f16 was not measured in the same session."), std::string::npos)
      << r.words;
  EXPECT_EQ(r.words.find("multiply-add"), std::string::npos) << r.words;
  EXPECT_NE(r.note.find("No roof for the tensor cores in f16: not measured in this session."), std::string::npos);
  // Of two the higher, for what its text multiplies by is not known; and it says whose it is.
  Measurement hopper = h100_row("flash_hopper", 4000);
  hopper.key.problem.dtype = DType::f16;
  hopper.peaks.tensor_gflops = 900000;
  ours.peaks.tensor_gflops = 600000;
  for (const auto& both : {std::array<const Measurement*, 3>{&ours, &hopper, &peer}, {&hopper, &peer, &ours}}) {
    r = roofline(both, "torch-cudnn");
    EXPECT_DOUBLE_EQ(r.tensor_tflops, 900);
    EXPECT_EQ(r.tensor_name, "wgmma peak (flash_hopper)");
  }
  // Another type's peak is not its own.
  ours.peaks.tensor_gflops = 600000;
  ours.key.problem.dtype = DType::bf16;
  EXPECT_EQ(roofline(rows, "torch-cudnn").tensor_tflops, 0);
}

TEST(ProfileRoofline, WithoutATimeThereIsNoDotAndAReason) {
  Measurement m = h100_row("flash_simt", 59526);
  m.time = {};
  fill_figures(m);
  const std::array<const Measurement*, 1> rows{&m};
  EXPECT_EQ(roofline(rows, "flash_simt").empty,
            "flash_simt was not timed on this problem, so there is no rate to draw.");
}

// 5 % of the cycles that 132 SMs make in 100 us at 1700 MHz: what stands beside the turns at the instructions.
TEST(ProfileBytes, SaysHowManyTurnsOfSharedMemoryTheHeartbeatHeard) {
  Measurement m = h100_row("flash_simt", 59526);
  m.heartbeat = std::make_shared<const Heartbeat>(profile_test::made_beats());
  const BytesScene b = bytes_scene(m, 132);
  const auto line = std::ranges::find(b.lines, "Shared memory", &BytesLine::title);
  ASSERT_NE(line, b.lines.end());
  EXPECT_EQ(line->words, "As a share of the data pipe's cycles, from the heartbeat: 1.12 million passes.");
}

TEST(ProfileBytes, EachSentenceIsMadeOfItsFigures) {
  Measurement m = h100_row("flash_simt", 59526);
  BytesScene b = bytes_scene(m);
  EXPECT_EQ(b.words.substr(0, 46), "DRAM moved 0.779 GB: 1.45 times the minimum, 0");
  EXPECT_EQ(b.lines[1].words, "Of every 100 sectors requested from the L2 cache, 2.50 missed.");
  EXPECT_EQ(b.lines[2].text, "25.0 %");
  put(m, "shared_conflicts_count", 500);
  EXPECT_EQ(bytes_scene(m).lines[2].text, "50.0 %");
  put(m, "l2_hit_pct", 40);
  EXPECT_EQ(bytes_scene(m).lines[1].words, "Of every 100 sectors requested from the L2 cache, 60.0 missed.");
  m.figures[*find_metric("l2_hit_pct")] = Figure{Origin::not_available, 0, "", "no counters"};
  b = bytes_scene(m);
  EXPECT_EQ(b.lines[1].title, "Bank conflicts") << "a figure that is missing has no line";
  EXPECT_EQ(b.missing.at(2).titles, "L2 hits");
  EXPECT_EQ(b.missing.at(2).reason, "no counters");
}

TEST(ProfileBytes, IssueSlotsAndSharedMemoryAreTheHeartbeatsMeansOrAReason) {
  Measurement m = h100_row("flash_simt", 59526);
  const auto why = [&] { return bytes_scene(m).missing.at(0); };
  EXPECT_EQ(why().titles, "Issue slots, Shared memory");
  EXPECT_NE(why().reason.find("no heartbeat yet"), std::string::npos);
  m.no_heartbeat = "CUPTI_ERROR";
  EXPECT_EQ(why().reason, "CUPTI_ERROR");
  Heartbeat h = profile_test::made_beats();
  for (BeatCounter& c : h.counters)
    if (c.id == "shared") c.values.assign(h.samples.size(), 30);
  m.heartbeat = std::make_shared<const Heartbeat>(h);
  const BytesScene b = bytes_scene(m);
  EXPECT_EQ(b.lines.at(0).title, "Issue slots");
  EXPECT_EQ(b.lines.at(0).text.substr(0, 2), "50") << "the mean of 50 + 30 sin";
  EXPECT_EQ(b.lines.at(1).text, "30.0 %");
  m.processor = Processor::cpu;
  m.heartbeat = nullptr;
  EXPECT_TRUE(bytes_scene(m).missing.empty()) << "of a kernel of the CPU nothing of a GPU's is missed";
}

// O is 16 x 16384 x 128 x 4 B and LSE 16 x 16384 x 4 B: 135 MB. Q, K and V are 403 MB.
TEST(ProfileBytes, LessThanTheLeastIsExplainedByWhatWasNotWrittenYet) {
  Measurement m = h100_row("flash_simt", 59526);
  put(m, "dram_read_bytes", 403e6);
  put(m, "dram_write_bytes", 50e6);
  const std::string words = bytes_scene(m).words;
  EXPECT_NE(words.find(": 0.84 times the minimum"), std::string::npos) << words;
  EXPECT_NE(words.find("Of O and LSE (135 MB), 50.0 MB had reached DRAM by the end"), std::string::npos) << words;
  put(m, "dram_write_bytes", 140e6);
  EXPECT_EQ(bytes_scene(m).words.find("LSE"), std::string::npos) << "all was written";
}

TEST(ProfileBytes, OneReasonIsSaidOnceForAllTheFiguresThatItKeepsAway) {
  Measurement m = h100_row("flash_simt", 59526);
  m.figures[*find_metric("l2_hit_pct")] = Figure{Origin::not_available, 0, "", "no counters"};
  m.figures[*find_metric("tensor_pipe_pct")] = Figure{Origin::not_available, 0, "", "no counters"};
  m.figures[*find_metric("spill_bytes")] = Figure{Origin::not_available, 0, "", "no compiler"};
  const BytesScene b = bytes_scene(m);
  const auto said = [&](const std::string& titles, const std::string& reason) {
    return std::any_of(b.missing.begin(), b.missing.end(),
                       [&](const MissingFigures& f) { return f.titles == titles && f.reason == reason; });
  };
  EXPECT_TRUE(said("L2 hits, Tensor cores", "no counters"));
  EXPECT_TRUE(said("Spills", "no compiler"));
}

TEST(ProfileBytes, LargeCountsAreSaidInMillionsAndBillions) {
  Measurement m = h100_row("flash_simt", 59526);
  put(m, "shared_wavefronts_count", 6.96e9);
  put(m, "shared_conflicts_count", 1.15e8);
  EXPECT_EQ(bytes_scene(m).lines[2].words,
            "115 million of 6.96 billion passes through shared memory, from the counter for the whole run.");
}

// 800 sectors where 100 would do: 100 of each of 8. In 2 us at 1 MHz on 4 SMs 800 sectors are 100 a cycle and SM.
TEST(ProfileBytes, WhatWasAskedOfTheL1CacheIsCountedAtItsInstructions) {
  Measurement m = h100_row("flash_simt", 2);
  const auto line = [&](std::int32_t sms) -> std::optional<BytesLine> {
    for (const BytesLine& l : bytes_scene(m, sms).lines)
      if (l.title == "L1") return l;
    return std::nullopt;
  };
  EXPECT_FALSE(line(4)) << "have not been counted yet";
  m.counts = std::make_shared<const KernelCounts>(profile_test::toy_counts());
  ASSERT_TRUE(line(4));
  EXPECT_EQ(line(4)->text, "800");
  EXPECT_EQ(line(4)->words, "32-byte sectors, 700 % more than with contiguous accesses.") << "no clock is known";
  put(m, "sm_clock_mhz", 1);
  EXPECT_NE(line(4)->words.find("; 100 per cycle per SM."), std::string::npos) << line(4)->words;
  EXPECT_EQ(line(0)->words.find("per cycle"), std::string::npos) << "nor are the SMs";
}

TEST(ProfileBytes, AKernelWithoutSharedMemoryHasNoShareOfIt) {
  Measurement m = h100_row("naive", 59526);
  m.heartbeat = std::make_shared<const Heartbeat>(profile_test::made_beats());
  const auto text = [&](const char* title) {
    for (const BytesLine& l : bytes_scene(m, 132).lines)
      if (l.title == title) return l.text == "none" ? l.text + ": " + l.words : l.text;
    return std::string();
  };
  EXPECT_EQ(text("Shared memory"), "5.00 %");
  put(m, "shared_wavefronts_count", 0);
  put(m, "shared_conflicts_count", 0);
  EXPECT_EQ(text("Shared memory"), "none: No shared memory used.");
  EXPECT_TRUE(text("Bank conflicts").starts_with("none: "));
}

TEST(ProfileBytes, ASmallAmountBesideAGreatOneHasItsOwnUnit) {
  Measurement m = h100_row("flash_simt", 59526);
  put(m, "compulsory_bytes", 67.4e6);
  put(m, "tile_load_bytes", 1.11e9);
  EXPECT_EQ(bytes_scene(m).compulsory_text, "67.4 MB");
  EXPECT_EQ(bytes_scene(m).tile_loads_text, "1.11 GB");
}

// Two roofs of one run differ by chance; the row's own are those of its figures.
TEST(ProfileRoofline, TheRoofsAreTheChosenRowsOwn) {
  Measurement m = h100_row("flash_simt", 59526), other = h100_row("tiled", 90000);
  other.peaks.copy_gb_per_s = m.peaks.copy_gb_per_s * 1.01;
  other.peaks.peak_gflops = m.peaks.peak_gflops * 1.01;
  const std::array<const Measurement*, 2> rows{&other, &m};
  EXPECT_DOUBLE_EQ(roofline(rows, "flash_simt").copy_gb_per_s, m.peaks.copy_gb_per_s);
  EXPECT_DOUBLE_EQ(roofline(rows, "flash_simt").peak_tflops, m.peaks.peak_gflops * 1e-3);
}

}  // namespace
}  // namespace attn
