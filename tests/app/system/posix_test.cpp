#include "app/system/posix.h"

#include <array>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "app/system/child_process.h"
#include "app/system/run_program.h"
#include "app/system/temporary_file.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

TEST(Posix, RunsAFileThatIsAProgramAndNoOther) {
  const TempFolder folder;
  const auto file = folder / "program";
  put_file(file, "");
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  EXPECT_FALSE(can_run(file));
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  EXPECT_TRUE(can_run(file));
  EXPECT_FALSE(can_run(folder.path()));
  EXPECT_FALSE(can_run(folder / "none"));
}

TEST(Posix, SeesThatTheOtherEndIsGone) {
  std::array<int, 2> ends{-1, -1};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  EXPECT_FALSE(has_hung_up(ends[0]));
  ::close(ends[1]);
  EXPECT_TRUE(has_hung_up(ends[0]));
  ::close(ends[0]);
}

TEST(Posix, SaysThatAProgramThatIsNotThereCannotTakeOver) {
  const Error error = replace_process("attnscope-no-such-program", {"--with", "words"});
  EXPECT_EQ(error.kind, ErrorKind::cannot_run);
  EXPECT_NE(error.message.find("attnscope-no-such-program: "), std::string::npos) << error.message;
}

TEST(TemporaryFile, HoldsTheBytesAndIsGoneWithTheObject) {
  const auto bytes = bytes_of("bytes");
  std::filesystem::path path;
  {
    auto file = TemporaryFile::make("attnscope-test", bytes);
    ASSERT_TRUE(file) << file.error().message;
    const TemporaryFile moved = *std::move(file);
    path = moved.path();
    EXPECT_EQ(path.filename().string().rfind("attnscope-test-", 0), 0U) << path;
    EXPECT_EQ(get_file(path), "bytes");
    const auto other = TemporaryFile::make("attnscope-test", bytes);
    ASSERT_TRUE(other);
    EXPECT_NE(other->path(), path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace attn
