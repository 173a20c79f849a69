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
  EXPECT_NE(none.err.find("s.mp4: ffmpeg, which encodes videos, is not on PATH"), std::string::npos) << none.err;
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

struct GifFrame {
  int delay = 0;                        // hundredths of a second
  int width = 0, height = 0, left = 0;  // of the part that changed
};

// The frames of a GIF by the blocks of its file (GIF89a), whatever their pixels.
std::vector<GifFrame> frames_of(const std::string& file) {
  const std::string text = text_of(file);
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text.at(at)); };
  const auto two = [&](std::size_t at) { return byte(at) | byte(at + 1) << 8; };
  const auto colours = [&](std::size_t at) { return (byte(at) & 0x80) != 0 ? 3U << ((byte(at) & 7) + 1) : 0U; };
  const auto past_data = [&](std::size_t at) {
    while (byte(at) != 0) at += byte(at) + 1U;
    return at + 1;
  };
  std::vector<GifFrame> frames;
  GifFrame next;
  std::size_t at = 13 + colours(10);
  while (byte(at) != 0x3b) {
    if (byte(at) == 0x21) {
      if (byte(at + 1) == 0xf9) next.delay = two(at + 4);
      at = past_data(at + 2);
      continue;
    }
    EXPECT_EQ(byte(at), 0x2c);
    next.left = two(at + 1), next.width = two(at + 5), next.height = two(at + 7);
    frames.push_back(next);
    at = past_data(at + 11 + colours(at + 9));
  }
  return frames;
}

// A GIF moves as the window does: each picture of a step on its way differs from the last, and a step takes its time.
TEST(Film, AGifShowsStepsOnTheirWayUnlessMotionIsOff) {
  const Folder folder;
  const std::string file = (folder / "s.gif").string();
  const auto shoot = [&](std::vector<std::string> more) {
    std::vector<std::string> shot{"shot", "--preset", "causal", "--step", "1..4", "--size", "1280x800", "-o", file};
    shot.insert(shot.end(), more.begin(), more.end());
    return run(shot);
  };
  const Done done = shoot({"--seconds", "0.6"});
  if (done.err.find("OpenGL") != std::string::npos) GTEST_SKIP() << done.err;
  ASSERT_EQ(done.code, 0) << done.err;
  const std::vector<GifFrame> moving = frames_of(file);
  // The first stands; K and V travel, S and the mask appear.
  ASSERT_GE(moving.size(), 4U + 5U);
  int time = 0, travels = 0;
  for (const GifFrame& frame : moving) {
    time += frame.delay;
    if (frame.delay == 6 && frame.width > 100 && frame.height > 50) ++travels;
  }
  EXPECT_EQ(time, 4 * 60);
  EXPECT_GE(travels, 5);
  EXPECT_EQ(moving.front().delay, 60);
  for (const std::vector<std::string>& still :
       {std::vector<std::string>{"--seconds", "0.6", "--no-motion"}, {"--seconds", "0.3"}}) {
    ASSERT_EQ(shoot(still).code, 0);
    const std::vector<GifFrame> frames = frames_of(file);
    ASSERT_EQ(frames.size(), 4U);
    for (const GifFrame& frame : frames) EXPECT_EQ(frame.delay, frames.front().delay);
  }
}

}  // namespace
}  // namespace attn::test
