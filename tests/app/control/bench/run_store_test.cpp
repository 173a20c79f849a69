#include "app/control/bench/run_store.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/base/files.h"
#include "profiling/session/session.h"
#include "tests/app/control/killed_child.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

class RunStoreTest : public ::testing::Test {
 protected:
  RunStoreTest() {
    std::string pattern = (fs::temp_directory_path() / "attnscope-runs-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RunStoreTest() override { fs::remove_all(folder_); }

  static SweepRun run(int minute = 0) {
    SweepRun r = new_run("attn1,sweep_values=64");
    r.date = fmt::format("2026-11-21T14:{:02d}:00Z", minute);
    r.provenance = provenance_here();
    return r;
  }
  static Measurement row(std::int64_t l) {
    Measurement m;
    m.key.kernel = "cpu_flash";
    m.key.problem.Lq = m.key.problem.Lk = l;
    m.samples_us = {1, 2, 3, 4, 5, 6};
    m.time.n = 6;
    return m;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(store_folder())) found.push_back(entry.path().filename().string());
    return found;
  }
  fs::path store_folder() const { return folder_ / "runs"; }

  fs::path folder_;
  RunStore store() const { return RunStore(store_folder()); }
};

TEST_F(RunStoreTest, ARowIsOnDiskWhenAddReturns) {
  auto writer = store().write(run());
  ASSERT_TRUE(writer) << writer.error().message;
  for (const std::int64_t l : {16, 32, 64}) {
    ASSERT_TRUE((*writer)->add(row(l)));
    const auto listing = store().list();
    ASSERT_EQ(listing.runs.size(), 1U);
    EXPECT_TRUE(listing.runs[0].growing);
    EXPECT_EQ(listing.runs[0].run.rows.back().key.problem.Lq, l);
  }
  writer->reset();
  const auto after = store().list();
  EXPECT_FALSE(after.runs.at(0).growing);
  EXPECT_EQ(after.runs[0].run.rows.size(), 3U);
  EXPECT_EQ(names().size(), 1U);  // the lock went with its holder
}

// What a row costs does not grow with the run: between two times that the whole is written it lies beside it.
TEST_F(RunStoreTest, ARowOfALongRunLiesBesideItUntilTheWholeIsWritten) {
  SweepRun begun = run();
  for (std::int64_t l = 1; l <= 1500; ++l) begun.rows.push_back(row(l));
  auto writer = store().write(begun);
  ASSERT_TRUE(writer) << writer.error().message;
  ASSERT_TRUE((*writer)->add(row(2000)));  // the first may be the whole
  std::size_t beside = 0;
  for (std::int64_t l = 2001; l <= 2008; ++l) {
    ASSERT_TRUE((*writer)->add(row(l)));
    const auto found = names();
    beside += static_cast<std::size_t>(
        std::ranges::count_if(found, [](const std::string& name) { return name.ends_with(".row"); }));
  }
  EXPECT_GT(beside, 0U);
  // Another window sees all of them, in their order, and one that is measured again once.
  ASSERT_TRUE((*writer)->add(row(3)));
  const auto listing = store().list();
  ASSERT_EQ(listing.runs.size(), 1U);
  const auto& rows = listing.runs[0].run.rows;
  ASSERT_EQ(rows.size(), 1509U);
  EXPECT_EQ(rows.back().key.problem.Lq, 3);
  EXPECT_EQ(rows[rows.size() - 2].key.problem.Lq, 2008);
  writer->reset();
  EXPECT_EQ(names().size(), 1U) << "its rows are in its file";
  const auto whole = read_session(store_folder() / names().at(0));
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->runs.at(0).rows.size(), 1509U);
}

// As writers that were killed leave them, of several runs at once.
TEST_F(RunStoreTest, RowsBesideSeveralRunsGoEachToItsOwn) {
  std::vector<std::string> ids;
  for (int n = 0; n < 12; ++n) ids.push_back((*store().write(run(n)))->id());
  for (std::size_t l = 1; l <= 3; ++l) {
    for (std::size_t n = 0; n < ids.size(); ++n) {
      Session one;
      one.runs.push_back(run());
      one.runs[0].id = ids[n];
      one.runs[0].rows = {row(static_cast<std::int64_t>(100 * n + l))};
      ASSERT_TRUE(write_session(store_folder() / fmt::format("{}.{:06}.row", ids[n], l), one));
    }
  }
  for (int look = 0; look < 2; ++look) {  // then they are in their files
    const auto listing = store().list();
    ASSERT_EQ(listing.runs.size(), ids.size());
    for (const StoredRun& r : listing.runs) {
      const auto n = static_cast<std::int64_t>(std::ranges::find(ids, r.run.id) - ids.begin());
      ASSERT_EQ(r.run.rows.size(), 3U);
      for (std::int64_t l = 1; l <= 3; ++l)
        EXPECT_EQ(r.run.rows[static_cast<std::size_t>(l - 1)].key.problem.Lq, 100 * n + l);
    }
    EXPECT_EQ(names().size(), ids.size());
  }
}

TEST_F(RunStoreTest, APointThatIsMeasuredAgainTakesThePlaceOfTheOldRow) {
  auto writer = store().write(run());
  ASSERT_TRUE((*writer)->add(row(16)));
  ASSERT_TRUE((*writer)->add(row(32)));
  ASSERT_TRUE((*writer)->add(row(16)));
  EXPECT_EQ(store().list().runs.at(0).run.rows.size(), 2U);
}

TEST_F(RunStoreTest, NobodyWritesTheRunOfAnother) {
  auto first = store().write(run());
  const std::string id = (*first)->id();
  SweepRun same = run();
  same.id = id;
  const auto second = store().write(same);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("Another window"), std::string::npos);
  EXPECT_FALSE(store().rename(id, "mine"));
  EXPECT_FALSE(store().remove(id));
  EXPECT_TRUE(fs::exists(store().list().runs.at(0).file));
  first->reset();
  EXPECT_TRUE(store().write(same));
}

TEST_F(RunStoreTest, NamesStayAndRemovedRunsAreGone) {
  const std::string id = (*store().write(run(1)))->id(), other = (*store().write(run(2)))->id();
  ASSERT_TRUE(store().rename(id, "before the change"));
  ASSERT_TRUE(store().keep(id));
  auto listing = store().list();
  ASSERT_EQ(listing.runs.size(), 2U);
  EXPECT_EQ(listing.runs[0].run.id, other);  // the newest first
  EXPECT_EQ(listing.runs[1].run.name, "before the change");
  EXPECT_TRUE(listing.runs[1].kept);
  ASSERT_TRUE(store().remove(id));
  EXPECT_TRUE(store().remove(id));  // gone already
  EXPECT_EQ(store().list().runs.size(), 1U);
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(RunStoreTest, BeyondTheNewestTwentyOnlyTheLooseOnesAreSurplus) {
  std::vector<std::string> ids;
  for (int minute = 0; minute < 24; ++minute) ids.push_back((*store().write(run(minute)))->id());
  ASSERT_TRUE(store().rename(ids[0], "named"));
  ASSERT_TRUE(store().keep(ids[1]));
  const auto surplus = surplus_runs(store().list().runs);
  EXPECT_EQ(surplus, (std::vector<std::string>{ids[3], ids[2]}));
}

TEST_F(RunStoreTest, AMarkWithoutItsRunGoes) {
  const std::string id = (*store().write(run()))->id();
  ASSERT_TRUE(store().keep(id));
  ASSERT_TRUE(store().keep("00000000000000aa"));
  std::ofstream(store_folder() / "mine.kept") << "x";
  EXPECT_TRUE(store().list().runs.at(0).kept);
  EXPECT_EQ(names().size(), 3U);
  EXPECT_FALSE(fs::exists(store_folder() / "00000000000000aa.kept"));
  EXPECT_TRUE(fs::exists(store_folder() / "mine.kept"));
}

TEST_F(RunStoreTest, ACancelledPointTakesThePlaceOfNoFinishedOne) {
  auto writer = store().write(run());
  ASSERT_TRUE((*writer)->add(row(16)));
  Measurement cancelled = row(16);
  cancelled.state = RowState::cancelled;
  cancelled.samples_us.clear();
  cancelled.time = {};
  ASSERT_TRUE((*writer)->add(cancelled));
  const auto rows = store().list().runs.at(0).run.rows;
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const auto& m) { return m.time.n == 6; }));
}

TEST_F(RunStoreTest, AnOldAutosaveBecomesARunOnce) {
  Session old = session_of(provenance_here(), {row(16), row(32)});
  const fs::path file = folder_ / "autosave.attn";
  ASSERT_TRUE(write_session(file, old));
  const auto id = store().adopt(file);
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_FALSE(fs::exists(file));
  const auto listing = store().list();
  ASSERT_EQ(listing.runs.size(), 1U);
  EXPECT_EQ(listing.runs[0].run.id, *id);
  EXPECT_EQ(listing.runs[0].run.rows.size(), 2U);
  EXPECT_EQ(*store().adopt(file), "");
}

TEST_F(RunStoreTest, BrokenAndForeignFilesAreSaidAndLeaveTheOthers) {
  const auto id = (*store().write(run()))->id();
  std::ofstream(store_folder() / "20261121T140000Z-00000000000000bb.attn") << "no zip";
  fs::copy_file(store().list().runs.at(0).file, store_folder() / "20261121T140000Z-00000000000000cc.attn");
  std::ofstream(store_folder() / "notes.txt") << "mine";
  const auto listing = store().list();
  ASSERT_EQ(listing.runs.size(), 1U);
  EXPECT_EQ(listing.runs[0].run.id, id);
  EXPECT_EQ(listing.said.size(), 2U);
  EXPECT_TRUE(fs::exists(store_folder() / "notes.txt"));
}

// Processes that add rows as fast as they can are killed at many moments: what they said was written is there, and the
// next look leaves neither locks nor half-written files.
TEST_F(RunStoreTest, KilledWritersLoseNoRowAndLeaveNothingBehind) {
  const int kKills = test::kills(12, 60);
  std::size_t rows = 0;
  for (int n = 0; n < kKills; ++n) {
    const SweepRun begun = run(n % 60);
    const std::string id = begun.id;
    const auto write = [&](const std::function<void()>& finished) {
      auto writer = store().write(begun);
      for (std::int64_t l = 1; writer && l < 100000; ++l) {
        if (!(*writer)->add(row(l))) ::_exit(1);
        finished();
      }
    };
    const std::size_t said =
        test::killed_after(static_cast<std::size_t>(1 + n % 5), static_cast<unsigned>(300 * (n % 20)), write);
    const auto listing = store().list();
    EXPECT_TRUE(listing.said.empty()) << listing.said.front();
    std::size_t kept = 0;
    for (const StoredRun& r : listing.runs)
      if (r.run.id == id) kept = r.run.rows.size();
    EXPECT_GE(kept, said) << "kill " << n;
    for (const std::string& name : names()) EXPECT_TRUE(name.ends_with(".attn")) << name;
    rows += said;
  }
  std::printf("%d kills of a run's writer, %zu rows said, none lost\n", kKills, rows);
}

TEST_F(RunStoreTest, WhereNothingCanBeKeptTheErrorNamesTheFolder) {
  std::ofstream(folder_ / "file") << "no folder";
  const RunStore blocked(folder_ / "file" / "runs");
  const auto writer = blocked.write(run());
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message.find("file"), std::string::npos);
  EXPECT_TRUE(blocked.list().runs.empty());
  EXPECT_TRUE(RunStore("").list().runs.empty());
}

TEST(FileLock, IsHeldOnceAndItsFileGoesWithIt) {
  const fs::path file = fs::temp_directory_path() / fmt::format("attnscope-lock-{}", ::getpid());
  {
    auto first = FileLock::take(file);
    ASSERT_TRUE(first && *first);
    const auto second = FileLock::take(file);
    ASSERT_TRUE(second);
    EXPECT_FALSE(*second);
    FileLock moved = std::move(**first);
    EXPECT_FALSE(*FileLock::take(file));
  }
  EXPECT_FALSE(fs::exists(file));
}

}  // namespace
}  // namespace attn
