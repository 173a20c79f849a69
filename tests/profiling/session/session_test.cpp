#include "profiling/session/session.h"
#include "kernels/model/inputs/inputs.h"
#include "profiling/session/layouts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "profiling/figures/metrics.h"
#include "profiling/figures/statistics.h"
#include "profiling/measure/cpu/on_cpu.h"
#include "tests/profiling/fake_kernels.h"
#include "tests/profiling/session/session_fixture.h"

namespace attn {
namespace {

using nlohmann::json;
using namespace test;

void expect_equal(const Figure& a, const Figure& b) {
  EXPECT_EQ(a.origin, b.origin);
  if (a.available() && !(std::isnan(a.value) && std::isnan(b.value))) {
    EXPECT_EQ(a.value, b.value);
  }
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.min_of_launches, b.min_of_launches);
  EXPECT_EQ(a.limiter, b.limiter);
}

void expect_equal(const Measurement& a, const Measurement& b) {
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.processor, b.processor);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.samples_us, b.samples_us);
  EXPECT_EQ(a.time.median, b.time.median);
  EXPECT_EQ(a.time.settled, b.time.settled);
  EXPECT_EQ(a.clock, b.clock);
  EXPECT_EQ(a.workspace_bytes, b.workspace_bytes);
  EXPECT_EQ(a.begun_unix_us, b.begun_unix_us);
  ASSERT_EQ(a.stages.size(), b.stages.size());
  for (std::size_t i = 0; i < a.stages.size(); ++i) {
    EXPECT_EQ(a.stages[i].name, b.stages[i].name);
    EXPECT_EQ(a.stages[i].start_us, b.stages[i].start_us);
    EXPECT_EQ(a.stages[i].duration_us, b.stages[i].duration_us);
  }
  EXPECT_EQ(a.peaks.peak_gflops, b.peaks.peak_gflops);
  EXPECT_EQ(a.launch_us, b.launch_us);
  ASSERT_EQ(a.launches.size(), b.launches.size());
  for (std::size_t i = 0; i < a.launches.size(); ++i) {
    EXPECT_EQ(a.launches[i].name, b.launches[i].name);
    EXPECT_TRUE(std::ranges::equal(a.launches[i].grid, b.launches[i].grid));
    EXPECT_TRUE(std::ranges::equal(a.launches[i].block, b.launches[i].block));
  }
  ASSERT_EQ(a.verdict.has_value(), b.verdict.has_value());
  if (a.verdict) {
    EXPECT_EQ(a.verdict->pass, b.verdict->pass);
    EXPECT_EQ(a.verdict->sample, b.verdict->sample);
    EXPECT_EQ(a.verdict->reason, b.verdict->reason);
  }
  ASSERT_EQ(a.figures.size(), b.figures.size());
  for (std::size_t i = 0; i < a.figures.size(); ++i) expect_equal(a.figures[i], b.figures[i]);
}

TEST_F(SessionFile, ReadsBackWhatWasWritten) {
  Session s = example();
  relate_to_layouts(s.runs);
  const auto written = write_session(file(), s);
  ASSERT_TRUE(written) << written.error().message;
  const auto back = read_session(file());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(back->notes.empty());
  EXPECT_TRUE(back->runs.at(0).provenance.loaded);
  EXPECT_EQ(back->runs.at(0).provenance.file, file().string());
  EXPECT_EQ(back->runs.at(0).provenance.device, s.runs[0].provenance.device);
  EXPECT_EQ(back->runs.at(0).provenance.date, s.runs[0].provenance.date);
  EXPECT_EQ(back->runs.at(0).provenance.cores, s.runs[0].provenance.cores);
  EXPECT_EQ(back->runs.at(0).provenance.peak_gflops, 123.5);
  ASSERT_EQ(back->runs.at(0).rows.size(), s.runs[0].rows.size());
  for (std::size_t i = 0; i < s.runs[0].rows.size(); ++i) expect_equal(back->runs.at(0).rows[i], s.runs[0].rows[i]);
}

// A session whose first row has an occupancy of several launches, as JSON, and its index in the metric table.
json with_occupancy(std::size_t& at) {
  Session s = example();
  at = find_metric("occupancy_theoretical_pct").value();
  s.runs[0].rows[0].figures[at] = {Origin::compiled,
                                   12.5,
                                   "ptxas and the launch, limited by registers; the least of 3 launches: naive_scores",
                                   "",
                                   true,
                                   "registers"};
  return json::parse(to_json(s));
}

TEST_F(SessionFile, KeepsWhatLimitsAnOccupancyAndThatItIsTheLeast) {
  std::size_t at = 0;
  json j = with_occupancy(at);
  // The keys, not the words, are read where both are there.
  json& written = j["measurements"][0]["figures"]["occupancy_theoretical_pct"];
  EXPECT_EQ(written["min_of_launches"], true);
  written["method"] = "told otherwise";
  const auto back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(back->runs.at(0).rows[0].figures[at].min_of_launches);
  EXPECT_EQ(back->runs.at(0).rows[0].figures[at].limiter, "registers");
}

TEST_F(SessionFile, OfAnOlderFileTheMethodTellsTheLimiterAndTheLeast) {
  std::size_t at = 0;
  json j = with_occupancy(at);
  json& written = j["measurements"][0]["figures"]["occupancy_theoretical_pct"];
  written.erase("min_of_launches");
  written.erase("limiter");
  auto back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(back->runs.at(0).rows[0].figures[at].min_of_launches);
  EXPECT_EQ(back->runs.at(0).rows[0].figures[at].limiter, "registers");

  written["method"] = "ptxas and the launch, limited by shared memory";
  back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_FALSE(back->runs.at(0).rows[0].figures[at].min_of_launches);
  EXPECT_EQ(back->runs.at(0).rows[0].figures[at].limiter, "shared memory");
}

TEST_F(SessionFile, APeakOfTheTensorCoresIsKeptAndItsKeysAreLeftOutWhereThereIsNone) {
  Session session = example();
  json j = json::parse(to_json(session));
  EXPECT_FALSE(j["measurements"][0]["yardsticks"].contains("tensor_gflops")) << j["measurements"][0].dump();
  session.runs[0].rows[0].peaks.tensor_gflops = 6.25e5;
  session.runs[0].rows[0].peaks.products_each = 3;
  j = json::parse(to_json(session));
  const auto back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->runs.at(0).rows[0].peaks.tensor_gflops, 6.25e5);
  EXPECT_EQ(back->runs.at(0).rows[0].peaks.products_each, 3);
}

TEST_F(SessionFile, RoofsInsideDramAreKeptAndAnOlderFileHasNone) {
  Session session = example();
  session.runs[0].rows[0].peaks.l2_gb_per_s = 5500.5;
  session.runs[0].rows[0].peaks.shared_gb_per_s = 29000.25;
  json j = json::parse(to_json(session));
  auto back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->runs.at(0).rows[0].peaks.l2_gb_per_s, 5500.5);
  EXPECT_EQ(back->runs.at(0).rows[0].peaks.shared_gb_per_s, 29000.25);
  j["measurements"][0]["yardsticks"].erase("l2_gb_per_s");
  j["measurements"][0]["yardsticks"].erase("shared_gb_per_s");
  back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->runs.at(0).rows[0].peaks.l2_gb_per_s, 0);
  EXPECT_EQ(back->runs.at(0).rows[0].peaks.shared_gb_per_s, 0);
}

TEST(SessionJson, AFigureWithoutALimiterHasNoKeyForIt) {
  const json j = json::parse(to_json(example()));
  for (const auto& [id, figure] : j["measurements"][0]["figures"].items()) {
    EXPECT_FALSE(figure.contains("limiter")) << id;
    EXPECT_FALSE(figure.contains("min_of_launches")) << id;
  }
}

TEST_F(SessionFile, KeepsRecordingsBesideMeasurements) {
  Session s = example();
  const Problem p = small_problem(8);
  const auto inputs = make_inputs(p, {});
  ASSERT_TRUE(inputs);
  auto recording = real_row().record(real_row(), p, {}, *inputs, {});
  ASSERT_TRUE(recording) << recording.error().message;
  s.recordings.push_back(std::move(*recording));
  ASSERT_TRUE(write_session(file(), s));
  const auto back = read_session(file());
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->recordings.size(), 1U);
  EXPECT_EQ(back->recordings[0].problem, p);
  EXPECT_EQ(back->recordings[0].arena.size(), s.recordings[0].arena.size());
  EXPECT_EQ(back->runs.at(0).rows.size(), 3U);
}

TEST_F(SessionFile, AMeasuredMetricThatTheFileLacksIsNotAvailable) {
  json j = json::parse(to_json(example()));
  j["measurements"][0]["figures"].erase("registers_count");
  const auto back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_FALSE(figure(back->runs.at(0).rows[0], "registers_count").available());
  EXPECT_EQ(figure(back->runs.at(0).rows[0], "registers_count").reason, "not in this file");
}

TEST_F(SessionFile, DerivedFiguresAreComputedAgainWhateverTheFileSays) {
  const Session s = example();
  const json sound = json::parse(to_json(s));
  for (const char* id : {"tflops", "time_us_median", "memory_peak_bytes", "compulsory_bytes", "peak_share_pct"}) {
    SCOPED_TRACE(id);
    const Figure& right = figure(s.runs[0].rows[0], id);
    ASSERT_TRUE(right.available()) << right.reason;
    json j = sound;
    j["measurements"][0]["figures"][id]["value"] = 3 * right.value;
    auto back = read_json(j);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(figure(back->runs.at(0).rows[0], id).value, right.value);
    ASSERT_EQ(back->notes.size(), 1U);
    EXPECT_NE(back->notes[0].find(std::string("1 figure did not match")), std::string::npos) << back->notes[0];
    EXPECT_NE(back->notes[0].find(std::string("measurement 0: ") + id), std::string::npos) << back->notes[0];
    j["measurements"][0]["figures"].erase(id);
    back = read_json(j);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(figure(back->runs.at(0).rows[0], id).value, right.value);
    EXPECT_TRUE(back->notes.empty());
  }
}

TEST_F(SessionFile, ASpeedUpOverABaselineThatTheRunLacksIsNotBelieved) {
  json j = json::parse(to_json(example()));
  json& first = j["measurements"][0];
  first["yardsticks"]["baseline"] = "cpu_multicore";
  first["yardsticks"]["baseline_us"] = 1e6;
  first["figures"]["speedup_ratio"] = {{"origin", "derived"}, {"value", 100}, {"method", "over cpu_multicore"}};
  auto back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_FALSE(figure(back->runs.at(0).rows[0], "speedup_ratio").available());
  EXPECT_EQ(back->notes.size(), 1U);
  // With the row there, the speed-up is over what it says.
  json baseline = first;
  baseline["kernel"] = "cpu_multicore";
  baseline["samples_us"] = std::vector<double>(first["samples_us"].size(), 2 * first["time"]["median"].get<double>());
  j["measurements"].push_back(baseline);
  back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_DOUBLE_EQ(figure(back->runs.at(0).rows[0], "speedup_ratio").value, 2);
}

TEST_F(SessionFile, WhatIsPredictedForAKernelOfAnotherVersionStays) {
  json j = json::parse(to_json(example()));
  j["measurements"][0]["kernel"] = "cpu_of_next_year";
  j["measurements"][0]["figures"]["compulsory_bytes"]["value"] = 4321;
  const auto back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(figure(back->runs.at(0).rows[0], "compulsory_bytes").value, 4321);
  EXPECT_TRUE(back->notes.empty()) << back->notes[0];
}

TEST_F(SessionFile, ARowPassesOnlyWithAnErrorThatIsAllowed) {
  const json sound = json::parse(to_json(example()));
  ASSERT_EQ(sound["measurements"][0]["verdict"]["pass"], true);
  for (const auto& [key, word] : {std::pair("error", "off by"), std::pair("lse_error", "LSE")}) {
    for (const json& value : {json(1e9), json("nan"), json("inf")}) {
      SCOPED_TRACE(key + value.dump());
      json j = sound;
      j["measurements"][0]["verdict"][key] = value;
      const auto back = read_json(j);
      ASSERT_TRUE(back) << back.error().message;
      const Measurement& m = back->runs.at(0).rows[0];
      EXPECT_EQ(outcome_of(*m.verdict), Outcome::wrong);
      EXPECT_NE(m.verdict->reason.find(word), std::string::npos) << m.verdict->reason;
      ASSERT_FALSE(back->notes.empty());
      EXPECT_NE(back->notes[0].find("1 row in the file cannot pass"), std::string::npos) << back->notes[0];
    }
  }
}

TEST_F(SessionFile, AMetricOfANewerVersionIsLeftOutWithANote) {
  json j = json::parse(to_json(example()));
  for (json& m : j["measurements"]) m["figures"]["warp_speed_pct"] = {{"origin", "guess"}};
  const auto back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->notes.size(), 1U);
  EXPECT_NE(back->notes[0].find("warp_speed_pct"), std::string::npos);
}

TEST_F(SessionFile, StatisticsFollowFromTheSamplesThatTheFileHolds) {
  json j = json::parse(to_json(example()));
  json& m = j["measurements"][0];
  const std::size_t n = m["samples_us"].size();
  m["samples_us"] = std::vector<double>(n, 77.0);
  const auto back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->runs.at(0).rows[0].time.median, 77.0);
}

TEST_F(SessionFile, WithoutSamplesTheStoredStatisticsStandAndANoteSaysSo) {
  const Session s = example();
  json j = json::parse(to_json(s));
  j["measurements"][0].erase("samples_us");
  const auto back = read_json(j);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->runs.at(0).rows[0].time.median, s.runs[0].rows[0].time.median);
  EXPECT_EQ(back->notes.size(), 1U);
}

TEST_F(SessionFile, TooManyRepeatsForTheFormatAreLeftOutButTheirStatisticsStay) {
  Session s = example();
  s.runs[0].rows[0].samples_us.assign(1 << 20, 1.0 / 3);
  s.runs[0].rows[0].time = statistics_of(s.runs[0].rows[0].samples_us);
  ASSERT_TRUE(write_session(file(), s));
  const auto back = read_session(file());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(back->runs.at(0).rows[0].samples_us.empty());
  EXPECT_EQ(back->runs.at(0).rows[0].time.n, 1 << 20);
}

TEST(SessionJson, HoldsEachRepeatAndNoNonFiniteNumber) {
  Session s = example();
  s.runs[0].rows[2].verdict->at(Tensor::o).error = std::numeric_limits<double>::infinity();
  fill_figures(s.runs[0].rows[2]);
  const json j = json::parse(to_json(s));
  EXPECT_EQ(j.at("format"), "attnscope");
  EXPECT_EQ(j.at("version"), 1);
  EXPECT_EQ(j.at("measurements").size(), 3U);
  EXPECT_EQ(j["measurements"][0]["samples_us"].size(), static_cast<std::size_t>(s.runs[0].rows[0].time.n));
  EXPECT_EQ(j["measurements"][2]["figures"]["error_abs"]["value"], "inf");
  EXPECT_EQ(j["measurements"][1]["state"], "failed");
}

TEST_F(SessionFile, SeveralRunsKeepWhatIsEachOnes) {
  Session s = example();
  s.runs[0].id = "00000000000000aa";
  s.runs[0].name = "before the change";
  s.runs[0].spec = "attn1,sweep_values=64";
  SweepRun second = new_run("attn1,sweep_values=128");
  second.provenance = s.runs[0].provenance;
  second.provenance.device = "NVIDIA H100 80GB HBM3";
  second.provenance.device_uuid = std::string(32, 'a');
  second.rows = {s.runs[0].rows[0]};
  second.rows[0].key.device_uuid = second.provenance.device_uuid;
  s.runs.push_back(second);
  relate_to_layouts(s.runs);
  ASSERT_TRUE(write_session(file(), s));
  const auto back = read_session(file());
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->runs.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back->runs[i].id, s.runs[i].id);
    EXPECT_EQ(back->runs[i].name, s.runs[i].name);
    EXPECT_EQ(back->runs[i].spec, s.runs[i].spec);
    EXPECT_EQ(back->runs[i].provenance.device, s.runs[i].provenance.device);
    EXPECT_EQ(back->runs[i].provenance.device_uuid, s.runs[i].provenance.device_uuid);
    EXPECT_TRUE(back->runs[i].provenance.loaded);
    ASSERT_EQ(back->runs[i].rows.size(), s.runs[i].rows.size());
    for (std::size_t r = 0; r < s.runs[i].rows.size(); ++r) expect_equal(back->runs[i].rows[r], s.runs[i].rows[r]);
  }
  EXPECT_EQ(back->runs[1].date, second.date);
  const json j = json::parse(to_json(*back));
  EXPECT_EQ(j.at("version"), 2);
  EXPECT_EQ(j.at("runs").size(), 2U);
}

TEST_F(SessionFile, AFileOfVersion1IsOneRunWhoseIdFollowsFromItsText) {
  const json j = json::parse(to_json(example()));
  ASSERT_EQ(j.at("version"), 1);
  const auto back = read_json(j), again = read_json(j);
  ASSERT_TRUE(back && again);
  ASSERT_EQ(back->runs.size(), 1U);
  EXPECT_TRUE(is_run_id(back->runs[0].id)) << back->runs[0].id;
  EXPECT_EQ(back->runs[0].id, again->runs[0].id);
  EXPECT_EQ(back->runs[0].date, back->runs[0].provenance.date);
  json other = j;
  other["provenance"]["host"] = "elsewhere";
  EXPECT_NE(read_json(other)->runs[0].id, back->runs[0].id);
}

TEST_F(SessionFile, ASessionOfRecordingsAloneIsWrittenInTheVersionThatOlderProgramsRead) {
  Session s;
  const Problem p = small_problem(8);
  auto recording = real_row().record(real_row(), p, {}, *make_inputs(p, {}), {});
  ASSERT_TRUE(recording);
  s.recordings.push_back(std::move(*recording));
  ASSERT_TRUE(write_session(file(), s));
  const auto c = read_container(file());
  ASSERT_TRUE(c);
  EXPECT_EQ(json::parse(c->session_json).at("version"), 1);
  const auto back = read_session(file());
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->runs.empty());
  EXPECT_TRUE(back->notes.empty());
}

TEST(Run, WordsAreItsNameOrDeviceAndMinute) {
  SweepRun run = new_run("");
  EXPECT_TRUE(is_run_id(run.id));
  EXPECT_NE(run.id, new_run("").id);
  run.provenance.device = "NVIDIA H100 80GB HBM3";
  run.date = "2026-11-21T14:05:33Z";
  EXPECT_EQ(run_words(run), "NVIDIA H100 80GB HBM3, 2026-11-21 14:05");
  run.name = "cold";
  EXPECT_EQ(run_words(run), "cold");
}

TEST(Provenance, SaysWhereAndWhen) {
  const Provenance p = provenance_here();
  EXPECT_FALSE(p.loaded);
  EXPECT_FALSE(p.device.empty());
  EXPECT_FALSE(p.device_arch.empty());
  EXPECT_FALSE(p.os.empty());
  EXPECT_FALSE(p.program_version.empty());
  EXPECT_FALSE(p.commit.empty());
  EXPECT_GE(p.cores, 1);
  // ISO 8601, UTC: 2026-01-02T03:04:05Z
  ASSERT_EQ(p.date.size(), 20U) << p.date;
  const std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = p.date[i] >= '0' && p.date[i] <= '9';
    EXPECT_TRUE(form[i] == 'd' ? digit : p.date[i] == form[i]) << p.date;
  }
}

TEST_F(SessionFile, KeepsTheViewThatItWasSavedFrom) {
  Session s = example();
  s.state = "attn1,workspace=bench";
  ASSERT_TRUE(write_session(file(), s));
  const auto back = read_session(file());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->state, s.state);
  json j = json::parse(to_json(s));
  j["state"] = std::string(10000, 'x');
  EXPECT_FALSE(read_json(j));
  j["state"] = 7;
  EXPECT_FALSE(read_json(j));
}

TEST_F(SessionFile, RowsWhoseRepeatsWereLeftOutKeepTheirStatistics) {
  Session s = example();
  for (Measurement& m : s.runs[0].rows) m.samples_us.clear();
  ASSERT_TRUE(write_session(file(), s));
  const auto back = read_session(file());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->runs.at(0).rows[0].time.n, s.runs[0].rows[0].time.n);
  EXPECT_GT(back->runs.at(0).rows[0].time.n, 0);
}

}  // namespace
}  // namespace attn
