// Files of others: recordings that may not hold together, sessions and runs that another process writes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/control/controller.h"
#include "app/control/files/own_timeline.h"
#include "app/state/apply/apply.h"
#include "app/system/file_lock.h"
#include "kernels/recording/file/recording_file.h"
#include "profiling/figures/statistics.h"
#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "tests/kernels/gpu/own_kernel/own_kernel_text.h"
#include "tests/kernels/temp_folder.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

class Sessions : public ::testing::Test {
 protected:
  ControllerOptions options(State state = initial_state()) const {
    ControllerOptions o;
    o.state = std::move(state);
    o.save_folder = folder_;
    o.runs.runs = folder_ / "runs";
    return o;
  }
  static std::string last_words(Controller& c) {
    const auto entries = c.log().after(0);
    return entries.empty() ? "" : entries.back().text;
  }
  static State small_sweep() {
    State s = initial_state();
    s.document.sweep.kernels = {"cpu_multicore", "cpu_flash"};
    s.document.sweep.values = {16, 32};
    s.document.sweep.seconds_per_point = 0.01;
    s.document.sweep.peak = {1, 1, 1};
    return s;
  }
  TempFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(Sessions, AnOpenedRecordingIsReplayedAndItsFirstDifferenceIsSaid) {
  Controller c(options());
  c.update({ChoosePreset{"causal"}});
  Recording forged = *c.model().recording;
  EXPECT_EQ(c.model().replay.of, nullptr);  // made here: nothing is to be doubted
  const std::string sound = (folder_ / "sound.attn").string(), bad = (folder_ / "bad.attn").string();
  ASSERT_TRUE(write_recording(sound, forged));
  const VersionId last = forged.events.back().after[static_cast<std::size_t>(Slot::lse)];
  forged.arena[forged.version(last).offset] += 1;
  ASSERT_TRUE(write_recording(bad, forged));

  c.update({OpenFile{sound}});
  c.wait();
  EXPECT_EQ(c.model().replay.of, c.model().recording);
  EXPECT_FALSE(c.model().replay.running);
  EXPECT_EQ(c.model().replay.difference, "");
  const std::uint64_t before = c.log().last_number();
  c.update({OpenFile{bad}});
  c.wait();
  EXPECT_EQ(c.model().replay.of, c.model().recording);
  EXPECT_NE(c.model().replay.difference.find("lse"), std::string::npos) << c.model().replay.difference;
  const auto said = c.log().after(before);
  EXPECT_TRUE(std::any_of(said.begin(), said.end(), [](const LogEntry& e) {
    return e.level == LogLevel::warning && e.text.find("bad.attn: the replay differs") != std::string::npos;
  }));
}

TEST_F(Sessions, ASessionThatAnotherProcessWritesIsNotSavedOver) {
  Controller c(options());
  const std::string file = (folder_ / "s.attn").string();
  {
    const auto lock = FileLock::of_file(file);
    ASSERT_TRUE(lock);
    c.update({SaveSessionAs{file}});
    c.wait();
    EXPECT_NE(last_words(c).find("Another process"), std::string::npos) << last_words(c);
    EXPECT_FALSE(fs::exists(file));
  }
  c.update({SaveSessionAs{file}});
  c.wait();
  EXPECT_TRUE(fs::exists(file)) << last_words(c);
}

TEST_F(Sessions, WhatAnotherProgramAddedSinceIsNotSavedOver) {
  Controller c(options());
  const fs::path file = folder_ / "s.attn";
  c.update({SaveSessionAs{file.string()}});
  c.wait();
  c.update({SaveSession{}});
  c.wait();
  EXPECT_NE(last_words(c).find("saved as"), std::string::npos) << last_words(c);
  Session more = *read_session(file);
  more.runs.push_back(new_run(""));
  more.runs[0].provenance = provenance_here();
  ASSERT_TRUE(write_session(file, more));
  c.update({SaveSession{}});
  c.wait();
  EXPECT_NE(last_words(c).find("another program"), std::string::npos) << last_words(c);
  EXPECT_EQ(read_session(file)->runs.size(), 1U);
  c.update({SaveSessionAs{file.string()}});  // as the window's Replace does
  c.wait();
  EXPECT_TRUE(read_session(file)->runs.empty());
}

Session session_of(const std::string& kernel) {
  Session s;
  s.runs.push_back(new_run(""));
  s.runs[0].provenance = provenance_here();
  Measurement m;
  m.key.kernel = kernel;
  m.key.device = "a CPU";
  m.time = statistics_of(std::vector<double>(3, 10.0));
  m.launches.resize(1);
  s.runs[0].rows.push_back(m);
  return s;
}

TEST_F(Sessions, OfSeveralFilesAtOnceEachIsOpenedAndOneLineSaysWhatCameOfThem) {
  const auto file = [&](const char* name) { return (folder_ / name).string(); };
  Session first = session_of("cpu_flash"), second = session_of("cpu_tiled");
  Controller c(options());
  c.update({ChoosePreset{"causal"}});
  first.recordings.push_back(*c.model().recording);
  c.update({ChoosePreset{"late_outlier"}});
  second.recordings.push_back(*c.model().recording);
  ASSERT_TRUE(write_session(file("a.attn"), first));
  ASSERT_TRUE(write_session(file("b.attn"), second));
  std::ofstream(file("mine.cu")) << kOwnKernel;
  std::ofstream(file("bad.cu")) << "no kernel";
  c.update({ChoosePreset{"blackboard"}});
  const std::uint64_t before = c.log().last_number();
  c.update({OpenFiles{{file("a.attn"), file("mine.cu"), file("missing.attn"), file("b.attn"), file("bad.cu")}}});
  c.wait();
  EXPECT_EQ(c.state().document.runs.shown.size(), 2U);
  EXPECT_EQ(c.model().runs.size(), 2U);
  EXPECT_EQ(c.state().document.sweep.own.size(), 1U);
  EXPECT_EQ(c.model().recording->problem, second.recordings.front().problem) << "of several the last";
  std::size_t spoken = 0;
  for (const LogEntry& e : c.log().after(before)) spoken += e.text.find("Opened 3 files") != std::string::npos ? 1 : 0;
  EXPECT_EQ(spoken, 1U);
  const std::string words = last_words(c);
  EXPECT_NE(words.find("Opened 3 files: 2 measurements, 1 kernel, 2 recordings. Step shows the recording of b.attn."),
            std::string::npos)
      << words;
  EXPECT_NE(words.find("2 failed: "), std::string::npos) << words;
  EXPECT_NE(words.find("missing.attn"), std::string::npos) << words;
  EXPECT_NE(words.find("bad.cu"), std::string::npos) << words;
  EXPECT_EQ(c.log().after(before).back().level, LogLevel::warning);
  c.update({OpenFiles{{file("missing.attn"), file("none.attn")}}});
  c.wait();
  EXPECT_TRUE(last_words(c).starts_with("Nothing was opened. 2 failed: ")) << last_words(c);
  EXPECT_EQ(c.log().after(before).back().level, LogLevel::error);
}

// Of what another file left chosen nothing stays; a session with rows is spoken of by its rows.
TEST_F(Sessions, ASessionOfTimelinesAloneOpensOnItsOwnRecording) {
  auto bundled = read_session(test::source_folder() + "/assets/sessions/h100-timeline.attn");
  ASSERT_TRUE(bundled);
  ASSERT_GE(bundled->timelines.size(), 3U);
  Session alone, with_rows = session_of("cpu_flash");
  alone.timelines = {bundled->timelines[2]};
  with_rows.timelines = {bundled->timelines[1]};
  EXPECT_EQ(timeline_opened(alone), id_of(bundled->timelines[2]));
  EXPECT_EQ(timeline_opened(with_rows), "");
  EXPECT_EQ(timeline_opened({}), "");
  const std::string file = (folder_ / "alone.attn").string();
  ASSERT_TRUE(write_session(file, alone));
  Controller c(options());
  c.update({ChooseTimeline{id_of(bundled->timelines[0])}});
  c.update({OpenFile{file}});
  c.wait();
  const auto shown = timeline_shown(c.state().view.profile, c.model().timelines, "flash_mma", Problem());
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(*shown, bundled->timelines[2]);
  EXPECT_EQ(c.state().view.profile.page, ProfilePage::timeline);
}

// Two windows begin the same unfinished sweep at once: the later one has rows of its own, and none is lost.
TEST_F(Sessions, ARunThatAnotherWindowMeasuresIsLeftToIt) {
  SweepRun run = new_run(sweep_text(small_sweep().document.sweep));
  run.provenance = provenance_here();
  const RunStore store(folder_ / "runs");
  (void)store.write(run);
  Controller c(options(small_sweep()));
  c.look_around();
  c.wait();
  const auto other = store.write(run);  // since the window looked
  ASSERT_TRUE(other);
  c.update({RunSweep{}});
  c.wait();
  const auto kept = store.list().runs;
  ASSERT_EQ(kept.size(), 2U);
  for (const StoredRun& r : kept) EXPECT_EQ(r.run.rows.size(), r.run.id == run.id ? 0U : 4U);
}

}  // namespace
}  // namespace attn
