// kill -9 at many moments of what a window writes: a sweep, a session, settings. What was said to be finished is there,
// what was half written is not, and who comes next finds nothing left behind. tests/cli/bench_file_test.cpp does the
// same to the command line.
#include "tests/app/control/killed_child.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "app/window/settings.h"
#include "profiling/session/session.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

namespace fs = std::filesystem;
using Said = std::function<void()>;

class Kills : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* sanitized = std::getenv("ATTNSCOPE_SANITIZED");
    if (sanitized != nullptr && std::string_view(sanitized) == "thread")
      GTEST_SKIP() << "the thread sanitizer does not follow a forked process that starts threads";
  }
  fs::path path(const std::string& name) const { return temporary_ / name; }
  // Of the folder and those below it; without folders.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(temporary_.path()))
      if (!entry.is_directory()) names.push_back(fs::relative(entry.path(), temporary_.path()).string());
    return names;
  }
  ControllerOptions options() const {
    ControllerOptions o;
    o.state = initial_state();
    SweepSpec& sweep = o.state.document.sweep;
    sweep.kernels = {"cpu_flash"};
    sweep.values.clear();
    for (std::int64_t length = 1; length <= 60; ++length) sweep.values.push_back(length);
    sweep.seconds_per_point = 0.002;
    sweep.min_repeats = 1;
    sweep.verify = false;
    sweep.peak = {1, 1, 1};
    o.save_folder = temporary_.path();
    o.runs.runs = path("data/runs");
    o.runs.recent = path("data/recent");
    return o;
  }

 private:
  TempFolder temporary_;
};

std::size_t finished_rows(const std::vector<ListedRun>& runs) {
  std::size_t rows = 0;
  for (const ListedRun& r : runs)
    for (const Measurement& m : r.run.rows) rows += m.state == RowState::done ? 1 : 0;
  return rows;
}

// A window that goes on with the sweep of the one before it, and says each row that it shows.
void sweep(const ControllerOptions& options, const Said& said) {
  Controller window(options);
  window.look_around();
  window.wait();
  std::size_t shown = finished_rows(window.model().runs);
  window.update({RunSweep{}});
  for (bool running = true; running;) {
    running = window.model().task.running;
    ::usleep(500);
    window.update({});
    for (; shown < finished_rows(window.model().runs); ++shown) said();
  }
}

TEST_F(Kills, NoFinishedRowOfAWindowsSweepIsLost) {
  const int kKills = test::kills(4, 60);
  std::size_t rows = 0, most = 0;
  for (int n = 0; n < kKills; ++n) {
    const std::size_t said = test::killed_after(static_cast<std::size_t>(n % 7), static_cast<unsigned>(700 * (n % 40)),
                                                [&](const Said& s) { sweep(options(), s); });
    rows += said;
    const FoundRuns found = find_runs(options().runs, {});
    EXPECT_TRUE(found.said.empty()) << found.said.front();
    const std::size_t kept = finished_rows(found.runs);
    EXPECT_GE(kept, std::min<std::size_t>(most + said, 60)) << "kill " << n;
    most = kept;
    for (const std::string& name : files()) EXPECT_TRUE(name.ends_with(".attn")) << "kill " << n << " left " << name;
    if (most < 60) continue;
    for (const ListedRun& r : found.runs) EXPECT_TRUE(RunStore(options().runs.runs).remove(r.run.id));
    most = 0;
  }
  // A window that nobody kills ends the sweep that the last one left.
  sweep(options(), [] {});
  EXPECT_EQ(finished_rows(find_runs(options().runs, {}).runs), 60U);
  std::printf("%d kills of a window's sweep, %zu rows said, none lost\n", kKills, rows);
}

TEST_F(Kills, ASessionIsTheOldOneOrTheNewOne) {
  const int kKills = test::kills(4, 40);
  std::size_t saves = 0;
  const auto save = [&](int times, const Said& said) {
    Controller window(options());
    for (int n = 0; n < times; ++n) {
      window.update({SaveSessionAs{path("s.attn").string()}});
      window.wait();
      if (fs::exists(path("s.attn"))) said();
    }
  };
  for (int n = 0; n < kKills; ++n) {
    const std::size_t said = test::killed_after(static_cast<std::size_t>(n % 3), static_cast<unsigned>(600 * n),
                                                [&](const Said& s) { save(1000000, s); });
    saves += said;
    if (!fs::exists(path("s.attn"))) {
      EXPECT_EQ(saves, 0U) << "kill " << n;
      continue;
    }
    const auto session = read_session(path("s.attn"));
    ASSERT_TRUE(session) << "kill " << n << ": " << session.error().message;
    EXPECT_EQ(session->recordings.size(), 1U);
  }
  save(1, [] {});
  EXPECT_EQ(files().size(), 2U) << files().back();  // the session, and the list of recent files
  std::printf("%d kills while a session was saved, %zu saves, each whole\n", kKills, saves);
}

TEST_F(Kills, SettingsAreTheOldOnesOrTheNewOnes) {
  const int kKills = test::kills(4, 40);
  const fs::path file = path("config/settings.json");
  std::size_t saves = 0;
  const auto save = [&](int times, const Said& said) {
    Settings s;
    for (int n = 0; n < times; ++n) {
      s.preferences.theme = n % 2 == 0 ? Theme::light : Theme::dark;
      s.window_width = 1000 + n % 1000;
      if (!save_settings(file, s)) ::_exit(1);
      said();
    }
  };
  for (int n = 0; n < kKills; ++n) {
    saves += test::killed_after(static_cast<std::size_t>(n % 3), static_cast<unsigned>(300 * n),
                                [&](const Said& s) { save(1000000, s); });
    if (saves == 0) continue;
    ASSERT_TRUE(fs::exists(file)) << "kill " << n;
    const LoadedSettings loaded = load_settings(file);
    EXPECT_TRUE(loaded.said.empty()) << "kill " << n << ": " << loaded.said.front();
    EXPECT_GE(loaded.settings.window_width, 1000);
  }
  save(1, [] {});
  EXPECT_EQ(files(), std::vector<std::string>{"config/settings.json"});
  std::printf("%d kills while settings were saved, %zu saves, each whole\n", kKills, saves);
}

}  // namespace
}  // namespace attn
