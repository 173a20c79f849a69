#include "profiling/session/session_reading.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/formats/container.h"
#include "profiling/session/session.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"

namespace attn {
namespace {

std::filesystem::path bundled(const std::string& name) {
  return test::source_folder() + "/assets/sessions/" + name + ".attn";
}

TEST(SessionReading, TakesManyPiecesForManyRows) {
  SessionReading reading(bundled("h100-ladder"));
  std::size_t pieces = 1;
  for (;; ++pieces) {
    const auto done = reading.step();
    ASSERT_TRUE(done) << done.error().message;
    if (*done) break;
  }
  const Session s = reading.take();
  EXPECT_GT(rows_of(s), 100U);
  EXPECT_GT(pieces, 2 * rows_of(s));
  const auto at_once = read_session(bundled("h100-ladder"));
  ASSERT_TRUE(at_once);
  EXPECT_EQ(to_json(s), to_json(*at_once));
}

TEST(SessionReading, OfTheRunsLeavesTheRestUnread) {
  std::size_t n = 0;
  for (const char* name : {"h100-timeline", "h100-profile"}) {
    if (test::left_to_release(n++, 2)) continue;
    const auto all = read_session(bundled(name));
    ASSERT_TRUE(all) << all.error().message;
    SessionReading reading(bundled(name), SessionPart::runs);
    for (bool done = false; !done;) {
      const auto stepped = reading.step();
      ASSERT_TRUE(stepped) << stepped.error().message;
      done = *stepped;
    }
    const Session runs = reading.take();
    EXPECT_EQ(to_json(runs), to_json(*all));
    EXPECT_TRUE(runs.recordings.empty() && runs.tensors.empty() && runs.timelines.empty());
  }
}

// Two readers of one container see the same rows.
TEST(SessionReading, LeavesAContainerAsItWas) {
  const auto container = read_container(bundled("h100"));
  ASSERT_TRUE(container);
  const auto first = session_of(*container, "it"), second = session_of(*container, "it");
  ASSERT_TRUE(first && second);
  EXPECT_GT(rows_of(*first), 0U);
  EXPECT_EQ(to_json(*first), to_json(*second));
}

TEST(SessionsReading, TakesEachFileAndSaysWhichFailed) {
  std::vector<std::string> seen;
  SessionsReading reading({bundled("h100"), bundled("nothing"), bundled("h100-counts")}, SessionPart::runs,
                          [&](const std::filesystem::path& file, Result<Session> session) {
                            seen.push_back(file.stem().string() + (session ? "" : ": no"));
                          });
  while (!reading.step()) {
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"h100", "nothing: no", "h100-counts"}));
  EXPECT_TRUE(SessionsReading({}, SessionPart::all, {}).step());
}

}  // namespace
}  // namespace attn
