#include "kernels/base/bytes.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

TEST(Bytes, ParsesSizesInTheUnitsPeopleWrite) {
  EXPECT_EQ(*parse_bytes("4096"), 4096U);
  EXPECT_EQ(*parse_bytes("512M"), 512ULL << 20);
  EXPECT_EQ(*parse_bytes("80G"), 80ULL << 30);
  EXPECT_EQ(*parse_bytes("1.5k"), 1536U);
  EXPECT_EQ(*parse_bytes("2TiB"), 2ULL << 40);
  EXPECT_EQ(*parse_bytes("3GB"), 3ULL << 30);
  EXPECT_EQ(*parse_bytes("100B"), 100U);
  EXPECT_EQ(*parse_bytes("0"), 0U);
}

TEST(Bytes, RefusesWhatIsNoSizeWithWhatWouldDo) {
  for (const char* text : {"", "G", "-1", "1X", "1 G", "nan", "inf", "1e3", "12iB", "1GG", "0x10", "+5"}) {
    const Result<std::uint64_t> r = parse_bytes(text);
    ASSERT_FALSE(r) << text;
    EXPECT_NE(r.error().message.find("such as 512M or 80G"), std::string::npos) << text;
  }
  EXPECT_NE(parse_bytes("8388608T").error().message.find("is too large"), std::string::npos);
}

TEST(Bytes, ShowsThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(3ULL << 29), "1.50 GiB");
  EXPECT_EQ(format_bytes(10 * 1024 - 1), "10.0 KiB");
  EXPECT_EQ(format_bytes((1 << 20) - 1), "1.00 MiB");
  EXPECT_EQ(format_bytes(100ULL << 30), "100 GiB");
  EXPECT_EQ(format_bytes(~0ULL), "16.0 EiB");
}

TEST(FreeMemory, IsTheLeastOfTheMachineAndEveryGroupAbove) {
  const TempFolder root;
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(root / "sys/fs/cgroup/outer/inner");
  put_file(root / "proc/meminfo", "MemTotal:  2000 kB\nMemAvailable:     1000 kB\n");
  EXPECT_EQ(free_memory_under(root.path()), 1024000U);
  put_file(root / "proc/self/cgroup", "0::/outer/inner\n");
  put_file(root / "sys/fs/cgroup/outer/inner/memory.max", "max\n");
  EXPECT_EQ(free_memory_under(root.path()), 1024000U);
  put_file(root / "sys/fs/cgroup/outer/memory.max", "500000\n");
  put_file(root / "sys/fs/cgroup/outer/memory.current", "300000\n");
  EXPECT_EQ(free_memory_under(root.path()), 200000U);
  put_file(root / "sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 100000\n");
  EXPECT_EQ(free_memory_under(root.path()), 300000U);
  put_file(root / "sys/fs/cgroup/outer/inner/memory.max", "1000\n");
  put_file(root / "sys/fs/cgroup/outer/inner/memory.current", "2000\n");
  EXPECT_EQ(free_memory_under(root.path()), 0U);
}

TEST(FreeMemory, KnowsTheOlderGroupsAndMachinesWithoutEither) {
  const TempFolder root;
  EXPECT_GT(free_memory_under(root.path()), 1ULL << 60);
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(root / "sys/fs/cgroup/memory/box");
  put_file(root / "proc/self/cgroup", "5:cpu:/\n4:memory:/box\n");
  put_file(root / "sys/fs/cgroup/memory/box/memory.limit_in_bytes", "4096\n");
  put_file(root / "sys/fs/cgroup/memory/box/memory.usage_in_bytes", "96\n");
  EXPECT_EQ(free_memory_under(root.path()), 4000U);
}

TEST(FreeMemory, OfThisMachineIsSomething) {
  EXPECT_GT(free_memory(), 1U << 20);
}

}  // namespace
}  // namespace attn
