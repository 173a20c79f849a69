// The timeline that Perfetto opens: slices that nest, names, and what is in no timeline.
#include "profiling/session/trace.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/viz/profile/heartbeat/beats.h"

namespace attn {
namespace {

using nlohmann::json;

Measurement row(const std::string& kernel, const std::string& device, std::int64_t begun) {
  Measurement m;
  m.key.kernel = kernel;
  m.key.device = device;
  m.begun_unix_us = begun;
  m.stages = {{"inputs", 0, 10.0004}, {"run", 10.0004, 20.00049}, {"time", 30.1, 1000.0 / 3}};
  return m;
}

SweepRun run_of(std::vector<Measurement> rows) {
  SweepRun run;
  run.id = "00000000000000aa";
  run.name = "a run";
  run.rows = std::move(rows);
  return run;
}

std::vector<json> slices(const json& trace, const std::string& category) {
  std::vector<json> found;
  for (const json& e : trace.at("traceEvents"))
    if (e.at("ph") == "X" && e.at("cat") == category) found.push_back(e);
  return found;
}

TEST(Trace, StagesLieWithinTheirPointAndPointsWhereTheyWere) {
  Session s;
  s.runs.push_back(
      run_of({row("cpu_flash", "a CPU", 1'700'000'000'000'500), row("cpu_tiled", "a CPU", 1'700'000'000'000'000)}));
  const json trace = json::parse(to_trace(s));
  const auto points = slices(trace, "point"), stages = slices(trace, "stage");
  ASSERT_EQ(points.size(), 2U);
  ASSERT_EQ(stages.size(), 6U);
  EXPECT_EQ(points[0].at("ts"), 500);  // the run begins with its first row, whichever stands first
  EXPECT_EQ(points[1].at("ts"), 0);
  for (std::size_t n = 0; n < stages.size(); ++n) {
    const json& point = points[n / 3];
    const double begin = point.at("ts"), end = begin + point.at("dur").get<double>();
    const double from = stages[n].at("ts"), to = from + stages[n].at("dur").get<double>();
    EXPECT_GE(from, begin) << stages[n];
    EXPECT_LE(to, end + 1e-9) << stages[n];
    EXPECT_EQ(stages[n].at("tid"), point.at("tid"));
  }
  EXPECT_EQ(trace.at("otherData").at("runs").at(0).at("begun"), "2023-11-14T22:13:20Z");
}

TEST(Trace, EveryRunIsAProcessAndEveryDeviceAThread) {
  Session s;
  s.runs.push_back(run_of({row("cpu_flash", "a CPU", 1000), row("naive", "a GPU", 2000)}));
  s.runs.push_back(run_of({row("cpu_flash", "a CPU", 5'000'000)}));
  s.runs.back().name = "another";
  const json trace = json::parse(to_trace(s));
  std::map<std::pair<int, int>, std::string> names;
  for (const json& e : trace.at("traceEvents"))
    if (e.at("ph") == "M") names[{e.at("pid"), e.at("tid")}] = e.at("args").at("name");
  EXPECT_EQ(names,
            (std::map<std::pair<int, int>, std::string>{
                {{1, 0}, "a run"}, {{1, 1}, "a CPU"}, {{1, 2}, "a GPU"}, {{2, 0}, "another"}, {{2, 1}, "a CPU"}}));
  for (const json& point : slices(trace, "point")) {
    EXPECT_TRUE(names.contains({point.at("pid"), point.at("tid")})) << point;
    if (point.at("pid") == 2) {
      EXPECT_EQ(point.at("ts"), 0);  // hours between two runs are nothing to look at
    }
  }
}

TEST(Trace, RowsOfOlderFilesAreCountedNotInvented) {
  Session s;
  Measurement older = row("cpu_flash", "a CPU", 0);
  older.stages.clear();
  s.runs.push_back(run_of({older, row("cpu_tiled", "a CPU", 1000)}));
  EXPECT_EQ(rows_with_stages(s), 1U);
  const json trace = json::parse(to_trace(s));
  EXPECT_EQ(slices(trace, "point").size(), 1U);
  EXPECT_EQ(trace.at("otherData").at("rows_without_stages"), 1);
}

TEST(Trace, WordsFromOutsideDoNotBreakIt) {
  Session s;
  Measurement m = row("cpu_flash", "a \"CPU\"\n\xff", 1000);
  m.state = RowState::failed;
  m.reason = "it\tbroke";
  s.runs.push_back(run_of({m}));
  const json trace = json::parse(to_trace(s));
  EXPECT_EQ(slices(trace, "point").at(0).at("args").at("reason"), "it\tbroke");
  EXPECT_FALSE(slices(trace, "point").at(0).at("args").contains("time_us_median"));
}

TEST(Trace, AHeartbeatHasATrackACounterAndItsLaunchesOnAnAxisOfItsOwn) {
  Session s;
  s.runs.push_back(run_of({row("naive", "a GPU", 1'700'000'000'000'000)}));
  s.runs[0].rows[0].heartbeat = std::make_shared<const Heartbeat>(profile_test::made_beats(3, "naive"));
  const json trace = json::parse(to_trace(s));
  const auto launches = slices(trace, "launch");
  ASSERT_EQ(launches.size(), 3U);
  EXPECT_EQ(launches[1].at("ts"), 110);
  EXPECT_EQ(launches[1].at("dur"), 100);
  EXPECT_NE(launches[0].at("pid"), slices(trace, "point")[0].at("pid")) << "it is on another clock";
  std::map<std::string, double> last;
  std::map<std::string, std::size_t> count;
  for (const json& e : trace.at("traceEvents")) {
    if (e.at("ph") != "C") continue;
    const double at = e.at("ts");
    EXPECT_GE(at, 0);
    const std::string name = e.at("name");
    if (last.contains(name)) {
      EXPECT_GT(at, last[name]) << name;
    }
    last[name] = at;
    ++count[name];
  }
  EXPECT_EQ(count.size(), beat_table().size() - 1) << "the one without values has none";
  EXPECT_EQ(count["multiply-add pipe, %"], s.runs[0].rows[0].heartbeat->samples.size() - 1) << "but that before 0";
}

}  // namespace
}  // namespace attn
