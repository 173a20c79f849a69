// Format version 3 in sessions: rows of another pass, verdicts of their outputs, ranks; what earlier versions hold is
// written as it was.
#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profiling/figures/metrics.h"
#include "profiling/session/json/measurement_json.h"
#include "profiling/session/json/verdict_json.h"
#include "profiling/session/session.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/kernels/temp_folder.h"
#include "tests/kernels/version3.h"

namespace attn {
namespace {

using nlohmann::json;
using namespace test;

// A row that was not timed: what it holds is its key, verdict and ranks.
Measurement row_of(Problem p) {
  Measurement m;
  m.key.kernel = "cpu_flash";
  m.key.problem = std::move(p);
  m.key.device = "a CPU";
  m.state = RowState::refused;
  m.reason = "for the test";
  fill_figures(m);
  return m;
}

Verdict gradients() {
  Verdict v;
  v.pass = true;
  v.sample = "all 12 rows";
  v.outputs = {{Tensor::d_q, 1e-3, 2e-3, 96, {}, ""},
               {Tensor::d_k, 3e-3, 4e-3, 160, {0, 2, 1}, ""},
               {Tensor::d_v, 0, 0, 120, {}, ""}};
  return v;
}

Ranks two_ranks() {
  Ranks r;
  r.dealing = Dealing::zigzag;
  r.carrier = Carrier::nccl;
  r.travels = {Tensor::k, Tensor::v, Tensor::partial_o};
  r.devices = {{"NVIDIA H100", "00112233445566778899aabbccddeeff", 0, 101.5, 4096},
               {"NVIDIA H100", "", 1.25, 100, 4096, 12.5}};
  r.devices[1].spans = {
      {RankWork::compute, 0, 1.25, 60}, {RankWork::send, 0, 1.25, 13.75}, {RankWork::wait, 1, 60, 100}};
  r.one_rank_us = 190.25;
  r.link_gb_per_s = 387.5;
  r.forecasts = {{2, 101.25}, {4, 53.5}};
  return r;
}

Session example() {
  Problem backward = small_shape();
  backward.pass = Pass::backward;
  Measurement of_backward = row_of(backward), of_ranks = row_of(small_shape());
  of_backward.verdict = gradients();
  of_ranks.ranks = two_ranks();
  Session s = session_of(provenance_here(), {of_backward, of_ranks});
  s.runs[0].id = "0123456789abcdef";
  s.tensors = {sorted(backward_set()), sorted(paged_set())};
  s.timelines = {clock_timeline(), host_timeline()};
  return s;
}

int version_in(const std::filesystem::path& file) {
  const auto c = read_container(file);
  EXPECT_TRUE(c);
  return c ? json::parse(c->session_json)["version"].get<int>() : 0;
}

TEST(SessionVersion3, ReadsBackWhatWasWritten) {
  TempFolder folder;
  const auto file = folder / "s.attn";
  const Session s = example();
  const auto written = write_session(file, s);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(version_in(file), 3);
  const auto read = read_session(file);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(rows_of(*read), 2U);
  const auto& rows = read->runs[0].rows;
  EXPECT_EQ(rows[0].key.problem, s.runs[0].rows[0].key.problem);
  ASSERT_TRUE(rows[0].verdict);
  EXPECT_TRUE(rows[0].verdict->pass);
  EXPECT_EQ(rows[0].verdict->outputs, gradients().outputs);
  EXPECT_EQ(rows[1].ranks, two_ranks());
  EXPECT_EQ(read->tensors, s.tensors);
  EXPECT_EQ(read->timelines, s.timelines);

  // What was read is written again, not dropped.
  ASSERT_TRUE(write_session(folder / "again.attn", *read));
  const auto again = read_container(folder / "again.attn"), first = read_container(file);
  ASSERT_TRUE(again && first);
  const json now = json::parse(again->session_json), was = json::parse(first->session_json);
  EXPECT_EQ(now["tensors"], was["tensors"]);
  EXPECT_EQ(now["timelines"], was["timelines"]);
  for (std::size_t m = 0; m < 2; ++m) {
    for (const char* key : {"problem", "verdict", "ranks"}) {
      const json &row_now = now["runs"][0]["measurements"][m], &row_was = was["runs"][0]["measurements"][m];
      EXPECT_EQ(row_now.value(key, json()), row_was.value(key, json())) << m << " " << key;
    }
  }
  EXPECT_EQ(again->files, first->files);
}

TEST(SessionVersion3, IsWrittenOnlyWhereSomethingOfItIsUsed) {
  TempFolder folder;
  const auto version = [&](const std::function<void(Session&)>& change) {
    Session s = session_of(provenance_here(), {row_of(small_shape())});
    change(s);
    EXPECT_TRUE(write_session(folder / "v.attn", s));
    return version_in(folder / "v.attn");
  };
  EXPECT_EQ(version([](Session& s) { s.runs.clear(); }), 1);
  EXPECT_EQ(version([](Session&) {}), 2);
  EXPECT_EQ(version([](Session& s) { s.runs[0].rows[0].key.problem.softcap = 30; }), 2);
  EXPECT_EQ(version([](Session& s) { s.runs[0].rows[0].key.problem.storage = {4, 5}; }), 3);
  EXPECT_EQ(version([](Session& s) { s.runs[0].rows[0].ranks = two_ranks(); }), 3);
  EXPECT_EQ(version([](Session& s) { s.runs[0].rows[0].verdict = gradients(); }), 3);
  EXPECT_EQ(version([](Session& s) { s.tensors = {split_set()}; }), 3);
  EXPECT_EQ(version([](Session& s) { s.timelines = {host_timeline()}; }), 3);
  Session s = session_of(provenance_here(), {row_of(small_shape())});
  EXPECT_EQ(json::parse(to_json(s))["version"], 1);
  s.runs[0].rows[0].ranks = two_ranks();
  EXPECT_EQ(json::parse(to_json(s))["version"], 3);
}

// Members of a row are written as the bundled files have them; so is the version.
TEST(SessionVersion3, BundledSessionsAreWrittenAsTheyWere) {
  TempFolder folder;
  std::size_t file_number = 0;
  for (const char* name : {"h100", "h100-ladder", "h100-profile", "h100-counts", "h100-heartbeat"}) {
    if (left_to_release(file_number++, 3)) continue;
    const std::string file = source_folder() + "/assets/sessions/" + name + ".attn";
    const auto before = read_container(file);
    ASSERT_TRUE(before) << before.error().message;
    const json was = json::parse(before->session_json);
    const auto session = read_session(file);
    ASSERT_TRUE(session) << session.error().message;
    ASSERT_TRUE(write_session(folder / "again.attn", *session));
    const auto after = read_container(folder / "again.attn");
    ASSERT_TRUE(after);
    const json now = json::parse(after->session_json);
    EXPECT_EQ(now["version"], 2) << name;
    for (const char* key : {"tensors", "timelines"}) EXPECT_FALSE(now.contains(key)) << name;
    const json& runs = was.contains("runs") ? was["runs"] : json::array({was});
    ASSERT_EQ(now["runs"].size(), runs.size()) << name;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const json &then = runs[r]["measurements"], &today = now["runs"][r]["measurements"];
      ASSERT_EQ(today.size(), then.size()) << name;
      for (std::size_t m = 0; m < then.size(); ++m) {
        for (const char* key : {"kernel", "problem", "options", "verdict", "launches", "source_hash"}) {
          EXPECT_EQ(today[m][key], then[m][key]) << name << " row " << m << " " << key;
        }
        EXPECT_FALSE(today[m].contains("ranks"));
      }
    }
  }
}

TEST(SessionVersion3, HostileRowsAreRefusedInWords) {
  const json good = measurement_to_json(example().runs[0].rows[1], true);
  const auto expect = [&](const char* words, const std::function<void(json&)>& spoil) {
    json j = good;
    spoil(j);
    std::vector<std::string> unknown;
    const auto read = measurement_from_json(j, "row 1", unknown);
    ASSERT_FALSE(read) << words;
    EXPECT_NE(read.error().message.find(words), std::string::npos) << read.error().message;
    EXPECT_EQ(read.error().message.substr(0, 5), "row 1");
  };
  expect("\"dealing\"", [](json& j) { j["ranks"]["dealing"] = "by lot"; });
  expect("\"carrier\"", [](json& j) { j["ranks"]["carrier"] = "pigeon"; });
  expect("has an unknown tensor name: 'w'", [](json& j) { j["ranks"]["travels"][0] = "w"; });
  expect("K travels twice", [](json& j) { j["ranks"]["travels"][1] = "k"; });
  expect("dK travels, but", [](json& j) { j["ranks"]["travels"][1] = "dk"; });
  expect("rank 1 has the invalid span 1.25 to 1", [](json& j) { j["ranks"]["devices"][1]["end_us"] = 1; });
  expect("0 ranks; use 1 to 1024", [](json& j) { j["ranks"]["devices"] = json::array(); });
  expect("at most 1024 elements", [](json& j) { j["ranks"]["devices"] = json(std::vector<int>(1025)); });
  expect("\"sent_bytes\"", [](json& j) { j["ranks"]["devices"][0]["sent_bytes"] = -1; });
  expect("\"send_us\"", [](json& j) { j["ranks"]["devices"][1]["send_us"] = -1; });
  expect("device 1, span 0 must be [work", [](json& j) { j["ranks"]["devices"][1]["spans"][0][0] = "sleep"; });
  expect("device 1, span 2 must be [work", [](json& j) { j["ranks"]["devices"][1]["spans"][2] = 7; });
  expect("device 1, span 1: turn -1", [](json& j) { j["ranks"]["devices"][1]["spans"][1][1] = -1; });
  expect("device 1, span 1: turn 1024", [](json& j) { j["ranks"]["devices"][1]["spans"][1][1] = 1024; });
  expect("span 1: turn 0 has the invalid span 1.25 to 1 µs",
         [](json& j) { j["ranks"]["devices"][1]["spans"][1][3] = 1; });
  expect("span 1: turn 0 has the invalid span -1 to", [](json& j) { j["ranks"]["devices"][1]["spans"][1][2] = -1; });
  expect("16385 spans; the maximum is 16384", [](json& j) {
    j["ranks"]["devices"][1]["spans"] = json(std::vector<json>(16385, {"wait", 0, 1, 2}));
  });
  expect("\"spans\"", [](json& j) { j["ranks"]["devices"][0]["spans"] = 3; });
  expect("\"one_rank_us\"", [](json& j) { j["ranks"]["one_rank_us"] = "long"; });
  expect("\"link_gb_per_s\"", [](json& j) { j["ranks"]["link_gb_per_s"] = -387.5; });
  expect("\"forecasts\"", [](json& j) { j["ranks"]["forecasts"] = 2; });
  expect("forecast 1 must be [ranks, µs]", [](json& j) { j["ranks"]["forecasts"][1] = 4; });
  expect("forecast 0 must be [ranks, µs]", [](json& j) { j["ranks"]["forecasts"][0][1] = 0; });
  expect("forecast 1 must be [ranks, µs]", [](json& j) { j["ranks"]["forecasts"][1][0] = 1025; });
  expect("two forecasts for 2 ranks", [](json& j) { j["ranks"]["forecasts"][1][0] = 2; });
  expect("65 forecasts; the maximum is 64", [](json& j) {
    j["ranks"]["forecasts"] = json(std::vector<json>(65, {2, 1.0}));
  });
  expect("must be a JSON object", [](json& j) { j["ranks"] = 3; });
}

TEST(SessionVersion3, HostileVerdictsOfOutputsAreRefusedInWords) {
  const json good = verdict_to_json(gradients());
  ASSERT_TRUE(verdict_from_json(good, "here"));
  const auto expect = [&](const char* words, const std::function<void(json&)>& spoil) {
    json j = good;
    spoil(j);
    const auto read = verdict_from_json(j, "here");
    ASSERT_FALSE(read) << words;
    EXPECT_NE(read.error().message.find(words), std::string::npos) << read.error().message;
  };
  expect("\"dx\" is not the name of a tensor", [](json& j) { j["outputs"]["dx"] = j["outputs"]["dq"]; });
  expect("here.outputs.dk: \"error\" is -1", [](json& j) { j["outputs"]["dk"]["error"] = -1; });
  expect("\"judged\" must be an integer", [](json& j) { j["outputs"]["dk"]["judged"] = "all"; });
  expect("\"outputs\" must be an object", [](json& j) { j["outputs"] = json::array(); });
}

// Whatever the file says of the whole, an output that is off makes it wrong.
TEST(SessionVersion3, AGradientThatIsOffDoesNotPass) {
  Session s = example();
  s.runs[0].rows[0].verdict->outputs[1].error = 5e-3;
  TempFolder folder;
  ASSERT_TRUE(write_session(folder / "s.attn", s));
  const auto read = read_session(folder / "s.attn");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->runs[0].rows[0].verdict->pass);
  EXPECT_NE(read->runs[0].rows[0].verdict->reason.find("its dK is off by 0.005, and only 0.004 is allowed"),
            std::string::npos);
}

TEST(Verdict, AnOutputOfItsOwnIsToldByName) {
  const Verdict v = gradients();
  EXPECT_EQ(v.of(Tensor::d_k)->unjudged.overflow, 2);
  EXPECT_EQ(v.of(Tensor::o), nullptr);
  EXPECT_EQ(v.error(), 3e-3);  // the largest share of what is allowed
  EXPECT_EQ(v.allowed(), 4e-3);
  EXPECT_EQ(v.judged(), 96 + 160 + 120);
  EXPECT_TRUE(v.no_lse());
  EXPECT_EQ(v.lse_error(), 0);
  EXPECT_EQ(
      unjudged_words(v),
      "2 elements of dK, which are outside the range of the dtype; 1 dK, whose scores are outside the range of fp32");
  Verdict made;
  made.at(Tensor::lse).error = 0.5;
  made.at(Tensor::o).error = 0.25;
  ASSERT_EQ(made.outputs.size(), 2U);
  EXPECT_EQ(made.outputs[0].tensor, Tensor::o);
  EXPECT_EQ(made.at(Tensor::lse).error, 0.5);
  EXPECT_FALSE(made.no_lse());
}

}  // namespace
}  // namespace attn
