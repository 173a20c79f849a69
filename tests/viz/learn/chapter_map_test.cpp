// The map of chapters: roads by needs, where to go on, and what is said of a stop. And that the shipped chapters have
// room on it.
#include "viz/learn/chapter_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/environment/paths.h"
#include "viz/learn/lesson/lesson.h"

namespace attn {
namespace {

ChapterScene chapter(const std::string& id, int x, std::vector<std::string> needs, std::size_t seen) {
  ChapterScene c;
  c.id = c.title = id;
  c.number = "1";
  c.part = x < 50 ? "near" : "far";
  c.minutes = 5;
  c.needs = std::move(needs);
  c.x = x, c.y = 40;
  c.beats = 4;
  c.seen = seen;
  return c;
}

LearnScene of(std::vector<ChapterScene> chapters) {
  LearnScene learn;
  learn.chapters = std::move(chapters);
  return learn;
}

TEST(ChapterMap, RoadsFollowWhatIsNeededAndWhatIsWalked) {
  const ChapterMap map = chapter_map(of({chapter("a", 10, {}, 4), chapter("b", 30, {"a"}, 4),
                                         chapter("c", 60, {"b"}, 1), chapter("d", 80, {"c", "a"}, 0)}));
  ASSERT_EQ(map.stops.size(), 4U);
  EXPECT_EQ(map.stops[0].look, StopLook::walked);
  EXPECT_EQ(map.stops[2].look, StopLook::open);
  EXPECT_EQ(map.stops[3].look, StopLook::later);
  EXPECT_EQ(map.stops[3].needs, "needs c") << "a is walked";
  EXPECT_EQ(map.stops[2].words, "5 min, 1 of 4");
  ASSERT_EQ(map.roads.size(), 4U);
  const auto road = [&](std::size_t from, std::size_t to) {
    return std::ranges::find_if(map.roads, [&](const MapRoad& r) { return r.from == from && r.to == to; })->look;
  };
  EXPECT_EQ(road(0, 1), StopLook::walked);
  EXPECT_EQ(road(1, 2), StopLook::open);
  EXPECT_EQ(road(2, 3), StopLook::later);
  ASSERT_EQ(map.columns.size(), 2U);
  EXPECT_FLOAT_EQ(map.columns[0].right, 0.45F);
  EXPECT_EQ(map.columns[1].minutes, 10);
  EXPECT_EQ(map.minutes, 20);
  EXPECT_EQ(map.walked_minutes, 10);
}

TEST(ChapterMap, GoesOnWhereTheLearnerIs) {
  LearnScene learn = of({chapter("a", 10, {}, 0), chapter("b", 30, {"a"}, 0)});
  EXPECT_EQ(next_chapter(learn), 0U);
  learn.chapters[0].last = true;
  learn.chapters[0].seen = 2;
  EXPECT_EQ(next_chapter(learn), 0U) << "in the middle of it";
  learn.chapters[0].seen = 4;
  EXPECT_EQ(next_chapter(learn), 1U) << "it is gone through";
  EXPECT_EQ(next_chapter(of({})), std::nullopt);
}

// Chapters that were passed over come before those after the one that was just ended; not before their needs.
TEST(ChapterMap, GoesOnAtTheFirstChapterThatIsReady) {
  LearnScene learn =
      of({chapter("a", 10, {}, 0), chapter("b", 20, {"a"}, 0), chapter("c", 30, {}, 4), chapter("d", 40, {"c"}, 0)});
  learn.chapters[2].last = true;
  EXPECT_EQ(next_chapter(learn), 0U);
  learn.chapters[0].seen = 4;
  EXPECT_EQ(next_chapter(learn), 1U);
  learn.chapters[0] = chapter("a", 10, {"d"}, 0);
  EXPECT_EQ(next_chapter(learn), 3U) << "a and b need what is not gone through";
  for (ChapterScene& c : learn.chapters) c.seen = c.beats;
  EXPECT_EQ(next_chapter(learn), 2U) << "nothing is left";
}

// Four beats, of which three ask.
ChapterScene walked(std::size_t known, std::size_t shown) {
  ChapterScene c = chapter("a", 10, {}, 4);
  c.questions = 3;
  c.known = known;
  c.shown = shown;
  c.first_try = 1;
  return c;
}

TEST(ChapterMap, WhatWasShownOrSkippedIsToldApartFromWhatWasAnswered) {
  EXPECT_EQ(progress_words(walked(3, 0)), "1 of 3 first try");
  EXPECT_TRUE(all_answered(walked(3, 0)));
  EXPECT_EQ(progress_words(walked(1, 2)), "done, 2 shown");
  EXPECT_EQ(progress_words(walked(1, 0)), "done, 2 skipped");
  EXPECT_EQ(progress_words(walked(1, 1)), "done, 1 shown, 1 skipped");
  EXPECT_FALSE(all_answered(walked(1, 2)));
  ChapterScene midway = walked(1, 1);
  midway.seen = 3;
  EXPECT_EQ(progress_words(midway), "3 of 4");
}

TEST(ChapterMap, AChaptersEndSaysWhatWasShownAndSkipped) {
  ChapterScene c = walked(3, 0);
  c.exercises = c.exercises_done = 3;
  EXPECT_EQ(end_words(c), "a: done.");
  c.exercises_done = 0;
  EXPECT_EQ(end_words(c), "a: done, 3 exercises skipped.");
  c.known = 1, c.shown = 1, c.exercises_done = 2;
  EXPECT_EQ(end_words(c), "a: done, 1 answer shown, 1 question skipped, 1 exercise skipped.");
}

TEST(ChapterMap, ChaptersOfOnesOwnAreNotOnIt) {
  LearnScene learn = of({chapter("a", 10, {}, 0), chapter("mine", 30, {}, 0)});
  learn.chapters[1].own = true;
  EXPECT_EQ(chapter_map(learn).stops.size(), 1U);
}

// At the narrowest map that is drawn (1080 x 470) circles do not touch, and no title runs into a neighbour's.
TEST(ChapterMap, TheShippedChaptersHaveRoom) {
  struct Place {
    std::string id, title;
    float x, y;
  };
  std::vector<Place> places;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/assets/lessons")) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::count(name, '.') != 1) continue;  // a translation
    std::ifstream in(entry.path());
    const auto lesson = parse_lesson(std::string(std::istreambuf_iterator<char>(in), {}), name);
    ASSERT_TRUE(lesson) << lesson.error().message;
    EXPECT_GT(lesson->map_x, 0) << name << " has no place on the map";
    places.push_back({lesson->id, lesson->words("title", ""), static_cast<float>(lesson->map_x) / 100 * 1064,
                      static_cast<float>(lesson->map_y) / 100 * 388});
  }
  EXPECT_EQ(places.size(), 18U);
  for (std::size_t a = 0; a < places.size(); ++a) {
    for (std::size_t b = a + 1; b < places.size(); ++b) {
      const float x = std::fabs(places[a].x - places[b].x), y = std::fabs(places[a].y - places[b].y);
      EXPECT_GT(std::hypot(x, y), 52) << places[a].id << " and " << places[b].id;
    }
  }
}

}  // namespace
}  // namespace attn
