// Samples survive their file, and a file that nobody vouches for is refused in words.
#include "profiling/session/json/samples_json.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace attn {
namespace {

using gpu::CodePhase;
using nlohmann::json;

KernelSamples samples() {
  KernelSamples s;
  s.method = "CUPTI 13.0, PC sampling";
  s.arch = "sm_90a";
  s.text_hash = "44556677";
  s.period_log2 = 11;
  s.launches = 2;
  s.dropped = 3;
  s.unattributed = 4;
  s.kernel_us = 1800.5;
  s.seconds = 0.25;
  s.reasons = {"selected", "wait"};
  s.files = {"kernels/gpu/naive.cu", "kernels/gpu/device.cuh"};
  s.functions = {{"naive_scores",
                  {{0x10, CodePhase::s, {{0, 20}, {1, 7}}, {{0, 10, 0}, {1, 20, 5}}},
                   {0x20, CodePhase::none, {}, {{1, std::uint64_t{1} << 40, 7}}}}}};
  return s;
}

TEST(SamplesJson, ReadsBackWhatItWrote) {
  const auto read = samples_from_json(json::parse(samples_to_json(samples()).dump()), "a test");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, samples());
}

// Thousands of instructions would hold up a frame of the page.
TEST(SamplesJson, AreReadInPiecesAndComeToTheSame) {
  KernelSamples many = samples();
  for (std::uint32_t n = 0; n < 1800; ++n)
    many.functions[0].instructions.push_back({0x30 + 16 * n, CodePhase::p, {{0, 1}}, {{1, 5, 2}}});
  many.functions.push_back({"empty", {}});
  many.functions.push_back(many.functions[0]);
  const json j = samples_to_json(many);
  auto read = begin_samples_from_json(j, "a test");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->functions.empty());
  std::size_t pieces = 0, before = 0;
  for (bool all = false; !all; ++pieces) {
    const auto more = more_samples_from_json(j, "a test", *read);
    ASSERT_TRUE(more) << more.error().message;
    all = *more;
    std::size_t now = 0;
    for (const SampledFunction& f : read->functions) now += f.instructions.size();
    EXPECT_LE(now - before, 500U);
    before = now;
  }
  EXPECT_GE(pieces, 2 * 1802U / 500U);
  EXPECT_EQ(*read, many);
}

TEST(SamplesJson, RefusesWhatDoesNotFit) {
  const json good = samples_to_json(samples());
  const auto refused = [&](const std::function<void(json&)>& change) {
    json j = good;
    change(j);
    const auto read = samples_from_json(j, "a test");
    return read ? std::string("it was read") : read.error().message;
  };
  const auto instruction = [&](const char* text) {
    return refused([&](json& j) { j["functions"][0]["instructions"][0] = text; });
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(refused([](json& j) { j.erase("reasons"); }), "reasons"));
  EXPECT_TRUE(has(refused([](json& j) { j["period_log2"] = 64; }), "period_log2"));
  EXPECT_TRUE(has(refused([](json& j) { j["seconds"] = -1; }), "seconds"));
  EXPECT_TRUE(has(refused([](json& j) { j["functions"][0]["instructions"][0] = 7; }), "is not a string"));
  EXPECT_EQ(instruction("16 S 0:20,1:7 0:10:0,1:20:5"), "it was read");
  EXPECT_EQ(instruction("16 S - -"), "it was read");
  EXPECT_TRUE(has(instruction("16 Z - -"), "phase"));
  EXPECT_TRUE(has(instruction("16 S 2:1 -"), "not in any of the files"));
  EXPECT_TRUE(has(instruction("16 S 0:0 -"), "not in any of the files"));
  EXPECT_TRUE(has(instruction("16 S 0 -"), "pairs"));
  EXPECT_TRUE(has(instruction("16 S 0:1, -"), "pairs"));
  EXPECT_TRUE(has(instruction("16 S - 2:1:1"), "not in the list"));
  EXPECT_TRUE(has(instruction("16 S - 0:1:2"), "with nothing issued"));
  EXPECT_TRUE(has(instruction("16 S - 0:-1:2"), "triples"));
  EXPECT_TRUE(has(instruction("16 S - 0:1:99999999999999999999"), "triples"));
  EXPECT_TRUE(has(instruction("-16 S - -"), "is not a string"));
  EXPECT_TRUE(has(instruction("16 S -"), "is not a string"));
  EXPECT_TRUE(has(instruction(""), "is not a string"));
  EXPECT_TRUE(has(instruction("32 S - -"), "not come after")) << "as the next one";
}

}  // namespace
}  // namespace attn
