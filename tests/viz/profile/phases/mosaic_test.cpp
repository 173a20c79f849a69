// Where the time goes: widths are shares of the samples, heights what the warps did, and the sentence is made of them.
#include "viz/profile/phases/mosaic.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/viz/profile/profile_rows.h"
#include "tests/viz/profile/toy_kernel.h"

namespace attn {
namespace {

using gpu::CodePhase;
using profile_test::h100_row;

// 60 samples in S, of which 20 while nothing was issued, 30 in O with 30, 10 that no line says of.
KernelSamples samples() {
  KernelSamples s;
  s.text_hash = "44556677";
  s.period_log2 = 11;
  s.launches = 1;
  s.reasons = {"selected", "short_scoreboard", "mio_throttle", "wait"};
  s.files = {"kernels/gpu/toy.cu", "kernels/gpu/toy.cuh"};
  s.functions = {{"toy",
                  {{0x00, CodePhase::none, {}, {{3, 10, 0}}},
                   {0x10, CodePhase::s, {{0, 5}}, {{0, 30, 0}, {1, 20, 15}, {2, 5, 5}}},
                   {0x20, CodePhase::s, {{0, 6}}, {{0, 5, 0}}},
                   {0x30, CodePhase::o, {{1, 7}}, {{1, 10, 10}, {3, 20, 20}}}}}};
  return s;
}

Measurement row(KernelSamples s, double us = 2000, const char* kernel = "flash_simt") {
  Measurement m = h100_row(kernel, us);
  m.samples = std::make_shared<const KernelSamples>(std::move(s));
  return m;
}

TEST(Mosaic, WidthIsAPhasesShareAndHeightWhatItsWarpsDid) {
  const MosaicScene scene = mosaic_scene(row(samples()), nullptr);
  ASSERT_TRUE(scene.there);
  ASSERT_EQ(scene.empty, "");
  ASSERT_EQ(scene.columns.size(), 3U);
  const MosaicColumn& s = scene.columns[0];
  EXPECT_EQ(s.phase, CodePhase::s);
  EXPECT_DOUBLE_EQ(s.from, 0);
  EXPECT_DOUBLE_EQ(s.to, 0.6);
  EXPECT_EQ(s.share, "60 %");
  EXPECT_EQ(s.time, "1.20 ms");
  EXPECT_EQ(s.line, 5);
  EXPECT_EQ(s.file, "") << "the kernel's own";
  ASSERT_EQ(s.cells.size(), 2U);
  EXPECT_EQ(s.cells[0].state, WarpState::issues) << "from below";
  EXPECT_DOUBLE_EQ(s.cells[0].to, 35.0 / 60);
  EXPECT_DOUBLE_EQ(s.cells[1].to, 1);
  EXPECT_EQ(s.cells[1].text, "42 % waits for the queue of memory and special functions");
  EXPECT_NE(s.cells[1].tip.find("short_scoreboard 20, mio_throttle 5"), std::string::npos) << s.cells[1].tip;
  EXPECT_NE(s.cells[1].tip.find("25 of 60 samples, or 25 % of all"), std::string::npos) << s.cells[1].tip;
  const MosaicColumn& o = scene.columns[1];
  EXPECT_EQ(o.file, "toy.cuh");
  EXPECT_EQ(o.line, 7);
  EXPECT_EQ(scene.columns[2].phase, CodePhase::none) << "what is untagged is shown";
  EXPECT_EQ(scene.columns[2].line, 0);
  EXPECT_DOUBLE_EQ(scene.columns[2].to, 1);
}

TEST(Mosaic, TheEmptySlotsAreTheSamplesInWhichNothingWasIssuedAlone) {
  const MosaicScene scene = mosaic_scene(row(samples()), nullptr);
  EXPECT_DOUBLE_EQ(scene.columns[0].empty_to, 0.4);
  EXPECT_EQ(scene.columns[0].empty_share, "40 %");
  EXPECT_DOUBLE_EQ(scene.columns[1].empty_from, 0.4);
  EXPECT_DOUBLE_EQ(scene.columns[1].empty_to, 1);
  EXPECT_DOUBLE_EQ(scene.columns[2].empty_to, 1);
}

TEST(Mosaic, TheSentenceNamesTheLargestLossAndChangesWithItsFigures) {
  const auto said = [](const KernelSamples& s) { return plain_text(mosaic_scene(row(s), nullptr).headline); };
  const std::string before = said(samples());
  EXPECT_EQ(before,
            "No instruction was issued in 50 % of the samples, most often in O (60 %), where the warp most often "
            "waits for its previous result.");
  KernelSamples s = samples();
  s.functions[0].instructions[1].reasons[1] = {1, 60, 55};
  const std::string after = said(s);
  EXPECT_NE(after.find("most often in S (67 %)"), std::string::npos) << after;
  EXPECT_NE(after.find("waits for the queue of memory and special functions"), std::string::npos) << after;
  for (auto& i : s.functions[0].instructions)
    for (auto& r : i.reasons) r.not_issued = 0;
  EXPECT_EQ(said(s), "") << "without a loss no sentence";
}

// The queue is one class, known or not which of its two it is: only how it is named differs.
TEST(Mosaic, TheSentenceIsTheSameWithAndWithoutTheMachineCode) {
  using gpu::QueueUse;
  const auto said = [](QueueUse first, QueueUse second) {
    KernelSamples s = samples();
    s.functions[0].instructions = {{0x10, CodePhase::o, {{0, 5}}, {{1, 10, 10}, {3, 15, 15}}},
                                   {0x20, CodePhase::o, {{0, 6}}, {{1, 8, 8}}}};
    s.functions[0].instructions[0].operands = first;
    s.functions[0].instructions[1].operands = second;
    return plain_text(mosaic_scene(row(s), nullptr).headline);
  };
  const std::string queue = "waits for the queue of memory and special functions";
  EXPECT_NE(said(QueueUse::unknown, QueueUse::unknown).find(queue + "."), std::string::npos);
  EXPECT_NE(said(QueueUse::shared, QueueUse::special).find(queue + ", mostly for shared memory."), std::string::npos);
  EXPECT_NE(said(QueueUse::shared, QueueUse::shared).find("most often waits for shared memory."), std::string::npos);
}

// CUPTI takes the slot of a warp that was picked and then held for one that was used.
TEST(Mosaic, AWarpThatIsHeldAtDispatchLeavesItsSlotEmpty) {
  KernelSamples s = samples();
  s.reasons.emplace_back("dispatch_stall");
  s.functions[0].instructions[2].reasons.push_back({4, 10, 1});
  const MosaicScene scene = mosaic_scene(row(s), nullptr);
  EXPECT_EQ(scene.columns[0].empty_share, "50 %") << "20 + 10 of 60";
  EXPECT_NE(plain_text(scene.headline).find("issued in 55 % of the samples"), std::string::npos);
}

TEST(Mosaic, TheOtherKernelStandsOnTheSameScale) {
  const Measurement other = row(samples(), 5000, "tiled");
  const MosaicScene scene = mosaic_scene(row(samples()), &other);
  EXPECT_EQ(scene.other, "tiled");
  ASSERT_EQ(scene.parts.size(), 3U);
  EXPECT_DOUBLE_EQ(scene.parts[0].to, 0.6 * 2.5);
  EXPECT_DOUBLE_EQ(scene.parts[2].to, 2.5);
  EXPECT_NE(scene.other_words.find("5.00 ms"), std::string::npos) << scene.other_words;
  Measurement without = h100_row("tiled", 5000);
  EXPECT_TRUE(mosaic_scene(row(samples()), &without).parts.empty());
}

TEST(Mosaic, TheLegendNamesTheLargestStatesAndSumsTheRest) {
  std::vector<MosaicCell> all(5);
  const std::array<std::uint64_t, 5> samples{500, 20, 300, 40, 140};
  for (std::size_t n = 0; n < all.size(); ++n) all[n].samples = samples.at(n);
  EXPECT_EQ(legend_of(all, 5).named, std::vector<bool>(5, true));
  EXPECT_EQ(legend_of(all, 5).rest, "");
  const MosaicLegend four = legend_of(all, 4);
  EXPECT_EQ(four.named, (std::vector<bool>{true, false, true, false, true})) << "the rest takes a row, too";
  EXPECT_EQ(four.rest, "6 % the rest");
}

TEST(Mosaic, HowToReadASampleIsASentenceOfItsOwn) {
  const MosaicScene scene = mosaic_scene(row(samples()), nullptr);
  EXPECT_EQ(scene.rule,
            "A sample is attributed to the instruction that waits, not to the instruction that made it wait.");
  EXPECT_EQ(scene.notes.find("stands at"), std::string::npos);
}

TEST(Mosaic, SaysWhyThereIsNoneAndWhatWasDropped) {
  Measurement refused = h100_row("flash_simt", 2000);
  EXPECT_FALSE(mosaic_scene(refused, nullptr).there) << "nobody asked";
  EXPECT_EQ(mosaic_scene(refused, nullptr).empty, "");
  refused.no_samples = "the driver lets only administrators read";
  EXPECT_EQ(mosaic_scene(refused, nullptr).empty, "the driver lets only administrators read");
  KernelSamples s = samples();
  s.no_lines = "nvdisasm was not found";
  EXPECT_EQ(mosaic_scene(row(s), nullptr).empty, "nvdisasm was not found");
  s = samples();
  EXPECT_NE(mosaic_scene(row(s), nullptr).notes.find("none was dropped"), std::string::npos);
  s.dropped = 1234;
  EXPECT_NE(mosaic_scene(row(s), nullptr).notes.find("1 234 were dropped"), std::string::npos);
}

TEST(ProfileSource, SampledLinesHaveTheirShareAndAreTheHotOnes) {
  const KernelSamples s = samples();
  const ListingView view = profile_test::listed(profile_test::toy_listing(), "toy");
  const SourceScene scene = source_scene(view, "toy", {}, {&s, nullptr, ""});
  ASSERT_TRUE(scene.sampled);
  EXPECT_EQ(scene.samples, 100U);
  EXPECT_DOUBLE_EQ(scene.rows[4].sample_share, 0.55);
  EXPECT_EQ(scene.hot, (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(samples_words(scene.rows[4].samples, scene.rows[4].sample_share),
            "55 % of all samples, 55: 55 % issues, 45 % waits for the queue of memory and special functions");
  EXPECT_EQ(samples_words(scene.rows[2].samples, scene.rows[2].sample_share), "");
}

TEST(ProfileSource, SamplesOfAnotherTextAreNotPutBesideTheseLines) {
  KernelSamples s = samples();
  s.text_hash = "another";
  const ListingView view = profile_test::listed(profile_test::toy_listing(), "toy");
  const SourceScene scene = source_scene(view, "toy", {}, {&s, nullptr, ""});
  EXPECT_FALSE(scene.sampled);
  EXPECT_NE(scene.why_no_samples, "");
  EXPECT_EQ(scene.hot, (std::vector<std::int32_t>{5, 1, 3, 7})) << "by instructions, as without samples";
}

// setup, loop, Q far from one another; normalise, store, untagged within three pixels.
TEST(Mosaic, ColumnsThatLieCloseShareALeader) {
  const std::array<float, 6> middles{340, 350, 390, 1100, 1101, 1103};
  EXPECT_EQ(leaders_of(middles, 5), (std::vector<std::size_t>{1, 2, 3, 6}));
  EXPECT_EQ(leaders_of(middles, 0.5F), (std::vector<std::size_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(leaders_of(middles, 10), (std::vector<std::size_t>{2, 3, 6}));
  EXPECT_TRUE(leaders_of({}, 5).empty());
}

TEST(Mosaic, WordsInABoxStandClearOfItsSides) {
  constexpr float kSign = 9, kShare = 33, kGap = 5, kSide = 4;
  for (float box = 1; box < 80; ++box) {
    const BoxWords words = words_in_box(box, kSign, kShare, kGap, kSide);
    EXPECT_EQ(words.sign, box >= 17) << box;
    EXPECT_EQ(words.share, box >= 55) << box;
  }
}

}  // namespace
}  // namespace attn
