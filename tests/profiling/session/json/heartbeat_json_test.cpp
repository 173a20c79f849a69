// A heartbeat survives its file, and a file that nobody vouches for is refused in words.
#include "profiling/session/json/heartbeat_json.h"

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profiling/session/json/measurement_json.h"
#include "tests/viz/profile/profile_rows.h"

namespace attn {
namespace {

using nlohmann::json;

Heartbeat heartbeat() {
  Heartbeat h;
  h.method = "CUPTI 13.0, PM sampling";
  h.chip = "GH100";
  h.interval = 1300;
  h.tries = 2;
  h.kernel_us = 2600.25;
  h.seconds = 0.5;
  h.launches = {{"naive_scores", 0, 1.5}, {"naive_output", 1.625, 3}};
  h.samples = {{-300, 1000}, {1000, 2300}, {2332, 3632}};
  h.counters = {{"issue", "sm__inst", "", {0, 12.3, 0.0123}}, {"fma", "", "GX999 does not read it", {}}};
  return h;
}

TEST(HeartbeatJson, ReadsBackWhatItWrote) {
  const auto read = heartbeat_from_json(json::parse(heartbeat_to_json(heartbeat()).dump()), "a test");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, heartbeat());
}

TEST(HeartbeatJson, RefusesWhatDoesNotFit) {
  const json good = heartbeat_to_json(heartbeat());
  const auto refused = [&](const std::function<void(json&)>& change) {
    json j = good;
    change(j);
    const auto read = heartbeat_from_json(j, "a test");
    return read ? std::string("it was read") : read.error().message;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos ? std::string("yes") : text;
  };
  EXPECT_EQ(has(refused([](json& j) { j.erase("launches"); }), "launches"), "yes");
  EXPECT_EQ(has(refused([](json& j) { j["launches"] = json::array(); }), "launches"), "yes");
  EXPECT_EQ(has(refused([](json& j) { j["interval"] = 0; }), "interval"), "yes");
  EXPECT_EQ(has(refused([](json& j) { j["interval_unit"] = "weeks"; }), "interval_unit"), "yes");
  EXPECT_EQ(has(refused([](json& j) { j["seconds"] = -1; }), "seconds"), "yes");
  EXPECT_EQ(has(refused([](json& j) { j["gap_ns"].push_back(0); }), "4 elements, but length_ns has 3"), "yes");
  EXPECT_EQ(has(refused([](json& j) { j["gap_ns"][1] = -1; }), "sample 1"), "yes") << "over the one before";
  EXPECT_EQ(has(refused([](json& j) { j["length_ns"][2] = 0; }), "sample 2"), "yes");
  EXPECT_EQ(has(refused([](json& j) { j["length_ns"][0] = std::int64_t{1} << 52; }), "sample 0"), "yes");
  EXPECT_EQ(has(refused([](json& j) { j["length_ns"][0] = 1.5; }), "must contain integers"), "yes");
  EXPECT_EQ(has(refused([](json& j) {
                  j["launches"][0]["start_us"] = 1.75;
                  j["launches"][0]["end_us"] = 2;
                }),
                "launch 1"),
            "yes")
      << "launches stand in the order of their starts";
  EXPECT_EQ(refused([](json& j) { j["launches"][1]["start_us"] = 1; }), "it was read") << "one may start early";
  EXPECT_EQ(has(refused([](json& j) { j["launches"][0]["end_us"] = 0; }), "launch 0"), "yes");
  EXPECT_EQ(has(refused([](json& j) { j["counters"][0]["values"].push_back(1); }), "4 elements for 3 samples"), "yes");
  EXPECT_EQ(has(refused([](json& j) { j["counters"][0]["values"][1] = -1; }), "value 1"), "yes");
  EXPECT_EQ(has(refused([](json& j) { j["counters"][0]["values"][1] = "7"; }), "value 1"), "yes");
  EXPECT_EQ(has(refused([](json& j) {
                  j["counters"][1]["values"] = {1, 2, 3};
                }),
                "3 elements"),
            "yes")
      << "it says why there are none";
  EXPECT_EQ(has(refused([](json& j) { j["counters"][1]["id"] = "issue"; }), "twice"), "yes");
  EXPECT_EQ(refused([](json& j) { j["more"] = 1; }), "it was read") << "later versions add keys";
}

TEST(HeartbeatJson, AMeasurementKeepsItsHeartbeatOrWhyThereIsNone) {
  Measurement m = profile_test::h100_row("naive", 100);
  m.time.min = m.time.max = m.time.ci_low = m.time.ci_high = 100;
  m.heartbeat = std::make_shared<const Heartbeat>(heartbeat());
  m.no_heartbeat = "refused";
  std::vector<std::string> unknown;
  const auto read = measurement_from_json(measurement_to_json(m, true), "a test", unknown);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_NE(read->heartbeat, nullptr);
  EXPECT_EQ(*read->heartbeat, heartbeat());
  EXPECT_EQ(read->no_heartbeat, "refused");
  json older = measurement_to_json(m, true);
  older.erase("heartbeat");
  older.erase("no_heartbeat");
  const auto old = measurement_from_json(older, "a test", unknown);
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->heartbeat, nullptr);
}

}  // namespace
}  // namespace attn
