// The runs of all lessons between a phone's edges, and beside a card on a tablet held upright.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/state/lessons/lesson_files.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"
#include "tests/gui/learn/learn_fixture.h"
#include "tests/gui/step/phone.h"
#include "viz/step/facts/side_by_side.h"

namespace attn {
namespace {

using Ctx = ImGuiTestContext;

std::vector<Lesson> lessons() {
  return read_lessons(std::filesystem::path(test::source_folder()) / "assets/lessons").lessons;
}

void open_run(Phone& w, const Lesson& lesson, const Beat& beat) {
  w.controller().update({StartLesson{lesson.id, beat.id}});
  w.settle();
  EXPECT_TRUE(w.run([&](Ctx* ctx) {
    if (ctx->ItemExists("**/##lesson_run")) ctx->ItemClick("**/##lesson_run");
    ctx->Yield(3);
  }));
}

// A block's loops and lanes have tests of their own.
bool has_lanes(Phone& w) {
  return w.controller().model().recording && side_by_side_of(recording(w)).card != nullptr;
}

// The step's own words are shown: where they are cut, the last line ends in an ellipsis of its own.
bool lesson_has_strip(Phone& w) {
  const LearnScene& learn = *w.controller().model().learn;
  return !learn.figure && !learn.exercise && learn.look.has(StepPart::strip);
}

TEST(PhoneLesson, NoWordsOfARunAreWrittenOverOthersOrCut) {
  std::size_t beats = 0;
  for (const PhoneSize& size : {PhoneSize{390, 797}, PhoneSize{360, 593}, PhoneSize{820, 1133}}) {
    Phone w(size);
    const std::vector<Lesson> all = lessons();
    ASSERT_EQ(all.size(), 18U);
    for (const Lesson& lesson : all) {
      for (const Beat& beat : lesson.beats) {
        if (test::left_to_release(beats++, 7)) continue;
        open_run(w, lesson, beat);
        const DrawnText drawn;
        w.draw_frames(1);
        const std::string where = lesson.id + "/" + beat.id + " at " + std::to_string(size.width);
        if (has_lanes(w)) continue;
        expect_apart(drawn.places(), where);
        if (!lesson_has_strip(w)) continue;
        for (const auto& place : drawn.places())
          EXPECT_FALSE(place.text == "…") << where << ", at " << place.left << ", " << place.top;
      }
    }
  }
}

// "1…" is no length of time.
TEST(TabletLesson, TheMinutesOfAChapterAreWhole) {
  for (const PhoneSize& size : {PhoneSize{744, 1086}, PhoneSize{820, 1133}, PhoneSize{390, 797}}) {
    Phone w(size);
    for (const Lesson& lesson : lessons()) {
      w.controller().update({StartLesson{lesson.id, ""}});
      w.settle();
      const DrawnText drawn;
      w.draw_frames(1);
      const std::string minutes = std::to_string(lesson.minutes) + " min";
      EXPECT_TRUE(std::ranges::any_of(drawn.texts(), [&](const auto& text) { return text.ends_with(minutes); }))
          << lesson.id << " at " << size.width;
    }
  }
}

}  // namespace
}  // namespace attn
