// A row that was measured here is sampled on a task and kept with its run; others are refused in words.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/samples.h"
#include "profiling/session/session.h"
#include "tests/app/worker/double.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

class SamplingsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Controller> measured(Fault fault = {}) const {
    ControllerOptions o;
    o.state = initial_state();
    SweepSpec& sweep = o.state.document.sweep;
    sweep.kernels = {"naive"};
    sweep.values = {5};
    sweep.base.D = sweep.base.Dv = 8;
    sweep.seconds_per_point = 0.01;
    sweep.verify = false;
    o.save_folder = folder_;
    o.runs.runs = folder_ / "runs";
    o.sweeps.gpu = std::make_shared<GpuBench>(
        [fault = std::move(fault)] {
          const WorkerParts parts = parts_with(fault);
          return Child::copy([parts](Socket& socket) { return work(socket, parts); });
        },
        []() -> Result<std::unique_ptr<gpu::Compiler>> { return fail(ErrorKind::cannot_run, "no compiler"); },
        fs::path());
    auto c = std::make_unique<Controller>(std::move(o));
    c->update({RunSweep{}});
    c->wait();
    return c;
  }
  static const SweepRun& run_of(const Controller& c) { return c.model().runs.front().run; }
  static SampleRow row_of(const Controller& c) {
    const Measurement& m = run_of(c).rows.front();
    return {run_of(c).id, m.key.kernel, m.key.problem, m.key.options};
  }
  static std::string last_words(Controller& c) {
    const auto entries = c.log().after(0);
    return entries.empty() ? "" : entries.back().text;
  }
  // The one row of the run as its file has it; says why there is none.
  std::optional<Measurement> kept_row() const {
    fs::path file;
    for (const auto& entry : fs::directory_iterator(folder_ / "runs"))
      if (entry.path().extension() == ".attn") file = entry.path();
    auto kept = read_session(file);
    EXPECT_TRUE(kept) << kept.error().message;
    if (!kept || kept->runs.size() != 1 || kept->runs.front().rows.size() != 1) return std::nullopt;
    return std::move(kept->runs.front().rows.front());
  }

  TempFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(SamplingsTest, TheRowGetsItsSamplesAndSoDoesItsFile) {
  const auto c = measured();
  ASSERT_EQ(run_of(*c).rows.size(), 1U);
  ASSERT_EQ(run_of(*c).rows.front().state, RowState::done) << run_of(*c).rows.front().reason;
  c->update({row_of(*c)});
  EXPECT_TRUE(c->model().task.running || run_of(*c).rows.front().samples != nullptr) << "it can be seen and cancelled";
  c->wait();
  const Measurement& row = run_of(*c).rows.front();
  ASSERT_NE(row.samples, nullptr) << last_words(*c);
  EXPECT_EQ(counts_of(*row.samples).all, 9U);
  const auto kept = kept_row();
  ASSERT_TRUE(kept);
  ASSERT_NE(kept->samples, nullptr);
  EXPECT_EQ(*kept->samples, *row.samples);
}

TEST_F(SamplingsTest, AHeartbeatIsKeptBesideTheSamplesAndSoItIsInTheFile) {
  const auto c = measured();
  c->update({row_of(*c)});
  c->wait();
  SampleRow listen = row_of(*c);
  listen.what = RowDetail::heartbeat;
  c->update({listen});
  c->wait();
  const Measurement& row = run_of(*c).rows.front();
  ASSERT_NE(row.heartbeat, nullptr) << last_words(*c);
  EXPECT_EQ(row.heartbeat->launches.size(), 3U);
  EXPECT_NE(row.samples, nullptr) << "the samples stay";
  const auto kept = kept_row();
  ASSERT_TRUE(kept);
  ASSERT_NE(kept->heartbeat, nullptr);
  EXPECT_EQ(*kept->heartbeat, *row.heartbeat);
}

TEST_F(SamplingsTest, AHeartbeatThatIsRefusedIsSaidAndTheRowStays) {
  const auto c = measured({"beat"});
  SampleRow listen = row_of(*c);
  listen.what = RowDetail::heartbeat;
  c->update({listen});
  c->wait();
  const Measurement& row = run_of(*c).rows.front();
  EXPECT_EQ(row.heartbeat, nullptr);
  EXPECT_EQ(row.state, RowState::done);
  EXPECT_NE(row.no_heartbeat.find("beat failed"), std::string::npos) << row.no_heartbeat;
  EXPECT_NE(last_words(*c).find("beat failed"), std::string::npos) << last_words(*c);
}

TEST_F(SamplingsTest, CountsAreKeptBesideTheSamplesAndSoTheyAreInTheFile) {
  const auto c = measured();
  c->update({row_of(*c)});
  c->wait();
  SampleRow counts = row_of(*c);
  counts.what = RowDetail::counts;
  c->update({counts});
  c->wait();
  const Measurement& row = run_of(*c).rows.front();
  ASSERT_NE(row.counts, nullptr) << last_words(*c);
  EXPECT_EQ(sums_of(*row.counts)[InstructionCounter::executed], 30U) << "10 at each of naive's three launches";
  EXPECT_NE(row.samples, nullptr) << "the samples stay";
  const auto kept = kept_row();
  ASSERT_TRUE(kept);
  ASSERT_NE(kept->counts, nullptr);
  EXPECT_EQ(*kept->counts, *row.counts);
}

TEST_F(SamplingsTest, CountsThatAreRefusedAreSaidAndTheRowStays) {
  const auto c = measured({"count_instructions"});
  SampleRow counts = row_of(*c);
  counts.what = RowDetail::counts;
  c->update({counts});
  c->wait();
  const Measurement& row = run_of(*c).rows.front();
  EXPECT_EQ(row.counts, nullptr);
  EXPECT_EQ(row.state, RowState::done);
  EXPECT_NE(row.no_counts.find("count_instructions failed"), std::string::npos) << row.no_counts;
  EXPECT_NE(last_words(*c).find("count_instructions failed"), std::string::npos) << last_words(*c);
}

TEST_F(SamplingsTest, WhatRefusesIsSaidAndTheRowStays) {
  const auto c = measured({"sample"});
  c->update({row_of(*c)});
  c->wait();
  const Measurement& row = run_of(*c).rows.front();
  EXPECT_EQ(row.samples, nullptr);
  EXPECT_EQ(row.state, RowState::done);
  EXPECT_NE(row.no_samples.find("sample failed"), std::string::npos) << row.no_samples;
  EXPECT_NE(last_words(*c).find("sample failed"), std::string::npos) << last_words(*c);
}

TEST_F(SamplingsTest, ARowThatWasNeverMeasuredIsRefused) {
  const auto c = measured();
  SampleRow other = row_of(*c);
  other.problem.Lk = 6;
  c->update({other});
  EXPECT_NE(last_words(*c).find("run the sweep in Bench first"), std::string::npos) << last_words(*c);
}

}  // namespace
}  // namespace attn
