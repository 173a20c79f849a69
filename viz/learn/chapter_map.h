// The chapters as a map: a stop each, where in the machine it plays from left to right, roads by what each needs, and
// where the learner stands. Nothing is locked: a stop whose needs are not walked says so and opens all the same. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viz/learn/card/learn_scene.h"

namespace attn {

enum class StopLook : std::uint8_t {
  walked,  // gone through
  open,    // all that it needs is walked
  later,   // it needs what is not
};
struct MapStop {
  std::size_t chapter = 0;  // of LearnScene::chapters
  float x = 0, y = 0;       // shares of the map
  StopLook look = StopLook::later;
  bool here = false;  // where to go on
  std::string words;  // "12 min, 4 of 10"
  std::string needs;  // "needs Two halves and Counting bytes"; empty: nothing that is not walked
};
struct MapRoad {
  std::size_t from = 0, to = 0;  // of the stops
  StopLook look = StopLook::later;
};
struct MapColumn {
  std::string title;
  float left = 0, right = 0;  // shares of the map
  int minutes = 0;
};
struct ChapterMap {
  std::vector<MapColumn> columns;
  std::vector<MapStop> stops;
  std::vector<MapRoad> roads;
  int minutes = 0, walked_minutes = 0;
};
// Of those chapters that have a place; the others are listed below it.
ChapterMap chapter_map(const LearnScene& learn);

bool gone_through(const ChapterScene& c);
// Gone through, and each of its questions was answered by the learner: what is told apart from what was shown.
bool all_answered(const ChapterScene& c);
// Where to go on: the chapter that was last; once it is gone through, the first that is not and whose needs are; at
// first the first. None: there are no chapters.
std::optional<std::size_t> next_chapter(const LearnScene& learn);
// "4 of 10", "7 of 7 first try", "done, 2 shown, 1 skipped"; empty before the first beat.
std::string progress_words(const ChapterScene& c);
// What is said where a chapter ends: "The wall: done, 1 answer shown, 3 exercises skipped."
std::string end_words(const ChapterScene& c);

}  // namespace attn
