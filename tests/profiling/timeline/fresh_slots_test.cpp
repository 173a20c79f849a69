// What a third slot would gain, on problems that no rule was made on: derived from a block with two slots, beside what
// was measured afterwards on the same GPU.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profiling/session/session.h"
#include "profiling/timeline/what_if.h"
#include "tests/environment/paths.h"

namespace attn {
namespace {

using nlohmann::json;

const std::string kFolder = "/tests/profiling/timeline/";

// The page's rule (viz/profile/timeline/scene/compare_scene.cpp), written again.
bool agrees(double derived, const json& two, const json& three) {
  const auto relative = [](const json& us) {
    return (us[2].get<double>() - us[0].get<double>()) / us[1].get<double>();
  };
  const double share = three[1].get<double>() / two[1].get<double>(), gain = 1 - share;
  const double spread = share * std::hypot(relative(two), relative(three));
  const bool near = std::fabs(derived - gain) <= std::max(0.02, 0.3 * std::fabs(gain));
  return near && (std::fabs(gain) <= 2 * spread || derived * gain > 0);
}

struct Counted {
  int told = 0, in_time = 0, in_clocks = 0;
};

TEST(FreshSlots, AreToldAsMeasuredIn8Of11LaunchesAndIn10ByTheSmsClock) {
  const auto session = read_session(test::source_folder() + kFolder + "fresh_slots.attn");
  ASSERT_TRUE(session) << session.error().message;
  std::ifstream in(test::source_folder() + kFolder + "fresh_slots.json");
  const json launches = json::parse(in).at("launches");
  ASSERT_EQ(launches.size(), 12U);
  ASSERT_EQ(session->timelines.size(), launches.size());
  Counted counted;
  for (std::size_t n = 0; n < launches.size(); ++n) {
    const Timeline& t = session->timelines[n];
    const json& x = launches[n];
    ASSERT_TRUE(t.problem.Lk == x.at("L") && t.problem.D == x.at("D") && t.problem.mask.causal == x.at("causal"));
    ASSERT_EQ(t.options.stages, 2);
    const auto p = pipeline_of(t, detailed_blocks(t).front());
    ASSERT_TRUE(p) << p.error().message;
    EXPECT_EQ(p->k_until_p, t.problem.D == 64) << "where exponentials begin before the maximum";
    const auto share = with_slots(t, *p, 3);
    // Its query tiles are short: what consumers wait for Q would change.
    const bool short_tiles = t.problem.Lk == 512 && t.problem.D == 128;
    EXPECT_EQ(share.has_value(), !short_tiles) << n;
    if (!share) continue;
    ++counted.told;
    EXPECT_GT(1 - share->share, 0.03) << n << ": all gain";
    counted.in_time += agrees(1 - share->share, x.at("two_us"), x.at("three_us"));
    const double clocks = 1 - x.at("three_clocks").get<double>() / x.at("two_clocks").get<double>();
    counted.in_clocks += std::fabs(1 - share->share - clocks) <= std::max(0.02, 0.3 * clocks);
    // Where stalls go, the card lowers its clock; a replay in clocks does not see that.
    if (t.problem.D == 96) {
      EXPECT_FALSE(agrees(1 - share->share, x.at("two_us"), x.at("three_us"))) << n;
    }
  }
  EXPECT_EQ(counted.told, 11);
  EXPECT_EQ(counted.in_time, 8);
  EXPECT_EQ(counted.in_clocks, 10);
}

}  // namespace
}  // namespace attn
