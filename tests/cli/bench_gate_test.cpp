// `attnscope bench --against`: what passes, what exits 1 and in which words, what is refused before anything is timed.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "profiling/session/session.h"
#include "tests/cli/program.h"

namespace attn::test {
namespace {

std::vector<std::string> bench(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"bench", "--kernels", "cpu_flash", "--values", "16,32",
                                     "--hq",  "1",         "--d",       "16",       "--time-limit",
                                     "0.01",  "--repeats", "6",         "--verify", "none"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// As if the machine had taken so many times as long; timing itself is noise.
void stretch(const std::filesystem::path& file, double times) {
  auto session = read_session(file);
  ASSERT_TRUE(session) << session.error().message;
  for (Measurement& m : session->runs.at(0).rows) {
    for (double& us : m.samples_us) us *= times;
    for (double* us :
         {&m.time.median, &m.time.q1, &m.time.q3, &m.time.min, &m.time.max, &m.time.ci_low, &m.time.ci_high})
      *us *= times;
  }
  const auto written = write_session(file, *session);
  ASSERT_TRUE(written) << written.error().message;
}

std::vector<std::string> against(const std::string& file, const std::string& least) {
  return bench({"--csv", "/dev/null", "--against", file, "--fail-under", least});
}

TEST(BenchGate, ASlowerRowEndsWithStatusOneAndWordsAndAFasterOneWithNone) {
  const Folder folder;
  const std::string file = (folder / "then.attn").string();
  ASSERT_EQ(run(bench({"-o", file})).code, 0);
  stretch(file, 1e-3);
  const Done slower = run(against(file, "0.97"));
  EXPECT_EQ(slower.code, 1) << slower.err;
  EXPECT_NE(slower.err.find("2 of 2 rows fell below 0.97"), std::string::npos) << slower.err;
  EXPECT_NE(slower.err.find("cpu_flash, B=1 H=1 L=32 D=16"), std::string::npos) << slower.err;
  EXPECT_NE(slower.err.find("by the 95 % intervals of both"), std::string::npos) << slower.err;
  EXPECT_EQ(slower.err.find("noise"), std::string::npos) << "a thousandth of the speed is none: " << slower.err;
  EXPECT_EQ(run(bench({"--csv", "/dev/null", "--against", file})).code, 0);
  stretch(file, 1e6);
  const Done faster = run(against(file, "0.97"));
  EXPECT_EQ(faster.code, 0) << faster.err;
  EXPECT_NE(faster.err.find("2 rows reached at least 0.97 of their earlier speed"), std::string::npos) << faster.err;
}

TEST(BenchGate, RowsWithoutAPartnerAreNamedAndComparingNothingDoesNotPass) {
  const Folder folder;
  const std::string file = (folder / "then.attn").string();
  ASSERT_EQ(run(bench({"-o", file})).code, 0);
  stretch(file, 1e6);
  auto arguments = against(file, "0.97");
  arguments[4] = "32,64";
  const Done some = run(arguments);
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_NE(some.err.find("L=64 D=16 f32: not compared"), std::string::npos) << some.err;
  arguments[4] = "64";
  const Done none = run(arguments);
  EXPECT_EQ(none.code, 1) << none.err;
  EXPECT_NE(none.err.find("No row has a counterpart"), std::string::npos) << none.err;
}

TEST(BenchGate, WhatCannotBeHeldAgainstIsRefusedBeforeAnythingIsTimed) {
  const Folder folder;
  const std::string file = (folder / "then.attn").string(), other = (folder / "now.attn").string();
  ASSERT_EQ(run(bench({"-o", file})).code, 0);
  ASSERT_EQ(run({"step", "--preset", "causal", "--attn", (folder / "no_rows.attn").string(), "--to", "1"}).code, 0);
  const std::vector<std::vector<std::string>> refused{
      {"--fail-under", "0.97"},
      {"--against", file, "--fail-under", "-1"},
      {"--against", file, "--fail-under", "nan"},
      {"--against", (folder / "none.attn").string()},
      {"--against", (folder / "no_rows.attn").string()},
      {"--against", file, "--force"},
  };
  for (const auto& more : refused) {
    auto arguments = bench(more);
    arguments.insert(arguments.end(), {"-o", more.back() == "--force" ? file : other});
    const Done done = run(arguments);
    EXPECT_EQ(done.code, 2) << more[0] << " " << more[1] << "\n" << done.err;
    EXPECT_FALSE(std::filesystem::exists(other));
  }
  EXPECT_EQ(read_session(file)->runs.at(0).rows.size(), 2U);
}

}  // namespace
}  // namespace attn::test
