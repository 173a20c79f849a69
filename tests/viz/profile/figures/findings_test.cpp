// Each rule speaks where its figures say so, and only then; every number of a sentence is a figure's.
#include "viz/profile/figures/findings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "profiling/figures/samples.h"
#include "tests/viz/profile/heartbeat/beats.h"
#include "tests/viz/profile/profile_rows.h"
#include "tests/viz/profile/toy_counts.h"

namespace attn {
namespace {

using profile_test::h100_row;
using profile_test::put;

const Measurement kFlash = h100_row("flash_simt", 20000);
const std::array<const Measurement*, 1> kOthers{&kFlash};
const FindingContext kH100{"sm_90a", 132, kOthers};

// 100 samples at line 5, of the phase S, or 20 of them of a barrier at line 7.
std::shared_ptr<const KernelSamples> sampled(const char* reason, std::uint64_t all, std::uint64_t not_issued,
                                             bool at_barrier = false) {
  KernelSamples s;
  s.reasons = {"selected", reason};
  s.files = {"kernels/gpu/toy.cu"};
  SampledInstruction issues{0x10, gpu::CodePhase::s, {{0, 5}}, {{0, 100 - all, 0}}};
  SampledInstruction waits{
      0x20, at_barrier ? gpu::CodePhase::barrier : gpu::CodePhase::s, {{0, 7}}, {{1, all, not_issued}}};
  s.functions = {{"toy", {issues, waits}}};
  return std::make_shared<const KernelSamples>(s);
}

// Line 7 asks for 800 sectors where 100 would do.
std::shared_ptr<const KernelCounts> counted() {
  return std::make_shared<const KernelCounts>(profile_test::toy_counts());
}

// A row with nothing to find: every figure that the rules read is there, on the good side of each threshold.
Measurement quiet() {
  Measurement m = h100_row("flash_mma", 59526);
  m.key.problem.dtype = DType::f16;
  m.launches[0].grid[0] = 132LL * 40;
  put(m, "registers_count", 128);
  put(m, "shared_static_bytes", 0);
  m.launches[0].shared_bytes = 0;
  put(m, "dram_peak_share_pct", 20);
  put(m, "dram_over_compulsory_ratio", 1.2);
  put(m, "peak_share_pct", 40);
  put(m, "tensor_pipe_pct", 75);
  put(m, "shared_wavefronts_count", 1000);
  put(m, "shared_conflicts_count", 10);
  put(m, "spill_bytes", 0);
  put(m, "warp_efficiency_pct", 99);
  put(m, "occupancy_achieved_pct", 12.5);
  return m;
}

using Change = std::function<void(Measurement&)>;
const std::map<std::string, Change> kTriggers{
    {"dram_bound", [](Measurement& m) { put(m, "dram_peak_share_pct", 80); }},
    {"multiply_bound",
     [](Measurement& m) {
       m.key.problem.dtype = DType::f32;
       put(m, "peak_share_pct", 80);
       put(m, "tensor_pipe_pct", 0.5);
     }},
    {"bank_conflicts", [](Measurement& m) { put(m, "shared_conflicts_count", 250); }},
    {"spills", [](Measurement& m) { put(m, "spill_bytes", 96); }},
    {"partial_warps", [](Measurement& m) { put(m, "warp_efficiency_pct", 50); }},
    {"few_warps", [](Measurement& m) { put(m, "tensor_pipe_pct", 30); }},
    {"tensor_idle",
     [](Measurement& m) {
       put(m, "tensor_pipe_pct", 1);
       put(m, "occupancy_achieved_pct", 60);
     }},
    {"tail", [](Measurement& m) { m.launches[0].grid[0] = 300; }},
    {"uncoalesced",
     [](Measurement& m) {
       m.samples = sampled("lg_throttle", 60, 50);
       m.counts = counted();
     }},
    {"stored_scores",
     [](Measurement& m) {
       m.key.kernel = "tiled";
       m.key.problem.dtype = DType::f32;
       put(m, "dram_peak_share_pct", 45);
       put(m, "compulsory_bytes", 5e9);
     }},
    {"late_copies", [](Measurement& m) { m.samples = sampled("long_scoreboard", 20, 10, true); }},
    {"held_at_dispatch", [](Measurement& m) { m.samples = sampled("dispatch_stall", 10, 0); }},
};

std::string text_of(const Measurement& m, const std::string& rule) {
  for (const Finding& f : findings_of(m, kH100, 100))
    if (f.rule == rule) return f.text;
  return "";
}

TEST(ProfileFindings, NothingIsFoundWhereNothingIsWrong) {
  for (const Finding& f : findings_of(quiet(), kH100, 100)) ADD_FAILURE() << f.rule << ": " << f.text;
}

TEST(ProfileFindings, EachRuleSpeaksForItsOwnFiguresAlone) {
  for (const FindingRule& rule : finding_rules()) {
    const std::string id(rule.id);
    ASSERT_TRUE(kTriggers.contains(id)) << "say here what makes " << id << " speak";
    Measurement m = quiet();
    kTriggers.at(id)(m);
    const auto found = findings_of(m, kH100, 100);
    ASSERT_EQ(found.size(), 1U) << id;
    EXPECT_EQ(found[0].rule, id);
    EXPECT_FALSE(found[0].experiment.empty());
  }
}

TEST(ProfileFindings, ARuleWithoutOneOfItsFiguresIsSilent) {
  for (const FindingRule& rule : finding_rules()) {
    for (const std::string_view metric : rule.needs) {
      Measurement m = quiet();
      kTriggers.at(std::string(rule.id))(m);
      m.figures[*find_metric(metric)].origin = Origin::not_available;
      EXPECT_EQ(text_of(m, std::string(rule.id)), "") << rule.id << " without " << metric;
      m.figures[*find_metric(metric)].origin = Origin::measured;
      m.figures[*find_metric(metric)].min_of_launches = true;
      EXPECT_EQ(text_of(m, std::string(rule.id)), "") << rule.id << " with the least of several launches";
    }
  }
}

// A sentence changes, or goes, where one of its figures changes. What `tail` reads stands in its sentence as places.
TEST(ProfileFindings, EveryNumberOfASentenceIsAFigure) {
  for (const FindingRule& rule : finding_rules()) {
    const std::string id(rule.id);
    Measurement m = quiet();
    kTriggers.at(id)(m);
    const std::string before = text_of(m, id);
    ASSERT_NE(before, "");
    for (const std::string_view metric : rule.needs) {
      if (id == "tail" && metric == "shared_static_bytes") continue;  // no shared memory limits these blocks
      // Multiply-adds stand aside where tensor cores work.
      if (id == "few_warps" && metric == "peak_share_pct") continue;
      Measurement changed = m;
      Figure& f = changed.figures[*find_metric(metric)];
      f.value = id == "tail" ? 255 : f.value * 0.93;
      EXPECT_NE(text_of(changed, id), before) << id << ": " << metric;
    }
  }
  Measurement m = quiet();
  kTriggers.at("tail")(m);
  const std::string before = text_of(m, "tail");
  m.launches[0].grid[0] = 310;
  EXPECT_NE(text_of(m, "tail"), before);
  m = quiet();
  put(m, "tensor_pipe_pct", 1);
  put(m, "peak_share_pct", 30);
  const std::string by_products = text_of(m, "few_warps");
  put(m, "peak_share_pct", 31);
  EXPECT_NE(text_of(m, "few_warps"), by_products);
}

// What the heartbeat heard bounds it too: 1 / 0.8 and not 1 / 0.3; and a slot that is never empty is a limit.
TEST(ProfileFindings, WhatWasHeardBoundsWhatMoreWarpsCouldBring) {
  const auto few = [](const Measurement& m) -> std::optional<Finding> {
    for (const Finding& f : findings_of(m, kH100, 99))
      if (f.rule == "few_warps") return f;
    return std::nullopt;
  };
  Measurement m = quiet();
  kTriggers.at("few_warps")(m);
  ASSERT_TRUE(few(m));
  EXPECT_NEAR(few(m)->at_most, 100 / 30.0, 1e-9);
  const auto hear = [&](double issue, double shared) {
    Heartbeat h = profile_test::made_beats();
    for (BeatCounter& c : h.counters) {
      if (c.id == "issue") c.values.assign(h.samples.size(), issue);
      if (c.id == "shared") c.values.assign(h.samples.size(), shared);
    }
    m.heartbeat = std::make_shared<const Heartbeat>(h);
  };
  hear(80, 40);
  EXPECT_NEAR(few(m)->at_most, 1.25, 1e-9);
  EXPECT_NE(few(m)->text.find("issue slots at 80.0 %, shared memory at 40.0 %"), std::string::npos) << few(m)->text;
  hear(40, 79);
  EXPECT_NEAR(few(m)->at_most, 100 / 79.0, 1e-9);
  hear(90, 40);
  EXPECT_FALSE(few(m)) << "something is at its limit";
}

std::optional<Finding> finding_of(const Measurement& m, const std::string& rule) {
  for (const Finding& f : findings_of(m, kH100, 99))
    if (f.rule == rule) return f;
  return std::nullopt;
}

// 20 of 100 samples without an issue: at most 1.25 times, and those that dispatch or a busy pipe holds are not theirs.
TEST(ProfileFindings, MoreWarpsFillNoMoreThanTheSlotsThatAreEmpty) {
  Measurement m = quiet();
  kTriggers.at("few_warps")(m);
  m.samples = sampled("wait", 40, 20);
  EXPECT_DOUBLE_EQ(finding_of(m, "few_warps")->at_most, 1.25);
  m.samples = sampled("math_pipe_throttle", 40, 20);
  EXPECT_FALSE(finding_of(m, "few_warps")) << "the pipe is busy";
  m.samples = sampled("dispatch_stall", 40, 20);
  EXPECT_FALSE(finding_of(m, "few_warps")) << "no other warp issues there";
}

// 40 samples issue, 40 stand beside them, 10 are held and 10 stand beside those: two warps a scheduler, so that a fifth
// of the slots is lost where a tenth of the samples is held, and more warps fill none of it.
TEST(ProfileFindings, AWarpHeldAtDispatchTakesTheSlotOfAllThatShareIt) {
  Measurement m = quiet();
  kTriggers.at("few_warps")(m);
  KernelSamples s;
  s.reasons = {"selected", "not_selected", "dispatch_stall", "wait"};
  s.files = {"kernels/gpu/toy.cu"};
  s.functions = {{"toy", {{0x10, gpu::CodePhase::s, {{0, 5}}, {{0, 40, 0}, {1, 40, 0}, {2, 10, 0}, {3, 10, 10}}}}}};
  m.samples = std::make_shared<const KernelSamples>(s);
  ASSERT_TRUE(finding_of(m, "held_at_dispatch"));
  EXPECT_DOUBLE_EQ(finding_of(m, "held_at_dispatch")->at_most, 1.25);
  EXPECT_NE(finding_of(m, "held_at_dispatch")
                ->text.find("With 2.0 warps per scheduler, held warps leave 20.0 % of the scheduler's slots empty"),
            std::string::npos)
      << finding_of(m, "held_at_dispatch")->text;
  EXPECT_FALSE(finding_of(m, "few_warps")) << "no slot is left for more warps";
}

TEST(ProfileFindings, WhatTheSessionMeasuredOfTiledStandsInPlaceOfTheBoundOfReadingSideBySide) {
  Measurement m = quiet();
  m.key.kernel = "naive";
  m.time.median = 80000;
  kTriggers.at("uncoalesced")(m);
  Measurement tiled = m;
  tiled.key.kernel = "tiled";
  tiled.time.median = 4000;
  const std::array<const Measurement*, 1> others{&tiled};
  const auto first = [&] { return findings_of(m, {"sm_90a", 132, others}, 1).at(0); };
  EXPECT_DOUBLE_EQ(first().seen, 20);
  EXPECT_EQ(first().at_most, 0) << "it does more than that bound is of";
  EXPECT_NE(first().text.find("Contiguous access would make the kernel at most 2.0 times as fast."), std::string::npos)
      << first().text;
  tiled.time.median = 90000;
  EXPECT_DOUBLE_EQ(first().at_most, 2);
}

// 264000 turns of conflicts on 132 SMs at 2 GHz are 1 us.
TEST(ProfileFindings, ConflictsCostNoMoreThanTheirTurnsTake) {
  Measurement m = quiet();
  put(m, "shared_wavefronts_count", 1e6);
  put(m, "shared_conflicts_count", 264000);
  put(m, "sm_clock_mhz", 2000);
  m.time.median = 11;
  ASSERT_TRUE(finding_of(m, "bank_conflicts"));
  EXPECT_DOUBLE_EQ(finding_of(m, "bank_conflicts")->at_most, 1.1);
  EXPECT_NE(finding_of(m, "bank_conflicts")->text.find("1.00 µs of 11.0 µs"), std::string::npos);
  m.time.median = 2;
  EXPECT_NEAR(finding_of(m, "bank_conflicts")->at_most, 1e6 / 736000, 1e-9) << "were it never idle";
  m.time.median = 100;
  EXPECT_FALSE(finding_of(m, "bank_conflicts")) << "1 % is not proposed";
}

TEST(ProfileFindings, TheLineThatReadsUncoalescedIsNamedWhereTheL1CacheIsTheLimit) {
  Measurement m = quiet();
  m.key.kernel = "naive";
  kTriggers.at("uncoalesced")(m);
  const auto f = finding_of(m, "uncoalesced");
  ASSERT_TRUE(f);
  EXPECT_EQ(f->text,
            "Line 7 (P) has uncoalesced reads: 700 of 800 sectors would be unnecessary if its bytes were contiguous. "
            "In 60.0 % of the samples, a warp waits for the L1 cache's queue.");
  EXPECT_DOUBLE_EQ(f->at_most, 2) << "50 of 100 samples are empty slots of that wait";
  EXPECT_EQ(f->other_kernel, "tiled");
  Heartbeat h = profile_test::made_beats(1, "toy");
  m.heartbeat = std::make_shared<const Heartbeat>(h);
  m.samples = sampled("lg_throttle", 99, 95);
  EXPECT_DOUBLE_EQ(finding_of(m, "uncoalesced")->at_most, 8) << "an eighth of the sectors in an eighth of the time";
  m.samples = sampled("long_scoreboard", 60, 50);
  EXPECT_FALSE(finding_of(m, "uncoalesced")) << "device memory is another wait";
  m.samples = sampled("lg_throttle", 60, 50);
  KernelCounts ideal = *m.counts;
  for (CountedInstruction& i : ideal.functions[0].instructions)
    i.counts[InstructionCounter::sectors_ideal] = i.counts[InstructionCounter::sectors];
  m.counts = std::make_shared<const KernelCounts>(ideal);
  EXPECT_FALSE(finding_of(m, "uncoalesced")) << "they lie side by side";
}

TEST(ProfileFindings, WhatStoresItsScoresIsSetAgainstTheKernelThatKeepsThem) {
  Measurement m = quiet();
  kTriggers.at("stored_scores")(m);
  m.time.median = 30000;
  auto f = finding_of(m, "stored_scores");
  ASSERT_TRUE(f);
  EXPECT_DOUBLE_EQ(f->seen, 1.5);
  EXPECT_EQ(f->at_most, 0) << "that it was so fast is no bound";
  EXPECT_NE(f->text.find("flash_simt takes 20.0 ms in total."), std::string::npos) << f->text;
  m.heartbeat = std::make_shared<const Heartbeat>([] {
    Heartbeat h = profile_test::made_beats(2, "tiled");
    h.launches[1].kernel = "tiled_softmax";
    return h;
  }());
  EXPECT_NE(finding_of(m, "stored_scores")->text.find("tiled_softmax alone takes 100 µs"), std::string::npos);
  m.launch_us = {50, 90};
  EXPECT_NE(finding_of(m, "stored_scores")->text.find("tiled_softmax alone takes 90.0 µs"), std::string::npos)
      << "as it was timed";
  put(m, "dram_peak_share_pct", 5);
  EXPECT_FALSE(finding_of(m, "stored_scores")) << "DRAM is idle";
  put(m, "dram_peak_share_pct", 45);
  m.time.median = 10000;
  EXPECT_FALSE(finding_of(m, "stored_scores")) << "the other is slower";
}

TEST(ProfileFindings, CopiesThatAreWaitedForAreFoundAtTheirLine) {
  Measurement m = quiet();
  kTriggers.at("late_copies")(m);
  auto f = finding_of(m, "late_copies");
  ASSERT_TRUE(f);
  EXPECT_EQ(f->text,
            "In 20.0 % of the samples, a warp waits at a barrier for copies from device memory, most of them at line "
            "7: 100 % "
            "of the empty issue slots.");
  EXPECT_NEAR(f->at_most, 1 / 0.9, 1e-9);
  EXPECT_EQ(f->other_kernel, "");
  m.key.kernel = "flash_wmma";
  EXPECT_EQ(finding_of(m, "late_copies")->other_kernel, "flash_mma");
  m.samples = sampled("long_scoreboard", 5, 5, true);
  EXPECT_FALSE(finding_of(m, "late_copies"));
  m.samples = sampled("long_scoreboard", 20, 10);
  EXPECT_FALSE(finding_of(m, "late_copies")) << "no barrier";
  m.samples = sampled("dispatch_stall", 4, 0);
  EXPECT_FALSE(finding_of(m, "held_at_dispatch"));
}

// As Occupancy says it: what is not in the way of another block is not named.
TEST(ProfileFindings, ForAnotherBlockAllThatIsInItsWayMustShrink) {
  const auto experiment = [](const Measurement& m) {
    for (const Finding& f : findings_of(m, kH100, 99))
      if (f.rule == "few_warps") return f.experiment;
    return std::string();
  };
  Measurement m = quiet();
  kTriggers.at("few_warps")(m);
  put(m, "registers_count", 254);
  m.launches[0].shared_bytes = 129024;
  // 65536 registers of 512 threads; 228 KiB of an SM for two, each with 1 KiB more that the system keeps.
  EXPECT_EQ(experiment(m),
            "at most 128 registers per thread and 113 KiB of shared memory per block for 2 blocks per SM");
  m.launches[0].shared_bytes = 0;
  EXPECT_EQ(experiment(m), "at most 128 registers per thread for 2 blocks per SM");
  put(m, "registers_count", 40);
  m.launches[0].shared_bytes = 129024;
  EXPECT_EQ(experiment(m), "113 KiB of shared memory per block for 2 blocks per SM");
}

TEST(ProfileFindings, WhatCouldBringMostComesFirstAndAtMostThree) {
  Measurement m = quiet();
  for (const char* rule : {"dram_bound", "bank_conflicts", "spills", "partial_warps"}) kTriggers.at(rule)(m);
  const auto found = findings_of(m, kH100);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].rule, "partial_warps");
  EXPECT_DOUBLE_EQ(found[0].at_most, 2);
  EXPECT_EQ(found[1].rule, "bank_conflicts");
  EXPECT_DOUBLE_EQ(found[1].at_most, 1000.0 / 750);
  EXPECT_EQ(found[2].rule, "dram_bound");
  EXPECT_DOUBLE_EQ(found[2].at_most, 1.2);
  EXPECT_EQ(findings_of(m, kH100, 100).back().rule, "spills") << "no figure says what it could bring";
}

TEST(ProfileFindings, OfARowThatWasNotTimedThereAreNone) {
  Measurement m = quiet();
  kTriggers.at("spills")(m);
  m.time.n = 0;
  EXPECT_TRUE(findings_of(m, kH100).empty());
  m = quiet();
  kTriggers.at("spills")(m);
  m.state = RowState::failed;
  EXPECT_TRUE(findings_of(m, kH100).empty());
}

std::string small(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The words propose what the chip beside them does, by the same name.
TEST(ProfileFindings, WhatIsProposedIsWhatTheChipDoes) {
  const auto expect_same = [](const Measurement& m, const std::string& label) {
    const auto found = findings_of(m, kH100, 100);
    ASSERT_EQ(found.size(), 1U) << label;
    EXPECT_EQ(attempt_label(found[0]), label);
    const bool named = small(found[0].experiment).find(small(label)) != std::string::npos;
    EXPECT_TRUE(named || label == "Open the lab") << found[0].experiment;
  };
  Measurement m = quiet();
  kTriggers.at("few_warps")(m);
  put(m, "registers_count", 254);
  expect_same(m, "At most 128 registers");
  m.key.kernel = "flash_simt";
  expect_same(m, "Half the warps");
  m = quiet();
  kTriggers.at("multiply_bound")(m);
  expect_same(m, "flash_tf32x3");
  m = quiet();
  kTriggers.at("tensor_idle")(m);
  expect_same(m, "flash_hopper");
  m = quiet();
  m.key.kernel = "naive";
  kTriggers.at("dram_bound")(m);
  expect_same(m, "flash_mma");
  m.key.problem.dtype = DType::f32;
  expect_same(m, "flash_simt");
  m = quiet();
  kTriggers.at("spills")(m);
  expect_same(m, "Open the lab");
}

}  // namespace
}  // namespace attn
