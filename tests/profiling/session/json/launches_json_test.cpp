// How a launch was started, in a session's JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "profiling/session/json/measurement_json.h"
#include "tests/profiling/fake_kernels.h"

namespace attn {
namespace {

using nlohmann::json;

Measurement planned() {
  Measurement m;
  m.key.kernel = "naive";
  m.key.problem = test::small_problem();
  m.processor = Processor::gpu;
  m.launches.emplace_back().name = "naive_scores";
  return m;
}

TEST(LaunchesJson, APlainLaunchIsWrittenAsItAlwaysWas) {
  const json written = measurement_to_json(planned(), true)["launches"][0];
  EXPECT_EQ(written, (json{{"name", "naive_scores"}, {"grid", {1, 1, 1}}, {"block", {1, 1, 1}}, {"shared_bytes", 0}}));
}

TEST(LaunchesJson, ClusterAndEarlyStartAreReadBack) {
  Measurement m = planned();
  m.launches[0].cluster[1] = 2;
  m.launches[0].early_start = true;
  json written = measurement_to_json(m, true);
  EXPECT_EQ(written["launches"][0]["cluster"], (json{1, 2, 1}));
  std::vector<std::string> unknown;
  const auto back = measurement_from_json(written, "a test", unknown);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(std::ranges::equal(back->launches.at(0).cluster, m.launches[0].cluster));
  EXPECT_TRUE(back->launches[0].early_start);
  written["launches"][0]["cluster"] = {0, 1, 1};
  EXPECT_FALSE(measurement_from_json(written, "a test", unknown));
}

}  // namespace
}  // namespace attn
