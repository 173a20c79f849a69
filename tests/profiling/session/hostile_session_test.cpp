// Sessions that are hostile, broken or not there: each is refused with its place, in words.
#include "profiling/session/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/profiling/session/session_fixture.h"

namespace attn {
namespace {

using nlohmann::json;
using namespace test;

// What a hostile or broken file may hold, and a word that the refusal must name.
struct Forgery {
  std::function<void(json&)> forge;
  std::string_view word;
};

TEST_F(SessionFile, HostileMembersAreRefusedWithTheirPlace) {
  const json sound = json::parse(to_json(example()));
  const auto first = [](json& j) -> json& { return j["measurements"][0]; };
  const Forgery forgeries[] = {
      {[](json& j) { j["provenance"] = 7; }, "provenance"},
      {[](json& j) { j["provenance"]["cores"] = -1; }, "cores"},
      {[](json& j) { j["provenance"]["device"] = std::string(1 << 20, 'x'); }, "device"},
      {[](json& j) { j["provenance"]["peak_gflops"] = "inf"; }, "peak_gflops"},
      {[](json& j) { j["measurements"] = "all"; }, "measurements"},
      {[](json& j) { j["measurements"][1] = json::array(); }, "measurement 1"},
      {[&](json& j) { first(j).erase("kernel"); }, "kernel"},
      {[&](json& j) { first(j)["l2"] = "hot"; }, "l2"},
      {[&](json& j) { first(j)["place"] = "moon"; }, "place"},
      {[&](json& j) { first(j)["state"] = 3; }, "state"},
      {[&](json& j) { first(j)["workspace_bytes"] = 1e300; }, "workspace_bytes"},
      {[&](json& j) { first(j)["workspace_bytes"] = 18446744073709551615ULL; }, "workspace_bytes"},
      {[&](json& j) { first(j)["problem"]["D"] = -1; }, "problem"},
      {[&](json& j) { first(j)["problem"] = json::array(); }, "problem"},
      {[&](json& j) { first(j)["options"] = nullptr; }, "options"},
      {[&](json& j) { first(j)["samples_us"].push_back(1); }, "samples_us"},
      {[&](json& j) { first(j)["samples_us"][0] = -1; }, "samples_us"},
      {[&](json& j) { first(j)["samples_us"][0] = "nan"; }, "samples_us"},
      {[&](json& j) { first(j)["time"]["median"] = 1e300; }, "time"},
      {[&](json& j) { first(j)["time"]["n"] = 1ULL << 40; }, "n"},
      {[&](json& j) { first(j)["time"]["settled"] = 1; }, "settled"},
      {[&](json& j) {
         first(j)["launches"][0]["grid"] = {1, 2};
       },
       "grid"},
      {[&](json& j) {
         first(j)["launches"][0]["grid"] = {1, 2, -3};
       },
       "grid"},
      {[&](json& j) { first(j)["launches"] = std::vector<json>(5000, first(j)["launches"][0]); }, "launches"},
      {[&](json& j) { first(j)["launches"][0]["time_us"] = -1; }, "time_us"},
      {[&](json& j) {
         first(j)["launches"].push_back(
             {{"name", "b"}, {"grid", {1, 1, 1}}, {"block", {1, 1, 1}}, {"shared_bytes", 0}});
       },
       "some launches have a time"},
      {[&](json& j) { first(j)["figures"]["tflops"]["origin"] = "guess"; }, "tflops"},
      {[&](json& j) { first(j)["figures"]["tflops"]["value"] = json::object(); }, "tflops"},
      {[&](json& j) { first(j)["figures"] = json::array(); }, "figures"},
      {[&](json& j) { first(j)["verdict"]["pass"] = "yes"; }, "verdict"},
      {[&](json& j) { first(j)["yardsticks"]["baseline_us"] = -5; }, "baseline_us"},
      {[](json& j) { j["recordings"] = json::array({json::object()}); }, "recording"},
      {[](json& j) { j["recordings"] = 5; }, "recordings"},
  };
  ASSERT_TRUE(read_json(sound));
  for (const Forgery& forgery : forgeries) {
    json j = sound;
    forgery.forge(j);
    const auto back = read_json(j);
    ASSERT_FALSE(back) << forgery.word;
    EXPECT_EQ(back.error().kind, ErrorKind::bad_input) << back.error().message;
    EXPECT_NE(back.error().message.find(forgery.word), std::string::npos) << back.error().message;
    EXPECT_NE(back.error().message.find("forged.attn"), std::string::npos) << back.error().message;
  }
}

TEST_F(SessionFile, ATruncatedFileIsRefused) {
  ASSERT_TRUE(write_session(file(), example()));
  const auto size = std::filesystem::file_size(file());
  for (const std::uintmax_t kept : {size - 1, size / 2, std::uintmax_t{10}, std::uintmax_t{0}}) {
    ASSERT_TRUE(write_session(file(), example()));
    std::filesystem::resize_file(file(), std::min(kept, std::filesystem::file_size(file()) - 1));
    EXPECT_FALSE(read_session(file())) << kept;
  }
}

TEST_F(SessionFile, AMissingFileOrFolderIsAnErrorThatNamesIt) {
  const auto read = read_session(file("none.attn"));
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("none.attn"), std::string::npos);
  const auto written = write_session(file("no_folder/s.attn"), example());
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("no_folder"), std::string::npos);
}

TEST_F(SessionFile, HostileRunsAreRefusedWithTheirPlace) {
  Session two = example();
  two.runs.push_back(two.runs[0]);
  const json sound = json::parse(to_json(two));
  const auto read = [&](const json& j) {
    Container c;
    c.session_json = session_text(j, 2);
    EXPECT_TRUE(write_file_atomically(file("forged.attn"), *container_bytes(c)));
    return read_session(file("forged.attn"));
  };
  ASSERT_TRUE(read(sound)) << read(sound).error().message;
  const Forgery forgeries[] = {
      {[](json& j) { j["runs"] = 7; }, "runs"},
      {[](json& j) { j["runs"][1] = "x"; }, "run 1"},
      {[](json& j) { j["runs"][0]["id"] = "../../etc/passwd"; }, "id"},
      {[](json& j) { j["runs"][0]["id"] = "00000000000000AA"; }, "id"},
      {[](json& j) { j["runs"][1]["id"] = j["runs"][0]["id"]; }, "two runs"},
      {[](json& j) { j["runs"][1].erase("date"); }, "date"},
      {[](json& j) { j["runs"][1]["name"] = std::string(300, 'x'); }, "name"},
      {[](json& j) { j["runs"][1]["spec"] = std::string(9000, 'x'); }, "spec"},
      {[](json& j) { j["runs"][0].erase("provenance"); }, "provenance"},
      {[](json& j) { j["runs"][0]["provenance"]["cores"] = -1; }, "cores"},
      {[](json& j) { j["runs"][1]["measurements"][0]["l2"] = "hot"; }, "measurement 3"},
      {[](json& j) {
         json run = j["runs"][0];
         run["measurements"] = json::array();  // how long they are depends on the machine, and a file may be too large
         j["runs"] = std::vector<json>(300, run);
       },
       "300 runs"},
  };
  for (const Forgery& forgery : forgeries) {
    json j = sound;
    forgery.forge(j);
    const auto back = read(j);
    ASSERT_FALSE(back) << forgery.word;
    EXPECT_NE(back.error().message.find(forgery.word), std::string::npos) << back.error().message;
    EXPECT_NE(back.error().message.find("forged.attn"), std::string::npos) << back.error().message;
  }
}

}  // namespace
}  // namespace attn
