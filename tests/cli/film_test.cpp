// Steps as a film, from outside: which program encodes it, what it is fed, and what is said where there is none.
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/base/files.h"
#include "tests/cli/program.h"

namespace attn::test {
namespace {

// What stands in PATH under the name ffmpeg writes down how it was asked, and how many bytes of pictures it got.
TEST(Film, IsEncodedByTheFfmpegInPath) {
  const Folder folder;
  const std::string film = (folder / "s.mp4").string(), before = std::getenv("PATH");
  std::filesystem::create_directory(folder / "bin");
  const std::vector<std::string> shot{"shot",    "--preset", "causal", "--step",    "3..5", "--size",
                                      "640x480", "-o",       film,     "--seconds", "0.5"};
  ::setenv("PATH", (folder / "bin").c_str(), 1);
  const Done none = run(shot);
  if (none.err.find("OpenGL") != std::string::npos) GTEST_SKIP() << none.err;
  EXPECT_EQ(none.code, 3) << none.err;
  EXPECT_NE(none.err.find("s.mp4: ffmpeg, which encodes videos, is not in PATH"), std::string::npos) << none.err;
  const std::string script =
      "#!/bin/sh\nPATH='" + before + "'\nfor last; do :; done\necho \"$@\" > \"$last\"\nwc -c >> \"$last\"\n";
  const auto put = [&](const std::string& text) {
    ASSERT_TRUE(write_file_atomically(folder / "bin" / "ffmpeg", std::as_bytes(std::span(text))));
    std::filesystem::permissions(folder / "bin" / "ffmpeg", std::filesystem::perms::owner_all);
  };
  put(script);
  const Done done = run(shot);
  EXPECT_EQ(done.code, 0) << done.err;
  const std::string asked = text_of(film);
  EXPECT_NE(asked.find("-pixel_format rgba -video_size 640x480 -framerate 30"), std::string::npos) << asked;
  EXPECT_NE(asked.find("libx264"), std::string::npos) << asked;
  // Three steps of half a second at 30 pictures a second.
  const std::size_t bytes = std::stoul(asked.substr(asked.find('\n') + 1));
  EXPECT_EQ(bytes, std::size_t{45} * 640 * 480 * 4);
  std::filesystem::remove(film);
  put("#!/bin/sh\necho 'Unknown encoder libx264' >&2\nexit 1\n");
  const Done broken = run(shot);
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_NE(broken.code, 0);
  EXPECT_NE(broken.err.find("ffmpeg ended with 1: Unknown encoder libx264"), std::string::npos) << broken.err;
  EXPECT_FALSE(std::filesystem::exists(film));
  EXPECT_FALSE(std::filesystem::exists(film + ".part"));
}

}  // namespace
}  // namespace attn::test
