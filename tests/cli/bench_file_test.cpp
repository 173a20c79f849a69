// `attnscope bench -o`: what it keeps, what it refuses, and what a kill leaves.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/formats/container.h"
#include "tests/app/control/killed_child.h"
#include "tests/cli/program.h"

namespace attn::test {
namespace {

using nlohmann::json;

std::vector<std::string> bench(const std::string& values, const std::string& file,
                               const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"bench", "--kernels", "cpu_flash", "--values",     values, "--hq",
                                     "1",     "--d",       "16",        "--time-limit", "0.01", "--repeats",
                                     "2",     "--verify",  "none",      "-o",           file};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// A short point and then long ones: half a minute at least on the fastest machine, if nobody ends it.
std::vector<std::string> bench_that_lasts(const std::string& file) {
  auto arguments = bench("16,16384,16392,16400", file);
  *std::find(arguments.begin(), arguments.end(), "0.01") = "60";
  *std::find(arguments.begin(), arguments.end(), "2") = "100";
  return arguments;
}

json session_in(const std::filesystem::path& file) {
  const auto container = read_container(file);
  EXPECT_TRUE(container) << (container ? "" : container.error().message);
  return container ? json::parse(container->session_json) : json();
}

std::set<std::int64_t> lengths_in(const std::filesystem::path& file) {
  std::set<std::int64_t> lengths;
  const json session = session_in(file);
  for (const json& run : session.at("runs"))
    for (const json& m : run.at("measurements"))
      if (m.at("state") == "done") lengths.insert(m.at("problem").at("Lk").get<std::int64_t>());
  return lengths;
}

// It is rewritten as it grows: a pipe without a reader would hang, one with a reader would get it many times over.
TEST(BenchFile, APipeIsNoSession) {
  const Folder folder;
  const std::string pipe = (folder / "pipe.attn").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const char* how : {"--resume", "--force"}) {
    const Done refused = run(bench("16", pipe, {how}));
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_NE(refused.err.find("is a pipe"), std::string::npos) << refused.err;
  }
}

TEST(BenchFile, AnExistingSessionIsNotReplacedWithoutBeingTold) {
  const Folder folder;
  const std::string file = (folder / "s.attn").string();
  ASSERT_EQ(run(bench("16,32", file)).code, 0);
  const std::string before = text_of(file);
  const Done refused = run(bench("64", file));
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--resume"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--force"), std::string::npos) << refused.err;
  EXPECT_EQ(text_of(file), before);
  ASSERT_EQ(run(bench("64", file, {"--force"})).code, 0);
  EXPECT_EQ(lengths_in(file), (std::set<std::int64_t>{64}));
  EXPECT_EQ(run(bench("64", file, {"--force", "--resume"})).code, 2);
  EXPECT_EQ(folder.files(), 1U);
}

TEST(BenchFile, ResumeKeepsRecordingsAndWhatElseIsInTheFile) {
  const Folder folder;
  const std::string file = (folder / "s.attn").string();
  ASSERT_EQ(run({"step", "--preset", "causal", "--attn", file, "--to", "1"}).code, 0);
  const Done done = run(bench("16,32", file, {"--resume"}));
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(session_in(file).at("recordings").size(), 1U);
  EXPECT_EQ(lengths_in(file), (std::set<std::int64_t>{16, 32}));
  // A run of another machine stays beside the one of this.
  auto container = *read_container(file);
  json session = json::parse(container.session_json);
  session["runs"][0]["provenance"]["host"] = "elsewhere";
  container.session_json = session_text(session, 2);
  const auto bytes = container_bytes(container);
  ASSERT_TRUE(bytes && write_file_atomically(file, *bytes));
  ASSERT_EQ(run(bench("64", file, {"--resume"})).code, 0);
  session = session_in(file);
  ASSERT_EQ(session.at("runs").size(), 2U);
  EXPECT_EQ(session["runs"][0]["provenance"]["host"], "elsewhere");
  EXPECT_EQ(session["runs"][0]["measurements"].size(), 2U);
  EXPECT_EQ(session.at("recordings").size(), 1U);
  EXPECT_EQ(lengths_in(file), (std::set<std::int64_t>{16, 32, 64}));
}

TEST(BenchFile, FinishedPointsAreNotMeasuredAgain) {
  const Folder folder;
  const std::string file = (folder / "s.attn").string();
  const std::vector<std::string> checked{"--verify", "sampled"};
  auto with_check = [&](const std::string& values, std::vector<std::string> more) {
    auto arguments = bench(values, file, more);
    *std::find(arguments.begin(), arguments.end(), "none") = "sampled";
    return arguments;
  };
  ASSERT_EQ(run(with_check("16,32", {})).code, 0);
  const json before = session_in(file);
  const Done done = run(with_check("16,32,64", {"--resume"}));
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.err.find("2 of 3 points in "), std::string::npos) << done.err;
  const json after = session_in(file);
  ASSERT_EQ(after["runs"].size(), 1U);
  EXPECT_EQ(after["runs"][0]["id"], before["runs"][0]["id"]);
  EXPECT_EQ(after["runs"][0]["measurements"][0]["samples_us"], before["runs"][0]["measurements"][0]["samples_us"]);
}

TEST(BenchFile, ASecondWriterIsRefusedAndCostsTheFirstNothing) {
  const Folder folder;
  const std::string file = (folder / "s.attn").string();
  Program first(bench_that_lasts(file));
  ASSERT_TRUE(first.says("L=16 ", 20));
  const Done second = run(bench("128", file, {"--resume"}));
  EXPECT_EQ(second.code, 3) << second.err;
  EXPECT_NE(second.err.find("Another process"), std::string::npos) << second.err;
  first.signal(SIGINT);
  EXPECT_EQ(first.wait().code, 130);
  EXPECT_EQ(lengths_in(file), (std::set<std::int64_t>{16}));
  EXPECT_EQ(folder.files(), 1U);
}

// A closed terminal (HUP) ends a sweep as TERM and Ctrl+C do: what is finished is in the file, and only that.
TEST(BenchFile, AnEndedSweepKeepsItsRowsWhateverEndedIt) {
  for (const int number : {SIGHUP, SIGTERM, SIGINT}) {
    const Folder folder;
    const std::string file = (folder / "s.attn").string();
    Program sweep(bench_that_lasts(file));
    ASSERT_TRUE(sweep.says("L=16 ", 20));
    sweep.signal(number);
    const Done done = sweep.wait();
    EXPECT_EQ(done.code, 130) << number << ": " << done.err;
    EXPECT_EQ(lengths_in(file), (std::set<std::int64_t>{16})) << number;
    EXPECT_EQ(folder.files(), 1U) << number;
  }
}

TEST(BenchFile, TwoOutputsInOneFileAreRefused) {
  const Folder folder;
  const std::string file = (folder / "s.attn").string();
  const Done done = run(bench("16", file, {"--csv", file}));
  EXPECT_EQ(done.code, 2);
  EXPECT_NE(done.err.find("--csv"), std::string::npos) << done.err;
  EXPECT_EQ(folder.files(), 0U);
}

// Killed at many moments: every row that was said to be finished is in the file, and the next run leaves nothing but
// the file.
TEST(BenchFile, KilledSweepsLoseNoFinishedRow) {
  const Folder folder;
  const int kKills = kills(6, 60);
  std::size_t rows = 0;
  for (int n = 0; n < kKills; ++n) {
    const std::string file = (folder / ("k" + std::to_string(n) + ".attn")).string();
    Program sweep(bench("8,16,24,32,40,48,56,64,72,80,88,96,104,112", file));
    // So many rows in, and then at any moment of the next.
    EXPECT_TRUE(sweep.says(fmt::format(" L={} ", 8 * (1 + n % 13)), 60)) << "kill " << n;
    ::usleep(static_cast<useconds_t>(1500 * (n % 20)));
    sweep.signal(SIGKILL);
    const Done killed = sweep.wait();
    std::set<std::int64_t> said;
    for (std::size_t at = killed.err.find("cpu_flash, "); at != std::string::npos;
         at = killed.err.find("cpu_flash, ", at + 1)) {
      const std::size_t end = killed.err.find('\n', at), length = killed.err.find(" L=", at);
      if (end == std::string::npos) break;
      if (length < end && killed.err.substr(at, end - at).find(" us (") != std::string::npos)
        said.insert(std::stoll(killed.err.substr(length + 3)));
    }
    rows += said.size();
    if (std::filesystem::exists(file)) {
      const auto kept = lengths_in(file);
      for (const std::int64_t length : said) EXPECT_TRUE(kept.contains(length)) << "kill " << n << ", L = " << length;
    } else {
      EXPECT_TRUE(said.empty()) << "kill " << n;
    }
    ASSERT_EQ(run(bench("8,16", file, {"--resume"})).code, 0);
  }
  EXPECT_EQ(folder.files(), static_cast<std::size_t>(kKills));
  std::printf("%d kills of bench -o, %zu rows said, none lost\n", kKills, rows);
}

TEST(BenchFile, ResumeKeepsTheViewThatTheRecordingWasSavedIn) {
  const Folder folder;
  const std::string file = (folder / "s.attn").string();
  ASSERT_EQ(run({"step", "--preset", "causal", "--attn", file, "--to", "1"}).code, 0);
  auto container = *read_container(file);
  json session = json::parse(container.session_json);
  session["state"] = "attn1,preset=causal,cursor=7,chart=error";
  container.session_json = session_text(session);
  ASSERT_TRUE(write_file_atomically(file, *container_bytes(container)));
  ASSERT_EQ(run(bench("16", file, {"--resume"})).code, 0);
  const auto state = session_in(file).at("state").get<std::string>();
  EXPECT_NE(state.find("cursor=7"), std::string::npos) << state;
  EXPECT_NE(state.find("sweep_values=16"), std::string::npos) << state;
}

TEST(BenchFile, ASessionUnderTheLongestNameIsWritten) {
  const Folder folder;
  const std::string file = (folder / (std::string(250, 'n') + ".attn")).string();
  const Done done = run(bench("16", file));
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(folder.files(), 1U);
}

// A link and the file that it leads to are one file to two writers.
TEST(BenchFile, ALinkIsNoWayAroundTheLock) {
  const Folder folder;
  const std::string file = (folder / "s.attn").string(), link = (folder / "link.attn").string();
  std::filesystem::create_symlink("s.attn", link);
  Program first(bench_that_lasts(file));
  ASSERT_TRUE(first.says("L=16 ", 20));
  EXPECT_EQ(run(bench("128", link, {"--resume"})).code, 3);
  EXPECT_EQ(run({"step", "--preset", "causal", "--attn", link, "--force", "--to", "1"}).code, 3);
  first.signal(SIGINT);
  EXPECT_EQ(first.wait().code, 130);
  EXPECT_EQ(lengths_in(file), (std::set<std::int64_t>{16}));
}

TEST(BenchFile, AReadOnlySessionStays) {
  const Folder folder;
  const std::string file = (folder / "s.attn").string();
  ASSERT_EQ(run(bench("16", file)).code, 0);
  const std::string before = text_of(file);
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  for (const char* how : {"--resume", "--force"}) {
    const Done done = run(bench("32", file, {how}));
    EXPECT_EQ(done.code, 3) << done.err;
    EXPECT_NE(done.err.find("read-only"), std::string::npos) << done.err;
  }
  EXPECT_EQ(text_of(file), before);
  EXPECT_EQ(folder.files(), 1U);
}

}  // namespace
}  // namespace attn::test
