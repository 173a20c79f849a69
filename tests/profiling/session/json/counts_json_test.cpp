// Counts of instructions survive their file, and a file that nobody vouches for is refused in words.
#include "profiling/session/json/counts_json.h"

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profiling/figures/metrics.h"
#include "profiling/session/run.h"
#include "profiling/session/session.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

using gpu::CodePhase;
using nlohmann::json;

KernelCounts kept_counts() {
  KernelCounts c;
  c.method = "CUPTI 13.0, SASS metrics";
  c.arch = "sm_90a";
  c.text_hash = "44556677";
  c.chip = "GH100";
  c.seconds = 0.75;
  for (const InstructionCounterRow& row : instruction_counter_table())
    c.metrics.at(static_cast<std::size_t>(row.counter)) = row.metrics.front();
  c.files = {"kernels/gpu/naive.cu", "kernels/gpu/device.cuh"};
  CounterSums sums;
  std::uint64_t n = 1;
  for (const InstructionCounterRow& row : instruction_counter_table()) sums[row.counter] = n *= 100;
  c.functions = {
      {"naive_scores", {{0x10, CodePhase::s, {{0, 20}, {1, 7}}, sums}, {0x20, CodePhase::none, {}, CounterSums()}}}};
  return c;
}

TEST(CountsJson, ReadsBackWhatItWrote) {
  KernelCounts c = kept_counts();
  c.functions[0].instructions[0].counts[InstructionCounter::sectors_ideal] = std::uint64_t{1} << 53;
  const auto read = counts_from_json(json::parse(counts_to_json(c).dump()), "a test");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, c);
}

TEST(CountsJson, RefusesWhatDoesNotFit) {
  const json good = counts_to_json(kept_counts());
  const auto refused = [&](const std::function<void(json&)>& change) {
    json j = good;
    change(j);
    const auto read = counts_from_json(j, "a test");
    return read ? std::string("it was read") : read.error().message;
  };
  const auto instruction = [&](const char* text) {
    return refused([&](json& j) { j["functions"][0]["instructions"][0] = text; });
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(refused([](json& j) { j["version"] = 2; }), "this version supports up to 1"));
  EXPECT_TRUE(has(refused([](json& j) { j.erase("version"); }), "version"));
  EXPECT_TRUE(has(refused([](json& j) { j["metrics"].erase("inst_executed"); }), "inst_executed"));
  EXPECT_TRUE(has(refused([](json& j) { j["metrics"]["global_sectors"] = ""; }), "which no metric counted"));
  EXPECT_TRUE(has(refused([](json& j) { j["seconds"] = -1; }), "seconds"));
  EXPECT_TRUE(has(refused([](json& j) { j["functions"] = 7; }), "functions"));
  EXPECT_TRUE(has(refused([](json& j) { j["functions"][0]["instructions"][0] = 7; }), "is not a string"));
  EXPECT_EQ(instruction("16 S 0:20,1:7 1:2:3:4:5:6"), "it was read");
  EXPECT_EQ(instruction("16 S - 0:0:0:0:0:0"), "it was read");
  EXPECT_TRUE(has(instruction("16 Z - 1:2:3:4:5:6"), "phase"));
  EXPECT_TRUE(has(instruction("16 S 2:1 1:2:3:4:5:6"), "not in any of the files"));
  EXPECT_TRUE(has(instruction("16 S - 1:2:3:4:5"), "6 integers"));
  EXPECT_TRUE(has(instruction("16 S - 1:2:3:4:5:6,1:2:3:4:5:6"), "6 integers"));
  EXPECT_TRUE(has(instruction("16 S - -"), "6 integers"));
  EXPECT_TRUE(has(instruction("16 S - 1:2:3:4:5:-6"), "6 integers"));
  EXPECT_TRUE(has(instruction("16 S -"), "is not a string"));
  EXPECT_TRUE(has(instruction("32 S - 1:2:3:4:5:6"), "not come after")) << "as the next one";
}

TEST(CountsJson, ASessionKeepsThemAndWhyThereAreNone) {
  Measurement row;
  row.key.kernel = "naive";
  row.processor = Processor::gpu;
  fill_figures(row);
  row.counts = std::make_shared<const KernelCounts>(kept_counts());
  Measurement refused = row;
  refused.counts.reset();
  refused.no_counts = "the driver lets only administrators read";
  Session session;
  session.runs.push_back(new_run(""));
  session.runs.front().rows = {row, refused};
  const TempFolder folder;
  ASSERT_TRUE(write_session(folder / "counts.attn", session));
  const auto read = read_session(folder / "counts.attn");
  ASSERT_TRUE(read) << read.error().message;
  const auto& rows = read->runs.front().rows;
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_NE(rows[0].counts, nullptr);
  EXPECT_EQ(*rows[0].counts, kept_counts());
  EXPECT_EQ(rows[0].no_counts, "");
  EXPECT_EQ(rows[1].counts, nullptr);
  EXPECT_EQ(rows[1].no_counts, "the driver lets only administrators read");
}

}  // namespace
}  // namespace attn
