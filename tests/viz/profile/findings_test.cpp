// Each rule speaks where its figures say so, and only then; every number of a sentence is a figure's.
#include "viz/profile/findings.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/viz/profile/beats.h"
#include "tests/viz/profile/profile_rows.h"

namespace attn {
namespace {

using profile_test::h100_row;
using profile_test::put;

const FindingContext kH100{"sm_90a", 132};

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
  put(m, "tensor_pipe_pct", 65);
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
  EXPECT_EQ(experiment(m), "at most 128 registers a thread and 113 KiB of shared memory a block for 2 blocks on an SM");
  m.launches[0].shared_bytes = 0;
  EXPECT_EQ(experiment(m), "at most 128 registers a thread for 2 blocks on an SM");
  put(m, "registers_count", 40);
  m.launches[0].shared_bytes = 129024;
  EXPECT_EQ(experiment(m), "113 KiB of shared memory a block for 2 blocks on an SM");
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
  expect_same(m, "flash_mma");
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
