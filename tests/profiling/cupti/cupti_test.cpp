// CUPTI with no GPU: what its host API says of every chip, and what is told where it is missing or forbidden.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "profiling/cupti/metric_host.h"
#include "profiling/cupti/pm_sampling.h"
#include "profiling/cupti/profiler.h"
#include "profiling/cupti/sass_metrics.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/metrics.h"
#include "profiling/measure/gpu/counter_figures.h"

namespace attn {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// Tegra-class chips share their memory with the CPU and have no counter of DRAM bytes.
const std::set<std::string> kWithoutDram{"GV11B", "GA10B", "GB10B", "GB20B"};
// Older than Turing: no row of the kernel table runs there.
bool before_turing(const std::string& chip) {
  return chip.starts_with("GV") || chip.starts_with("GP") || chip.starts_with("GM");
}

class CuptiHost : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "CUPTI loads its parts with RTLD_DEEPBIND, at which a sanitizer ends the program";
    auto opened = cupti::Cupti::open();
    if (!opened) GTEST_SKIP() << opened.error().message;
    cupti_ = *opened;
    auto chips = cupti::supported_chips(*cupti_);
    ASSERT_TRUE(chips) << chips.error().message;
    for (std::string& chip : *chips) {
      if (!before_turing(chip)) chips_.push_back(std::move(chip));
    }
    ASSERT_GE(chips_.size(), 10U);
  }
  std::shared_ptr<const cupti::Cupti> cupti_;
  std::vector<std::string> chips_;
};

TEST_F(CuptiHost, EveryCounterOfTheTableExistsOnEveryChip) {
  for (const std::string& chip : chips_) {
    auto host = cupti::MetricHost::make(cupti_, chip, {});
    ASSERT_TRUE(host) << chip << ": " << host.error().message;
    for (const MetricRow& row : metric_table()) {
      if (row.counters.empty()) continue;
      const bool has = std::ranges::any_of(row.counters, [&](std::string_view name) { return host->has(name); });
      const bool dram = row.id.starts_with("dram_");
      EXPECT_EQ(has, !(dram && kWithoutDram.contains(chip))) << chip << ": " << row.id;
    }
  }
}

TEST_F(CuptiHost, TheLeanSetTakesFewPassesOnEveryChip) {
  for (const std::string& chip : chips_) {
    auto host = cupti::MetricHost::make(cupti_, chip, {});
    ASSERT_TRUE(host);
    std::vector<std::string> chosen;
    for (const CounterNames names : table_counters()) {
      const auto at = std::ranges::find_if(names, [&](std::string_view name) { return host->has(name); });
      if (at != names.end()) chosen.emplace_back(*at);
    }
    const auto good = host->choose(chosen);
    ASSERT_TRUE(good) << chip << ": " << good.error().message;
    EXPECT_GE(host->passes(), 1U) << chip;
    EXPECT_LE(host->passes(), 4U) << chip;
    EXPECT_FALSE(host->config().empty()) << chip;
  }
}

// What of a heartbeat a chip cannot read in one pass with what is wanted more.
std::set<std::string> missing_of(const std::string& chip) {
  if (chip == "GH100" || chip == "GA100" || (chip.starts_with("GB1") && chip != "GB10B")) return {};
  if (chip == "TU116" || chip == "TU117") return {"dram_read", "dram_write"};
  if (chip.starts_with("TU")) return {"tensor", "dram_read", "dram_write"};
  if (chip == "GA10B" || chip == "GB10B") return {"fma", "dram_read", "dram_write"};
  if (chip == "GB20B") return {"xu", "dram_read", "dram_write"};
  if (chip.starts_with("GB2")) return {"xu"};
  return {"fma"};  // GA10x, AD10x
}

TEST_F(CuptiHost, AHeartbeatIsOnePassOnEveryChip) {
  std::vector<CounterNames> what;
  for (const BeatRow& row : beat_table()) what.push_back(row.names);
  for (const std::string& chip : chips_) {
    const auto chosen = cupti::choose_one_pass(cupti_, chip, {}, what);
    ASSERT_TRUE(chosen) << chip << ": " << chosen.error().message;
    EXPECT_EQ(chosen->host->passes(), 1U) << chip;
    std::set<std::string> missing;
    for (std::size_t n = 0; n < what.size(); ++n)
      if (chosen->names[n].empty()) missing.insert(std::string(beat_table()[n].id));
    EXPECT_EQ(missing, missing_of(chip)) << chip;
    for (std::size_t n = 0; chip == "GH100" && n < what.size(); ++n) {
      EXPECT_EQ(chosen->names[n], beat_table()[n].names.front()) << "the set that was seen on an H100";
    }
  }
  EXPECT_FALSE(cupti::choose_one_pass(cupti_, chips_.front(), {}, {}));
  EXPECT_TRUE(cupti::triggers_by_time("GH100"));
  EXPECT_FALSE(cupti::triggers_by_time("GA100"));
  EXPECT_FALSE(cupti::triggers_by_time("TU102"));
}

TEST_F(CuptiHost, EveryCounterOfInstructionsExistsOnEveryChip) {
  for (const std::string& chip : chips_) {
    std::set<std::uint64_t> numbers;
    for (const InstructionCounterRow& row : instruction_counter_table())
      for (const std::string_view metric : row.metrics) {
        const auto number = cupti::sass_metric_id(*cupti_, chip, std::string(metric));
        ASSERT_TRUE(number) << chip << ", " << metric << ": " << number.error().message;
        EXPECT_NE(*number, 0U) << "that of a value which was not written";
        numbers.insert(*number);
      }
    EXPECT_EQ(numbers.size(), kInstructionCounters) << chip;
  }
  const auto none = cupti::sass_metric_id(*cupti_, "GH100", "smsp__sass_no_such_metric");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("cuptiSassMetricsGetProperties failed"), std::string::npos)
      << none.error().message;
}

TEST_F(CuptiHost, UnknownChipsAndMetricsAreRefusedInWords) {
  const auto none = cupti::MetricHost::make(cupti_, "GZ999", {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("cuptiProfilerHostInitialize failed: CUPTI_ERROR"), std::string::npos)
      << none.error().message;
  auto host = cupti::MetricHost::make(cupti_, chips_.front(), {});
  ASSERT_TRUE(host);
  EXPECT_FALSE(host->has("no__such_metric.sum"));
  EXPECT_FALSE(host->choose({"no__such_metric.sum"}));
}

TEST_F(CuptiHost, ADriverOfAnOlderCudaIsRefusedWithTheMend) {
  EXPECT_TRUE(cupti_version(0));
  EXPECT_TRUE(cupti_version(13000));
  const auto old = cupti_version(11080);
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().message.find("install driver 580 or newer"), std::string::npos) << old.error().message;
}

TEST_F(CuptiHost, ARefusalForPrivilegesNamesTheOneLineThatAllowsIt) {
  const auto refused = cupti_->check(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "cuptiRangeProfilerStart");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::cannot_run);
  EXPECT_NE(refused.error().message.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos)
      << refused.error().message;
}

// A /proc of our own.
class FakeProc : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "attnscope_proc_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name + "/";
    std::filesystem::create_directories(root_ + "proc/driver/nvidia");
    std::filesystem::create_directories(root_ + "proc/self");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& file, const std::string& text) const { std::ofstream(root_ + file) << text; }
  std::string root_;
};

TEST_F(FakeProc, CountersForAdministratorsAloneAreToldUnlessOneIs) {
  EXPECT_TRUE(counters_permitted(root_));  // no such file: nothing is known against it
  write("proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 1\n");
  write("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
  const auto refused = counters_permitted(root_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  write("proc/self/status", "CapEff:\t000001ffffffffff\n");
  EXPECT_TRUE(counters_permitted(root_));
  write("proc/self/status", "CapEff:\t0000004000000000\n");  // CAP_PERFMON
  EXPECT_TRUE(counters_permitted(root_));
  write("proc/self/status", "CapEff:\tno number\n");
  EXPECT_FALSE(counters_permitted(root_));
  write("proc/self/status", "CapEff:\t0000000000000000\n");
  write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  EXPECT_TRUE(counters_permitted(root_));
}

}  // namespace
}  // namespace attn
