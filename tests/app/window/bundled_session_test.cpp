// The sessions that Bench offers where no GPU is: each opens, is small, and holds what its charts need.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/state/lessons/lesson_files.h"
#include "app/state/string/state_string.h"
#include "profiling/figures/counts.h"
#include "profiling/figures/exact_shared.h"
#include "profiling/figures/heartbeat.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/samples.h"
#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/text_runs.h"
#include "viz/profile/figures/findings.h"
#include "viz/profile/heartbeat/heartbeat.h"
#include "viz/profile/phases/mosaic.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> bundled() {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(test::source_folder()) / "assets/sessions", error))
    if (entry.path().extension() == ".attn") files.push_back(entry.path());
  return files;
}

TEST(BundledSessions, AreFromAGpuCheckedAndComplete) {
  if (bundled().empty()) GTEST_SKIP() << "none is bundled: tests/gpu/make_session.sh makes one on a GPU";
  for (const fs::path& file : bundled()) {
    SCOPED_TRACE(file.string());
    EXPECT_LT(fs::file_size(file), 2'000'000U);
    const auto session = read_session(file);
    ASSERT_TRUE(session) << session.error().message;
    for (const std::string& note : session->notes)
      EXPECT_EQ(note.find("did not match"), std::string::npos) << "it contradicts itself: " << note;
    if (session->runs.empty()) {  // recorded launches alone
      EXPECT_FALSE(session->timelines.empty());
      continue;
    }
    const auto saved = parse_state_string(session->state);
    ASSERT_TRUE(saved) << "the sweep does not come with it";
    const bool counted = saved->state.document.sweep.counters;
    EXPECT_FALSE(session->runs.at(0).provenance.date.empty());
    ASSERT_FALSE(session->runs.at(0).rows.empty());
    for (const Measurement& m : session->runs.at(0).rows) {
      EXPECT_EQ(m.processor, Processor::gpu);
      EXPECT_EQ(m.key.device, session->runs.at(0).provenance.device);
      // What a peer does not take is a row with its reason.
      if (m.peer && m.state == RowState::refused) {
        EXPECT_FALSE(m.reason.empty()) << m.key.kernel;
        continue;
      }
      EXPECT_EQ(m.state, RowState::done) << m.key.kernel << ": " << m.reason;
      EXPECT_TRUE(m.verdict && m.verdict->pass) << m.key.kernel;
      if (m.peer) {
        EXPECT_TRUE(figure(m, "time_us_median").available()) << m.key.kernel;
        EXPECT_FALSE(m.peer->beside.empty()) << m.key.kernel << " was not timed in turns with ours";
        continue;
      }
      for (const char* id : {"time_us_median", "tflops", "occupancy_theoretical_pct", "registers_count"})
        EXPECT_TRUE(figure(m, id).available()) << m.key.kernel << ", " << id << ": " << figure(m, id).reason;
      for (const char* id : {"dram_read_bytes", "dram_write_bytes", "occupancy_achieved_pct"})
        EXPECT_EQ(figure(m, id).available(), counted) << m.key.kernel << ", " << id << ": " << figure(m, id).reason;
    }
    Model model;
    model.runs.push_back({session->runs.at(0), RunFrom::bundled, false, false});
    State state = saved->state;
    show_run(state.document.runs, model.runs[0].run.id);
    const BenchScene scene = bench_scene(state, model, {}, "");
    EXPECT_TRUE(scene.slice.of_this_sweep);
    EXPECT_NE(scene.charts[1].source.find("loaded: " + session->runs.at(0).provenance.device), std::string::npos);
    for (const BenchChart& chart : scene.charts)
      EXPECT_TRUE(!chart.lines.empty() ||
                  (!counted && chart.empty.find("counters were turned off") != std::string::npos))
          << chart.title << chart.empty;
  }
}

// Lines and phases are in the file: Profile opens with them where there is neither a GPU nor a compiler.
TEST(BundledSessions, WhereTheTimeGoesNeedsNothingButTheFile) {
  std::set<std::string> sampled;
  for (const fs::path& file : bundled()) {
    SCOPED_TRACE(file.string());
    const auto session = read_session(file);
    ASSERT_TRUE(session) << session.error().message;
    for (const SweepRun& run : session->runs) {
      for (const Measurement& m : run.rows) {
        EXPECT_EQ(m.no_samples, "");
        if (m.samples == nullptr) continue;
        SCOPED_TRACE(m.key.kernel + " on " + describe(m.key.problem));
        sampled.insert(m.key.kernel);
        const SampleCounts all = counts_of(*m.samples);
        EXPECT_GE(all.all, 20000U);
        EXPECT_EQ(m.samples->dropped, 0U);
        EXPECT_EQ(m.samples->no_lines, "");
        const auto phases = samples_by_phase(*m.samples);
        const auto untagged = std::ranges::find(phases, gpu::CodePhase::none, &SampledPhase::phase);
        EXPECT_LE(untagged == phases.end() ? 0 : share_of(untagged->counts.all, all.all), 0.02);
        EXPECT_GE(phases.size(), 6U);
        EXPECT_EQ(mosaic_scene(m, nullptr).columns.size(), phases.size());
      }
    }
  }
  if (sampled.empty()) GTEST_SKIP() << "none is bundled: tests/gpu/make_profile_session.sh makes one on a GPU";
  // The texts of these rungs do not change, so that their lines are those of the program.
  for (const char* kernel : {"naive", "tiled", "flash_simt"}) EXPECT_TRUE(sampled.contains(kernel)) << kernel;
}

// Of each kernel what its figures say of it: of naive the L1 cache and the line, and no shared memory.
TEST(BundledSessions, WhatIsSaidOfAKernelIsWhatLimitsIt) {
  std::map<std::string, Measurement> rows;
  std::vector<const Measurement*> others;
  for (const fs::path& file : bundled()) {
    if (file.filename() != "h100-profile.attn") continue;
    const auto session = read_session(file);
    ASSERT_TRUE(session) << session.error().message;
    for (const SweepRun& run : session->runs)
      for (const Measurement& m : run.rows)
        if (m.key.problem.D == 64) rows.emplace(m.key.kernel, with_exact_shared(m));
  }
  if (rows.empty()) GTEST_SKIP() << "it is not bundled";
  for (const auto& [id, m] : rows) others.push_back(&m);
  const auto found = [&](const char* kernel) { return findings_of(rows.at(kernel), {"sm_90a", 132, others}); };
  EXPECT_NE(plain_text(mosaic_scene(rows.at("naive"), nullptr).headline).find("L1 cache's queue"), std::string::npos);
  EXPECT_EQ(figure(rows.at("naive"), "shared_wavefronts_count").value, 0);
  ASSERT_FALSE(found("naive").empty());
  EXPECT_EQ(found("naive")[0].rule, "uncoalesced");
  EXPECT_TRUE(found("naive")[0].text.starts_with("Line 45 (S)")) << found("naive")[0].text;
  EXPECT_NEAR(found("naive")[0].seen, 26.3, 0.1) << "as tiled was, beside which 3.5 is no bound";
  EXPECT_NE(found("naive")[0].text.find("at most 3.5"), std::string::npos) << found("naive")[0].text;
  EXPECT_EQ(found("tiled").at(0).rule, "stored_scores");
  EXPECT_NEAR(found("tiled")[0].seen, 1.48, 0.01);
  EXPECT_EQ(found("flash_simt").at(0).rule, "held_at_dispatch");
  EXPECT_NEAR(found("flash_simt")[0].at_most, 1.23, 0.02) << "of two warps per scheduler, that is both lose the slot";
  EXPECT_EQ(found("flash_simt").at(1).rule, "few_warps");
  EXPECT_NEAR(found("flash_simt")[1].at_most, 1.17, 0.03) << "no 1.59: dispatch holds slots too";
  EXPECT_NE(plain_text(mosaic_scene(rows.at("flash_simt"), nullptr).headline).find("waits for the queue"),
            std::string::npos);
  for (const char* kernel : {"flash_mma", "flash_wmma", "flash_tf32x3"})
    EXPECT_TRUE(std::ranges::any_of(found(kernel), [](const Finding& f) { return f.rule == "few_warps"; })) << kernel;
  EXPECT_TRUE(std::ranges::any_of(found("flash_wmma"), [](const Finding& f) { return f.rule == "late_copies"; }));
  // The problem has no mask: nobody waits for other warps in it.
  for (const SampledPhase& phase : samples_by_phase(*rows.at("flash_mma").samples))
    EXPECT_EQ(phase.counts.in("barrier") > 0, phase.phase == gpu::CodePhase::barrier) << gpu::name_of(phase.phase);
}

// What the chip counted is what the algorithm asks for, to the last instruction: S = Q K^T and O = P V are B H L^2 D
// multiply-adds each, 32 an instruction; flash_simt has four lines of them for each.
TEST(BundledSessions, CountsOfInstructionsAreWhatTheAlgorithmAsksFor) {
  std::set<std::string> counted;
  for (const fs::path& file : bundled()) {
    SCOPED_TRACE(file.string());
    const auto session = read_session(file);
    ASSERT_TRUE(session) << session.error().message;
    for (const SweepRun& run : session->runs) {
      for (const Measurement& m : run.rows) {
        EXPECT_EQ(m.no_counts, "");
        if (m.counts == nullptr) continue;
        SCOPED_TRACE(m.key.kernel);
        counted.insert(m.key.kernel);
        const KernelCounts& c = *m.counts;
        EXPECT_EQ(c.no_lines, "");
        for (const InstructionCounterRow& row : instruction_counter_table()) EXPECT_TRUE(c.has(row.counter)) << row.id;
        EXPECT_GE(derived(c, sums_of(c), DerivedCount::conflicts).value_or(-1), 0);
        EXPECT_GE(derived(c, sums_of(c), DerivedCount::excess_sectors).value_or(-1), 0);
        EXPECT_LE(sums_of(c)[InstructionCounter::threads], 32 * sums_of(c)[InstructionCounter::executed]);
        const Problem& p = m.key.problem;
        const auto products = static_cast<std::uint64_t>(p.B * p.Hq * p.Lq * p.Lk * p.D) / 32;
        if (m.key.kernel != "flash_simt") continue;
        std::map<gpu::CodePhase, int> fma_lines;
        for (const CountedLine& line : counts_by_line(c))
          if (4 * line.sums[InstructionCounter::executed] == products) ++fma_lines[line.phase];
        EXPECT_EQ(fma_lines[gpu::CodePhase::s], 4);
        EXPECT_EQ(fma_lines[gpu::CodePhase::o], 4);
      }
    }
  }
  if (counted.empty()) GTEST_SKIP() << "none is bundled: tests/gpu/make_counts_session.sh makes one on a GPU";
  for (const char* kernel : {"naive", "flash_simt"}) EXPECT_TRUE(counted.contains(kernel)) << kernel;
}

// Of an H100: naive's three launches on one axis, and in flash_simt 32 key tiles in each of four waves of blocks.
TEST(BundledSessions, AHeartbeatNeedsNothingButTheFile) {
  std::set<std::string> heard;
  for (const fs::path& file : bundled()) {
    SCOPED_TRACE(file.string());
    const auto session = read_session(file);
    ASSERT_TRUE(session) << session.error().message;
    for (const SweepRun& run : session->runs) {
      for (const Measurement& m : run.rows) {
        EXPECT_EQ(m.no_heartbeat, "");
        if (m.heartbeat == nullptr) continue;
        SCOPED_TRACE(m.key.kernel);
        const Heartbeat& h = *m.heartbeat;
        heard.insert(m.key.kernel);
        EXPECT_EQ(h.counters.size(), beat_table().size());
        for (const BeatRow& row : beat_table()) EXPECT_NE(counter_of(h, row.id), nullptr) << row.id;
        EXPECT_EQ(what_is_lost(h.samples, h.length_us()), "");
        ASSERT_EQ(h.launches.size(), m.launches.size());
        for (std::size_t n = 0; n < h.launches.size(); ++n) EXPECT_EQ(h.launches[n].kernel, m.launches[n].name);
        EXPECT_NEAR(h.length_us(), m.time.median, 0.05 * m.time.median) << "reading it did not slow it down";
        EXPECT_TRUE(heartbeat_scene(m, nullptr, {}, {}).there);
        const auto beat = beat_of(h);
        if (m.key.kernel != "flash_simt") continue;
        ASSERT_TRUE(beat);
        EXPECT_EQ(beat->id, "xu") << "its exponentials stand between S and O";
        EXPECT_NEAR(beat->count, 4 * 32, 2);
      }
    }
  }
  if (heard.empty()) GTEST_SKIP() << "none is bundled: tests/gpu/make_heartbeat_session.sh makes one on a GPU";
  for (const char* kernel : {"naive", "flash_simt", "flash_mma"}) EXPECT_TRUE(heard.contains(kernel)) << kernel;
}

// The chapter says what its picture can show: where the borders of tiles are not to be found in what was measured, its
// words do not promise them.
TEST(BundledSessions, AChapterPromisesNoBordersThatTheHeartbeatDoesNotShow) {
  int pictures = 0;
  const FoundLessons found = read_lessons(fs::path(test::source_folder()) / "assets/lessons");
  for (const Lesson& lesson : found.lessons) {
    for (const Beat& beat : lesson.beats) {
      const std::string& words = lesson.words(beat.id + ".say", "en");
      const bool speaks = words.find("one tile ends") != std::string::npos;
      if (!speaks || !beat.figure || beat.figure->kind != FigureKind::heartbeat) continue;
      const std::string name = beat.session.empty() ? lesson.session : beat.session;
      const auto session = read_session(fs::path(test::source_folder()) / "assets/sessions" / (name + ".attn"));
      ASSERT_TRUE(session) << session.error().message;
      for (const SweepRun& run : session->runs) {
        for (const Measurement& m : run.rows) {
          if (m.heartbeat == nullptr || m.key.kernel != beat.figure->kernel) continue;
          ++pictures;
          const HeartbeatScene scene = heartbeat_scene(m, nullptr, {}, {});
          const bool shown = scene.borders != nullptr && scene.borders->has_value();
          EXPECT_EQ(words.find("cannot see") == std::string::npos, shown) << lesson.id << ", " << beat.id;
        }
      }
    }
  }
  EXPECT_EQ(pictures, 1);
}

}  // namespace
}  // namespace attn
