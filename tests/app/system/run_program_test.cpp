// Another program's output, its errors in words, and an end to one that does not end.
#include "app/system/run_program.h"

#include <chrono>
#include <cstddef>
#include <fstream>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

constexpr std::size_t kPlenty = 1 << 20;

Result<std::string> shell(const std::string& script, const Deadline& deadline = {20, {}}, std::size_t most = kPlenty) {
  return output_of("/bin/sh", {"-c", script}, deadline, most);
}

TEST(RunProgram, GivesWhatItPrinted) {
  const auto said = shell("printf 'a\\nb'; echo no >&2");
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(*said, "a\nb");
}

TEST(RunProgram, MoreThanAPipeHolds) {
  const auto said = shell("head -c 300000 /dev/zero | tr '\\0' x; head -c 300000 /dev/zero >&2");
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->size(), 300000U);
}

TEST(RunProgram, AFailureSaysHowItEndedAndWhatItSaid) {
  const auto said = shell("echo words; echo 'no such section' >&2; exit 5");
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().message, "sh ended with 5: no such section");
  const auto missing = output_of("/nowhere/nvdisasm", {}, {20, {}}, kPlenty);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "nvdisasm could not be started");
  const auto killed = shell("kill -9 $$");
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().message, "sh was killed by a signal");
}

TEST(RunProgram, IsKilledAtItsDeadlineAtAStopAndAtItsLimit) {
  const auto begin = std::chrono::steady_clock::now();
  const auto late = shell("exec sleep 60", {0.2, {}});
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("more than 0.2 s"), std::string::npos) << late.error().message;
  std::stop_source source;
  source.request_stop();
  const auto stopped = shell("exec sleep 60", {0, source.get_token()});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled);
  const auto much = shell("exec cat /dev/zero", {20, {}}, 1000);
  ASSERT_FALSE(much);
  EXPECT_NE(much.error().message.find("more than 1000 bytes"), std::string::npos) << much.error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
}

Result<FedProgram> fed(const std::string& script) {
  return FedProgram::start("/bin/sh", {"-c", script});
}

TEST(FedProgram, ReadsAllThatItIsFed) {
  const TempFolder folder;
  const std::string file = (folder / "sum").string();
  auto program = fed("wc -c > '" + file + "'; head -c 200000 /dev/zero; head -c 200000 /dev/zero >&2");
  ASSERT_TRUE(program) << program.error().message;
  const std::vector<std::byte> bytes(300001);
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(program->feed(bytes, {}));
  const auto ended = program->finish({});
  ASSERT_TRUE(ended) << ended.error().message;
  std::ifstream in(file);
  std::size_t counted = 0;
  in >> counted;
  EXPECT_EQ(counted, 900003U);
}

TEST(FedProgram, OneThatEndsEarlySaysWhy) {
  auto program = fed("echo 'Unknown encoder' >&2; exit 8");
  ASSERT_TRUE(program);
  const std::vector<std::byte> bytes(10'000'000);
  const auto refused = program->feed(bytes, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "sh ended with 8: Unknown encoder");
  auto content = fed("exit 0");
  ASSERT_TRUE(content);
  const auto left = content->feed(bytes, {});
  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().message, "sh ended before it had read all of its input");
}

TEST(FedProgram, StopsWhenAskedAndIsFoundInPath) {
  auto program = fed("exec sleep 60");
  ASSERT_TRUE(program);
  std::stop_source source;
  source.request_stop();
  const auto stopped = program->feed(std::vector<std::byte>(10'000'000), source.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled);
  EXPECT_EQ(program_in_path("sh").filename(), "sh");
  EXPECT_TRUE(program_in_path("no-such-program-here").empty());
}

}  // namespace
}  // namespace attn
