#include "kernels/base/files.h"

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <span>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

TEST(WriteFile, ReplacesAFileWholeAndKeepsItsPermissions) {
  const TempFolder folder;
  put_file(folder / "a", "old and longer");
  std::filesystem::permissions(folder / "a", std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  ASSERT_TRUE(write_file_atomically(folder / "a", bytes_of("new")));
  EXPECT_EQ(get_file(folder / "a"), "new");
  EXPECT_EQ(folder.files(), 1U);
  struct stat status {};
  ASSERT_EQ(stat((folder / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST(WriteFile, FollowsALinkInsteadOfReplacingIt) {
  const TempFolder folder;
  put_file(folder / "real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  ASSERT_TRUE(write_file_atomically(folder / "link", bytes_of("new")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(get_file(folder / "real"), "new");
}

TEST(WriteFile, AReadOnlyFileStays) {
  const TempFolder folder;
  put_file(folder / "a", "old");
  std::filesystem::create_symlink("a", folder / "link");
  std::filesystem::permissions(folder / "a", std::filesystem::perms::owner_read);
  EXPECT_TRUE(is_read_only(folder / "a"));
  EXPECT_FALSE(is_read_only(folder / "none"));
  for (const char* name : {"a", "link"}) {
    const Result<void> r = write_file_atomically(folder / name, bytes_of("new"));
    ASSERT_FALSE(r) << name;
    EXPECT_EQ(r.error().kind, ErrorKind::io);
    EXPECT_NE(r.error().message.find("read-only"), std::string::npos) << r.error().message;
  }
  EXPECT_EQ(get_file(folder / "a"), "old");
  EXPECT_EQ(folder.files(), 2U);
  std::filesystem::permissions(folder / "a", std::filesystem::perms::owner_all);
  EXPECT_TRUE(write_file_atomically(folder / "a", bytes_of("new")));
}

TEST(WriteFile, PiecesFollowOneAnother) {
  const TempFolder folder;
  const auto one = bytes_of("one "), two = bytes_of("two");
  const std::array<std::span<const std::byte>, 3> pieces{one, two, {}};
  ASSERT_TRUE(write_file_atomically(folder / "a", [&, n = std::size_t{0}]() mutable { return pieces.at(n++); }));
  EXPECT_EQ(get_file(folder / "a"), "one two");
}

TEST(WriteFile, TakesTheLongestNameThereIs) {
  const TempFolder folder;
  const std::string name(255, 'n');
  ASSERT_TRUE(write_file_atomically(folder / name, bytes_of("x")));
  EXPECT_EQ(get_file(folder / name), "x");
}

// In a child process, whose files may not grow beyond 4 KiB: as on a full disk, a write fails halfway.
int write_with_small_limit(const std::filesystem::path& file) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
    const Result<void> r = write_file_atomically(file, std::vector<std::byte>(100000));
    const bool named =
        !r && r.error().kind == ErrorKind::io && r.error().message.find(file.string()) != std::string::npos;
    _exit(named && r.error().message.find("Free some space") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST(WriteFile, FullDiskIsAnErrorAndTheOldFileStays) {
  const TempFolder folder;
  put_file(folder / "a", "old");
  EXPECT_EQ(write_with_small_limit(folder / "a"), 0);
  EXPECT_EQ(get_file(folder / "a"), "old");
  EXPECT_EQ(write_with_small_limit(folder / "new"), 0);
  EXPECT_EQ(folder.files(), 1U);  // neither "new" nor a temporary file
}

TEST(WriteFile, FullDeviceIsAnError) {
  const Result<void> r = write_file_atomically("/dev/full", bytes_of("x"));
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("/dev/full: No space left"), std::string::npos);
}

TEST(WriteFile, PlacesThatCannotBeWrittenAreErrorsThatNameThem) {
  const TempFolder folder;
  put_file(folder / "file", "x");
  for (const auto& place : {folder / "file" / "below", folder / "no" / "folder", std::filesystem::path("/proc/x.attn"),
                            folder.path(), std::filesystem::path("")}) {
    const Result<void> r = write_file_atomically(place, bytes_of("y"));
    ASSERT_FALSE(r) << place;
    EXPECT_EQ(r.error().kind, ErrorKind::io) << place;
    EXPECT_NE(r.error().message.find(place.string()), std::string::npos) << r.error().message;
  }
  EXPECT_EQ(get_file(folder / "file"), "x");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(MakeFolder, MakesThoseAboveItToo) {
  const TempFolder folder;
  ASSERT_TRUE(make_folder(folder / "a/b"));
  EXPECT_TRUE(make_folder(folder / "a/b"));  // it is there already
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b"));
}

TEST(MakeFolder, AFileInTheWayIsAnErrorThatNamesTheFolder) {
  const TempFolder folder;
  put_file(folder / "file", "x");
  for (const auto& wanted : {folder / "file", folder / "file/below"}) {
    const auto made = make_folder(wanted);
    ASSERT_FALSE(made) << wanted;
    EXPECT_NE(made.error().message.find(wanted.string()), std::string::npos) << made.error().message;
  }
}

TEST(ReadFile, BringsWholeFilesWithinTheLimit) {
  const TempFolder folder;
  put_file(folder / "a", "four");
  EXPECT_EQ(*read_file(folder / "a", 4), bytes_of("four"));
  EXPECT_NE(read_file(folder / "a", 3).error().message.find("has 4 B; the limit is 3 B"), std::string::npos);
}

TEST(ReadFile, DoesNotWaitForAPipe) {
  const TempFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(read_file(folder / "pipe", 10).error().message.find("pipe"), std::string::npos);
}

}  // namespace
}  // namespace attn
